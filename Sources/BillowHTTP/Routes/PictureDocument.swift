import BillowEngine
import BillowParameters
import BillowRaster
import BillowTiles
import Hummingbird

/// The layers and style of a request for `{layers}.png`.
struct PictureDocument {
    let layers: LayerList
    let query: QueryReader
    let styles: StyleLibrary

    /// - Parameter route: the route's form, for the error about another file type: `/maps/{layers}.png`.
    /// - Throws: `Problem` for another file type and an unknown layer.
    init(_ request: Request, _ parameters: Parameters, styles: StyleStore, route: String) throws {
        let document = parameters.text("layers")
        guard document.hasSuffix(".png") else {
            throw Problem(
                .noSuchRoute, detail: "There is nothing at \(request.uri.path.prefix(200)).", parameter: "path",
                value: request.uri.path, allowed: route)
        }
        layers = try LayerList(parameter: document.dropLast(4))
        query = try QueryReader(request)
        self.styles = styles.current
    }
}
