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

@Suite("Bad input is named, never a trap and never a 5xx", .timeLimit(.minutes(20)))
struct BadInputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var uri: String
        var status: Int
        var parameter: String?
        /// What the body says was sent.
        var value: String?
        /// A part of what the body says is allowed.
        var allowed: String?

        var testDescription: String { "\(uri.prefix(80)) → \(status)" }

        init(
            _ uri: String, _ status: Int, _ parameter: String? = nil, value: String? = nil, allowed: String? = nil
        ) {
            self.uri = uri
            self.status = status
            self.parameter = parameter
            self.value = value
            self.allowed = allowed
        }
    }

    static func tile(_ z: String, _ x: String, _ y: String, _ time: String = "latest") -> String {
        "/tiles/hexagons/\(time)/\(z)/\(x)/\(y)"
    }

    static let coordinates: [Case] =
        [
            "-1", "007", "00", "1e3", "+1", "0x1", "1.0", "", "%31", "a", "%D9%A3", "%EF%BC%91",
            "-9223372036854775808", "%2e", "1%2C", "1,", "NaN", "null", "{z}", "%20 1",
        ]
        .filter { !$0.isEmpty && !$0.contains(" ") }
        .flatMap { value in
            [
                Case(tile(value, "0", "0.png"), 400, "z", allowed: "plain digits"),
                Case(tile("3", value, "0.png"), 400, "x", allowed: "plain digits"),
                Case(tile("3", "0", "\(value).png"), 400, "y", allowed: "plain digits"),
            ]
        } + [
            Case(tile("23", "0", "0.png"), 404, "z", allowed: "0 to 22"),
            Case(tile("64", "0", "0.png"), 404, "z", allowed: "0 to 22"),
            Case(tile("999999999999999999", "0", "0.png"), 404, "z", allowed: "0 to 22"),
            Case(
                tile("18446744073709551616", "0", "0.png"), 404, "z", value: "18446744073709551616",
                allowed: "0 to 22"),
            Case(
                tile("3", "99999999999999999999", "0.png"), 404, "x", value: "99999999999999999999",
                allowed: "0 to 7"),
            Case(
                tile("3", "0", "99999999999999999999@2x.png"), 404, "y", value: "99999999999999999999",
                allowed: "0 to 7"),
            Case(tile("3", "8", "0.png"), 404, "x", allowed: "0 to 7"),
            Case(tile("3", "0", "8.png"), 404, "y", allowed: "0 to 7"),
            Case(tile("0", "1", "0.png"), 404, "x", allowed: "0 to 0"),
            Case(tile("22", "4194304", "0.png"), 404, "x", allowed: "4194303"),
            Case(tile("22", "999999999999999999", "0.png"), 404, "x", allowed: "4194303"),
        ]

    static let suffixes: [Case] = [
        "0", "0.", "0.PNG", "0.jpg", "0.webp", "0.png.png", "0@0x.png", "0@1x.png", "0@4x.png", "0@99x.png", "0@x.png",
        "0@2X.png", "0@2x@2x.png", "0@-2x.png", "0@02x.png", "@2x.png", ".png", "0%2Epng", "0@2x", "0 .png", "0.png%00",
    ].map { suffix in
        let uri = tile("0", "0", suffix.replacing(" ", with: "%20"))
        return suffix.hasSuffix("%00") ? Case(uri, 400, "path") : Case(uri, 400, "y")
    }

    static let times: [Case] =
        [
            "", "now", "LATEST", "latest%20", "2026-11-21", "20261121", "20261121T1200Z", "20261121T120000",
            "2026-11-21T12:00:00", "20261321T120000Z", "20261100T120000Z", "20260229T120000Z", "20261121T240000Z",
            "20261121T126000Z", "20261231T235960Z", "2016-12-31T23:59:60Z", "99999-01-01T00:00:00Z",
            "-2026-11-21T12:00:00Z",
            "20261121T120000.Z", "1795262400",
            "20261121T120000Z%2F20261121T130000Z", "2026-11-21T12:00:00+25:00", "2026-11-21T12:00:00+1", "%00",
            "%F0%9F%98%80",
            "20261121T120000%5A%5A", "NaN", "{time}",
        ].filter { !$0.isEmpty && $0 != "%00" }.map { Case(tile("0", "0", "0.png", $0), 400, "time", allowed: "zone") }
        + [
            Case(tile("0", "0", "0.png", "20200101T000000Z"), 404, "time", allowed: "2026-11-14T12:00:00Z"),
            Case(tile("0", "0", "0.png", "20261121T120101Z"), 404, "time", allowed: "2026-11-21T12:01:00Z"),
            Case(tile("0", "0", "0.png", "21051231T235959Z"), 404, "time", allowed: "/"),
            Case(tile("0", "0", "0.png", "19700101T000000Z"), 404, "time", allowed: "/"),
        ]
        + ["0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59Z"].map {
            Case(tile("0", "0", "0.png", $0), 404, "time", value: $0, allowed: "2026-11-14T12:00:00Z/")
        }

    /// Put to a tile, TileJSON, legend, items and exports: the one filter grammar.
    static let filters: [(String, String)] = [
        ("hours=3", "hours"), ("hours=", "hours"), ("hours=2.0", "hours"), ("hours=-1", "hours"),
        ("hours=1e0", "hours"),
        ("hours", "hours"), ("hours=%zz", "hours"), ("hours=%FF", "hours"), ("severity=9", "severity"),
        ("severity=5", "severity"), ("severity=", "severity"), ("severity=1,", "severity"), ("severity=,", "severity"),
        ("severity=Light", "severity"), ("severity=-1", "severity"), ("severity=01", "severity"),
        ("severity=%D9%A3", "severity"), ("minSeverity=5", "minSeverity"), ("minSeverity=1,2", "minSeverity"),
        ("minSeverity=", "minSeverity"), ("minAltitude=1500", "minAltitude"), ("minAltitude=-1", "minAltitude"),
        ("minAltitude=-1000", "minAltitude"), ("minAltitude=70000", "minAltitude"),
        ("maxAltitude=70000", "maxAltitude"),
        ("maxAltitude=0", "maxAltitude"), ("minAltitude=1e4", "minAltitude"), ("minAltitude=030000", "minAltitude"),
        ("minAltitude=99999999999999999999", "minAltitude"), ("minAltitude=FL350", "minAltitude"),
        ("minAltitude=40000&maxAltitude=30000", "maxAltitude"), ("minAltitude=30000&maxAltitude=30000", "maxAltitude"),
        ("source=", "source"), ("source=a,,b", "source"), ("source=%27%3B--", "source"), ("kind=rocket", "kind"),
        ("kind=", "kind"), ("category=C15", "category"), ("category=60", "category"), ("category=c60", "category"),
    ]

    static let pictures: [Case] = [
        Case(tile("0", "0", "0.png") + "?style=nope", 400, "style", allowed: "skypath"),
        Case(tile("0", "0", "0.png") + "?style=..%2FPackage", 400, "style"),
        Case(tile("0", "0", "0.png") + "?opacity=2", 400, "opacity", allowed: "0 to 1"),
        Case(tile("0", "0", "0.png") + "?opacity=-0.1", 400, "opacity"),
        Case(tile("0", "0", "0.png") + "?opacity=nan", 400, "opacity"),
        Case(tile("0", "0", "0.png") + "?opacity=0x1p-1", 400, "opacity"),
        Case(tile("0", "0", "0.png") + "?opacity=", 400, "opacity"),
        Case("/tiles/hexagons.json?style=nope", 400, "style"),
        Case("/tiles/hexagons.json?opacity=1.01", 400, "opacity"),
        Case("/legend.png?scale=0", 400, "scale", allowed: "1 to 3"),
        Case("/legend.png?scale=4", 400, "scale"), Case("/legend.png?scale=2.0", 400, "scale"),
        Case("/legend.png?theme=neon", 400, "theme", allowed: "light, dark"),
        Case("/legend.svg?orientation=diagonal", 400, "orientation"), Case("/legend.json?layer=nope", 400, "layer"),
        Case("/legend.json?style=nope", 400, "style"),
    ]

    static let boxes: [Case] = [
        "", "1", "1,2,3", "1,2,3,4,5", "1,2,3,4,5,6,7", "a,b,c,d", "NaN,0,1,1", "nan,nan,nan,nan", "-inf,-90,inf,90",
        "inf,0,1,1", "0,10,1,0", "0,-91,1,0", "0,0,1,91", "-361,0,1,1", "0,0,361,1", "0,0,1,1,", ",0,0,1,1",
        "0x1,0,2,2",
        "1e400,0,1,1", "0,,1,1", "0;0;1;1", "%D9%A3,0,1,1", "0,0,1,%00",
    ].flatMap { box in
        ["hexagons", "observations", "pireps"].map {
            Case("/collections/\($0)/items?bbox=\(box)", 400, "bbox", allowed: "west,south,east,north")
        }
    }

    static let ogc: [Case] = [
        Case("/collections/hexagons/corridor?route=KJFK+EGLL&coords=LINESTRING(0+40,9+50)", 400, "route"),
        Case("/collections/hexagons/corridor?route=KJFK+EGLL&width=9&corridor-width=9", 400, "width", allowed: "left"),
        Case("/collections/hexagons/area?coords=POLYGON((0+0,1+1,1+0,0+1,0+0))", 400, "coords", allowed: "closed ring"),
        Case("/changes/hexagons?coords=POLYGON((0+0,1+1,0+0))", 400, "coords", allowed: "4 to 250 positions"),
        Case("/maps/hexagons.png?bbox=-10,-90,10,80", 400, "bbox", allowed: "85.0511"),
        Case("/maps/hexagons.png?bbox=-10,0,10,90&width=200&height=200", 400, "bbox", allowed: "85.0511"),
        Case("/collections/hexagons/items?limit=0", 400, "limit", allowed: "from 1"),
        Case("/collections/hexagons/items?limit=000", 400, "limit"),
        Case("/collections/hexagons/items?limit=-1", 400, "limit"),
        Case("/collections/hexagons/items?limit=1e3", 400, "limit"),
        Case("/collections/hexagons/items?limit=+5", 400, "limit"),
        Case("/collections/hexagons/items?limit=", 400, "limit"),
        Case("/collections/hexagons/items?limit=1&limit=2", 400, "limit"),
        Case("/collections/hexagons/items?hours=1&hours=1", 400, "hours"),
        Case("/collections/hexagons/items?unknown=1", 400, "unknown", allowed: "bbox"),
        Case("/collections/hexagons/items?Limit=1", 400, "Limit"),
        Case("/collections/hexagons/items?style=night", 400, "style"),
        Case("/collections/hexagons/items?%00=1", 400), Case("/collections/hexagons/items?=1", 400),
        Case("/collections/hexagons/items/85283473fffffff?limit=1", 400, "limit"),
        Case("/collections?x=1", 400, "x"), Case("/collections/hexagons?x=1", 400, "x"),
        Case("/collections?f=pdf", 400, "f"), Case("/collections/hexagons?f=xml", 400, "f", allowed: "json"),
        Case("/collections/hexagons/items?f=kml", 400, "f"), Case("/?f=null", 400, "f"),
        Case("/status?f=csv", 400, "f"), Case("/collections/hexagons/items/x?f=csv", 400, "f"),
        Case("/export/hexagons.csv?f=geojson", 400, "f", allowed: "csv"),
        Case("/export/hexagons.kml?limit=1", 400, "limit"), Case("/export/hexagons.csv?limit=0", 400, "limit"),
        Case("/export/hexagons.csv?limit=-1", 400, "limit"), Case("/export/hexagons.csv?after=1", 400, "after"),
        Case("/export/hexagons.csv?estimate=2", 400, "estimate"),
        Case("/export/hexagons.csv?estimate&limit=1", 400, "limit", allowed: "left out"),
        Case("/collections/hexagons/items?aggregate=yes", 400, "aggregate", allowed: "true or false"),
        Case("/collections/hexagons/items?datetime=2026", 400, "datetime"),
        Case("/collections/hexagons/items?datetime=", 400, "datetime"),
        Case("/collections/hexagons/items?datetime=2026-11-21T12:00:00", 400, "datetime"),
        Case("/collections/hexagons/items?datetime=a/b", 400, "datetime"),
        Case("/collections/hexagons/items?datetime=2026-11-21T12:00:00Z/2026-11-21T11:00:00Z", 400, "datetime"),
        Case("/collections/hexagons/items?datetime=2026-11-21T11:00:00Z/x/2026-11-21T12:00:00Z", 400, "datetime"),
        Case("/collections/hexagons/items?datetime=2026-11-21T12:00:00Z&time=latest", 400, "time"),
        Case("/collections/hexagons/items?datetime=2026-11-21T11:00:00Z/..&hours=1", 400, "hours"),
        Case("/collections/hexagons/items?time=2020-01-01T00:00:00Z", 404, "time"),
        Case("/collections/observations/items?datetime=2026-11-21T12:00:00Z/2026-11-21T11:00:00Z", 400, "datetime"),
        Case("/collections/observations/items?time=x", 400, "time"),
        Case("/styles/skypath.json?time=garbage", 400, "time"),
        Case("/styles/skypath.json?opacity=2", 400, "opacity"),
        Case("/collections/hexagons/items?after=x", 400, "after"),
        Case("/collections/hexagons/items?after=", 400, "after"),
        Case("/collections/hexagons/items?aggregate=false&after=85283473fffffff", 400, "after"),
        Case("/collections/hexagons/items?aggregate=false&after=85283473fffffff-o7fffffffffffffff", 400, "after"),
        Case("/export/hexagons?f=", 400, "f"), Case("/export/hexagons?f=mbtiles", 400, "f", allowed: "json"),
        Case("/export/hexagons.csv?f=json", 400, "f", allowed: "csv"),
        Case("/export/hexagons.csv?f=gpkg", 400, "f"), Case("/export/nothing?f=csv", 404, "collection"),
        Case("/collections/hexagons/items?f=gpkg", 400, "f", allowed: "/export/hexagons.gpkg"),
        Case("/collections/hexagons/items?f=kml", 400, "f", allowed: "/export/hexagons.kml"),
        Case("/collections/observations/items?after=x", 400, "after"),
        Case("/collections/observations/items?after=o7fffffffffffffff", 400, "after"),
        Case("/collections/observations/items?after=o-000000000000001", 400, "after"),
        Case("/collections/pireps/items?after=x", 400, "after"),
        Case("/collections/pireps/items?after=-1", 400, "after"),
        Case("/collections/pireps/items?after=99999999999999999-x", 400, "after"),
        Case("/collections/pireps/items?after=9999999999999999999999-x", 400, "after"),
    ]

    /// The places that a client may look at, of each route that takes them all.
    static let places: [Case] = ["/changes/hexagons", "/events", "/export/hexagons.mbtiles"].flatMap { route in
        [
            Case("\(route)?bbox=1,2,3", 400, "bbox", allowed: "west,south,east,north"),
            Case("\(route)?bbox=0,91,1,92", 400, "bbox"),
            Case("\(route)?bbox=0,0,1,1&route=KJFK+EGLL", 400, "bbox", allowed: "left out"),
            Case("\(route)?bbox=0,0,1,1&coords=POLYGON((0+0,1+0,1+1,0+0))", 400, "bbox", allowed: "left out"),
            Case("\(route)?route=KJFK+EGLL&coords=LINESTRING(0+0,1+1)", 400, "route", allowed: "left out"),
            Case("\(route)?route=KJFK+XXXXX", 400, "route"), Case("\(route)?route=KJFK+EGLL&width=0", 400, "width"),
            Case("\(route)?route=KJFK+EGLL&width=NaN", 400, "width", allowed: "1.0 to 250.0"),
            Case("\(route)?route=KJFK+EGLL&corridor-width=1e400", 400, "corridor-width", allowed: "1 to 250 NM"),
            Case("\(route)?route=KJFK+EGLL&width-units=ft", 400, "width-units", allowed: "nmi"),
            Case("\(route)?width=20", 400, "width", allowed: "without a route"),
            Case("\(route)?coords=POLYGON((0+0,1+0,1+1,0+0))&width=20", 400, "width", allowed: "without a route"),
            Case("\(route)?coords=POINT(1+1)", 400, "coords", allowed: "LINESTRING"),
            Case("\(route)?coords=LINESTRING(0+0,1e400+1)", 400, "coords", allowed: "POLYGON"),
            Case("\(route)?coords=", 400, "coords"), Case("\(route)?speed=400&route=KJFK+EGLL", 400, "speed"),
        ]
    }

    static let unknown: [Case] = [
        Case("/tiles/nope/latest/0/0/0.png", 404, "layers", allowed: "hexagons"),
        Case("/tiles/hexagons,hexagons/latest/0/0/0.png", 400, "layers", allowed: "without repeats"),
        Case("/tiles/Hexagons/latest/0/0/0.png", 404, "layers"), Case("/tiles/nope.json", 404, "layers"),
        Case(
            "/tiles/\(Array(repeating: "hexagons", count: 100).joined(separator: ","))/latest/0/0/0.png", 400,
            "layers"),
        Case("/tiles/hexagons,nope/latest/0/0/0.png", 404, "layers"),
        Case("/tiles/hexagons,/latest/0/0/0.png", 404, "layers"),
        Case("/tiles/,/latest/0/0/0.png", 404, "layers"), Case("/maps/nope.png", 404, "layers"),
        Case("/maps/hexagons", 404), Case("/maps/hexagons.gif", 404), Case("/maps/hexagons.png.png", 404, "layers"),
        Case("/maps/pireps,pireps.png", 400, "layers"),
        Case("/maps/hexagons.png?width=0", 400, "width", allowed: "4096"),
        Case("/maps/hexagons.png?width=4097", 400, "width"),
        Case("/maps/hexagons.png?height=99999999999999999999", 400, "height"),
        Case("/maps/hexagons.png?width=1e3", 400, "width"), Case("/maps/hexagons.png?width=-1", 400, "width"),
        Case("/maps/hexagons.png?scale=4", 400, "scale"), Case("/maps/hexagons.png?bbox=1,2,3", 400, "bbox"),
        Case("/maps/hexagons.png?bbox=0,91,1,92", 400, "bbox"), Case("/maps/hexagons.png?legend=yes", 400, "legend"),
        Case("/maps/hexagons.png?bbox=0,86,1,89", 400, "bbox", allowed: "85.0511"),
        Case("/maps/hexagons.png?bbox=0,-89,1,-85.06", 400, "bbox"),
        Case("/animations/hexagons.png?bbox=0,86,1,89", 400, "bbox"),
        Case("/maps/hexagons.png?bbox=-200,0,200,1", 400, "bbox", allowed: "360"),
        Case("/maps/hexagons.png?timestamp=1", 400, "timestamp"), Case("/maps/hexagons.png?scalebar=", 400, "scalebar"),
        Case("/maps/hexagons.png?labels=101", 400, "labels"), Case("/maps/hexagons.png?style=nope", 400, "style"),
        Case("/maps/hexagons.png?time=yesterday", 400, "time"),
        Case("/tiles/traffic/latest/0/0/0.png?labels=x", 400, "labels"),
        Case("/tiles/hexagons/latest/0/0/0.png?size=1024", 400, "size", allowed: "256, 512"),
        Case("/tiles/hexagons/latest/0/0/0.png?size=", 400, "size", allowed: "256, 512"),
        Case("/tiles/hexagons/latest/0/0/0.png?size=256&size=512", 400, "size"),
        Case("/tiles/hexagons/latest/0/0/0@3x.png?size=512", 400, "size", allowed: "256 with @3x"),
        Case("/tiles/hexagons/latest/22/0/0.png?size=512", 404, "z", allowed: "from 0 to 21"),
        Case("/tiles/hexagons.json?size=128", 400, "size", allowed: "256, 512"),
        Case("/timeline.json?size=128", 400, "size", allowed: "256, 512"),
        Case("/legend.json?layer=hexagons,hexagons", 400, "layer"),
        Case("/tiles/hexagons", 404), Case("/tiles/hexagons.xml", 404), Case("/tiles", 404), Case("/tiles/", 404),
        Case("/tiles/hexagons/latest/0/0/0.png/", 404), Case("/tiles/hexagons.json/", 404),
        Case("/maps/hexagons.png/", 404), Case("/legend.svg/", 404), Case("/index.html/", 404),
        Case("/tiles/hexagons/latest/0/0", 404), Case("/tiles/hexagons/latest/0/0/0/0.png", 404),
        Case("/tiles/hexagons/latest/0%2F0/0.png", 404),
        Case("/collections/nope", 404, "collection", allowed: "hexagons"),
        Case("/collections/nope/items", 404, "collection"), Case("/collections/nope/items/x", 404, "collection"),
        Case("/collections/hexagons/nope", 404), Case("/export/nope.geojson", 404, "collection"),
        Case("/export/hexagons?f=png", 400, "f", allowed: "gpkg"), Case("/export/hexagons.", 404, "format"),
        Case("/export/hexagons.xml", 404, "format"), Case("/export/hexagons.geojson.gz", 404, "format"),
        Case("/export/.geojson", 404, "collection"), Case("/export", 404), Case("/nothing", 404),
        Case("/favicon.ico", 404),
        Case("/Package.swift", 404), Case("/js/", 404), Case("/%66oo", 404),
    ]

    static let paths: [Case] = [
        "/../Package.swift", "/%2e%2e/Package.swift", "/tiles/hexagons/latest/%2e%2e/0/0.png", "/..%2fPackage.swift",
        "/js/..%2f..%2fPackage.swift", "/tiles/..",
        "/%00", "/index.html%00.png", "/js%00", "/js%0d%0aX-Evil:1", "/js%00%0d%0aX-Evil:1", "/%", "/%zz", "/%f",
        "//js",
        "//evil.example/..", "/tiles/hexagons/latest/0/0/0.png%7F",
    ].map { Case($0, 400, "path") }

    @Test("every case", arguments: [coordinates, suffixes, times, pictures, boxes, ogc, places, unknown, paths])
    func cases(_ cases: [Case]) async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50))])
            for one in cases { try await check(one, in: world) }
        }
    }

    @Test(
        "the filter grammar is the same everywhere",
        arguments: [
            "/tiles/hexagons/latest/0/0/0.png", "/tiles/hexagons.json", "/legend.json", "/legend.png", "/legend.svg",
            "/collections/hexagons/items", "/collections/observations/items", "/collections/pireps/items",
            "/collections/hexagons/items/85283473fffffff", "/export/hexagons.geojson", "/export/observations.csv",
        ])
    func grammar(route: String) async throws {
        try await withWorld { world in
            for (query, parameter) in Self.filters {
                try await check(Case("\(route)?\(query)", 400, parameter), in: world)
            }
        }
    }

    private func check(_ one: Case, in world: World) async throws {
        let response = try await world.get(one.uri)
        #expect(response.status.code == one.status, "\(one.uri): \(response.text.prefix(300))")
        #expect(response.headers[.contentType] == "application/problem+json", "\(one.uri)")
        #expect(response.headers[.cacheControl] == "no-store")
        #expect(response.headers[.accessControlAllowOrigin] == "*")
        #expect(response.header("Access-Control-Expose-Headers")?.contains("X-Frame-Time") == true)
        let body = try response.json
        #expect(body["status"] == .number(Double(one.status)))
        #expect(body["type"]?.string?.isEmpty == false)
        #expect(body["title"]?.string?.isEmpty == false)
        #expect(body["code"]?.string?.isEmpty == false)
        #expect(body["detail"]?.string?.isEmpty == false)
        #expect(response.body.readableBytes < 2_000)
        guard let parameter = one.parameter else { return }
        #expect(body["parameter"] == .text(parameter), "\(one.uri): \(response.text)")
        let isNamedByItself = body["code"] == .text("unknown-parameter") || body["code"] == .text("repeated-parameter")
        #expect(body["value"] != nil || isNamedByItself, "\(one.uri): \(response.text)")
        #expect(body["allowed"] != nil || body["code"] == .text("repeated-parameter"), "\(one.uri): \(response.text)")
        if let value = one.value { #expect(body["value"] == .text(value), "\(one.uri): \(response.text)") }
        if let allowed = one.allowed {
            #expect(body["allowed"]?.string?.contains(allowed) == true, "\(one.uri): \(response.text)")
        }
    }

    /// Of every family of routes.
    static let repeated: [(String, String)] = [
        ("/tiles/hexagons/latest/1/0/0.png?style=night&style=print", "style"),
        ("/tiles/hexagons/latest/1/0/0.png?severity=1&severity=2", "severity"),
        ("/tiles/hexagons/latest/1/0/0.mvt?mode=a&mode=b", "mode"), ("/tiles/hexagons.json?hours=1&hours=2", "hours"),
        ("/maps/hexagons.png?bbox=1,2,3,4&bbox=1,2,3,5", "bbox"), ("/timeline.json?start=-2h&start=-1h", "start"),
        ("/animations/hexagons.png?delay=100&delay=200", "delay"), ("/legend.json?layer=pireps&layer=hazards", "layer"),
        ("/legend.png?scale=1&scale=2", "scale"), ("/styles/skypath.json?opacity=1&opacity=0.5", "opacity"),
        ("/public/weather-maps.json?source=a&source=b", "source"), ("/collections?f=json&f=json", "f"),
        ("/collections/hexagons?f=json&f=json", "f"), ("/collections/hexagons/items?datetime=a&datetime=b", "datetime"),
        ("/collections/hexagons/items?severity=1&severity=1", "severity"),
        ("/collections/hexagons/area?coords=a&coords=b", "coords"),
        ("/collections/hexagons/corridor?route=a&route=b", "route"), ("/changes/hexagons?since=1&since=2", "since"),
        ("/export/hexagons.geojson?datetime=a&datetime=b", "datetime"), ("/profiles.json?route=a&route=b", "route"),
        ("/profiles.png?theme=dark&theme=light", "theme"), ("/events?flight=a&flight=b", "flight"),
    ]

    @Test("a parameter with two values is 400 and named, on every family of routes")
    func repeatedParameters() async throws {
        try await withWorld { world in
            for (uri, parameter) in Self.repeated {
                try await check(Case(uri, 400, parameter), in: world)
                #expect(try await world.get(uri).json["code"] == .text("repeated-parameter"), "\(uri)")
            }
        }
    }

    @Test("an address of more than 8 kB is 414, ten thousand parameters among them")
    func longAddresses() async throws {
        try await withWorld { world in
            for uri in [
                "/tiles/hexagons.json?" + Array(repeating: "a=1", count: 10_000).joined(separator: "&"),
                "/" + String(repeating: "a", count: 9_000),
                "/collections/hexagons/items?" + String(repeating: "&", count: 9_000),
            ] {
                let response = try await world.get(uri)
                #expect(response.status.code == 414)
                #expect(try response.json["code"] == .text("url-too-long"))
                #expect(try response.json["allowed"]?.string?.contains("8192") == true)
            }
            // As many as fit are read quickly, and ignored by a tile.
            let many = (0..<1_500).map { "p\($0)" }.joined(separator: "&")
            #expect(try await world.get("/tiles/hexagons/latest/0/0/0.png?\(many)").status == .ok)
            #expect(try await world.get("/collections/hexagons/items?\(many)").status == .badRequest)
        }
    }

    @Test(
        "a body that says that it is too long is refused before any of it comes", arguments: ["/corridors", "/alerts"])
    func longBodies(route: String) async throws {
        try await withWorld { world in
            let response = try await world.send(.post, route, nil, [.contentLength: "20000000"])
            #expect(response.status.code == 413)
            #expect(try response.json["code"] == .text("body-too-large"))
        }
    }

    @Test("a value that doesn't fit into an answer is cut")
    func longValues() async throws {
        try await withWorld { world in
            for uri in [
                "/tiles/hexagons.json?hours=\(String(repeating: "9", count: 8_000))",
                "/tiles/\(String(repeating: "h", count: 8_000)).json",
                "/collections/hexagons/items/\(String(repeating: "h", count: 8_000))",
                "/collections/hexagons/items?\(String(repeating: "h", count: 8_000))=1",
            ] {
                let response = try await world.get(uri)
                #expect((400..<500).contains(response.status.code))
                #expect(response.body.readableBytes < 1_500)
            }
        }
    }

    @Test("405 lists each path's methods, and so does OPTIONS")
    func methods() async throws {
        try await withWorld { world in
            let routes = Dictionary(grouping: world.application.router().routes, by: \.path.description)
            #expect(routes.count > 30)
            for (path, routes) in routes {
                var methods = Set(routes.map(\.method.rawValue) + ["OPTIONS"])
                if methods.contains("GET") { methods.insert("HEAD") }
                let uri = path.replacing(/\{[a-zA-Z]+\}/, with: "x")
                for method in [HTTPRequest.Method.get, .post, .put, .delete, .patch, .trace]
                where !methods.contains(method.rawValue) {
                    let response = try await world.get(uri, method: method)
                    #expect(response.status == .methodNotAllowed, "\(method) \(uri)")
                    let allowed = response.headers[.allow]?.components(separatedBy: ", ") ?? []
                    #expect(Set(allowed) == methods && allowed.count == methods.count, "\(method) \(uri)")
                    #expect(try response.json["code"] == .text("method-not-allowed"))
                }
                let options = try await world.get(uri, method: .options)
                #expect(options.status == .noContent && options.headers[.accessControlAllowOrigin] == "*")
                for header in [options.headers[.allow], options.headers[.accessControlAllowMethods]] {
                    #expect(Set(header?.components(separatedBy: ", ") ?? []) == methods, "OPTIONS \(uri)")
                }
            }
        }
    }

    @Test("a path that isn't there is 404 by every method, and a file can only be read")
    func unknownPaths() async throws {
        try await withWorld { world in
            for method in [HTTPRequest.Method.get, .head, .post, .put, .delete, .patch, .trace, .options] {
                for uri in ["/nothing", "/tiles", "/flights/x/y", "/js/nothing.js"] {
                    let response = try await world.get(uri, method: method)
                    #expect(response.status == .notFound && response.headers[.allow] == nil, "\(method) \(uri)")
                }
            }
            #expect(try await world.get("*", method: .options).status == .noContent)
            for uri in ["/", "/viewer.js"] {
                let response = try await world.send(.post, uri, "{}")
                #expect(response.status == .methodNotAllowed && response.headers[.allow] == "GET, HEAD, OPTIONS")
                let options = try await world.get(uri, method: .options)
                #expect(options.status == .noContent && options.headers[.allow] == "GET, HEAD, OPTIONS")
            }
        }
    }
}
