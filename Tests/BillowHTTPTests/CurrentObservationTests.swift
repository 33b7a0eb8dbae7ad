import EngineTestSupport
import BillowStore
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

/// A report of smooth air after one of moderate-severe, seen from outside.
@Suite("4 and then 0 at a cell, over HTTP")
struct CurrentObservationTests {
    private func severity(_ world: World, _ cell: Cell, _ query: String = "") async throws -> Double? {
        try await world.json("/collections/hexagons/items/\(cell.h3String)?\(query)").property("severity")?.double
    }

    private func standing(_ world: World, _ query: String = "") async throws -> [Double] {
        try await world.json("/collections/hexagons/items?aggregate=false&\(query)").features
            .compactMap { $0.property("severity")?.double }.sorted()
    }

    @Test("computed values: the same cell and level shows 0, and the instant in between still 4")
    func replace() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([try observation(cell, severity: .moderateSevere, at: -1_200)])
            #expect(try await severity(world, cell) == 4)
            #expect(try await world.colour(cell) == Pixel.moderateSevere)
            try await world.insert([try observation(cell, severity: .smooth, at: -600)])
            #expect(try await severity(world, cell) == 0)
            #expect(try await standing(world) == [0])
            #expect(try await world.colour(cell) == Pixel.smooth)
            // Asked afterwards.
            #expect(try await severity(world, cell, "datetime=2026-11-21T11:45:00Z") == 4)
            #expect(try await world.colour(cell, "20261121T114500Z") == Pixel.moderateSevere)
            #expect(try await standing(world, "datetime=2026-11-21T11:45:00Z") == [4])
            #expect(try await world.colour(cell, "20261121T115000Z") == Pixel.smooth)
            #expect(try await world.colour(cell, "20261121T113959Z") == Pixel.none)
            // And when both are out of the live hours.
            world.clock.advance(by: 86_400)
            try await world.refresh()
            #expect(try await world.colour(cell, "20261121T114500Z") == Pixel.moderateSevere)
            #expect(try await world.colour(cell, "20261121T115500Z") == Pixel.smooth)
            // The log keeps both.
            #expect(try await world.json("/collections/observations/items").features.count == 2)
        }
    }

    @Test("the same when the later report arrives first")
    func outOfOrder() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([try observation(cell, severity: .smooth, at: -600)])
            try await world.insert([try observation(cell, severity: .moderateSevere, at: -1_200)])
            #expect(try await severity(world, cell) == 0)
            #expect(try await world.colour(cell, "20261121T114500Z") == Pixel.moderateSevere)
        }
    }

    @Test("independent reports: stays 4 until its history is over")
    func keep() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([
                try observation(cell, severity: .moderateSevere, at: -1_200, source: "import"),
                try observation(cell, severity: .smooth, at: -600, source: "import"),
            ])
            #expect(try await severity(world, cell) == 4)
            #expect(try await standing(world) == [0, 4])
            #expect(try await world.colour(cell) == Pixel.moderateSevere)
            // 4 is 30 minutes old at 12:10.
            #expect(try await world.colour(cell, "20261121T115959Z", query: "?hours=0.5") == Pixel.moderateSevere)
            world.clock.advance(by: 600)
            try await world.refresh()
            #expect(try await world.colour(cell, query: "?hours=0.5") == Pixel.smooth)
            #expect(try await world.colour(cell) == Pixel.moderateSevere)
        }
    }

    @Test("another level and another source erase nothing")
    func elsewhere() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            try await world.insert([
                try observation(cell, altitude: 38, severity: .moderateSevere, at: -1_200),
                try observation(cell, altitude: 37, severity: .smooth, at: -600),
                try observation(cell, altitude: 38, severity: .smooth, at: -500, source: "other"),
                try observation(cell, altitude: 38, severity: .light, at: -400, source: "import"),
            ])
            #expect(try await severity(world, cell) == 4)
            #expect(try await standing(world) == [0, 0, 1, 4])
            #expect(try await severity(world, cell, "maxAltitude=38000") == 0)
            #expect(try await severity(world, cell, "source=other") == 0)
            #expect(try await severity(world, cell, "source=other,import") == 1)
            #expect(
                try await world.json("/collections/hexagons/items/\(cell.h3String)").property("reports") == .number(4))
        }
    }
}
