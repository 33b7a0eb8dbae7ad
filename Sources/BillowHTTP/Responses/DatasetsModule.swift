import BillowExchange
import BillowFields
import Datasets
import Foundation
import Turbulence

/// The layers, severities, histories and the base map for the viewer, as a JavaScript module. It has what
/// `/collections` has of each layer, so that the first picture need not wait for that request, and the viewer needs no
/// list of its own.
enum DatasetsModule {
    /// The path under which the viewer's modules import it.
    static let path = "/js/datasets.js"

    private struct Layer: Encodable {
        var id: String
        var layer: LayerDescription
    }

    /// The module's text. `LAYERS` has the drawn collections in the order of `/collections`: the `id` and the members
    /// of `layer`. `AREA_KINDS` maps the `kind` of areas to names, and `FIELD_PRODUCTS` the `product` of fields.
    /// `PROPERTIES` maps the ids of layers to the names of their features' properties, by role. `EVENTS` maps each
    /// collection to those whose `data` events may be about it. `SEVERITIES` has the label of each severity, and
    /// `HISTORIES` all histories in hours. `ONLINE_BASE_MAP` has the template and the attribution of a base map of
    /// another server, or is null.
    static func text(_ baseMap: OnlineBaseMap?) -> String {
        let layers = Catalogue.all.compactMap { dataset in
            LayerDescription(dataset).map { Layer(id: dataset.id, layer: $0) }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let online = baseMap.map { ["tiles": $0.tiles, "attribution": $0.attribution] }
        guard let data = try? encoder.encode(layers), let map = try? encoder.encode(online) else {
            preconditionFailure("texts and integers can be encoded")
        }
        return """
            // Made by the server of its catalogue of datasets.
            export const LAYERS = \(String(decoding: data, as: UTF8.self)).map(({ id, layer }) => ({ id, ...layer }));
            export const AREA_KINDS = new Map(\(pairs(Catalogue.areaKinds.map { ($0.id, $0.title) })));
            export const FIELD_PRODUCTS = new Map(\(pairs(FieldProduct.allCases.map { ($0.name, $0.title) })));
            export const PROPERTIES = new Map(\(properties));
            export const EVENTS = new Map(\(events));
            export const SEVERITIES = \(list(Severity.allCases) { $0.value($1.label) });
            export const HISTORIES = [\(History.allCases.map(\.text).joined(separator: ","))];
            export const ONLINE_BASE_MAP = \(String(decoding: map, as: UTF8.self));

            """
    }

    /// The roles that the viewer needs, with their names there.
    private static let roles: [(name: StaticString, role: Property.Role)] = [
        ("severity", .severity), ("altitude", .altitude), ("lowerAltitude", .lowerAltitude),
        ("upperAltitude", .upperAltitude),
    ]

    private static var properties: String {
        list(Catalogue.all.filter { $0.drawing != nil }) { writer, dataset in
            writer.openArray()
            writer.value(dataset.id)
            writer.openObject()
            for (name, role) in roles {
                guard let property = dataset.properties.first(where: { $0.role == role }) else { continue }
                writer.name(name)
                writer.value("\(property.name)")
            }
            writer.closeObject()
            writer.closeArray()
        }
    }

    /// The event of a dataset with upstream data also stands for the datasets that are derived from it.
    private static var events: String {
        list(Catalogue.all) { writer, dataset in
            writer.openArray()
            writer.value(dataset.id)
            writer.openArray()
            for other in Catalogue.all where other == dataset || other.kind == dataset.kind && !other.isDerived {
                writer.value(other.id)
            }
            writer.closeArray()
            writer.closeArray()
        }
    }

    private static func pairs(_ pairs: [(String, String)]) -> String {
        list(pairs) { writer, pair in
            writer.openArray()
            writer.value(pair.0)
            writer.value(pair.1)
            writer.closeArray()
        }
    }

    private static func list<Item>(_ items: [Item], _ write: (inout JSONWriter, Item) -> Void) -> String {
        var writer = JSONWriter()
        writer.openArray()
        for item in items { write(&writer, item) }
        writer.closeArray()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
