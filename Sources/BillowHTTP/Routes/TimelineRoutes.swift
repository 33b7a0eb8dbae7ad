import BillowEngine
import BillowParameters
import BillowRaster
import BillowSnapshot
import BillowTiles
import BillowTimeline
import Datasets
import HTTPTypes
import Hummingbird
import Turbulence

/// `/timeline.json`, and its content in the form of `/public/weather-maps.json` for clients of RainViewer's interface.
struct TimelineRoutes: Sendable {
    let frames: FrameSource
    let service: TimelineService
    let styleStore: StyleStore
    let publicURL: String?

    /// The time for which a manifest may be cached. Its tiles are available for a day.
    private static let freshSeconds = 10

    private var styles: StyleLibrary { styleStore.current }

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/timeline.json") { request, _ in try await timeline(request) }
        router.get("/public/weather-maps.json") { request, _ in try await weatherMaps(request) }
    }

    /// 200, 304, 400 for an invalid timeline.
    private func timeline(_ request: Request) async throws -> Response {
        let parameters = try TimelineParameters(
            QueryReader(request), styles: styles, defaults: service.settings.defaults)
        let snapshot = try frames.snapshot()
        let base = BaseURL.of(request, publicURL)
        let manifestRequest = parameters.request { base + AddressSigner.signed($0, covers: $1) }
        let manifest = try await service.manifest(manifestRequest, in: snapshot)
        return try JSONResponse.make(
            manifest,
            headers: headers(
                manifestRequest.pictures.flatMap(\.self), manifestRequest.filter, snapshot,
                isIncomplete: manifest.layers.contains(where: \.incomplete)), request: request)
    }

    private func headers(_ layers: [Dataset], _ filter: Filter, _ snapshot: Snapshot, isIncomplete: Bool)
        -> HTTPFields
    {
        let asOf = snapshot.publication.asOf
        let freshness = service.policy.freshness(of: layers, at: asOf, in: snapshot, filter: filter)
        return ResponseHeaders.make(
            DataStatus(freshness, at: asOf, isIncomplete: isIncomplete, in: snapshot),
            freshSeconds: min(Self.freshSeconds, frames.freshSeconds(of: snapshot)))
    }

    // MARK: - RainViewer's shape

    /// Source: RainViewer API, https://www.rainviewer.com/api/weather-maps-api.html (version 2.0)
    private struct WeatherMaps: Encodable {
        struct Frame: Encodable {
            var time: Int
            var path: String
        }

        struct Radar: Encodable {
            var past: [Frame]
            var nowcast: [Frame] = []
        }

        var version = "2.0"
        var generated: Int
        var host: String
        /// Without `satellite`, because clients wait forever for the first frame of an empty list.
        var radar: Radar
    }

    /// The frames of the first layer, as paths to which a client appends `/{size}/{z}/{x}/{y}/{color}/{options}.png`.
    private func weatherMaps(_ request: Request) async throws -> Response {
        _ = try QueryReader(request)
        let snapshot = try frames.snapshot()
        guard let layer = Catalogue.layers.first else {
            throw Problem(.noLayer, detail: "There is no layer.")
        }
        let filter = Filter()
        let renderKey = try frames.renderKey(styles.style(QueryReader([:])), in: snapshot)
        let timeline = try service.timeline(TimelineRequest(), in: snapshot)
        var past: [WeatherMaps.Frame] = []
        var isIncomplete = false
        for time in try await service.times(of: [layer], timeline, filter, in: snapshot) {
            let version = try await frames.frameVersion(of: [layer], at: time, filter: filter, in: snapshot)
            let path = FrameRevision.weatherMapPath(
                layer: layer.id, time: time.compact, FrameRevision(version: version, renderKey: renderKey))
            past.append(WeatherMaps.Frame(time: time.seconds, path: path))
            isIncomplete =
                isIncomplete
                || service.policy.dataStatus(LayerList(layer), at: time, filter: filter, in: snapshot).isIncomplete
        }
        let maps = WeatherMaps(
            generated: snapshot.publication.asOf.seconds, host: BaseURL.of(request, publicURL),
            radar: WeatherMaps.Radar(past: past))
        return try JSONResponse.make(
            maps, headers: headers([layer], filter, snapshot, isIncomplete: isIncomplete),
            request: request)
    }
}
