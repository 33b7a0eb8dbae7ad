import BillowEngine
import BillowRaster
import BillowSnapshot
import BillowTiles
import BillowTimeline
import HTTPTypes
import Hummingbird
import Turbulence

/// `/timeline.json`, and the same as `/public/weather-maps.json` for clients of RainViewer's interface.
struct TimelineRoutes: Sendable {
    let frames: FrameSource
    let service: TimelineService
    let shelf: StyleShelf
    let publicURL: String?

    private static let passedOn = QueryReader.filterNames.union(["style", "opacity", "incomplete"])
    /// Bytes of the parameters that each frame's address repeats, as they stand in it.
    private static let mostPassedOn = 512
    /// A manifest may be kept this long: what it names can be had for a day.
    private static let freshSeconds = 10

    private var styles: StyleLibrary { shelf.current }

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/timeline.json") { request, _ in try await timeline(request) }
        router.get("/public/weather-maps.json") { request, _ in try await weatherMaps(request) }
    }

    /// 200, 304, 400 for what is no timeline.
    private func timeline(_ request: Request) async throws -> Response {
        let query = try QueryReader(request)
        let snapshot = try frames.snapshot()
        let asked = try manifestRequest(query, request)
        let manifest = try await service.manifest(asked, in: snapshot)
        return try JSONAnswer.make(
            manifest,
            headers: headers(
                asked.pictures.flatMap(\.self), asked.filter, snapshot,
                isIncomplete: manifest.layers.contains(where: \.incomplete)), request: request)
    }

    private func manifestRequest(_ query: QueryReader, _ request: Request) throws(Problem) -> TimelineService.Request {
        // Every frame's address repeats them.
        let passedOn = String(query.passedOn(Self.passedOn).dropFirst())
        guard passedOn.utf8.count <= Self.mostPassedOn else {
            throw query.invalid(
                "source", "\(passedOn.prefix(100))…", "filters and style of at most \(Self.mostPassedOn) bytes together"
            )
        }
        let rules = FrameRule.allCases.map { ($0.rawValue, $0) }
        let layers = try query.has("layers") ? LayerTime.list(query.text("layers") ?? "") : LayerTime.all
        return TimelineService.Request(
            timeline: try query.timeline(service.settings.defaults),
            pictures: try query.boolean("composed") ?? false ? [layers] : layers.map { [$0] },
            filter: try query.filter(), time: try query.timePoint("time"),
            rule: try query.choice("rule", rules) ?? .latest, style: try styles.style(query),
            base: BaseURL.of(request, publicURL),
            passedOn: passedOn)
    }

    private func headers(_ layers: [LayerTime], _ filter: Filter, _ snapshot: Snapshot, isIncomplete: Bool)
        -> HTTPFields
    {
        let freshness = service.policy.freshness(of: Set(layers.map(\.layer.kind)), in: snapshot, filter: filter)
        return AnswerHeaders.make(
            Shown(freshness, at: snapshot.publication.asOf, isIncomplete: isIncomplete),
            freshSeconds: min(Self.freshSeconds, frames.freshSeconds(of: snapshot)))
    }

    // MARK: - RainViewer's shape

    /// Source: RainViewer API, www.rainviewer.com/api/weather-maps-api.html (version 2.0)
    private struct WeatherMaps: Encodable {
        struct Frame: Encodable {
            var time: Int
            var path: String
        }

        struct Radar: Encodable {
            var past: [Frame]
            var nowcast: [Frame] = []
        }

        struct Satellite: Encodable {
            var infrared: [Frame] = []
        }

        var version = "2.0"
        var generated: Int
        var host: String
        var radar: Radar
        var satellite = Satellite()
    }

    /// The frames of the first layer, by paths to which a client appends `/{size}/{z}/{x}/{y}/{color}/{options}.png`.
    private func weatherMaps(_ request: Request) async throws -> Response {
        _ = try QueryReader(request)
        let snapshot = try frames.snapshot()
        guard let layer = LayerTime.all.first else {
            throw Problem(.noLayer, detail: "There is no layer.")
        }
        let filter = Filter()
        let look = try frames.look(styles.style(QueryReader([:])), in: snapshot)
        let timeline = try service.timeline(TimelineRequest(), in: snapshot)
        let freshness = service.policy.freshness(of: [layer.layer.kind], in: snapshot, filter: filter)
        var past: [WeatherMaps.Frame] = []
        var isIncomplete = false
        for time in try await service.times(of: [layer], timeline, filter, in: snapshot) {
            let version = try await frames.frameVersion(of: [layer], at: time, filter: filter, in: snapshot)
            let path = FrameName.weatherMapPath(
                layer: layer.id, time: time.compact, FrameName(version: version, look: look))
            past.append(WeatherMaps.Frame(time: time.seconds, path: path))
            isIncomplete =
                isIncomplete || freshness.isIncomplete(at: time, lookBack: LayerTime.lookBack(of: [layer], filter))
        }
        let maps = WeatherMaps(
            generated: snapshot.publication.asOf.seconds, host: BaseURL.of(request, publicURL),
            radar: WeatherMaps.Radar(past: past))
        return try JSONAnswer.make(
            maps, headers: headers([layer], filter, snapshot, isIncomplete: isIncomplete),
            request: request)
    }
}

extension LayerTime {
    /// Layers by a list of their ids.
    static func list(_ text: String) throws(Problem) -> [LayerTime] {
        var layers: [LayerTime] = []
        for id in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let layer = all.first(where: { $0.id == id }), !layers.contains(where: { $0.id == id }) else {
                throw Problem(
                    ParameterError(
                        parameter: "layers", value: text,
                        expected: "a list, each once, of \(all.map(\.id).joined(separator: ", "))"))
            }
            layers.append(layer)
        }
        return layers
    }
}

extension QueryReader {
    /// `start`, `end`, `intervals` and `anchor`.
    func timeline(_ defaults: TimelineDefaults) throws(Problem) -> TimelineRequest {
        TimelineRequest(
            start: try timePoint("start"), end: try timePoint("end"),
            intervals: try integer("intervals", in: 1...defaults.limits.intervals), isAnchored: try boolean("anchor"))
    }

    func timePoint(_ name: String) throws(Problem) -> TimePoint? {
        guard let text = text(name) else { return nil }
        guard let point = TimePoint(text) else {
            let isBeyond = Instant.unixSeconds(text) != nil
            throw invalid(
                name, text,
                isBeyond ? "from \(Instant.distantPast) to \(Instant.distantFuture)" : TimePoint.expected)
        }
        return point
    }

    /// What of a frame an address names; nil where it names no version.
    func frameName() throws(Problem) -> FrameName? {
        guard let text = text("v") else { return nil }
        guard let number = Digits.integer(text) else {
            throw invalid("v", text, "a frame's version, as the timeline names it: a whole number")
        }
        guard let named = self.text("s") else { return FrameName(version: Version(rawValue: Int64(number))) }
        guard let look = PictureLook(named) else {
            throw invalid("s", named, "a frame's look, as the timeline names it: 16 hexadecimal digits")
        }
        return FrameName(version: Version(rawValue: Int64(number)), look: look)
    }
}
