import EngineTestSupport
import BillowStore
import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import NIOCore
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

/// A place as `/changes` and `/events` take it, and where a whole answer of the same place is found.
struct LookedAt: Sendable, CustomStringConvertible {
    var query: String
    /// Behind `/collections/{id}`.
    var whole: String
    var description: String { query }

    static let all = [
        LookedAt(query: "bbox=9,49.2,11,50.5", whole: "items"),
        LookedAt(query: "route=49N009E+51N011E&width=40", whole: "corridor"),
        LookedAt(
            query: "coords=LINESTRING(9+50,10+50.4,11+50.2)&corridor-width=60&width-units=km", whole: "corridor"),
        LookedAt(query: "coords=POLYGON((9+49.5,11+49.5,10+51,9+49.5))", whole: "area"),
    ]
}

/// What comes and goes over a few hours: observations, reports, hazards, and aircraft that fly about.
private struct History {
    var random: SeededGenerator
    private let cells: [Cell]
    private var step = 0

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        cells = H3.disk(around: try cell(10, 50), distance: 12).sorted()
    }

    mutating func number(below end: Int) -> Int { Int(random.next() % UInt64(end)) }

    /// Something of everything, or of some of it.
    mutating func happen(in world: World) async throws {
        step += 1
        let now = world.clock.now.seconds - noon.seconds
        let observations = try (0..<number(below: 25)).map { _ in
            try observation(
                cells[number(below: cells.count)], altitude: 30 + number(below: 3),
                severity: Severity(rawValue: UInt8(number(below: 5))), at: now - number(below: 900),
                source: ["skypath", "import"][number(below: 2)])
        }
        let reports = try (0..<number(below: 9)).map { report in
            PilotReport(
                id: "\(step)-\(report)", place: try somewhere(), observedAt: world.clock.now, type: "PIREP",
                aircraft: nil, altitudeFeet: nil, turbulence: [], text: "UA", source: try source("awc"))
        }
        let positions = try (0..<number(below: 16)).map { _ in
            AircraftPosition(
                icao24: try #require(ICAO24(rawValue: UInt32(1 + number(below: 12)))), place: try somewhere(),
                source: try source("other"), observedAt: world.clock.now)
        }
        _ = try await world.store.commit(
            Batch(
                source: try source("other"), observations: observations, pilotReports: reports, positions: positions))
        try await world.refresh()
    }

    private mutating func somewhere() throws -> LonLat {
        try place(7.5 + Double(number(below: 500)) / 100, 48 + Double(number(below: 400)) / 100)
    }
}

@Suite("Changes of a client's own area", .timeLimit(.minutes(20)))
struct OwnAreaChangeTests {
    @Test(
        "taking in every delta of a place gives what a whole answer has, also of what moved away and what aged out",
        arguments: LookedAt.all, ["hexagons", "observations", "pireps", "traffic", "polygons", "tracks"])
    func deltas(_ place: LookedAt, _ collection: String) async throws {
        try await withWorld { world in
            let path = "/changes/\(collection)?hours=0.5&\(place.query)"
            var history = try History(seed: UInt64(path.utf8.count))
            var copy = ClientCopy()
            var (deltas, removed, sizes) = (0, 0, Set<Int>())
            for step in 0..<25 {
                if history.number(below: 4) > 0 { try await history.happen(in: world) }
                if history.number(below: 2) == 0 {
                    world.clock.advance(by: 30 + history.number(below: 900))
                    try await world.refresh()
                }
                let answer = try await copy.update(world, path)
                if answer["full"]?.bool == false { deltas += 1 }
                removed += answer["removed"]?.items.count ?? 0
                sizes.insert(copy.features.count)
                let fresh = try await ClientCopy.fresh(world, path)
                #expect(copy.features == fresh, "step \(step)")
                let whole = try await world.json(
                    "/collections/\(collection)/\(place.whole)?hours=0.5&limit=10000&\(place.query)")
                #expect(Set(whole.features.compactMap { $0["id"]?.string }) == Set(fresh.keys), "step \(step)")
            }
            #expect(deltas == 24, "all but the first")
            // Of these there is enough in every place.
            if ["hexagons", "observations"].contains(collection) || place.whole == "items" && collection != "polygons" {
                #expect(removed > 0 && sizes.count > 2, "\(removed), \(sizes)")
            }
        }
    }

    @Test("a place has far less than the world, and none of what lies elsewhere")
    func less() async throws {
        try await withWorld { world in
            var history = try History(seed: 7)
            for _ in 0..<10 { try await history.happen(in: world) }
            let all = try await world.json("/changes/observations").features.count
            for place in LookedAt.all {
                let some = try await world.json("/changes/observations?\(place.query)").features.count
                #expect(some > 0 && some < all / 2, "\(place): \(some) of \(all)")
            }
        }
    }

    @Test("a cursor of one place is none of another, nor of the world")
    func cursors() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50))])
            let queries = LookedAt.all.map { "&\($0.query)" } + ["", "&route=49N009E+51N011E&width=41"]
            for query in queries {
                let cursor = try #require(
                    try await world.json("/changes/hexagons?hours=1\(query)")["cursor"]?.string)
                for other in queries {
                    let answer = try await world.json("/changes/hexagons?hours=1\(other)&since=\(cursor)")
                    #expect(answer["full"]?.bool == (other != query), "\(query) to \(other)")
                }
            }
        }
    }

    @Test("a client that has the last state of what is published costs no read; the next publication does")
    func idle() async throws {
        try await withWorld { world in
            let path = "/changes/hexagons?route=49N009E+51N011E"
            try await world.insert([try observation(try cell(10, 50))])
            var copy = ClientCopy()
            try await copy.update(world, path)
            let changes = world.application.changes
            let before = changes.updatesBegun
            for _ in 0..<5 { try await copy.update(world, path) }
            #expect(changes.updatesBegun == before)
            #expect(copy.features.count == 1)
            try await world.insert([try observation(try cell(10, 50.1))])
            try await copy.update(world, path)
            #expect(changes.updatesBegun == before + 1)
            #expect(copy.features.count == 2)
        }
    }

    @Test("the state of a place outlives whatever else is requested before its client polls again")
    func states() async throws {
        try await withWorld { world in
            let cells = H3.disk(around: try cell(10, 50), distance: 30).sorted()
            try await world.insert(try cells.map { try observation($0) })
            try await world.restarted(cacheBytes: 1 << 20) { second in
                let path = "/changes/hexagons?route=49N009E+51N011E&width=20"
                var copy = ClientCopy()
                try await copy.update(second, path)
                let before = second.application.frames.caches.bytes
                for number in 0..<60 {
                    _ = try await second.get("/tiles/hexagons/latest/0/0/0@3x.png?minAltitude=\(number * 1_000)")
                    _ = try await second.get("/changes/hexagons?source=s\(number),import,skypath")
                }
                #expect(before == 7 << 17 && copy.features.count > 20)
                #expect(try await copy.update(second, path)["full"]?.bool == false)
                #expect(second.application.changes.statistics.bytes <= 1 << 20)
            }
        }
    }

    @Test("a listener of a place hears of every change there, and of little elsewhere", arguments: LookedAt.all)
    func events(_ place: LookedAt) async throws {
        try await withWorld { world in
            let reader = QueryReader(
                try #require(URLComponents(string: "/?\(place.query)")?.queryItems).reduce(into: [:]) {
                    $0[$1.name] = $1.value?.replacing("+", with: " ")
                })
            let squares = try EventParameters(reader, airports: .large, limitKm2: 1e7).squares
            let nobody: (name: String, payload: [String: String])? = nil
            let hub = world.application.events
            let everywhere = try hub.subscribe(after: nil, flight: nil, greeting: nobody)
            let here = try hub.subscribe(after: nil, flight: nil, squares: squares, greeting: nobody)
            var history = try History(seed: 3)
            let collections = ["turbulence", "pireps", "traffic", "tracks"]
            var copies = Dictionary(uniqueKeysWithValues: collections.map { ($0, ClientCopy()) })
            var changed: Set<String> = []
            for step in 0..<40 {
                if step % 2 == 0 {
                    try await history.happen(in: world)
                } else {
                    // Far away: nothing of it concerns the place.
                    let far = try cell(-100 + Double(step), 30)
                    try await world.insert([try observation(far, at: 0)])
                }
                try await world.eventsSent()
                for collection in collections {
                    let answer = try await copies[collection]?.update(
                        world, "/changes/\(collection)?hours=1&\(place.query)")
                    let count = (answer?.features.count ?? 0) + (answer?["removed"]?.items.count ?? 0)
                    let version = try #require(answer?["version"]?.double)
                    if step > 0, count > 0 { changed.insert("\(collection) \(Int(version))") }
                }
            }
            hub.close()
            func told(_ subscription: EventHub.Subscription) async throws -> Set<String> {
                var text = ""
                for await bytes in subscription.events { text += String(buffer: bytes) }
                return Set(
                    try Heard.read(text).filter { $0.name == "data" }.map {
                        "\($0.data["collection"]?.string ?? "") \(Int($0.data["version"]?.double ?? 0))"
                    })
            }
            let (all, some) = (try await told(everywhere), try await told(here))
            #expect(changed.isSubset(of: some), "\(changed.subtracting(some))")
            #expect(changed.count > 12)
            #expect(some.isSubset(of: all) && some.count < all.count - 15, "\(some.count) of \(all.count)")
        }
    }

    @Test("a listener of a place that comes back hears what it missed there; states of sources concern everyone")
    func replay() async throws {
        let hub = EventHub(logger: World.quiet())
        let here = DegreeSquares(try #require(BoundingBox(west: 9, south: 49, east: 11, north: 51)))
        let there = DegreeSquares(try #require(BoundingBox(west: -80, south: 30, east: -70, north: 40)))
        func listen(_ last: String? = nil) throws -> EventHub.Subscription {
            let nobody: (name: String, payload: [String: String])? = nil
            return try hub.subscribe(after: last, flight: nil, squares: here, greeting: nobody)
        }
        func numbers(_ subscription: EventHub.Subscription) async throws -> [Heard] {
            subscription.cancel()
            var text = ""
            for await bytes in subscription.events { text += String(buffer: bytes) }
            return try Heard.read(text)
        }
        let first = try listen()
        #expect(hub.hasPlacedListeners)
        hub.publish("data", ["n": 1], in: here)
        hub.publish("data", ["n": 2], in: there)
        hub.publish("data", ["n": 3])
        hub.publish("reachable", ["n": 4])
        let heard = try await numbers(first)
        #expect(heard.map { $0.data["n"]?.double } == [1, 3, 4])
        #expect(!hub.hasPlacedListeners)
        hub.publish("data", ["n": 5], in: there)
        hub.publish("data", ["n": 6], in: here)
        let missed = try await numbers(try listen(heard[1].id))
        #expect(missed.map { $0.data["n"]?.double } == [4, 6])
    }
}
