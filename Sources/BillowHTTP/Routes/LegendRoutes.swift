import BillowEngine
import BillowParameters
import BillowRaster
import BillowSnapshot
import BillowTiles
import HTTPTypes
import Hummingbird
import Turbulence

/// `/legend.json`, `/legend.png` and `/legend.svg`.
struct LegendRoutes: Sendable {
    let frames: FrameSource
    let styleStore: StyleStore
    let policy: FreshnessPolicy
    private let painter: LegendPainter

    private var styles: StyleLibrary { styleStore.current }

    init(frames: FrameSource, styleStore: StyleStore, policy: FreshnessPolicy) {
        self.frames = frames
        self.styleStore = styleStore
        self.policy = policy
        painter = LegendPainter(frames.caches)
    }

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/legend.json") { request, _ in
            let (legend, headers) = try legend(request)
            return try JSONResponse.make(legend, headers: headers, request: request)
        }
        router.get("/legend.png") { request, _ in
            let options = try LegendParameters.options(QueryReader(request))
            let (legend, headers) = try legend(request, options)
            let png = try await painter.png(legend, options: options)
            return try Self.answer(png, type: "image/png", headers, request)
        }
        router.get("/legend.svg") { request, _ in
            let options = try LegendParameters.options(QueryReader(request))
            let (legend, headers) = try legend(request, options)
            let svg = try await painter.svg(legend, options: options)
            return try Self.answer(Array(svg.utf8), type: "image/svg+xml", headers, request)
        }
    }

    private func legend(_ request: Request, _ options: LegendOptions? = nil) throws -> (Legend, HTTPFields) {
        let parsed = try LegendParameters(QueryReader(request), styles: styles, options: options)
        let (layers, filter) = (parsed.layers, parsed.filter)
        let snapshot = try frames.snapshot()
        let dataStatus = policy.dataStatus(layers, at: snapshot.publication.asOf, filter: filter, in: snapshot)
        let freshness = dataStatus.freshness
        let notes =
            (freshness.isStale ? ["Stale: last data \(freshness.dataTime?.description ?? "never")"] : [])
            + (dataStatus.isIncomplete ? ["Incomplete: \(freshness.sinceWords)"] : [])
            + filter.notes(lookBackSeconds: layers.historySeconds(filter))
        let legend = layers.legend(
            style: parsed.style, severities: filter.severities, simulated: freshness.isSimulated,
            notes: notes)
        var headers = ResponseHeaders.make(dataStatus, freshSeconds: frames.freshSeconds(of: snapshot))
        headers[.cacheControl] = "no-cache"
        return (legend, headers)
    }

    private static func answer(_ bytes: [UInt8], type: String, _ headers: HTTPFields, _ request: Request) throws
        -> Response
    {
        var headers = headers
        headers[.contentType] = type
        return try BytesResponse.make(bytes, headers: headers, request: request)
    }
}
