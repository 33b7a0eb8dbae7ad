import BillowEngine
import BillowFields
package import JSONKit
import BillowSnapshot
import BillowTiles
import BillowTimeline
import Datasets
import Turbulence

/// The description of a query parameter in the OpenAPI document. The names that a route reads determine its parameters.
package struct QueryParameter: Sendable {
    package let name: String
    /// A complete sentence.
    package let summary: String
    /// The JSON Schema of its value.
    package let schema: JSONValue
    /// Whether commas separate the items of a list; otherwise they are part of a single text.
    package let isList: Bool

    private init(_ name: String, _ summary: String, _ schema: JSONValue, isList: Bool = false) {
        self.name = name
        self.summary = summary
        self.schema = schema
        self.isList = isList
    }

    /// The parameter with a name; nil if it isn't described.
    package static func named(_ name: String) -> QueryParameter? { byName[name] }

    private static let byName = Dictionary(all.map { ($0.name, $0) }) { first, _ in first }

    private static func text(_ name: String, _ summary: String, example: String? = nil) -> QueryParameter {
        // An empty text is as good as none, which no parameter means.
        var schema: [String: JSONValue] = ["type": "string", "minLength": 1]
        if let example { schema["example"] = .string(example) }
        return QueryParameter(name, summary, .object(schema))
    }

    private static func choice(_ name: String, _ summary: String, _ values: [String], standard: String? = nil)
        -> QueryParameter
    {
        var schema: [String: JSONValue] = ["type": "string", "enum": .array(values.map { .string($0) })]
        if let standard { schema["default"] = .string(standard) }
        return QueryParameter(name, summary, .object(schema))
    }

    private static func flag(_ name: String, _ summary: String, standard: Bool? = nil) -> QueryParameter {
        var schema: [String: JSONValue] = ["type": "boolean"]
        if let standard { schema["default"] = .bool(standard) }
        return QueryParameter(name, summary, .object(schema))
    }

    private static func number(
        _ name: String, _ summary: String, _ range: ClosedRange<Double>, isWhole: Bool = false, standard: Double? = nil
    ) -> QueryParameter {
        var schema: [String: JSONValue] = [
            "type": isWhole ? "integer" : "number", "minimum": .number(range.lowerBound),
            "maximum": .number(range.upperBound),
        ]
        if let standard { schema["default"] = .number(standard) }
        return QueryParameter(name, summary, .object(schema))
    }

    private static func list(
        _ name: String, _ summary: String, of item: JSONValue, most: Int = QueryReader.maximumNames
    )
        -> QueryParameter
    {
        QueryParameter(
            name, summary,
            ["type": "array", "items": item, "minItems": 1, "maxItems": .number(Double(most))], isList: true)
    }

    private static let severities: JSONValue = [
        "type": "string",
        "enum": .array(Severity.allCases.flatMap { [.string("\($0.rawValue)"), .string($0.name)] }),
    ]

    /// Every parameter that some route reads, in no particular order.
    package static let all: [QueryParameter] = [
        text("f", "A format that the route has", example: "json"),
        QueryParameter(
            "limit", "The most features of a page; above the maximum it counts as the maximum",
            [
                "type": "integer", "minimum": 1,
                "default": .number(Double(PageParameters.defaultLimit)),
            ]),
        text("after", "The start of the page, copied from the link `next`"),
        QueryParameter(
            "bbox", "west,south,east,north in degrees, or six numbers with heights, which are ignored",
            [
                "type": "array", "items": ["type": "number"],
                "oneOf": [["minItems": 4, "maxItems": 4], ["minItems": 6, "maxItems": 6]],
            ], isList: true),
        text(
            "datetime", "An instant, or an interval a/b whose ends may be open (..)", example: "2026-11-21T02:30:00Z"),
        text("time", "`latest` or an instant", example: "latest"),
        choice(
            "hours", "The history: how many hours back a picture looks", History.allCases.map(\.text),
            standard: History.default.text),
        list("severity", "Severities, as numbers or names", of: severities),
        QueryParameter("minSeverity", "This severity or worse", severities),
        number("minAltitude", "Feet, whole thousands: blocks that overlap [min, max)", 0...60_000, isWhole: true),
        number("maxAltitude", "Feet, whole thousands: blocks that overlap [min, max)", 0...60_000, isWhole: true),
        list("source", "The names of sources", of: ["type": "string"]),
        list("kind", "Kinds of observations and areas", of: ["type": "string"]),
        choice(
            "category", "The aircraft category that severities are for", AircraftCategory.all.map(\.name),
            standard: AircraftCategory.default.name),
        choice("product", "Turbulence fields of this product only", FieldProduct.allCases.map(\.name)),
        text("run", "Turbulence fields of the run that began at this instant"),
        flag("smoothing", "Whether turbulence fields are interpolated between grid points", standard: false),
        flag("aggregate", "One feature for each cell; false gives every standing observation", standard: true),
        flag("deadReckoning", "Whether aircraft are moved on to the instant by their speed and track", standard: false),
        choice("shape", "Turbulence fields as H3 cells or as contours", ["cells", "contours"], standard: "cells"),
        choice(
            "mode", "Polygons of exactly one severity, or of a severity and worse", ["exact", "atLeast"],
            standard: "exact"
        ),
        number("tolerance", "Degrees by which outlines are simplified", 0...5),
        number("smooth", "Rounds of corner cutting that smooth the outlines", 0...3, isWhole: true, standard: 0),
        text("coords", "A place, an area or a route as Well-known Text"),
        text("crs", "Longitude and latitude of WGS 84, by any of its names", example: "CRS84"),
        text("route", "Waypoints with blanks between them", example: "KJFK 4430N05000W EGLL"),
        number("width", "Width of the corridor in nautical miles, edge to edge", 1...250),
        text("corridor-width", "Width of the corridor in the units of width-units"),
        choice("width-units", "The units of corridor-width", DistanceUnit.allCases.map(\.rawValue), standard: "NM"),
        text("corridor-height", "Height of the corridor from edge to edge, around z, level or the Z of coords"),
        choice("height-units", "The units of corridor-height", ["ft", "m", "km"], standard: "ft"),
        text("within", "The distance from a place", example: "50"),
        choice("within-units", "The units of within", DistanceUnit.allCases.map(\.rawValue), standard: "NM"),
        list("properties", "The properties of features", of: ["type": "string"], most: 100),
        list("parameter-name", "The properties of features", of: ["type": "string"], most: 100),
        list("parameter_names", "As parameter-name", of: ["type": "string"], most: 100),
        number("speed", "Ground speed in knots", 1...2_000),
        text("departure", "The time of departure from the start of the route"),
        number("level", "The planned level in feet", 0...60_000),
        number("climb", "Rate of climb in feet a minute; needs speed and level", 100...10_000),
        number("descent", "Rate of descent in feet a minute; needs speed and level", 100...10_000),
        flag("simplify", "Whether a ring's outline is simplified", standard: true),
        number("stretch", "Nautical miles between two columns of a profile", 1...500, standard: 10),
        text("since", "The cursor of an earlier response"),
        flag("geometry", "Whether features have a geometry"),
        flag("mirror", "Whether the features are for a server that mirrors this one", standard: false),
        text("z", "Feet, or low/high; for fields also a list of feet"),
        text("flight", "The id of a monitored flight"),
        list("collections", "The collections whose events are sent", of: collections),
        text("lastEventId", "The id of the last event, for clients that can't send the header"),
        flag("full", "Whether the source fetches all data again", standard: false),
        number("width-pixels", "Width of the picture", 320...4_096, isWhole: true, standard: 1_000),
        number("height-pixels", "Height of the picture", 200...2_048, isWhole: true, standard: 420),
        choice("theme", "Colours for a light or a dark background", ["light", "dark"]),
        text("style", "The id of a style"),
        number(
            "minzoom", "The lowest zoom of a pack",
            Double(PackLimits.zooms.lowerBound)...Double(PackLimits.zooms.upperBound), isWhole: true, standard: 0),
        number(
            "maxzoom", "The highest zoom of a pack",
            Double(PackLimits.zooms.lowerBound)...Double(PackLimits.zooms.upperBound), isWhole: true, standard: 8),
        choice("tiles", "Whether a pack has pictures or vector tiles", ["png", "mvt"], standard: "png"),
        number("scale", "Pixels per point", 1...3, isWhole: true, standard: 1),
        number("labels", "The most aircraft with labels in 256 × 256 points", 0...100, isWhole: true, standard: 25),
        choice("form", "Form of an archive: frames with a manifest, or a content pack", ["frames", "foreflight"]),
        choice("tileset", "The format of an archive's tilesets", TilesetFormat.allCases.map(\.rawValue)),
        flag("estimate", "Whether the response only gives the number of tiles", standard: false),
        text("start", "The first frame: an instant, or an offset from now", example: "-2h"),
        text("end", "The last frame: an instant, or an offset from now", example: "now"),
        number("intervals", "The most frames", 1...500, isWhole: true),
        flag("anchor", "Whether frame times are rounded"),
        choice(
            "size", "Width and height of a tile in points; one of 512 shows the four tiles of the next zoom",
            TileSize.allCases.map { "\($0.rawValue)" }, standard: "\(TileSize.standard.rawValue)"),
        number("opacity", "Opacity of the picture", 0...1),
        number("labels", "The most aircraft with labels in 256 × 256 points", 0...100, isWhole: true, standard: 25),
        text(
            "background", "What lies below the data: none, map, light, dark, or a colour as six hexadecimal digits",
            example: "map"),
        choice("incomplete", "Whether a picture that lacks data is hatched", ["hatch", "none"], standard: "none"),
        text("bbox-crs", "The coordinate reference system of bbox, as a URI"),
        number("height", "Height of the picture", 1...4_096, isWhole: true),
        flag("transparent", "Whether the picture is transparent where it has no data"),
        text("bgcolor", "The background colour", example: "0xFFFFFF"),
        flag("legend", "Whether the legend is drawn", standard: false),
        flag("timestamp", "Whether the picture shows its time", standard: false),
        flag("scalebar", "Whether a scale bar is drawn", standard: false),
        number("v", "The version of a frame, copied from a timeline", 0...Double(1 << 53), isWhole: true),
        QueryParameter(
            "s", "The render key of a frame, copied from a timeline", ["type": "string", "pattern": "^[0-9a-f]{16}$"]),
        list("layer", "Layers of a legend, the lowest first", of: layers, most: LayerList.longest),
        list("layers", "Layers, each once", of: layers, most: Catalogue.layers.count),
        flag("composed", "Whether the layers are one picture", standard: false),
        flag("counts", "Whether each frame has the count of cells with moderate turbulence or worse", standard: false),
        choice("rule", "Which frame is shown at a time", FrameRule.allCases.map(\.rawValue), standard: "latest"),
        choice("orientation", "The orientation of a legend", ["vertical", "horizontal"], standard: "vertical"),
        number("delay", "Duration of a frame in milliseconds", 20...60_000, isWhole: true, standard: 500),
        number("hold", "Duration of the last frame in milliseconds", 20...60_000, isWhole: true),
        number("loop", "How often the animation plays; 0 repeats it forever", 0...10_000, isWhole: true, standard: 0),
    ]

    private static let collections: JSONValue = [
        "type": "string", "enum": .array(Catalogue.all.map { .string($0.id) }),
    ]

    private static let layers: JSONValue = [
        "type": "string", "enum": .array(Catalogue.layers.map { .string($0.id) }),
    ]

    /// The parameters with another meaning for pictures of a region.
    /// - Parameter width: the default width of a picture.
    package static func ofPictures(width: Int) -> [QueryParameter] {
        [
            number("width", "Width of the picture in points", 1...4_096, isWhole: true, standard: Double(width)),
            choice("form", "An animated PNG, or a contact sheet", ["animation", "sheet"], standard: "animation"),
        ]
    }

    /// The parameters of WMS and WMTS. Their values are texts, because an operation passes over the parameters of
    /// others.
    package static func of(_ service: ServiceParameter.Service) -> [QueryParameter] {
        service.parameters.map { QueryParameter($0.rawValue, $0.summary(in: service), $0.schema(in: service)) }
            + (service == .wms ? KVPReader.ownNames : KVPReader.tileNames).sorted().compactMap { named($0) }.map {
                text($0.name, $0.summary)
            }
    }

    /// The parameters with another meaning for timelines.
    package static let ofTimelines: [QueryParameter] = [
        text("time", "The frame to show: an instant, or an offset from now", example: "now")
    ]

    /// The parameters with another meaning for exports.
    package static let ofExports: [QueryParameter] = [
        QueryParameter(
            "limit",
            "The most features of a part; above \(FeatureExportParameters.maximumLimit) it counts as that. Not for KML",
            ["type": "integer", "minimum": 1]),
        text("after", "The start of a part, copied from the link `next`. Not for KML"),
        flag("estimate", "Whether the response only gives the size", standard: false),
    ]

    /// Parameters with a different meaning in OGC API – Maps.
    package static let ofMaps: [QueryParameter] = [
        QueryParameter(
            "bbox", "Four numbers in the order of bbox-crs",
            ["type": "array", "items": ["type": "number"], "minItems": 4, "maxItems": 6], isList: true),
        text("crs", "The coordinate reference system of the picture, as a URI"),
        number("width", "Width of the picture", 1...4_096, isWhole: true, standard: 1_024),
    ]
}
