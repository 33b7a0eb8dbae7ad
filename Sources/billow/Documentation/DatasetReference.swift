import BillowEngine
import BillowExchange
import BillowSync
import Datasets
import Turbulence

/// The documentation of datasets, generated from the catalogue.
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
        Markdown.paragraph("Collections are \(Catalogue.all.map { "`\($0.id)`" }.joined(separator: ", ")).")
    }

    /// The values of the parameter `kind`.
    static var kinds: String {
        let observations = ObservationKind.shown.map { "`\($0.name)`" }.joined(separator: " or ")
        let areas = Catalogue.areaKinds.map { "`\($0.id)`" }.joined(separator: ", ")
        return Markdown.paragraph("Observations are \(observations). Areas are one of \(areas).")
    }

    /// The layers whose timeline supports the rule `changes`.
    static var changing: String {
        let layers = TimelineSettings.layersWithChanges.map { "`\($0)`" }.joined(separator: ", ")
        return Markdown.paragraph("Layers that may have `changes`: \(layers).")
    }

    /// A row for each type of data that a source with the setting `products` may request.
    static var products: String {
        Markdown.head(["source", "product", "becomes"])
            + [AviationWeatherUpstream.kind, NOAAUpstream.kind].flatMap { service in
                Catalogue.types(of: service).map { type in
                    let origin = Dataset.Origin(service, type)
                    let title = Catalogue.areas(of: origin).map { " (\($0.kind.title))" } ?? ""
                    let datasets = Catalogue.datasets(of: origin).map { "`\($0.id)`" }.joined(separator: ", ")
                    return Markdown.row(["`\(service)`", "`\(type)`", datasets + title])
                }
            }.joined()
    }

    /// A row for each field name of imported observations.
    static var names: String {
        Markdown.head(["name", "also", "meaning"])
            + ImportedName.ofObservations.map { name in
                Markdown.row([
                    "`\(name.text)`", name.aliases.map { "`\($0)`" }.joined(separator: ", "), name.summary,
                ])
            }.joined()
    }

    /// A row for each kind of imported area.
    static var areas: String {
        Markdown.head(["`kind`", "product", "collection"])
            + Catalogue.all.filter { $0.origins.contains(.file) }.flatMap { dataset in
                dataset.areaKinds.filter { $0.product != nil }.map { kind in
                    Markdown.row(["`\(kind.id)`", kind.title, "`\(dataset.id)`"])
                }
            }.joined()
    }

    /// A section for each collection with a row for each of its properties.
    static var properties: String {
        Catalogue.all.map { dataset in
            "### \(dataset.id)\n\n"
                + Markdown.paragraph("\(dataset.summary) Geometry: \(dataset.geometry.rawValue).") + "\n"
                + Markdown.head(["property", "type", "unit", "range", "filter", "meaning"])
                + dataset.properties.map(row).joined()
                + (dataset.sampleProperties.isEmpty
                    ? ""
                    : "\nAt a position and along a route it has these:\n\n"
                        + Markdown.head(["property", "type", "unit", "range", "filter", "meaning"])
                        + dataset.sampleProperties.map(row).joined())
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
