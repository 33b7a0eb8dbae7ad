import EngineTestSupport
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Errors of parameters have the client's parameter, its value and the range")
struct ParameterErrorTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var request: String
        var body: String?
        var code: String
        var parameter: String
        var value: String
        /// The beginning of what is allowed.
        var allowed: String

        var testDescription: String { "\(request) \(body ?? "")" }

        init(
            _ request: String, body: String? = nil, _ code: ProblemCode, _ parameter: String, _ value: String,
            _ allowed: String
        ) {
            self.request = request
            self.body = body
            self.code = code.rawValue
            self.parameter = parameter
            self.value = value
            self.allowed = allowed
        }
    }

    private static func check(_ row: Row, in world: World) async throws {
        let response =
            if let body = row.body {
                try await world.send(.post, row.request, body, [.contentType: "application/json"])
            } else { try await world.get(row.request) }
        #expect((400..<500).contains(response.status.code), "\(row): \(response.text.prefix(300))")
        guard (400..<500).contains(response.status.code) else { return }
        let problem = try response.json
        #expect(problem["code"]?.string == row.code, "\(row): \(response.text)")
        #expect(problem["parameter"]?.string == row.parameter, "\(row): \(response.text)")
        #expect(problem["value"]?.string == row.value, "\(row): \(response.text)")
        #expect(problem["allowed"]?.string?.hasPrefix(row.allowed) == true, "\(row): \(response.text)")
    }

    static let routes: [Row] = [
        Row("/collections/hexagons/corridor", .missingParameter, "route", "missing", "waypoints"),
        Row("/profiles.json", .missingParameter, "route", "missing", "waypoints"),
        Row("/collections/hexagons/area", .missingParameter, "coords", "missing", "POLYGON"),
        Row("/collections/hexagons/radius", .missingParameter, "coords", "missing", "POINT"),
        Row("/collections/hexagons/radius?coords=POINT(1+1)", .missingParameter, "within", "missing", "a distance"),
        Row("/collections/gtg/position", .missingParameter, "coords", "missing", "POINT"),
        Row("/collections/hexagons/corridor?route=KJFK", .routeTooFewPositions, "route", "KJFK", "at least 2"),
        Row("/changes/hexagons?route=KJFK", .routeTooFewPositions, "route", "KJFK", "at least 2"),
        Row(
            "/profiles.json?coords=LINESTRING(0+0,0+0)", .routeTooFewPositions, "coords", "LINESTRING(0 0,0 0)",
            "at least 2"),
        Row(
            "/corridors", body: #"{"route": "KJFK"}"#, .routeTooFewPositions, "route", "KJFK", "at least 2"),
        Row(
            "/corridors", body: #"{"type": "LineString", "coordinates": [[1, 2]]}"#, .routeTooFewPositions,
            "coordinates",
            "1.0,2.0", "at least 2"),
        Row(
            "/collections/hexagons/corridor?route=KJFK+XXXX", .unknownWaypoint, "route", "XXXX", "4038N07347W"),
    ]

    static let bodies: [Row] = [
        Row("/corridors", body: #"{"route": 5}"#, .invalidBody, "route", "5", "waypoints as a text or an array"),
        Row("/corridors", body: #"{"route": true}"#, .invalidBody, "route", "true", "waypoints as a text or an array"),
        Row("/corridors", body: #"{"route": null}"#, .invalidBody, "route", "null", "waypoints as a text or an array"),
        Row("/corridors", body: #"{"route": ["KJFK", 5]}"#, .invalidBody, "route[1]", "5", "a waypoint"),
        Row("/corridors", body: #"{"route": [[1, 91]]}"#, .invalidBody, "route[0]", "[1, 91]", "a longitude"),
        Row("/corridors", body: #"{"route": "KJFK EGLL", "width": "x"}"#, .invalidBody, "width", "\"x\"", "a number"),
        Row("/corridors", body: #"{"route": "KJFK EGLL", "width": 0}"#, .invalidParameter, "width", "0.0", "a number"),
        Row("/corridors", body: #"{"type": "Point"}"#, .invalidBody, "type", "\"Point\"", "LineString"),
        Row("/corridors", body: "{}", .invalidBody, "route", "missing", "waypoints"),
        Row("/corridors", body: "[", .invalidBody, "body", "[", "JSON"),
        Row("/corridors", body: "5", .invalidBody, "body", "5", "an object"),
        Row("/corridors", body: #"{"rout": 5}"#, .unknownMember, "rout", "rout", "climb"),
        Row("/collections/hexagons/area", body: "{}", .invalidBody, "polygon", "missing", "a GeoJSON Polygon"),
        Row("/collections/hexagons/area", body: #"{"polygon": 5}"#, .invalidBody, "polygon", "5", "an array"),
        Row(
            "/collections/hexagons/area", body: #"{"polygon": [[0, 0], [1, 1], [0, 0]]}"#, .ringTooFewPositions,
            "polygon",
            "0.0,0.0 1.0,1.0 0.0,0.0", "a closed ring"),
        Row("/alerts", body: #"{"route": 5}"#, .invalidBody, "route", "5", "waypoints as a text or an array"),
        Row("/alerts", body: #"{"position": 5}"#, .invalidBody, "position", "5", "an array"),
        Row("/alerts", body: #"{"position": [1, 1]}"#, .invalidParameter, "altitude", "missing", "feet"),
        Row("/alerts", body: #"{"departure": "noon"}"#, .invalidParameter, "departure", "noon", "an instant"),
        Row(
            "/alerts", body: #"{"distance": 2001}"#, .invalidParameter, "distance", "2001.0",
            "a number from 1.0 to 2000.0"),
        Row(
            "/alerts", body: #"{"route": "00N000E 00N090E", "distance": 12000, "widthAround": 125}"#, .areaTooLarge,
            "distance", "12000.0", "1 to 11662 NM"),
    ]

    static let times: [Row] = [
        Row("/timeline.json?start=PT1H", .invalidParameter, "start", "PT1H", "before the end, "),
        Row("/timeline.json?start=-1h&end=-PT2H", .invalidParameter, "end", "-PT2H", "after the start, "),
        Row("/timeline.json?start=-3652d", .invalidParameter, "start", "-3652d", "at most P366D before the end"),
        Row("/timeline.json?end=-1x", .invalidParameter, "end", "-1x", "an instant"),
        Row("/timeline.json?time=-3h", .invalidParameter, "time", "-3h", "from 2026-"),
        Row("/animations/hexagons.png?start=PT1H&width=64", .invalidParameter, "start", "PT1H", "before the end, "),
        Row("/animations/hexagons.png?end=-30d&width=64", .noFrames, "end", "-30d", "a time that overlaps"),
        Row("/export/hexagons.zip?start=PT1H&maxzoom=1", .invalidParameter, "start", "PT1H", "before the end, "),
        Row("/export/hexagons.zip?start=-31d&end=-30d&maxzoom=1", .noFrames, "end", "-30d", "a time that overlaps"),
        Row("/maps/hexagons.png?time=PT1H", .invalidParameter, "time", "PT1H", "latest or an instant"),
        Row(
            "/maps/hexagons.png?time=2020-01-01T01:00:00%2B01:00", .timeOutsideRetention, "time",
            "2020-01-01T01:00:00+01:00", "2026-"),
        Row(
            "/tiles/hexagons/20200101T000000Z/0/0/0.png", .timeOutsideRetention, "time", "20200101T000000Z", "2026-"),
        Row(
            "/collections/hexagons/items?time=20200101T000000Z", .timeOutsideRetention, "time", "20200101T000000Z",
            "2026-"),
        Row(
            "/collections/hexagons/map?datetime=20200101T000000Z", .timeOutsideRetention, "datetime",
            "20200101T000000Z", "2026-"),
        Row(
            "/collections/hexagons/map?datetime=20200101T000000Z/20200102T000000Z", .timeOutsideRetention, "datetime",
            "20200101T000000Z/20200102T000000Z", "2026-"),
        Row(
            "/collections/gtg/position?coords=POINT(1+1)&datetime=20200101T000000Z", .timeOutsideRetention, "datetime",
            "20200101T000000Z", "2026-"),
        Row("/collections/hexagons/items?datetime=PT1H", .invalidParameter, "datetime", "PT1H", "an instant"),
    ]

    @Test("every case", arguments: [routes, bodies, times])
    func cases(_ rows: [Row]) async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50))])
            for row in rows { try await Self.check(row, in: world) }
        }
    }

    /// Routes of pictures, with a `?` or `&` behind.
    static let pictures = [
        "/tiles/LAYER/latest/0/0/0.png?", "/tiles/LAYER/latest/0/0/0.mvt?", "/tiles/LAYER.json?",
        "/maps/LAYER.png?width=64&", "/animations/LAYER.png?width=64&intervals=2&", "/timeline.json?layers=LAYER&",
        "/legend.json?layer=LAYER&", "/collections/LAYER/map?width=64&",
        "/collections/LAYER/map/tiles/WebMercatorQuad/0/0/0?", "/collections/LAYER/tiles/WebMercatorQuad/0/0/0?",
        "/export/LAYER.mbtiles?estimate&",
    ]
    static let features = ["/collections/LAYER/items?", "/export/LAYER.geojson?", "/changes/LAYER?"]

    @Test("an unknown aggregate or mode is 400 on every route that shows data, and the default never is")
    func unknownForms() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50))])
            for layer in ["hexagons", "polygons", "turbulence", "pireps", "hazards"] {
                for route in Self.pictures + Self.features {
                    let uri = route.replacing("LAYER", with: layer)
                    for (query, allowed) in [("aggregate=banana", "true or false"), ("mode=banana", "exact, atLeast")] {
                        let name = String(query.prefix { $0 != "=" })
                        try await Self.check(
                            Row(uri + query, .invalidParameter, name, "banana", allowed), in: world)
                    }
                    let status = try await world.get(uri + "aggregate=true&mode=exact").status
                    #expect([200, 204].contains(status.code), "\(uri): \(status)")
                }
            }
            for uri in [
                "/profiles.json?route=KJFK+EGLL&", "/styles/skypath.json?",
                "/wms?SERVICE=WMS&VERSION=1.3.0&REQUEST=GetMap&LAYERS=hexagons&STYLES=&CRS=EPSG:3857&WIDTH=64"
                    + "&HEIGHT=64&FORMAT=image/png&BBOX=0,0,5000000,5000000&",
            ] {
                for query in ["aggregate=banana", "aggregate=false", "mode=banana"] {
                    #expect(try await world.get(uri + query).status == .badRequest, "\(uri)\(query)")
                }
                #expect(try await world.get(uri + "aggregate=true&mode=exact").status == .ok, "\(uri)")
            }
        }
    }

    @Test("a form that doesn't apply is 400 on every route alike")
    func formsThatDoNotApply() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50))])
            for route in Self.pictures + Self.features {
                for (layer, query, isRefused) in [
                    // Items and exports of hexagons have every observation; nothing else has.
                    ("hexagons", "aggregate=false", !Self.features.prefix(2).contains(route)),
                    ("turbulence", "aggregate=false", !Self.features.prefix(2).contains(route)),
                    ("polygons", "aggregate=false", true), ("pireps", "aggregate=false", false),
                    ("hexagons", "mode=atLeast", true), ("pireps", "mode=atLeast", true),
                    ("polygons", "mode=atLeast", false),
                    // It has polygons where it is a picture.
                    ("turbulence", "mode=atLeast", Self.features.contains(route)),
                ] {
                    let uri = route.replacing("LAYER", with: layer) + query
                    let status = try await world.get(uri).status
                    #expect((status == .badRequest) == isRefused, "\(uri): \(status)")
                }
            }
        }
    }

    @Test(
        "WMTS and OGC API tiles name what the client sent",
        arguments: [
            ("TILEMATRIX=2&TILEROW=9&TILECOL=0", "TILEROW", "TILEROW is '9'"),
            ("TILEMATRIX=2&TILEROW=x&TILECOL=0", "TILEROW", "TILEROW is 'x'"),
            ("TILEMATRIX=2&TILEROW=0&TILECOL=9", "TILECOL", "TILECOL is '9'"),
            ("TILEMATRIX=99&TILEROW=0&TILECOL=0", "TILEMATRIX", "TILEMATRIX is '99'"),
            ("TILEMATRIX=-1&TILEROW=0&TILECOL=0", "TILEMATRIX", "TILEMATRIX is '-1'"),
        ])
    func tileNames(query: String, locator: String, detail: String) async throws {
        try await withWorld { world in
            let answer = try await world.get(
                "/wmts?SERVICE=WMTS&REQUEST=GetTile&VERSION=1.0.0&LAYER=hexagons&STYLE=&FORMAT=image/png"
                    + "&TILEMATRIXSET=WebMercatorQuad&\(query)")
            #expect(answer.text.contains("locator=\"\(locator)\""), "\(answer.text)")
            #expect(answer.text.replacing("&#39;", with: "'").contains(detail), "\(answer.text)")
            let names = ["TILEMATRIX": "tileMatrix", "TILEROW": "tileRow", "TILECOL": "tileCol"]
            let values = query.split(separator: "&").map { $0.split(separator: "=")[1] }
            let problem = try await world.get(
                "/collections/hexagons/map/tiles/WebMercatorQuad/\(values[0])/\(values[1])/\(values[2])"
            ).json
            #expect(problem["parameter"]?.string == names[locator], "\(problem)")
        }
    }

    @Test("an estimate above the limit is 200 with its figures, and may be cached as long as the picture")
    func estimates() async throws {
        try await withWorld { world in
            let area = "coords=POLYGON((0+0,60+0,60+60,0+60,0+0))"
            for (query, fits) in [
                ("maxzoom=8", true), ("maxzoom=9", false), ("maxzoom=14", false), ("\(area)&maxzoom=14", false),
            ] {
                for flag in ["estimate", "estimate=true"] {
                    let answer = try await world.get("/export/hexagons.pmtiles?\(query)&\(flag)")
                    #expect(answer.status == .ok, "\(query): \(answer.text)")
                    #expect(answer.headers[.cacheControl]?.hasPrefix("public, max-age=") == true)
                    let estimate = try answer.json
                    #expect(estimate["fits"]?.bool == fits && estimate["mostTiles"]?.integer == 100_000, "\(estimate)")
                    let tiles = try #require(estimate["tiles"]?.integer)
                    #expect((tiles <= 100_000) == fits && estimate["maxzoom"] != nil, "\(estimate)")
                }
                if !fits {
                    let problem = try await world.json("/export/hexagons.pmtiles?\(query)", status: .badRequest)
                    #expect(problem["parameter"]?.string == "maxzoom" && problem["allowed"] != nil)
                    #expect(problem["value"]?.string == query.split(separator: "=").last.map(String.init))
                }
            }
            #expect(try await world.json("/export/hexagons.pmtiles?maxzoom=9&estimate")["tiles"]?.integer == 349_525)
            let frames = "maxzoom=7&intervals=10&start=-1h&estimate"
            let many = try await world.json("/export/hexagons.zip?\(frames)")
            #expect(many["fits"]?.bool == false && many["frames"]?.integer == 10, "\(many)")
        }
    }

    @Test("features have the geometry that the catalogue, the schema and the documents name")
    func geometry() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50))])
            for (collection, type) in [("observations", "Point"), ("hexagons", "Polygon")] {
                for uri in ["/collections/\(collection)/items", "/changes/\(collection)?geometry=true"] {
                    let feature = try await world.json(uri).features.first
                    #expect(feature?["geometry"]?["type"]?.string == type, "\(uri)")
                }
                let lines = try await world.get("/export/\(collection).geojsonl").text
                #expect(lines.contains("\"geometry\":{\"type\":\"\(type)\""), "\(lines)")
                let schema = try await world.json("/collections/\(collection)/schema")
                #expect("\(schema)".lowercased().contains("geometry-\(type.lowercased())"), "\(schema)")
            }
        }
    }
}
