import BillowEngine
import BillowExchange
import BillowParameters
import Datasets
import HTTPTypes
import Hummingbird
import JSONKit

/// The description of the interface. It is derived from the route table, the parameter names of each route, and the
/// schemas of the catalogue.
///
/// Source: OpenAPI Specification 3.1.1, and 3.0.4 for clients that know only that; all used members are equal in both
struct APIDescription: Sendable {
    let routes: RouteTable
    /// The server's address.
    let base: String

    func document(_ version: OpenAPIVersion) -> JSONValue {
        var paths: [String: JSONValue] = [:]
        for (path, methods) in routes.paths where !path.hasPrefix(LandingRoutes.path + "/") {
            for route in Self.expanded(path) {
                var item: [String: JSONValue] = [:]
                for method in methods { item[method.rawValue.lowercased()] = operation(method, route) }
                paths[route.path] = .object(item)
            }
        }
        return [
            "openapi": .string(version.number),
            "info": [
                "title": "Billow", "version": "1",
                "description": "Turbulence as features, tiles, maps and timelines. Not for operational use.",
            ],
            "servers": [["url": .string(base)]], "paths": .object(paths),
            "components": [
                "parameters": .object(Self.parameters(version)), "schemas": .object(Self.schemas),
                "responses": [
                    "problem": [
                        "description": "A problem document that describes the error",
                        "content": [
                            "application/problem+json": ["schema": ["$ref": "#/components/schemas/problem"]]
                        ],
                    ],
                    "exception": Self.exception,
                ],
                "securitySchemes": ["key": ["type": "apiKey", "in": "header", "name": "X-API-Key"]],
            ],
            "security": [[:], ["key": []]],
        ]
    }

    // MARK: - Routes

    /// A path of the route table. A path with a collection has an entry for each collection.
    private struct Route {
        /// The path in the route table.
        var template: String
        var path: String
        var dataset: Dataset?
        /// The format of a pack.
        var pack: DownloadFormat?
    }

    private static let place = "/collections/{id}"
    /// Whether only drawn collections have the path.
    private static let picturePlaces = [place + "/tiles", place + "/map"]
    private static let tile = "/{set}/{matrix}/{row}/{column}"
    private static let export = "/export/{file}"
    private static let job = "/jobs/{job}"
    private static let changes = "/changes/{collection}"
    private static let ownTile = "/tiles/{layers}/{time}/{z}/{x}/{y}"

    /// The exports of each collection's features, and its packs, which have other parameters.
    private static let exports = Catalogue.all.flatMap { dataset in
        [
            Route(template: export, path: "/export/\(dataset.id)", dataset: dataset),
            Route(template: export, path: "/export/\(dataset.id).{format}", dataset: dataset),
        ]
            + DownloadFormat.allCases.filter { $0.isPack && dataset.drawing != nil }.map { format in
                Route(
                    template: export, path: "/export/\(dataset.id).\(format.ending)", dataset: dataset, pack: format)
            }
    }

    private static func expanded(_ path: String) -> [Route] {
        if path == export { return exports }
        let holder = [Self.place, changes].first { path == $0 || path.hasPrefix($0 + "/") }
        guard let holder else { return [Route(template: path, path: path)] }
        let start = holder.prefix { $0 != "{" }
        let isOfPictures = picturePlaces.contains { path.hasPrefix($0) }
        return Catalogue.all.filter { dataset in
            (query(path)?.isOffered(by: dataset) ?? true) && (!isOfPictures || dataset.drawing != nil)
        }.map {
            Route(template: path, path: "\(start)\($0.id)\(path.dropFirst(holder.count))", dataset: $0)
        }
    }

    /// The data query of a path; nil for another path.
    private static func query(_ path: String) -> EDRQuery? {
        if path == place + "/locations/{location}" { return .locations }
        let query = path.hasPrefix(place + "/") ? EDRQuery(rawValue: String(path.dropFirst(place.count + 1))) : nil
        return query == .locations ? nil : query
    }

    /// The parameters of a route. Of a route with the grammar of another standard these are the filters.
    private static func names(_ route: Route) -> Set<String> {
        if let query = query(route.template), let dataset = route.dataset { return query.names(of: dataset) }
        return switch (route.template, route.dataset) {
        case (place + "/locations", _): LocationParameters.names
        case (place + "/items/{feature}", let dataset?): FeatureParameters.names(dataset)
        case (place + "/tiles" + tile, _?): OGCTileParameters.vectorNames
        case (place + "/map/tiles" + tile, _?): OGCTileParameters.pictureNames
        case (place + "/map", _?): OGCMapParameters.names
        case (place + "/tiles", _), (place + "/tiles/{set}", _), (place + "/map/tiles", _),
            (place + "/map/tiles/{set}", _), ("/tileMatrixSets", _), ("/tileMatrixSets/{set}", _):
            DocumentParameters.names
        case (changes, let dataset?): ChangeParameters.names(dataset)
        // The path names the format.
        case (export, let dataset?):
            if let pack = route.pack {
                PackParameters.names(pack).subtracting(["f"])
            } else {
                FeatureExportParameters.names(
                    dataset, .text(.geojson), isNegotiated: !route.path.hasSuffix("{format}"))
            }
        case ("/maps/{layers}", _): MapParameters.names
        case ("/animations/{layers}", _): AnimationParameters.names
        case ("/legend.json", _): LegendParameters.names
        case ("/legend.png", _), ("/legend.svg", _): LegendParameters.pictureNames
        case ("/timeline.json", _): TimelineParameters.names
        case ("/tiles/{layers}", _): TileJSONParameters.names
        case (ownTile, _): TileParameters.names
        case ("/styles/{id}", _): StyleParameters.names
        case ("/corridors", _): CorridorShapeParameters.names
        case ("/profiles.json", _): ProfileParameters.names
        case ("/profiles.png", _): ProfileParameters.Picture.names
        case ("/events", _): EventParameters.names
        case ("/admin/sources/{id}/refresh", _): RefreshParameters.names
        case ("/collections", _), (place, _), (place + "/schema", _),
            (place + "/schema/feature", _), (place + "/queryables", _), ("/conformance", _), ("/ogc", _), ("/", _):
            DocumentParameters.names
        case ("/openapi.json", _): OpenAPIParameters.names
        case ("/wms", _), ("/wmts", _): Set(ownParameters(route.template).map(\.name))
        case (let path, _) where path.hasPrefix("/wmts/") && path.contains("{layer}"):
            KVPReader.tileNames.union([ServiceParameter.elevation.rawValue])
        case ("/public/weather-maps.json", _): QueryReader.filterNames
        case (let path, _) where path.hasPrefix("/v2/"): QueryReader.filterNames
        default: []
        }
    }

    /// The names of the parameters that mean the same on all routes, which need a description.
    var names: Set<String> {
        routes.paths.flatMap { Self.expanded($0.path) }.reduce(into: []) { names, route in
            names.formUnion(Self.names(route).subtracting(Self.ownParameters(route.template).map(\.name)))
        }
    }

    /// The values of `f`.
    private static func formats(_ route: Route) -> [String] {
        if let query = query(route.template), let dataset = route.dataset {
            return query == .items
                ? ItemFormat.allCases.flatMap(\.names) : query.formats(of: dataset).flatMap(\.names)
        }
        return switch route.template {
        case "/openapi.json": OpenAPIVersion.allCases.map(\.rawValue)
        case "/", LandingRoutes.path, "/collections", "/conformance", place: ["json", "html"]
        case place + "/items/{feature}": ["json", "geojson", "html"]
        case export: route.pack.map { [$0.ending] } ?? ExportParameters.formatNames
        case "/tiles/{layers}", "/styles/{id}": ["png", "mvt", "json"]
        case place + "/schema", place + "/schema/feature", place + "/queryables", place + "/tiles",
            place + "/tiles/{set}", place + "/map/tiles", place + "/map/tiles/{set}":
            ["json"]
        case place + "/map", place + "/map/tiles" + tile: ["png"]
        case place + "/tiles" + tile: ["mvt"]
        case let path where path.hasPrefix(place) || path.hasPrefix("/changes/") || path == "/corridors":
            ["json", "geojson"]
        default: ["json"]
        }
    }

    private func operation(_ method: HTTPRequest.Method, _ route: Route) -> JSONValue {
        var parameters: [JSONValue] = route.path.split(separator: "/").flatMap { segment in
            segment.matches(of: /\{([a-z]+)\}/).map { Self.pathParameter(String($0.1)) }
        }
        let names = Self.names(route)
        let isInBody = [.post, .put, .patch].contains(method) && route.template != Self.export
        let shown = isInBody ? names.subtracting(["coords", "route"]) : names
        if shown.contains("f") {
            let formats: [JSONValue] = Self.formats(route).map { .string($0) }
            parameters.append([
                "name": "f", "in": "query", "required": false, "description": "The format",
                "schema": ["type": "string", "enum": .array(formats)],
            ])
        }
        let own = Self.ownParameters(route.template)
        for name in shown.sorted() where name != "f" {
            if let own = own.first(where: { $0.name == name }) {
                parameters.append(Self.described(own))
            } else if let required = QueryParameter.named(name), Self.requires(name, method, route) {
                parameters.append(Self.described(required, isRequired: true))
            } else if QueryParameter.named(name) != nil {
                parameters.append(["$ref": .string("#/components/parameters/\(name)")])
            }
        }
        let words = route.path.split { !$0.isLetter && !$0.isNumber }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        var operation: [String: JSONValue] = [
            "operationId": .string(method.rawValue.lowercased() + (words.isEmpty ? "Root" : words.joined())),
            "tags": [.string(route.path.split(separator: "/").first.map(String.init) ?? "root")],
            "parameters": .array(parameters),
            "responses": responses(method, route),
        ]
        if let dataset = route.dataset { operation["summary"] = .string(dataset.title) }
        if isInBody {
            operation["requestBody"] = ["content": ["application/json": ["schema": ["type": "object"]]]]
        }
        return .object(operation)
    }

    private func responses(_ method: HTTPRequest.Method, _ route: Route) -> JSONValue {
        let isOfServices = route.template.hasPrefix("/wms") || route.template.hasPrefix("/wmts")
        var responses: [String: JSONValue] = [
            "default": ["$ref": .string("#/components/responses/\(isOfServices ? "exception" : "problem")")]
        ]
        if method == .post, route.template == Self.export {
            responses["202"] = [
                "description": "The job that makes the file",
                "headers": ["Location": ["description": "The job's path", "schema": ["type": "string"]]],
                "content": ["application/json": ["schema": ["$ref": "#/components/schemas/job"]]],
            ]
            return .object(responses)
        }
        switch (method, route.template) {
        case (.delete, "/flights/{id}"): responses["204"] = ["description": "The flight is ended"]
        case (.post, "/flights"):
            responses["201"] = ["description": "The monitored flight", "content": content(route)]
        default: responses["200"] = ["description": "The requested content", "content": content(route)]
        }
        if [Self.ownTile, Self.place + "/tiles" + Self.tile].contains(route.template) {
            responses["204"] = ["description": "A vector tile without a feature"]
        }
        return .object(responses)
    }

    /// The parameters with another meaning on some routes.
    private static func ownParameters(_ template: String) -> [QueryParameter] {
        switch template {
        case place + "/map": QueryParameter.ofMaps
        case "/maps/{layers}": QueryParameter.ofPictures(width: MapParameters.defaultWidth)
        case "/animations/{layers}": QueryParameter.ofPictures(width: AnimationParameters.defaultWidth)
        case "/timeline.json": QueryParameter.ofTimelines
        case export: QueryParameter.ofExports
        case "/wms": QueryParameter.of(.wms)
        case let path where path.hasPrefix("/wmts"): QueryParameter.of(.wmts)
        default: []
        }
    }

    private static func pathParameter(_ name: String) -> JSONValue {
        var schema: [String: JSONValue] = ["type": "string"]
        if name == "set" { schema["enum"] = [.string(TileMatrixSet.id)] }
        if ["matrix", "row", "column"].contains(name) { schema = ["type": "integer", "minimum": 0] }
        if name == "format" { schema["enum"] = .array(DownloadFormat.ofFeatures.map { .string($0.ending) }) }
        return ["name": .string(name), "in": "path", "required": true, "schema": .object(schema)]
    }

    private func content(_ route: Route) -> JSONValue {
        let collection = Self.place
        switch (route.template, route.dataset) {
        case (collection + "/items/{feature}", let dataset?):
            return [
                "application/geo+json": ["schema": ["$ref": .string("#/components/schemas/\(dataset.id)")]],
                "text/html": [:],
            ]
        case (collection + "/schema", _), (collection + "/schema/feature", _), (collection + "/queryables", _):
            return [FeatureSchema.mediaType: ["schema": ["type": "object"]]]
        case ("/", _), (LandingRoutes.path, _), ("/conformance", _), ("/collections", _), (collection, _):
            return ["application/json": ["schema": ["type": "object"]], "text/html": [:]]
        case (collection + "/tiles", _), (collection + "/tiles/{set}", _),
            (collection + "/map/tiles", _), (collection + "/map/tiles/{set}", _):
            return ["application/json": ["schema": ["type": "object"]]]
        case (collection + "/map", _), (collection + "/map/tiles" + Self.tile, _): return ["image/png": [:]]
        case (collection + "/tiles" + Self.tile, _): return ["application/vnd.mapbox-vector-tile": [:]]
        case ("/wms", _), ("/wmts", _): return ["*/*": [:]]
        case (collection + "/locations", _):
            return ["application/geo+json": ["schema": ["$ref": "#/components/schemas/featureCollection"]]]
        // The geometry of changed cells is null, because clients know it by the id.
        case (Self.changes, _):
            return ["application/geo+json": ["schema": ["$ref": "#/components/schemas/featureCollection"]]]
        case (Self.export, let dataset?):
            let formats = route.pack.map { [$0] } ?? DownloadFormat.ofFeatures
            var content: [String: JSONValue] = formats.reduce(into: [:]) { $0[$1.mediaType] = [:] }
            if route.pack == nil {
                content[ExportFormat.geojson.mediaType] = ["schema": Self.collectionSchema(dataset)]
            }
            // An estimate.
            content["application/json"] = ["schema": ["type": "object"]]
            return .object(content)
        case (_, let dataset?):
            var content: [String: JSONValue] = [
                DataFormat.geoJSON.mediaType: ["schema": Self.collectionSchema(dataset)]
            ]
            if route.template == collection + "/items" {
                for format in ItemFormat.allCases where format != .geoJSON { content[format.mediaType] = [:] }
            }
            if Self.query(route.template)?.formats(of: dataset).contains(.coverageJSON) == true {
                content[DataFormat.coverageJSON.mediaType] = ["schema": ["type": "object"]]
            }
            return .object(content)
        case (Self.job, _): return ["application/json": ["schema": ["$ref": "#/components/schemas/job"]]]
        case (Self.job + "/results", _): return ["*/*": [:]]
        case (let path, _):
            if path.hasSuffix(".xml") { return ["application/xml": [:]] }
            if path.hasPrefix("/wmts/") { return path.hasSuffix("{i}") ? ["*/*": [:]] : ["image/png": [:]] }
            if path.hasSuffix(".png") { return ["image/png": [:]] }
            if path.hasSuffix(".svg") { return ["image/svg+xml": [:]] }
            if path == "/metrics" { return ["text/plain": ["schema": ["type": "string"]]] }
            if path == "/events" { return ["text/event-stream": [:]] }
            if path.hasPrefix("/tiles/") || path.hasPrefix("/maps/") || path.hasPrefix("/animations/")
                || path.hasPrefix("/v2/")
            {
                return ["*/*": [:]]
            }
            return ["application/json": ["schema": ["type": "object"]]]
        }
    }

    /// A collection of a dataset's features.
    private static func collectionSchema(_ dataset: Dataset) -> JSONValue {
        [
            "allOf": [
                ["$ref": "#/components/schemas/featureCollection"],
                [
                    "type": "object",
                    "properties": [
                        "features": [
                            "type": "array", "items": ["$ref": .string("#/components/schemas/\(dataset.id)")],
                        ]
                    ],
                ],
            ]
        ]
    }

    // MARK: - Components

    /// An error of WMS and WMTS. One that occurs ahead of the route is a problem.
    private static var exception: JSONValue {
        var content: [String: JSONValue] = [
            "application/problem+json": ["schema": ["$ref": "#/components/schemas/problem"]]
        ]
        for type in OGCExceptionReport.mediaTypes { content[type] = [:] }
        return ["description": "A report of the error in the form of the standard", "content": .object(content)]
    }

    /// OGC clients take the size of pages from the maximum of `limit`. It is no bound, because a larger number counts
    /// as the maximum. So the description for others has none.
    ///
    /// Source: OGC 17-069r4 section 7.15.2
    private static func parameters(_ version: OpenAPIVersion) -> [String: JSONValue] {
        QueryParameter.all.reduce(into: [:]) { all, parameter in
            var schema = parameter.schema
            if parameter.name == "limit", version == .oas30, case .object(var members) = schema {
                members["maximum"] = .number(Double(PageParameters.maximumLimit))
                schema = .object(members)
            }
            all[parameter.name] = described(parameter, schema)
        }
    }

    /// Whether an operation refuses requests without a parameter. The body of a POST has the shape.
    private static func requires(_ name: String, _ method: HTTPRequest.Method, _ route: Route) -> Bool {
        method != .post && query(route.template)?.requiredNames.contains(name) ?? false
            && !route.template.contains("{location}")
    }

    private static func described(
        _ parameter: QueryParameter, _ schema: JSONValue? = nil, isRequired: Bool = false
    ) -> JSONValue {
        var description: [String: JSONValue] = [
            "name": .string(parameter.name), "in": "query", "required": .bool(isRequired),
            "description": .string(parameter.summary), "schema": schema ?? parameter.schema,
        ]
        if parameter.isList {
            description["style"] = "form"
            description["explode"] = false
        }
        return .object(description)
    }

    private static let schemas: [String: JSONValue] = {
        var schemas: [String: JSONValue] = [
            "problem": [
                "type": "object", "required": ["type", "title", "status", "detail", "code"],
                "properties": [
                    "type": ["type": "string"], "title": ["type": "string"], "status": ["type": "integer"],
                    "detail": ["type": "string"], "code": ["type": "string"], "parameter": ["type": "string"],
                    "value": ["type": "string"], "allowed": ["type": "string"],
                ],
            ],
            "featureCollection": [
                "type": "object", "required": ["type", "features"],
                "properties": [
                    "type": ["type": "string", "enum": ["FeatureCollection"]],
                    "features": ["type": "array", "items": ["type": "object"]],
                    "numberMatched": ["type": "integer", "minimum": 0],
                    "numberReturned": ["type": "integer", "minimum": 0],
                    "timeStamp": ["type": "string", "format": "date-time"],
                    "links": ["type": "array", "items": ["$ref": "#/components/schemas/link"]],
                ],
            ],
            "job": [
                "type": "object", "required": ["id", "status", "export", "created", "items", "bytes", "links"],
                "properties": [
                    "id": ["type": "string"],
                    "status": [
                        "type": "string", "enum": .array(ExportJob.Status.allCases.map { .string($0.rawValue) }),
                    ],
                    "export": ["type": "string", "description": "The path and query of the export"],
                    "created": ["type": "string", "format": "date-time"],
                    "started": ["type": "string", "format": "date-time"],
                    "finished": ["type": "string", "format": "date-time"],
                    "expires": ["type": "string", "format": "date-time"],
                    "version": ["type": "integer", "description": "The version of the data"],
                    "items": ["type": "integer", "minimum": 0, "description": "The features or tiles so far"],
                    "bytes": ["type": "integer", "minimum": 0, "description": "The bytes so far"],
                    "problem": ["$ref": "#/components/schemas/problem"],
                    "links": ["type": "array", "items": ["$ref": "#/components/schemas/link"]],
                ],
            ],
            "link": [
                "type": "object", "required": ["href", "rel"],
                "properties": [
                    "href": ["type": "string"], "rel": ["type": "string"], "type": ["type": "string"],
                    "title": ["type": "string"],
                ],
            ],
        ]
        for dataset in Catalogue.all { schemas[dataset.id] = FeatureSchema.feature(of: dataset) }
        return schemas
    }()
}
