import Datasets
import EngineTestSupport
import BillowRaster
import BillowStore
import BillowTiles
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import NIOCore
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

private func area(
    _ id: String, _ collection: IssuedArea.DatasetNumber = .hazards, kind: String = "gairmet", from: Int = -3_600,
    to: Int = 3_600, longitude: Double = -80, severity: Severity? = .moderate
) throws -> IssuedArea {
    let corners = try [(0.0, 0.0), (1, 0), (1, 1), (0, 1)].map { east, north in
        try LonLat(longitude: longitude + east, latitude: 40 + north).orMissing()
    }
    return IssuedArea(
        collection: collection, id: id, source: try source("awc"), kind: kind, hazard: "TURB-HI", severity: severity,
        altitudeMinFeet: 18_000, altitudeMaxFeet: 39_000, validFrom: noon.advanced(by: from),
        validTo: noon.advanced(by: to), text: "MOD TURB, \"quoted\"",
        geometry: try MultiPolygon(outline: corners).orMissing())
}

private func aircraft(_ address: String, at seconds: Int = 0, longitude: Double = 10) throws -> AircraftPosition {
    AircraftPosition(
        icao24: try ICAO24(address).orMissing(), callsign: "DLH4AB",
        place: try LonLat(longitude: longitude, latitude: 50).orMissing(), source: try source("awc"),
        observedAt: noon.advanced(by: seconds), altitudeFeet: 36_000, groundSpeedKnots: 451.5, headingDegrees: 271.25,
        isOnGround: false)
}

extension World {
    fileprivate func insert(areas: [IssuedArea] = [], positions: [AircraftPosition] = []) async throws {
        _ = try await store.commit(Batch(source: nil, areas: areas, positions: positions))
        try await refresh()
    }

    fileprivate func ids(_ uri: String) async throws -> [String] {
        try await json(uri).features.compactMap { if case .string(let id)? = $0["id"] { id } else { nil } }
    }
}

@Suite("Issued areas and aircraft over HTTP")
struct AreaAndTrafficTests {
    @Test("areas are those that hold at the instant, also ahead, and of an interval those that hold at some time of it")
    func validity() async throws {
        try await withWorld { world in
            try await world.insert(areas: [
                area("now"), area("past", from: -7_200, to: -3_600), area("later", from: 7_200, to: 10_800),
                area("step", .forecast, kind: "nowcast"),
            ])
            #expect(try await world.ids("/collections/hazards/items") == ["now"])
            #expect(try await world.ids("/collections/forecast/items") == ["step"])
            #expect(try await world.ids("/collections/hazards/items?datetime=2026-11-21T14:30:00Z") == ["later"])
            #expect(try await world.ids("/collections/hazards/items?time=2026-11-21T10:30:00Z") == ["past"])
            let day = "/collections/hazards/items?datetime=2026-11-21T00:00:00Z/2026-11-21T23:00:00Z"
            #expect(try await world.ids(day) == ["later", "now", "past"])
            #expect(try await world.ids(day + "&limit=2") == ["later", "now"])
            let next = try #require(try await world.json(day + "&limit=2").link("next"))
            #expect(try await world.ids(next) == ["past"])
            // Nothing is issued for then yet.
            #expect(try await world.ids("/collections/hazards/items?time=2026-11-22T14:30:00Z") == [])
        }
    }

    @Test("the timeline reaches as far back as imported areas")
    func past() async throws {
        try await withWorld { world in
            try await world.insert(areas: [area("old", from: -337 * 86_400, to: -336 * 86_400)])
            let start = noon.advanced(by: -337 * 86_400)
            #expect(try await world.ids("/collections/hazards/items?time=\(start)") == ["old"])
            let days = "start=\(start)&end=\(start.advanced(by: 2 * 86_400))&layers=hazards"
            let manifest = try await world.json("/timeline.json?\(days)")
            #expect(
                manifest["layers"]?[0]?["times"]?.items.compactMap(\.string) == [
                    start.description, start.advanced(by: 86_400).description,
                ])
            let before = try await world.get("/collections/hazards/items?time=\(start.advanced(by: -1))")
            #expect(before.status == .notFound)
        }
    }

    @Test(
        "hazards have a frame at each change of their validity, ahead too, and a picture ahead lacks what was observed")
    func changes() async throws {
        try await withWorld { world in
            try await world.insert(areas: [
                area("a", from: -7_200, to: -3_600), area("b", from: -3_600, to: 1_800),
                area("c", from: 7_200, to: 10_800),
            ])
            let cell = try cell(-79.5, 40.5)
            try await world.insert([try observation(cell, severity: .moderate, at: -60)])
            func part(_ query: String) async throws -> JSON? {
                try await world.json("/timeline.json?\(query)")["layers"]?[0]
            }
            let past = try await part("layers=hazards")
            #expect(past?["times"]?.items.compactMap(\.string) == ["2026-11-21T10:00:00Z", "2026-11-21T11:00:00Z"])
            #expect(past?["updateInterval"] == .null)
            let ahead = try await part("layers=hazards&start=-1h&end=%2B4h&time=2026-11-21T13:59:59Z")
            let times = ["2026-11-21T11:00:00Z", "2026-11-21T12:30:00Z", "2026-11-21T14:00:00Z"]
            #expect(ahead?["times"]?.items.compactMap(\.string) == times)
            #expect(ahead?["frames"]?.items.map { $0["forecast"]?.bool ?? false } == [false, true, true])
            #expect(ahead?["shown"]?.string == times[1])

            // A tile in the future has only the hazards, and isn't cached.
            let layers = "hexagons,hazards"
            let both = try await part("layers=\(layers)&composed=true&start=-1h&end=%2B1h&intervals=3")
            #expect(both?["id"]?.string == layers && both?["updateInterval"]?.double == 60)
            let frames = both?["frames"]?.items ?? []
            #expect(frames.map { $0["forecast"]?.bool ?? false } == [false, false, true])
            func tile(_ template: String) async throws -> TestResponse {
                let pixel = PixelPlace(H3.center(of: cell), zoom: 6)
                return try await world.get(
                    template.replacing(/^http:\/\/[^\/]*/, with: "").replacing("{z}", with: "6")
                        .replacing("{x}", with: "\(pixel.x)").replacing("{y}", with: "\(pixel.y)"))
            }
            let now = try await tile(frames[1]["tiles"]?.string ?? "")
            let later = try await tile(frames[2]["tiles"]?.string ?? "")
            #expect(now.headers[.cacheControl]?.contains("immutable") == true)
            #expect(later.status == .ok && later.headers[.cacheControl]?.contains("immutable") == false)
            let alone = try await tile("/tiles/hazards/20261121T130000Z/{z}/{x}/{y}.png")
            #expect(later.body == alone.body && later.headers[.eTag] == alone.headers[.eTag])
            let nowAlone = try await tile("/tiles/hazards/20261121T120000Z/{z}/{x}/{y}.png")
            #expect(now.body != nowAlone.body)
            let map = "bbox=-82,39,-77,43&width=200&time=20261121T130000Z"
            #expect(
                try await world.get("/maps/\(layers).png?\(map)").body == world.get("/maps/hazards.png?\(map)").body)
        }
    }

    @Test(
        "pictures and features of aircraft older than they are kept are refused with the range, beside others left out")
    func trafficExtent() async throws {
        try await withWorld(trafficRetentionSeconds: 86_400) { world in
            try await world.insert(positions: [aircraft("aaaaaa", at: -10)])
            for layer in ["traffic", "tracks"] {
                for uri in [
                    "/tiles/\(layer)/20261119T120000Z/0/0/0.png",
                    "/collections/\(layer)/items?time=2026-11-19T12:00:00Z",
                ] {
                    let answer = try await world.get(uri)
                    #expect(answer.status == .notFound, "\(uri)")
                    #expect(String(buffer: answer.body).contains("2026-11-20T12:"), "\(uri)")
                }
                #expect(try await world.get("/tiles/\(layer)/20261121T100000Z/0/0/0.png").status == .ok)
            }
            let mixed = try await world.get("/tiles/hexagons,traffic/20261119T120000Z/0/0/0.png?v=0")
            #expect(mixed.status == .ok && mixed.headers[.cacheControl]?.contains("immutable") == false)
            let parts = try await world.json("/timeline.json?start=-2d&intervals=3&layers=traffic,hexagons")["layers"]
            #expect(parts?[0]?["times"]?.items.count == 1 && parts?[1]?["times"]?.items.count == 3)
            #expect(parts?[0]?["extent"]?[0]?.string == "2026-11-20T12:03:00Z")
        }
    }

    @Test(
        "areas are filtered like everything else",
        arguments: [
            ("kind=sigmet", ["s"]), ("kind=gairmet", ["g"]), ("kind=pilot-report", []), ("severity=3", ["g"]),
            ("minSeverity=moderate-severe", []), ("source=other", []), ("bbox=-85,35,-75,45", ["g"]),
            ("bbox=95,35,105,45", ["s"]), ("maxAltitude=18000", []), ("minAltitude=39000", ["g", "s"]),
            ("minAltitude=40000", []),
        ])
    func filters(query: String, expected: [String]) async throws {
        try await withWorld { world in
            try await world.insert(areas: [area("g"), area("s", kind: "sigmet", longitude: 100, severity: nil)])
            #expect(try await world.ids("/collections/hazards/items?\(query)") == expected)
        }
    }

    @Test("an area has the interface's properties, in every form")
    func areaProperties() async throws {
        try await withWorld { world in
            try await world.insert(areas: [area("a,b")])
            let feature = try await world.json("/collections/hazards/items/a%2Cb")
            #expect(feature.property("hazard") == .text("TURB-HI") && feature.property("severity") == .number(3))
            #expect(feature.property("validFrom") == .text("2026-11-21T11:00:00Z"))
            #expect(feature.property("issuedAt") == nil)
            #expect(feature["geometry"]?["type"] == .text("Polygon"))
            let csv = String(buffer: try await world.get("/export/hazards.csv").body)
            #expect(
                csv == """
                    id,kind,hazard,severity,severityName,altitudeMin,altitudeMax,altitudeReference,\
                    validFrom,validTo,issuedAt,forecastHour,status,text,source,geometry\r
                    "a,b",gairmet,TURB-HI,3,moderate,18000,39000,,2026-11-21T11:00:00Z,2026-11-21T13:00:00Z,,,,\
                    "MOD TURB, ""quoted\""",awc,"POLYGON ((-80 40, -79 40, -79 41, -80 41, -80 40))"\r

                    """)
        }
    }

    @Test("wind shear is near the ground: shown low, over high ground too, and not in pictures or alerts of cruise")
    func windShear() async throws {
        try await withWorld { world in
            var shear = try area("shear", severity: nil)
            shear.hazard = IssuedArea.windShear
            (shear.altitudeMinFeet, shear.altitudeMaxFeet) = (0, IssuedArea.windShearTopFeet)
            try await world.insert(areas: [shear])
            let feature = try await world.json("/collections/hazards/items/shear")
            #expect(
                feature.property("altitudeReference") == .text("AGL")
                    && feature.property("altitudeMax") == .number(2_000))
            let items = "/collections/hazards/items"
            #expect(try await world.ids("\(items)?minAltitude=5000&maxAltitude=9000") == ["shear"])
            #expect(try await world.ids("\(items)?minAltitude=13000") == [])
            func alerted(_ feet: Int) async throws -> Int? {
                let body = #"{"position": [-79.5, 39.5], "altitude": \#(feet), "track": 0}"#
                return try await world.post("/alerts", body)["hazards"]?.items.count
            }
            #expect(try await alerted(35_000) == 0)
            #expect(try await alerted(7_000) == 1)
        }
    }

    @Test("a profile has the hazards on the way, where they are met and as high as they reach")
    func profileHazards() async throws {
        try await withWorld { world in
            // One across the way at 40.5° N from 80° W to 79° W, one beside it, one that is over.
            try await world.insert(areas: [
                area("met"), area("aside", longitude: -60), area("past", from: -7_200, to: -3_600),
            ])
            let route = "route=-81,40.5%20-78,40.5"
            let hazards = try await world.json("/profiles.json?\(route)")["hazards"]?.items ?? []
            #expect(hazards.count == 1 && hazards.first?["id"]?.string == "met")
            let stretch = hazards.first?["stretches"]?[0]?.items.compactMap(\.double) ?? []
            // A degree of the parallel is 45.7 NM.
            #expect(stretch.count == 2 && abs(stretch[0] - 45.7) < 6 && abs(stretch[1] - 91.4) < 6)
            #expect(hazards.first?["altitudeMax"]?.double == 39_000)
            let above = try await world.json("/profiles.json?\(route)&minAltitude=40000")
            #expect(above["hazards"]?.items.isEmpty == true)
            let picture = try await world.picture("/profiles.png?\(route)")
            let calm = try await world.picture("/profiles.png?\(route)&source=skypath")
            let changed = (0..<picture.height).filter { row in picture[500, row] != calm[500, row] }
            #expect(changed.count > 60, "hatched from FL180 to FL390")
        }
    }

    @Test("traffic is where each aircraft was seen last, until it is dropped")
    func traffic() async throws {
        try await withWorld { world in
            try await world.insert(positions: [
                aircraft("aaaaaa", at: -60), aircraft("aaaaaa", at: -10, longitude: 11), aircraft("bbbbbb", at: -180),
                aircraft("cccccc", at: -179),
            ])
            let all = try await world.json("/collections/traffic/items")
            #expect(all.features.map { $0["id"] } == [.text("aaaaaa"), .text("cccccc")])
            let first = try all.features.first.orMissing()
            #expect(first["geometry"]?["coordinates"] == .array([.number(11), .number(50)]))
            #expect(first.property("heading") == .number(271.25) && first.property("onGround") == .bool(false))
            #expect(first.property("groundSpeed") == .number(451.5))
            // Before the newest position: asked of the log.
            let earlier = try await world.json("/collections/traffic/items?time=2026-11-21T11:59:30Z")
            #expect(earlier.features.map { $0["id"] } == [.text("aaaaaa"), .text("bbbbbb"), .text("cccccc")])
            #expect(earlier.features.first?["geometry"]?["coordinates"] == .array([.number(10), .number(50)]))
            #expect(try await world.ids("/collections/traffic/items?bbox=10.5,40,12,60") == ["aaaaaa"])
            #expect(try await world.json("/collections/traffic/items/CCCCCC")["id"] == .text("cccccc"))
            #expect(try await world.get("/collections/traffic/items/bbbbbb").status == .notFound)
        }
    }

    @Test("an aircraft is led on by its speed and track where that is requested")
    func deadReckoning() async throws {
        try await withWorld { world in
            try await world.insert(positions: [aircraft("aaaaaa", at: -120)])
            let led = try await world.json("/collections/traffic/items?deadReckoning=true")
            guard case .array(let place)? = led.features.first?["geometry"]?["coordinates"],
                case .number(let longitude)? = place.first, case .number(let latitude)? = place.last
            else { throw Missing(description: "no coordinates") }
            // 451.5 kt westward for two minutes: 15 nautical miles at 50° N.
            #expect(abs(longitude - 9.61) < 0.01 && abs(latitude - 50) < 0.01)
            #expect(led.features.first?.property("observedAt") == .text("2026-11-21T11:58:00Z"))
            let held = try await world.json("/collections/traffic/items?deadReckoning=false")
            #expect(held.features.first?["geometry"]?["coordinates"] == .array([.number(10), .number(50)]))
            #expect(try await world.get("/collections/traffic/items?deadReckoning=maybe").status == .badRequest)
        }
    }

    @Test("tracks are lines with a time for each vertex, over the history or an interval, cut at the antimeridian")
    func tracks() async throws {
        try await withWorld { world in
            try await world.insert(positions: [
                aircraft("aaaaaa", at: -8_000, longitude: 5), aircraft("aaaaaa", at: -120, longitude: 10),
                aircraft("aaaaaa", at: -60, longitude: 11), aircraft("bbbbbb", at: -100, longitude: 179),
                aircraft("bbbbbb", at: 0, longitude: -179), aircraft("cccccc", at: -60),
            ])
            let all = try await world.json("/collections/tracks/items")
            #expect(all.features.map { $0["id"] } == [.text("aaaaaa"), .text("bbbbbb")], "one position is no line")
            let line = try all.features.first.orMissing()
            #expect(
                line["geometry"]?["coordinates"]
                    == .array([.array([.number(10), .number(50)]), .array([.number(11), .number(50)])]))
            #expect(
                line.property("times") == .array([.text("2026-11-21T11:58:00Z"), .text("2026-11-21T11:59:00Z")]))
            #expect(line.property("callsign") == .text("DLH4AB"))
            let split = try await world.json("/collections/tracks/items/bbbbbb")
            #expect(split["geometry"]?["type"] == .text("MultiLineString"))
            guard case .array(let times)? = split["properties"]?["times"] else {
                throw Missing(description: "no coordinates")
            }
            #expect(times.count == 4 && times[1] == times[2])

            #expect(try await world.ids("/collections/tracks/items?bbox=10.5,40,12,60") == ["aaaaaa"])
            #expect(try await world.ids("/collections/tracks/items?source=other").isEmpty)
            #expect(try await world.ids("/collections/tracks/items?hours=4") == ["aaaaaa", "bbbbbb"])
            let interval = "datetime=2026-11-21T11:57:00Z/2026-11-21T11:59:00Z"
            #expect(try await world.ids("/collections/tracks/items?\(interval)") == ["aaaaaa"])
            let first = try await world.json("/collections/tracks/items?limit=1")
            let next = try first.link("next").orMissing()
            #expect(first.features.count == 1)
            #expect(try await world.ids(String(next.dropFirst("http://localhost".count))) == ["bbbbbb"])
            #expect(try await world.get("/collections/tracks/items?after=junk").status == .badRequest)
            #expect(try await world.get("/collections/tracks/items/cccccc").status == .notFound)

            let csv = try await world.get("/export/tracks.csv").text
            #expect(csv.contains("LINESTRING (10 50, 11 50)"))
            #expect(csv.contains("MULTILINESTRING ((179 50, 180 50), (-180 50, -179 50))"))
        }
    }

    @Test("every feature of an interval has an id of its own, in every format, and is found by it")
    func idsOfAnInterval() async throws {
        try await withWorld { world in
            try await world.insert(
                areas: [
                    try area("a", from: -7_200, to: -3_600), try area("a", from: -3_600, to: -60),
                    try area("a", from: -60), try area("b", from: -90),
                ],
                positions: try (0..<7).flatMap { step in
                    [try aircraft("aaaaaa", at: -100 * step), try aircraft("bbbbbb", at: -100 * step)]
                })
            let range = "datetime=2026-11-21T09:00:00Z/2026-11-21T12:00:00Z"
            for (collection, count) in [("traffic", 14), ("tracks", 2), ("hazards", 4)] {
                let items = "/collections/\(collection)/items"
                let features = try await world.json("\(items)?\(range)").features
                let ids = features.compactMap { $0["id"]?.string }
                #expect(ids.count == count && Set(ids).count == count, "\(ids)")
                for feature in features {
                    let id = try feature["id"]?.string.orMissing() ?? ""
                    let alone = try await world.json("\(items)/\(id)?\(range)")
                    #expect(alone["id"] == feature["id"] && alone["properties"] == feature["properties"], "\(id)")
                    // Without the interval too; an address alone is where the aircraft is now.
                    if collection == "traffic" {
                        #expect(try await world.json("\(items)/\(id)")["properties"] == feature["properties"])
                    }
                }
                let csv = try await world.get("/export/\(collection).csv?\(range)").text
                let rows = csv.split(separator: "\r\n").dropFirst()
                #expect(rows.map { String($0.prefix { $0 != "," }) } == ids, "\(csv)")
            }
            let hazards = try await world.ids("/collections/hazards/items?\(range)")
            #expect(hazards == ["a-20261121T100000Z", "a-20261121T110000Z", "a", "b"])
            let former = try await world.json("/collections/hazards/items/a-20261121T100000Z")
            #expect(former.property("validFrom") == .text("2026-11-21T10:00:00Z"))
            #expect(try await world.ids("/collections/hazards/items") == ["a", "b"])
            #expect(try await world.ids("/collections/traffic/items") == ["aaaaaa", "bbbbbb"])
            // The last position of the interval.
            let early = "datetime=2026-11-21T09:00:00Z/2026-11-21T11:57:00Z"
            let last = try await world.json("/collections/traffic/items/aaaaaa?\(early)")
            #expect(last["id"] == .text("aaaaaa") && last.property("observedAt") == .text("2026-11-21T11:56:40Z"))
            for id in ["aaaaaa-20261121T120001Z-awc", "aaaaaa-20261121T120000Z-other", "aaaaaa-", "cccccc"] {
                #expect(try await world.get("/collections/traffic/items/\(id)").status == .notFound, "\(id)")
            }
            for id in ["a-20261121T100001Z", "c-20261121T100000Z", "a-"] {
                #expect(try await world.get("/collections/hazards/items/\(id)").status == .notFound, "\(id)")
            }
        }
    }

    @Test("an interval gives every position once, page by page")
    func positionPages() async throws {
        try await withWorld { world in
            try await world.insert(
                positions: try (0..<7).flatMap { step in
                    [try aircraft("aaaaaa", at: -100 * step), try aircraft("bbbbbb", at: -100 * step)]
                })
            let range = "datetime=2026-11-21T11:50:00Z/2026-11-21T12:00:00Z"
            var next: String? = "/collections/traffic/items?\(range)&limit=3"
            var seen: [String] = []
            while let uri = next {
                let page = try await world.json(uri)
                #expect(page.features.count <= 3)
                for feature in page.features {
                    seen.append("\(feature["id"] ?? .null) \(feature.property("observedAt") ?? .null)")
                }
                next = page.link("next").map { String($0.dropFirst("http://localhost".count)) }
            }
            #expect(seen.count == 14 && Set(seen).count == 14)
            let bad = try await world.get("/collections/traffic/items?\(range)&after=junk")
            #expect(bad.status == .badRequest)
        }
    }
}
