import BillowEngine
import BillowParameters
import BillowRaster
import BillowSnapshot
import BillowTiles
import Datasets
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Turbulence

/// `/tiles/{layers}.json` and `/tiles/{layers}/{time}/{z}/{x}/{y}[@2x|@3x].png`.
struct TileRoutes: Sendable {
    let frames: FrameSource
    let tiles: TileService
    let styleStore: StyleStore
    let policy: FreshnessPolicy
    let publicURL: String?
    let latestTiles: LatestTileRequests
    let vectors: VectorTileSource

    /// The time for which a picture may be cached.
    private static let longestSeconds = 31_536_000

    private var styles: StyleLibrary { styleStore.current }

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/tiles/:layers/:time/:z/:x/:y") { request, context in
            try await tile(request, context.parameters)
        }
        router.get("/v2/radar/:frame/:size/:z/:x/:y/:color/:options") { request, context in
            try await weatherMapTile(request, context.parameters)
        }
        router.get("/tiles/:layers") { request, context in try tileJSON(request, context.parameters) }
    }

    // MARK: - Tiles

    /// 200 with the picture or the vector tile, 204 for an empty vector tile, 304, 307 to the frame's own version, 400
    /// for a bad parameter, 404 outside the grid or retention, 503 when overloaded.
    private func tile(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let query = try QueryReader(request)
        let parsed = try TileParameters(
            layers: parameters.text("layers"), time: parameters.text("time"), z: parameters.get("z") ?? "",
            x: parameters.get("x") ?? "", y: parameters.get("y") ?? "", query, styles: styles)
        return try await tile(parsed, request) { "\(request.uri.path)?\(query.replacing($0.parameters))" }
    }

    /// - Parameter address: the address of the same tile at another revision.
    func tile(
        _ parsed: TileParameters, _ request: Request, address: (FrameRevision) -> String
    ) async throws -> Response {
        let snapshot = try await frames.snapshot(knowing: parsed.revision?.version)
        let scene = try frames.scene(of: parsed.layers, at: parsed.time, in: snapshot)
        let (instant, shown) = (scene.instant, scene.layers.layers)
        var answered = policy.dataStatus(
            parsed.layers, scene: scene.layers, of: parsed.place.coord.region, at: instant, filter: parsed.filter,
            in: snapshot)
        var drawn = snapshot
        var immutableSeconds: Int?
        // A picture that lacks a layer for now will be another later: no cache may keep it.
        if let revision = parsed.revision, scene.isWhole {
            let status = try await frames.status(
                of: revision, layers: shown, at: instant, filter: parsed.filter, style: parsed.style, in: snapshot)
            switch status {
            case .redirect(let current):
                var headers = ResponseHeaders.make(answered, freshSeconds: 0)
                headers[.cacheControl] = "no-store"
                headers[.location] = address(current)
                return Response(status: .temporaryRedirect, headers: headers)
            case .superseded:
                drawn = snapshot.superseded(at: revision.version)
                answered.markSuperseded()
            case .currentVersion: break
            case .current:
                // An incomplete picture changes if its missing data arrives. Retention also changes pictures.
                let seconds = frames.retainedSeconds(of: shown, at: instant, in: snapshot)
                if !answered.isIncomplete, seconds > 0 { immutableSeconds = min(seconds, Self.longestSeconds) }
            }
        }
        var headers = ResponseHeaders.make(answered, freshSeconds: frames.freshSeconds(of: snapshot))
        if let immutableSeconds { headers[.cacheControl] = "public, max-age=\(immutableSeconds), immutable" }
        if parsed.place.format == .vector {
            let bytes = try await vectors.tile(parsed.vectorRequest(scene), in: drawn)
            guard !bytes.isEmpty else { return Response(status: .noContent, headers: headers) }
            headers[.contentType] = "application/vnd.mapbox-vector-tile"
            return try BytesResponse.make(bytes, headers: headers, request: request)
        }
        let known = EntityTags(request.headers[.ifNoneMatch])
        let wanted = parsed.request(scene, isIncomplete: answered.isIncomplete)
        let isRenewal = latestTiles.note(
            wanted, isLatest: parsed.time.moment == .latest, publication: snapshot.publication,
            now: snapshot.publication.asOf)
        let tile = try await tiles.tile(wanted, in: drawn, isRenewal: isRenewal) { known.match($0) }
        return try PictureResponse.make(tile, headers: headers, known: known)
    }

    /// A tile by the path in `/public/weather-maps.json`. RainViewer's colour schemes and options have no meaning here.
    private func weatherMapTile(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let parsed = try WeatherMapTileParameters(
            frame: parameters.text("frame"), size: parameters.get("size") ?? "", z: parameters.get("z") ?? "",
            x: parameters.get("x") ?? "", y: parameters.get("y") ?? "", styles: styles)
        let rest = ["size", "z", "x", "y", "color", "options"].map { parameters.get($0) ?? "" }.joined(separator: "/")
        return try await tile(parsed.tile, request) {
            "\(FrameRevision.weatherMapPath(layer: parsed.layer, time: parsed.time, $0))/\(rest)"
        }
    }

    // MARK: - TileJSON

    /// The highest zoom that the document names. Maps enlarge its tiles, because cells have no more detail.
    private static let finestZoom = 14

    /// Source: TileJSON 3.0.0, https://github.com/mapbox/tilejson-spec
    private struct TileJSON: Encodable {
        struct Time: Encodable {
            var latest: String
            var extent: [String]
            var template: String
        }

        struct VectorLayer: Encodable {
            var id: String
            var description: String
            var minzoom = 0
            var maxzoom = 14
            var fields: [String: String]

            init(_ layer: Dataset) {
                id = layer.id
                description = layer.summary
                fields = layer.vectorFields
            }
        }

        struct ViewState: Encodable {
            var version: Int64
            var asOf: String
            var dataTime: String?
            var stale: Bool
            var simulated: Bool
            /// Whether the log lacks a part of the requested frame, and the time from which it is complete.
            var incomplete: Bool
            var completeSince: String?
            /// The H3 resolution of each zoom.
            var resolutions: [Int]
        }

        var tilejson = "3.0.0"
        var name: String
        var description: String
        var attribution: String
        var tiles: [String]
        var tileSize: Int
        var minzoom = 0
        var maxzoom: Int
        var bounds = [-180.0, -85.051_128_779_806_6, 180, 85.051_128_779_806_6]
        var center = [0.0, 30, 2]
        var scheme = "xyz"
        var legend: String
        var vectorLayers: [VectorLayer]
        var time: Time
        var billow: ViewState

        private enum CodingKeys: String, CodingKey {
            case tilejson, name, description, attribution, tiles, tileSize, minzoom, maxzoom, bounds, center, scheme
            case legend, time, billow
            case vectorLayers = "vector_layers"
        }
    }

    /// 200, 304, 400 for invalid parameters, 404 for an unknown layer and a time outside retention.
    private func tileJSON(_ request: Request, _ parameters: Parameters) throws -> Response {
        let document = parameters.text("layers")
        guard document.hasSuffix(".json") else {
            throw Problem(
                .noSuchRoute, detail: "There is nothing at \(request.uri.path.prefix(200)).", parameter: "path",
                value: request.uri.path, allowed: "/tiles/{layers}.json and /tiles/{layers}/{time}/{z}/{x}/{y}.png")
        }
        let parsed = try TileJSONParameters(
            layers: LayerList(parameter: document.dropLast(5)), QueryReader(request), styles: styles)
        let (layers, filter) = (parsed.layers, parsed.filter)
        try frames.polygonHistories.require(filter, for: layers)
        let snapshot = try frames.snapshot()
        let shownLayers = layers.layers
        let scene = try frames.scene(of: layers, at: parsed.time, in: snapshot)
        let answered = policy.dataStatus(layers, scene: scene.layers, at: scene.instant, filter: filter, in: snapshot)
        let freshness = answered.freshness
        let extent = snapshot.extent(of: shownLayers)
        let base = BaseURL.of(request, publicURL)
        // The tiles of the document have the filters and the time of this request.
        let (suffix, passed, filters) = (parsed.suffix, parsed.passedOn, parsed.legendFilters)
        let shown = if case .instant = parsed.time.moment { scene.instant.compact } else { "latest" }
        func template(_ time: String, _ covers: SignedAddress.TemplateVariables) -> String {
            base
                + AddressSigner.signed("/tiles/\(layers)/\(time)/{z}/{x}/{y}.\(suffix)\(passed)", covers: covers)
        }
        let finest = Self.finestZoom - parsed.size.addedZooms
        let legend = "/legend.png?layer=\(layers)&style=\(parsed.style.id)" + (filters.isEmpty ? "" : "&\(filters)")
        let answer = TileJSON(
            name: "Billow: \(layers.title)", description: layers.layers.map(\.summary).joined(separator: " "),
            attribution: PackSource.attribution(of: shownLayers, isSimulated: freshness.isSimulated),
            tiles: [template(shown, .tiles)], tileSize: parsed.size.rawValue, maxzoom: finest,
            legend: base + AddressSigner.signed(legend),
            vectorLayers: layers.layers.map(TileJSON.VectorLayer.init),
            time: TileJSON.Time(
                latest: snapshot.publication.asOf.description,
                extent: [extent.lowerBound.description, extent.upperBound.description],
                template: template("{time}", .frames)),
            billow: TileJSON.ViewState(
                version: snapshot.publication.version.rawValue, asOf: snapshot.publication.asOf.description,
                dataTime: freshness.dataTime?.description, stale: freshness.isStale, simulated: freshness.isSimulated,
                incomplete: answered.isIncomplete, completeSince: freshness.completeSince?.description,
                resolutions: (0...finest).map { DrawnResolution.of(zoom: $0 + parsed.size.addedZooms) }))
        var headers = ResponseHeaders.make(answered, freshSeconds: frames.freshSeconds(of: snapshot))
        headers[.cacheControl] = "no-cache"
        return try JSONResponse.make(answer, headers: headers, request: request)
    }
}
