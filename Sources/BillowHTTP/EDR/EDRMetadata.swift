import BillowEngine
import BillowParameters
import Datasets
import JSONKit

/// The data queries in a collection's description.
///
/// Source: OGC 19-086r6 (OGC API EDR) section 8.3 and annex C
enum EDRMetadata {
    private static let edrClass = "http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/"
    /// The conformance classes of the routes.
    ///
    /// Source: OGC 19-086r6 annex A
    static let classes = ["core", "collections", "json", "geojson", "covjson", "oas30", "queries"].map { edrClass + $0 }

    /// The relation of links to data.
    private static let relation = "data"

    /// `data_queries`: the address of each query and the options that it accepts.
    static func queries(of collection: Dataset, _ path: String) -> JSONValue {
        var queries: [String: JSONValue] = [:]
        for query in EDRQuery.allCases where query.isOffered(by: collection) {
            queries[query.rawValue] = ["link": link(query, collection, path)]
        }
        return .object(queries)
    }

    private static func link(_ query: EDRQuery, _ collection: Dataset, _ path: String) -> JSONValue {
        let formats = query.formats(of: collection).map(\.rawValue)
        let names = query.names(of: collection)
        var variables: [String: JSONValue] = [
            "title": .string(query.title(of: collection)), "query_type": .string(query.rawValue),
            "output_formats": .array(formats.map { .string($0) }), "default_output_format": .string(formats[0]),
            "crs_details": [["crs": "CRS84", "wkt": .string(wellKnownText)]],
        ]
        for (parameter, units) in [
            ("within-units", "within_units"), ("width-units", "width_units"), ("height-units", "height_units"),
        ] where names.contains(parameter) {
            variables[units] = QueryParameter.named(parameter)?.schema["enum"]
        }
        return [
            "href": .string("\(path)/\(query.rawValue)"), "rel": .string(relation),
            "type": .string(query.formats(of: collection)[0].mediaType), "title": .string(query.title(of: collection)),
            "variables": .object(variables),
        ]
    }

    /// Links to the data queries that need no parameters, for clients that look for data there.
    static func links(of collection: Dataset, _ path: String) -> [Link] {
        [EDRQuery.locations].map { query in
            Link(
                relation, "\(path)/\(query.rawValue)", type: query.formats(of: collection)[0].mediaType,
                title: query.title(of: collection))
        }
    }

    /// The formats that any query of a collection has.
    static func formats(of collection: Dataset) -> [String] {
        DataFormat.allCases.filter { format in
            EDRQuery.allCases.contains { $0.isOffered(by: collection) && $0.formats(of: collection).contains(format) }
        }.map(\.rawValue)
    }

    /// `parameter_names`: the properties of a collection's features.
    static func parameters(of collection: Dataset) -> JSONValue {
        var parameters: [String: JSONValue] = [:]
        for property in collection.featureProperties {
            let name = "\(property.name)"
            var parameter: [String: JSONValue] = [
                "type": "Parameter", "id": .string(name), "description": .string(property.summary),
                "data-type": .string(property.dataType), "observedProperty": ["label": .string(property.summary)],
            ]
            if let unit = property.unit { parameter["unit"] = ["label": .string(unit), "symbol": .string(unit)] }
            parameters[name] = .object(parameter)
        }
        return .object(parameters)
    }

    /// Source: EPSG:4326 in longitude and latitude, OGC 12-063r5 (Well-known text of coordinate reference systems)
    private static let wellKnownText =
        #"GEOGCRS["WGS 84 (CRS84)",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]],"#
        + #"CS[ellipsoidal,2],AXIS["longitude",east],AXIS["latitude",north],ANGLEUNIT["degree",0.0174532925199433],"#
        + #"ID["OGC","CRS84"]]"#

    /// Source: OGC 12-063r5; altitudes are pressure altitudes in feet
    static let verticalReference =
        #"VERTCRS["Pressure altitude",VDATUM["Standard pressure 1013.25 hPa"],CS[vertical,1],"#
        + #"AXIS["pressure altitude",up],LENGTHUNIT["foot",0.3048]]"#
}

extension Property {
    /// Source: OGC 19-086r6 section 8.3, "data-type" of a parameter
    fileprivate var dataType: String {
        switch type {
        case .integer: "integer"
        case .decimal: "float"
        case .text, .flag, .instant, .instants, .groups: "string"
        }
    }
}
