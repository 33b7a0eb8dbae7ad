import BillowFields
import BillowStore
import EngineTestSupport
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowRaster

extension World {
    /// Stores a field of a value for each column, row and level in feet: 20 by 16 degrees from 100° W 30° N.
    func insertAir(
        _ product: FieldProduct = .forecast, run: Int = -3_600, valid: Int, levels: [Int] = [30_000, 32_000, 34_000],
        value: (_ column: Int, _ row: Int, _ feet: Int) -> UInt8
    ) async throws {
        let grid = try TestField.grid(20, 16)
        let identity = try #require(
            FieldIdentity(
                product: product, run: noon.advanced(by: run), validTime: noon.advanced(by: valid)))
        let drafts = try levels.map { feet in
            let values = (0..<grid.count).map { value($0 % grid.columns, $0 / grid.columns, feet) }
            let plane = try #require(FieldPlane(width: grid.columns, height: grid.rows, values: values))
            return FieldLevelDraft(identity: identity, grid: grid, level: .feet(UInt16(feet)), packed: plane.packed())
        }
        _ = try await store.commit(Batch(source: source("awc"), fields: drafts, fetchedAt: clock.now))
        try await refresh()
    }
}

@Suite("The turbulence field along a flight over HTTP")
struct FieldProfileTests {
    /// Along a parallel of the grid, 737 NM; at 360 kt some two hours.
    private static let route = "route=35N100W+35N085W"

    private func column(_ values: JSON?, _ number: Int) -> Double? { values?[number]?.double }

    @Test("the field is that of the time at which the aircraft is there")
    func inTime() async throws {
        try await withWorld { world in
            for (hours, value) in [(0, 10), (1, 30), (2, 20), (3, 20)] {
                try await world.insertAir(valid: hours * 3_600) { _, _, _ in UInt8(value) }
            }
            let answer = try await world.json("/profiles.json?\(Self.route)&speed=360&stretch=10&minAltitude=30000")
            let field = try #require(answer["field"])
            let row = try #require(field["edr"]?[0])
            // After 30 minutes, or 180 NM, halfway from 0.10 to 0.30; after 90 minutes halfway from there to 0.20.
            for (stretch, edr) in [(0, 0.10), (17, 0.20), (36, 0.30), (53, 0.25), (72, 0.20)] {
                let value = try #require(column(row, stretch))
                #expect(abs(value - edr) < 0.012, "stretch \(stretch)")
            }
            #expect(field["times"]?[17]?.string == "2026-11-21T12:29:10Z")
            #expect(field["flight"]?["departure"]?.string == noon.description)
            #expect(field["flight"]?["speed"]?.double == 360)
            #expect(field["fields"]?.items.count == 4)
            #expect(field["fields"]?[1]?["lead"]?.double == 7_200)
            #expect(field["fields"]?[1]?["product"]?.string == "gtg")
            #expect(field["validFrom"]?.string == noon.description)
            #expect(field["validTo"]?.string == "2026-11-21T15:00:00Z")
            let later = try await world.json(
                "/profiles.json?\(Self.route)&speed=360&departure=2026-11-21T13:00:00Z&minAltitude=30000")
            #expect(later["field"]?["edr"]?[0]?[0]?.double == 0.3)
            // Without a speed all of it is now.
            let still = try await world.json("/profiles.json?\(Self.route)&minAltitude=30000")
            let values = (still["field"]?["edr"]?[0]?.items ?? []).map(\.double)
            #expect(Set(values) == [0.1])
            #expect(still["field"]?["path"]?.items.isEmpty == true)
        }
    }

    @Test("the worst stretch is told with its time and level, and with levels nearby that have less")
    func worst() async throws {
        try await withWorld { world in
            for hours in 0...3 {
                try await world.insertAir(valid: hours * 3_600) { column, _, feet in
                    guard (5...7).contains(column) else { return 3 }
                    return feet == 32_000 ? 28 : feet == 30_000 ? 12 : 17
                }
            }
            let answer = try await world.json(
                "/profiles.json?\(Self.route)&speed=360&level=32000&climb=2000&descent=2000")
            let worst = try #require(answer["field"]?["worst"])
            // From 94.5° to 91.5° W.
            #expect(abs((worst["from"]?.double ?? 0) - 221) < 4 && abs((worst["to"]?.double ?? 0) - 369) < 4)
            #expect(worst["edr"]?.double == 0.28 && worst["severityName"]?.string == "moderate")
            #expect(worst["altitude"]?.double == 32_000)
            #expect(worst["timeFrom"]?.string?.hasPrefix("2026-11-21T12:3") == true)
            #expect(worst["timeTo"]?.string?.hasPrefix("2026-11-21T13:0") == true)
            let better = worst["better"]?.items ?? []
            #expect(better.first?["altitude"]?.double == 30_000 && better.first?["edr"]?.double == 0.12)
            let levels = better.compactMap { $0["altitude"]?.double }
            #expect(levels.contains(34_000) && !levels.contains(32_000))
            let text = try #require(answer["field"]?["text"]?.string)
            #expect(text.hasPrefix("Moderate at FL320 from 22"))
            #expect(text.contains("UTC: EDR up to 0.28. Less at FL300 (light, 0.12) and "))
            // The climb and the descent pass levels that no field has.
            let unknown = answer["field"]?["unknown"]?.items ?? []
            let reasons = unknown.compactMap { $0["reason"]?.string }
            #expect(reasons == ["level", "level"])
            #expect(unknown.first?["from"]?.double == 0)
            #expect(text.contains("no level of the field nearby"))
            #expect(answer["field"]?["path"]?[0]?["edr"] == .null || answer["field"]?["path"]?[0]?["edr"] == nil)
            #expect(answer["field"]?["path"]?[30]?["edr"]?.double == 0.28)
            // Without a level the worst of all of them counts.
            let any = try await world.json("/profiles.json?\(Self.route)&speed=360")
            #expect(any["field"]?["worst"]?["altitude"]?.double == 32_000)
        }
    }

    @Test("what isn't known is never smooth: beyond the grid, without a value on one side, and without a field")
    func unknown() async throws {
        try await withWorld { world in
            #expect(try await world.json("/profiles.json?\(Self.route)")["field"] == nil, "no field is stored")
            try await world.insertAir(valid: 0) { _, _, _ in 5 }
            try await world.insertAir(valid: 3_600) { column, _, _ in column == 10 ? FieldPlane.missing : 5 }
            func reasons(_ query: String) async throws -> [String?] {
                let answer = try await world.json("/profiles.json?\(query)&level=32000")
                return (answer["field"]?["unknown"]?.items ?? []).map { $0["reason"]?.string }
            }
            #expect(try await reasons(Self.route) == [])
            #expect(try await reasons("\(Self.route)&speed=2000") == ["missing"])
            #expect(try await reasons("route=35N095W+35N060W") == ["outside"])
            #expect(try await reasons("\(Self.route)&speed=100") == ["time"])
            let none = try await world.json("/profiles.json?route=50N000E+50N010E&level=32000")
            #expect(none["field"]?["worst"] == nil && none["field"]?["incomplete"]?.bool == true)
            #expect(none["field"]?["text"]?.string?.hasPrefix("The turbulence along this flight is unknown.") == true)
            // A source is a filter of the field, too.
            #expect(try await world.json("/profiles.json?\(Self.route)&source=skypath")["field"] == nil)
        }
    }

    @Test(
        "an unusable value is a 400 that names it and its range",
        arguments: [
            ("level=-1", "level"), ("level=60001", "level"), ("level=FL350", "level"), ("speed=0", "speed"),
            ("speed=2001", "speed"), ("speed=fast", "speed"), ("departure=tomorrow", "departure"),
            ("climb=2000", "climb"), ("speed=400&climb=2000", "climb"), ("level=30000&descent=2000", "descent"),
            ("speed=400&level=30000&climb=99", "climb"), ("speed=400&level=30000&descent=10001", "descent"),
            ("speed=400&level=30000&climb=nan", "climb"), ("speed=inf", "speed"),
        ])
    func badParameters(query: String, name: String) async throws {
        try await withWorld { world in
            for path in ["/profiles.json", "/profiles.png", "/collections/gtg/corridor"] {
                let problem = try await world.json("\(path)?\(Self.route)&\(query)", status: .badRequest)
                #expect(problem["parameter"]?.string == name, "\(path)")
                #expect(problem["value"] != nil && problem["allowed"] != nil)
            }
        }
    }

    @Test("a planned level outside of the altitudes that are shown has no line in the picture")
    func levelOutsideOfThePicture() async throws {
        try await withWorld { world in
            try await world.insertAir(valid: 0) { _, _, _ in 5 }
            let query = "\(Self.route)&speed=400&level=37000&minAltitude=35000&maxAltitude=36000"
            #expect(try await world.get("/profiles.png?\(query)").status == .ok)
        }
    }

    @Test("simulated air makes the whole answer simulated")
    func simulated() async throws {
        try await withWorld(simulated: true) { world in
            try await world.insertAir(valid: 0) { _, _, _ in 5 }
            let response = try await world.get("/profiles.json?\(Self.route)")
            #expect(response.header("X-Simulated") == "true")
            #expect(try response.json["field"]?["simulated"]?.bool == true)
        }
    }
}
