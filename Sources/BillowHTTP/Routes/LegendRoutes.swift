import BillowEngine
import BillowRaster
import BillowSnapshot
import BillowTiles
import HTTPTypes
import Hummingbird
import Turbulence

/// `/legend.json`, `/legend.png` and `/legend.svg`.
struct LegendRoutes: Sendable {
    let frames: FrameSource
    let shelf: StyleShelf
    let policy: FreshnessPolicy
    private let painter: LegendPainter

    private var styles: StyleLibrary { shelf.current }

    init(frames: FrameSource, shelf: StyleShelf, policy: FreshnessPolicy) {
        self.frames = frames
        self.shelf = shelf
        self.policy = policy
        painter = LegendPainter(frames.caches)
    }

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/legend.json") { request, _ in
            let (legend, headers) = try legend(request)
            return try JSONAnswer.make(legend, headers: headers, request: request)
        }
        router.get("/legend.png") { request, _ in
            let (legend, headers) = try legend(request)
            let png = try await painter.png(legend, options: try Self.options(request))
            return try Self.answer(png, type: "image/png", headers, request)
        }
        router.get("/legend.svg") { request, _ in
            let (legend, headers) = try legend(request)
            let svg = try await painter.svg(legend, options: try Self.options(request))
            return try Self.answer(Array(svg.utf8), type: "image/svg+xml", headers, request)
        }
    }

    private func legend(_ request: Request) throws -> (Legend, HTTPFields) {
        let reader = try QueryReader(request)
        let layers = try reader.layers("layer")
        let snapshot = try frames.snapshot()
        let filter = try reader.filter()
        let shown = policy.shown(layers, at: snapshot.publication.asOf, filter: filter, in: snapshot)
        let freshness = shown.freshness
        let notes =
            (freshness.isStale ? ["Stale: last data \(freshness.dataTime?.description ?? "never")"] : [])
            + (shown.isIncomplete ? ["Incomplete: \(freshness.sinceWords)"] : [])
            + filter.notes(lookBackSeconds: LayerTime.historySeconds(of: layers, filter))
        let legend = layers.legend(
            style: try styles.style(reader), severities: filter.severities, simulated: freshness.isSimulated,
            notes: notes)
        var headers = AnswerHeaders.make(shown, freshSeconds: frames.freshSeconds(of: snapshot))
        headers[.cacheControl] = "no-cache"
        return (legend, headers)
    }

    private static func options(_ request: Request) throws -> LegendOptions {
        let reader = try QueryReader(request)
        return try LegendOptions(
            scale: try reader.integer("scale", in: LegendOptions.scales) ?? 1,
            theme: try reader.choice("theme", Theme.allCases.map { ($0.rawValue, $0) }),
            orientation: try reader.choice("orientation", Orientation.allCases.map { ($0.rawValue, $0) }) ?? .vertical)
    }

    private static func answer(_ bytes: [UInt8], type: String, _ headers: HTTPFields, _ request: Request) throws
        -> Response
    {
        var headers = headers
        headers[.contentType] = type
        return try BytesAnswer.make(bytes, headers: headers, request: request)
    }
}
