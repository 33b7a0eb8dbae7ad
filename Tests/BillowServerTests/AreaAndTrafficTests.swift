import BillowStore
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Testing
import Turbulence

@testable import BillowServer

private func area(
    _ id: String, _ collection: IssuedArea.Collection = .hazards, kind: String = "gairmet", from: Int = -3_600,
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
    fileprivate func take(areas: [IssuedArea] = [], positions: [AircraftPosition] = []) async throws {
        _ = try await store.commit(Batch(source: nil, areas: areas, positions: positions))
        try await refresh()
    }

    fileprivate func ids(_ uri: String) async throws -> [String] {
        try await json(uri).features.compactMap { if case .text(let id)? = $0["id"] { id } else { nil } }
    }
}

@Suite("Issued areas and aircraft over HTTP")
struct AreaAndTrafficTests {
    @Test("areas are those that hold at the instant, also ahead, and of an interval those that hold at some time of it")
    func validity() async throws {
        try await withWorld { world in
            try await world.take(areas: [
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
            #expect(try await world.ids(day + "&limit=2&after=1:now") == ["past"])
            let beyond = try await world.get("/collections/hazards/items?time=2026-11-22T14:30:00Z")
            #expect(beyond.status == .notFound)
        }
    }

    @Test("the timeline reaches as far back as imported areas")
    func past() async throws {
        try await withWorld { world in
            try await world.take(areas: [area("old", from: -337 * 86_400, to: -336 * 86_400)])
            let start = noon.advanced(by: -337 * 86_400)
            #expect(try await world.ids("/collections/hazards/items?time=\(start)") == ["old"])
            let manifest = try await world.json(
                "/timeline.json?start=\(start)&end=\(start.advanced(by: 3_600))&intervals=3&layers=hazards")
            #expect(manifest["layers"]?[0]?["frames"]?.items.count == 3)
            let before = try await world.get("/collections/hazards/items?time=\(start.advanced(by: -1))")
            #expect(before.status == .notFound)
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
            try await world.take(areas: [area("g"), area("s", kind: "sigmet", longitude: 100, severity: nil)])
            #expect(try await world.ids("/collections/hazards/items?\(query)") == expected)
        }
    }

    @Test("an area has the interface's properties, in every form")
    func areaProperties() async throws {
        try await withWorld { world in
            try await world.take(areas: [area("a,b")])
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

    @Test(
        "wind shear is near the ground: shown low, over high ground too, and neither in the picture nor in alerts of cruise"
    )
    func windShear() async throws {
        try await withWorld { world in
            var shear = try area("shear", severity: nil)
            shear.hazard = IssuedArea.windShear
            (shear.altitudeMinFeet, shear.altitudeMaxFeet) = (0, IssuedArea.windShearTopFeet)
            try await world.take(areas: [shear])
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

    @Test("traffic is where each aircraft was seen last, until it is dropped")
    func traffic() async throws {
        try await withWorld { world in
            try await world.take(positions: [
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

    @Test("an aircraft is led on by its speed and track where that is asked for")
    func deadReckoning() async throws {
        try await withWorld { world in
            try await world.take(positions: [aircraft("aaaaaa", at: -120)])
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
            try await world.take(positions: [
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

    @Test("an interval gives every position once, page by page")
    func positionPages() async throws {
        try await withWorld { world in
            try await world.take(
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
