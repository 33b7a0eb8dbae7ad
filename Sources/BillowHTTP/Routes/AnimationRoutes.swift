package import BillowEngine
package import BillowRaster
package import BillowSnapshot
import BillowTiles
import BillowTimeline
import HTTPTypes
import Hummingbird
import Turbulence

/// `/animations/{layers}.png`: a timeline of a region as one animated PNG, or as a sheet of its frames.
struct AnimationRoutes: Sendable {
    let frames: FrameSource
    let timelines: TimelineService
    let renderer: AnimationRenderer
    let shelf: StyleShelf

    private var styles: StyleLibrary { shelf.current }

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/animations/:layers") { request, context in try await animation(request, context.parameters) }
    }

    /// 200 image/png, 304, 400 for what can't be read or is too large, 404 for an unknown layer and a time without frames,
    /// 503 when too many wait.
    private func animation(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let document = parameters.text("layers")
        guard document.hasSuffix(".png") else {
            throw Problem(
                .noSuchRoute, detail: "There is nothing at \(request.uri.path.prefix(200)).",
                allowed: "/animations/{layers}.png")
        }
        let layers = try LayerList(parameter: document.dropLast(4))
        let query = try QueryReader(request)
        let snapshot = try frames.snapshot()
        let order = try await AnimationRenderer.Request(
            layers: layers, query, timelines: timelines, snapshot: snapshot, styles: styles)
        let png = try await renderer.png(order, in: snapshot)
        var headers = AnswerHeaders.make(
            renderer.shown(order, in: snapshot), freshSeconds: frames.freshSeconds(of: snapshot))
        headers[.contentType] = order.form == .animation && order.times.count > 1 ? "image/apng" : "image/png"
        return try BytesAnswer.make(png, headers: headers, request: request)
    }
}

extension AnimationRenderer.Request {
    private static let defaultWidth = 640

    /// What `/animations` would draw for the same parameters.
    /// - Throws: `Problem` for what can't be read.
    package init(
        layers: String, parameters: [String: String], frames: FrameSource, snapshot: Snapshot, styles: StyleLibrary,
        settings: TimelineSettings, policy: FreshnessPolicy
    ) async throws {
        try await self.init(
            layers: LayerList(parameter: layers), QueryReader(parameters),
            timelines: TimelineService(frames: frames, settings: settings, policy: policy), snapshot: snapshot,
            styles: styles)
    }

    init(
        layers: LayerList, _ query: QueryReader, timelines: TimelineService, snapshot: Snapshot, styles: StyleLibrary
    ) async throws {
        let delay = try query.integer("delay", in: AnimationRenderer.delays) ?? AnimationRenderer.defaultDelay
        let timeline = try timelines.timeline(try query.timeline(timelines.settings.defaults), in: snapshot)
        let filter = try query.filter()
        self.init(
            layers: layers,
            times: try await timelines.times(of: LayerTime.list(of: layers), timeline, filter, in: snapshot),
            region: try query.region(defaultWidth: Self.defaultWidth), filter: filter,
            style: try styles.style(query), labels: try query.labels(),
            hasLegend: try query.boolean("legend") ?? true, hasTimeStamp: try query.boolean("timestamp") ?? true,
            hatchesIncomplete: try query.hatchesIncomplete(),
            form: try query.choice("form", [("animation", .animation), ("sheet", .sheet)]) ?? .animation,
            delayMilliseconds: delay,
            holdMilliseconds: try query.integer("hold", in: AnimationRenderer.delays)
                ?? min(3 * delay, AnimationRenderer.delays.upperBound),
            loops: try query.integer("loop", in: 0...10_000) ?? 0)
    }
}
