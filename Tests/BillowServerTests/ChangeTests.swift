import BillowExchange
import BillowStore
import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing
import Turbulence

@testable import BillowServer

/// A copy of a collection that a client keeps current.
private struct ClientCopy {
    var features: [String: JSON] = [:]
    var version: Double?

    /// Asks for what changed, and takes it in.
    mutating func update(_ world: World, _ path: String) async throws -> JSON {
        let since = version.map { "&since=\(Int($0))" } ?? ""
        let answer = try await world.json("\(path)\(since)")
        if answer["full"]?.bool == true { features = [:] }
        for id in answer["removed"]?.items ?? [] { features[id.string ?? ""] = nil }
        for feature in answer.features { features[feature["id"]?.string ?? ""] = feature }
        version = answer["version"]?.double
        return answer
    }
}

@Suite("Changes")
struct ChangeTests {
    @Test(
        "taking in every delta gives exactly what is there, whatever came, went and aged in between",
        arguments: [
            "/changes/hexagons?hours=0.5", "/changes/polygons?hours=1",
            "/changes/hexagons?minSeverity=2&geometry=true", "/changes/observations?hours=0.5",
            "/changes/pireps?hours=0.5",
        ])
    func deltas(_ path: String) async throws {
        try await withWorld { world in
            var random = SeededGenerator(seed: UInt64(path.utf8.count))
            let cells = H3.disk(around: try cell(10, 50), distance: 3).sorted()
            var steady = ClientCopy()
            var lazy = ClientCopy()
            var deltas = 0
            for step in 0..<25 {
                if random.next() % 4 > 0 {
                    let observations = try (0..<random.next() % 6).map { _ in
                        try observation(
                            cells[Int(random.next() % UInt64(cells.count))], altitude: Int(30 + random.next() % 3),
                            severity: Severity(rawValue: UInt8(random.next() % 5)),
                            at: world.clock.now.seconds - noon.seconds - Int(random.next() % 600),
                            source: ["skypath", "import"][Int(random.next() % 2)])
                    }
                    let reports = try (0..<random.next() % 3).map { number in
                        PilotReport(
                            id: "\(step)-\(number)", place: try place(10, 50),
                            observedAt: world.clock.now.advanced(by: -Int(random.next() % 600)), type: "PIREP",
                            aircraft: nil, altitudeFeet: nil, turbulence: [], text: "UA", source: try source("awc"))
                    }
                    try await world.take(observations, reports: reports)
                }
                // The same version, aged; a minute on, so that it is published anew.
                if random.next() % 2 == 0 {
                    world.clock.advance(by: 60 + Int(random.next() % 900))
                    try await world.refresh()
                }
                let answer = try await steady.update(world, path)
                if answer["full"]?.bool == false { deltas += 1 }
                if step % 7 == 0 { _ = try await lazy.update(world, path) }
                var fresh = ClientCopy()
                _ = try await fresh.update(world, path)
                #expect(steady.features == fresh.features, "step \(step)")
                if step % 7 == 0 { #expect(lazy.features == fresh.features, "step \(step)") }
            }
            #expect(deltas == 24, "all but the first")
        }
    }

    @Test("a version that isn't remembered gives everything, and says so")
    func full() async throws {
        try await withWorld { world in
            try await world.take([try observation(try cell(10, 50))])
            let answer = try await world.json("/changes/hexagons?since=999")
            #expect(answer["full"]?.bool == true)
            #expect(answer["since"] == .null)
            #expect(answer.features.count == 1)
            let version = try #require(answer["version"]?.double)
            let nothing = try await world.json("/changes/hexagons?since=\(Int(version))")
            #expect(nothing["full"]?.bool == false)
            #expect(nothing.features.isEmpty)
            let problem = try await world.json("/changes/wind", status: .notFound)
            #expect(problem["code"]?.string == "unknown-collection")
            let all = ExportCollection.allCases.map(\.rawValue)
            #expect(problem["allowed"]?.string == all.joined(separator: ", "))
            for collection in all {
                #expect(try await world.json("/changes/\(collection)")["full"]?.bool == true, "\(collection)")
            }
        }
    }

    @Test("a hexagon is told by its cell alone unless its shape is asked for; a polygon has no other name")
    func geometry() async throws {
        try await withWorld { world in
            try await world.take([try observation(try cell(10, 50))])
            for (path, type) in [
                ("hexagons", nil), ("turbulence", nil), ("hexagons?geometry=true", "Polygon"),
                ("hexagons?geometry=false", nil), ("polygons", "MultiPolygon"), ("polygons?geometry=false", nil),
            ] as [(String, String?)] {
                let feature = try #require(try await world.json("/changes/\(path)").features.first)
                #expect(feature["geometry"]?["type"]?.string == type, "\(path)")
                if type == nil { #expect(feature["geometry"] == .null) }
            }
            #expect(try await world.get("/changes/hexagons?geometry=perhaps").status == .badRequest)
        }
    }

    @Test("a report, whose place stands nowhere else, comes with it")
    func places() async throws {
        try await withWorld { world in
            let report = PilotReport(
                id: "r", place: try place(10, 50), observedAt: noon.advanced(by: -60), type: "PIREP", aircraft: nil,
                altitudeFeet: nil, turbulence: [], text: "UA", source: try source("awc"))
            try await world.take([], reports: [report])
            let feature = try #require(try await world.json("/changes/pireps").features.first)
            #expect(feature["geometry"]?["type"]?.string == "Point")
            world.clock.advance(by: 7_200)
            try await world.refresh()
            #expect(try await world.json("/changes/pireps").features.isEmpty, "older than the history")
        }
    }

    @Test("a client that takes gzip gets it")
    func gzip() async throws {
        try await withWorld { world in
            let cells = H3.disk(around: try cell(10, 50), distance: 3)
            try await world.take(try cells.map { try observation($0) })
            let plain = try await world.get("/changes/hexagons")
            let packed = try await world.get("/changes/hexagons", [.acceptEncoding: "br, gzip"])
            #expect(plain.headers[.contentEncoding] == nil)
            #expect(packed.headers[.contentEncoding] == "gzip")
            #expect(Array(packed.body.readableBytesView.prefix(2)) == [0x1F, 0x8B])
            #expect(packed.body.readableBytes < plain.body.readableBytes / 3)
        }
    }
}

/// Not a test: prints how large the delta of a minute is over the picture that a busy world leaves in two hours.
@Suite("Measuring changes", .enabled(if: ProcessInfo.processInfo.environment["BILLOW_MEASURE"] != nil))
struct ChangeMeasureTests {
    private static let minutes = 150
    /// So many that some 173,000 hexagons come out.
    private static let flights = 6_600

    /// A flight on a great circle that reports every cell it comes into, over turbulence in waves.
    private struct Flight {
        var start: LonLat
        var bearing: Double
        /// Minutes from the beginning of the measurement, and in the air.
        var departure: Int
        var duration: Int
        var level: Int

        init(_ random: inout SeededGenerator) throws {
            func share() -> Double { Double(random.next() >> 11) / Double(1 << 53) }
            let hub = Int(random.next() % 40)
            start = try place(Double(hub * 73 % 330) - 165 + 8 * share(), Double(hub * 29 % 100) - 45 + 6 * share())
            bearing = 360 * share()
            duration = 60 + Int(360 * share())
            departure = Int(Double(ChangeMeasureTests.minutes + duration) * share()) - duration
            level = 30 + Int(random.next() % 11)
        }

        func reports(minute: Int) throws -> [Observation] {
            guard (departure..<departure + duration).contains(minute) else { return [] }
            var last: Cell?
            return try (-1..<4).compactMap { quarter in
                let seconds = Double((minute - departure) * 60 + quarter * 15)
                let here = Geodesic.place(from: start, bearing: bearing, metres: 240 * seconds).place
                let cell = H3.cell(at: here)
                defer { last = cell }
                guard quarter >= 0, cell != last else { return nil }
                let wave = sin(here.longitude / 3) * sin(here.latitude / 2 + Double(level) / 3) + Double(minute) / 500
                let severity: Severity =
                    wave < 0.5 ? .smooth : wave < 0.7 ? .light : wave < 0.95 ? .lightModerate : .moderate
                return try observation(
                    cell, altitude: level, severity: severity,
                    at: (minute - ChangeMeasureTests.minutes) * 60 + quarter * 15, aircraft: nil)
            }
        }
    }

    @Test func minute() async throws {
        try await withWorld { world in
            var random = SeededGenerator(seed: 1)
            let flights = try (0..<Self.flights).map { _ in try Flight(&random) }
            func reports(_ minute: Int) throws -> [Observation] {
                try flights.flatMap { try $0.reports(minute: minute) }
            }
            for minute in 0..<Self.minutes {
                _ = try await world.store.commit(Batch(source: nil, observations: try reports(minute)))
            }
            try await world.refresh()
            var versions: [String: Int] = [:]
            for minute in Self.minutes..<Self.minutes + 4 {
                for form in ["geometry=false", "geometry=true"] {
                    let path = "/changes/hexagons?\(form)" + (versions[form].map { "&since=\($0)" } ?? "")
                    let packed = try await world.get(path, [.acceptEncoding: "gzip"]).body.readableBytes
                    let answer = try await world.json(path)
                    versions[form] = answer["version"]?.double.map { Int($0) }
                    print(
                        "\(path): \(packed) bytes in gzip, \(answer.features.count) features,",
                        "\(answer["removed"]?.items.count ?? 0) removed")
                    if minute == Self.minutes + 3, form == "geometry=false" {
                        for feature in answer.features.prefix(5) { print(feature) }
                        let trends = answer.features.count {
                            ($0.property("observedAt")?.string ?? "") < noon.advanced(by: 60).description
                        }
                        print("older than two minutes: \(trends)")
                    }
                }
                world.clock.advance(by: 60)
                try await world.take(try reports(minute))
            }
        }
    }
}
