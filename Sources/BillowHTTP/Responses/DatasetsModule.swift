import BillowExchange
import Datasets
import Foundation

/// The layers for the viewer, as a JavaScript module. It has what `/collections` has of each layer, so that the first
/// picture need not wait for that request, and the viewer needs no list of its own.
enum DatasetsModule {
    /// The path under which the viewer's modules import it.
    static let path = "/js/datasets.js"

    private struct Layer: Encodable {
        var id: String
        var layer: LayerDescription
    }

    /// The module's text. `LAYERS` has the drawn collections in the order of `/collections`: the `id` and the members
    /// of `layer`. `AREA_KINDS` maps the `kind` of areas to names.
    static var text: String {
        let layers = Catalogue.all.compactMap { dataset in
            LayerDescription(dataset).map { Layer(id: dataset.id, layer: $0) }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let list = try? encoder.encode(layers) else { preconditionFailure("texts and integers can be encoded") }
        var kinds = JSONWriter()
        kinds.openArray()
        for kind in Catalogue.areaKinds {
            kinds.openArray()
            kinds.value(kind.id)
            kinds.value(kind.title)
            kinds.closeArray()
        }
        kinds.closeArray()
        return """
            // Made by the server of its catalogue of datasets.
            export const LAYERS = \(String(decoding: list, as: UTF8.self)).map(({ id, layer }) => ({ id, ...layer }));
            export const AREA_KINDS = new Map(\(String(decoding: kinds.bytes, as: UTF8.self)));

            """
    }
}
