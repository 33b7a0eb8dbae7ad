import BillowEngine
import BillowParameters
import BillowRaster
import BillowSnapshot
import BillowTiles
import BillowTimeline
import HTTPTypes
import Hummingbird
import Turbulence

/// `/animations/{layers}.png`: a timeline of a region as an animated PNG, or as a sheet of its frames.
struct AnimationRoutes: Sendable {
    let frames: FrameSource
    let timelines: TimelineService
    let renderer: AnimationRenderer
    let styleStore: StyleStore

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/animations/:layers") { request, context in try await animation(request, context.parameters) }
    }

    /// Responds with 200 image/png or 304. 400 for a bad parameter or too large an image, 404 for an unknown layer or a
    /// time without frames, 503 if the queue is full.
    private func animation(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let document = try PictureDocument(request, parameters, styles: styleStore, route: "/animations/{layers}.png")
        let parsed = try AnimationParameters(
            layers: document.layers, document.query, styles: document.styles, defaults: timelines.settings.defaults)
        let snapshot = try frames.snapshot()
        let order = try await parsed.request(timelines, in: snapshot)
        let png = try await renderer.png(order, in: snapshot)
        var headers = ResponseHeaders.make(
            renderer.dataStatus(order, in: snapshot), freshSeconds: frames.freshSeconds(of: snapshot))
        headers.omit(try renderer.omittedParts(order, in: snapshot))
        headers[.contentType] = order.form == .animation && order.times.count > 1 ? "image/apng" : "image/png"
        return try BytesResponse.make(png, headers: headers, request: request)
    }
}
