import BillowEngine
import BillowParameters
import BillowRaster
import BillowSnapshot
import BillowTiles
import Datasets
import Geometry
import HTTPTypes
import Hummingbird
import Turbulence

/// `/maps/{layers}.png`: an image of a region.
struct MapRoutes: Sendable {
    let frames: FrameSource
    let maps: MapRenderer
    let styleStore: StyleStore
    let policy: FreshnessPolicy

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/maps/:layers") { request, context in try await map(request, context.parameters) }
    }

    /// Responds with 200 image/png or 304. 400 for an invalid request, 404 for an unknown layer or a time outside
    /// retention, 503 if the queue is full.
    private func map(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let document = try PictureDocument(request, parameters, styles: styleStore, route: "/maps/{layers}.png")
        let parsed = try MapParameters(layers: document.layers, document.query, styles: document.styles)
        let snapshot = try frames.snapshot()
        let (order, dataStatus) = try parsed.request(frames, policy, in: snapshot)
        let known = EntityTags(request.headers[.ifNoneMatch])
        let picture = try await maps.picture(order, in: snapshot) { known.match($0) }
        var headers = ResponseHeaders.make(dataStatus, freshSeconds: frames.freshSeconds(of: snapshot))
        headers.omit(try MapComposition(order).omittedParts())
        return try PictureResponse.make(picture, headers: headers, known: known)
    }
}
