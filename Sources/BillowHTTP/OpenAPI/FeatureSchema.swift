import BillowParameters
import Datasets
import JSONKit

/// The JSON Schema of a collection's features, derived from its properties in the catalogue.
///
/// Source: OGC 23-058r1 (OGC API Features part 5: Schemas); JSON Schema 2020-12
enum FeatureSchema {
    static let mediaType = "application/schema+json"

    /// The schema of a feature's properties and its geometry.
    static func document(of dataset: Dataset, id: String) -> JSONValue {
        var members = members(of: dataset.properties.filter { !$0.isOfTilesOnly })
        members["geometry"] = [
            "x-ogc-role": "primary-geometry", "format": .string("geometry-\(dataset.geometryFormat)"),
        ]
        return document(dataset, id, members)
    }

    /// The properties that are also query parameters, and the geometry, which `bbox` filters.
    static func queryables(of dataset: Dataset, id: String) -> JSONValue {
        let names = FeatureParameters.names(dataset)
        let own = dataset.properties.filter {
            !$0.isOfTilesOnly && $0.filter == "\($0.name)" && names.contains("\($0.name)")
        }
        var members = members(of: own)
        members["geometry"] = ["format": .string("geometry-\(dataset.geometryFormat)")]
        return document(dataset, id, members, more: ["additionalProperties": false])
    }

    /// The schema of a feature in the OpenAPI description.
    static func feature(of dataset: Dataset) -> JSONValue {
        [
            "type": "object", "required": ["type", "id", "geometry", "properties"],
            "properties": [
                "type": ["type": "string", "enum": ["Feature"]], "id": ["type": "string"],
                "geometry": ["type": "object", "description": .string(dataset.geometry.rawValue)],
                "properties": [
                    "type": "object",
                    "properties": .object(members(of: dataset.properties.filter { !$0.isOfTilesOnly })),
                ],
            ],
        ]
    }

    /// The same as a document by itself.
    static func featureDocument(of dataset: Dataset, id: String) -> JSONValue {
        guard case .object(var members) = feature(of: dataset) else { return [:] }
        members["$schema"] = "https://json-schema.org/draft/2020-12/schema"
        members["$id"] = .string(id)
        members["title"] = .string(dataset.title)
        return .object(members)
    }

    private static func document(
        _ dataset: Dataset, _ id: String, _ members: [String: JSONValue], more: [String: JSONValue] = [:]
    ) -> JSONValue {
        .object(
            more.merging([
                "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": .string(id), "type": "object",
                "title": .string(dataset.title), "description": .string(dataset.summary),
                "properties": .object(members),
            ]) { _, new in new })
    }

    private static func members(of properties: [Property]) -> [String: JSONValue] {
        Dictionary(properties.map { ("\($0.name)", $0.jsonSchema) }) { first, _ in first }
    }
}

extension Dataset {
    /// Source: OGC 23-058r1, table of geometry formats; a geometry that is cut at 180° has several parts.
    fileprivate var geometryFormat: String {
        switch geometry {
        case .point: "point"
        case .polygon: "polygon-or-multipolygon"
        case .line: "linestring-or-multilinestring"
        }
    }
}

extension Property {
    /// The schema of its value.
    fileprivate var jsonSchema: JSONValue {
        var schema: [String: JSONValue] =
            switch type {
            case .text: ["type": "string"]
            case .integer: ["type": "integer"]
            case .decimal: ["type": "number"]
            case .flag: ["type": "boolean"]
            case .instant: ["type": "string", "format": "date-time"]
            case .instants: ["type": "array", "items": ["type": "string", "format": "date-time"]]
            case .groups: ["type": "array", "items": ["type": "object"]]
            }
        schema["description"] = .string(summary)
        if let unit { schema["x-ogc-unit"] = .string(unit) }
        if let range {
            schema["minimum"] = .number(range.lowerBound)
            schema["maximum"] = .number(range.upperBound)
        }
        return .object(schema)
    }
}
