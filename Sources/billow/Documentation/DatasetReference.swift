import Datasets

/// What the documentation says of datasets: all of it is in the catalogue.
enum DatasetReference {
    /// A row for each layer.
    static var layers: String {
        Markdown.head(["layer", "shows", "drawn as"])
            + Catalogue.layers.map { layer in
                Markdown.row(["`\(layer.id)`", layer.summary, layer.drawing?.words ?? ""])
            }.joined()
    }

    /// The ids of the collections.
    static var collections: String {
        "Collections are \(Catalogue.all.map { "`\($0.id)`" }.joined(separator: ", ")).\n"
    }

    /// A section for each collection with a row for each of its properties.
    static var properties: String {
        Catalogue.all.map { dataset in
            "### \(dataset.id)\n\n\(dataset.summary) Geometry: \(dataset.geometry.rawValue).\n\n"
                + Markdown.head(["property", "type", "unit", "range", "filter", "meaning"])
                + dataset.properties.map(row).joined()
        }.joined(separator: "\n")
    }

    private static func row(_ property: Property) -> String {
        let range = property.range.map { "\(number($0.lowerBound))–\(number($0.upperBound))" }
        return Markdown.row([
            "`\(property.name)`", property.type.words + (property.isOfTilesOnly ? "; vector tiles only" : ""),
            property.unit ?? "", range ?? "", property.filter.map { "`\($0)`" } ?? "", property.summary,
        ])
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? String(Int(value)) : String(value)
    }
}

extension Property.ValueType {
    fileprivate var words: String {
        switch self {
        case .text: "text"
        case .integer: "integer"
        case .decimal(let decimals): "number, \(decimals) decimals"
        case .flag: "true or false"
        case .instant: "instant"
        case .instants: "list of instants"
        case .groups: "list"
        }
    }
}

extension Dataset.Drawing {
    fileprivate var words: String {
        switch self {
        case .cells: "cells"
        case .field: "the nearest point of its grid"
        case .polygons: "areas without borders"
        case .reports: "symbols"
        case .areas: "outlines with a pattern"
        case .aircraft: "symbols turned to their heading"
        case .tracks: "lines"
        }
    }
}
