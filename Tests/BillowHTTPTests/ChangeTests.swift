import EngineTestSupport
import BillowExchange
import BillowStore
import Datasets
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

/// A copy of a collection that a client keeps current.
struct ClientCopy {
    var features: [String: JSON] = [:]
    var cursor: String?

    /// Asks for what changed, and takes it in.
    @discardableResult
    mutating func update(_ world: World, _ path: String) async throws -> JSON {
        let since = cursor.map { "&since=\($0)" } ?? ""
        let answer = try await world.json("\(path)\(since)")
        if answer["full"]?.bool == true { features = [:] }
        for id in answer["removed"]?.items ?? [] { features[id.string ?? ""] = nil }
        for feature in answer.features { features[feature["id"]?.string ?? ""] = feature }
        cursor = answer["cursor"]?.string
        return answer
    }

    /// What a client has that asks for the first time.
    static func fresh(_ world: World, _ path: String) async throws -> [String: JSON] {
        var copy = ClientCopy()
        try await copy.update(world, path)
        return copy.features
    }
}

@Suite("Changes", .timeLimit(.minutes(20)))
struct ChangeTests {
    @Test(
        "applying every delta gives the full result, after any inserts, removals and expiry",
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
                    try await world.insert(observations, reports: reports)
                }
                // The same version, aged; a minute on, so that it is published anew.
                if random.next() % 2 == 0 {
                    world.clock.advance(by: 60 + Int(random.next() % 900))
                    try await world.refresh()
                }
                let answer = try await steady.update(world, path)
                if answer["full"]?.bool == false { deltas += 1 }
                if step % 7 == 0 { try await lazy.update(world, path) }
                let fresh = try await ClientCopy.fresh(world, path)
                #expect(steady.features == fresh, "step \(step)")
                if step % 7 == 0 { #expect(lazy.features == fresh, "step \(step)") }
            }
            #expect(deltas == 24, "all but the first")
        }
    }

    @Test("hexagons that age out between a client's polls are removed there, however often others poll")
    func agedOutBetweenPolls() async throws {
        try await withWorld { world in
            let path = "/changes/hexagons?hours=0.5"
            let cells = H3.disk(around: try cell(10, 50), distance: 10).sorted().prefix(300)
            // From the next minute on one ages out every two seconds.
            try await world.insert(
                try cells.enumerated().map { try observation($1, at: -1_740 + 2 * $0, source: "import") })
            var one = ClientCopy()
            try await one.update(world, path)
            #expect(one.features.count == 300)
            world.clock.advance(by: 120)
            try await world.refresh()
            var other = ClientCopy()
            for _ in 0..<246 { try await other.update(world, path) }
            let answer = try await one.update(world, path)
            #expect(answer["full"]?.bool == false)
            #expect(answer["removed"]?.items.count == 31)
            #expect(try await one.features == ClientCopy.fresh(world, path))
            #expect(one.features.count == 269)
        }
    }

    @Test("a poll that changes nothing adds no state")
    func unchanged() async throws {
        try await withWorld { world in
            let path = "/changes/hexagons?hours=1"
            try await world.insert([try observation(try cell(10, 50))])
            var copy = ClientCopy()
            try await copy.update(world, path)
            let cursor = try #require(copy.cursor)
            for _ in 0..<5 {
                world.clock.advance(by: 60)
                try await world.refresh()
                let answer = try await copy.update(world, path)
                #expect(answer["full"]?.bool == false)
                #expect(answer["since"]?.string == cursor)
                #expect(copy.cursor == cursor)
            }
            try await world.insert([try observation(try cell(11, 50), at: 100)])
            try await copy.update(world, path)
            #expect(copy.cursor != cursor)
        }
    }

    @Test("anything but a state of this query, run and server that is held gives everything, and says so")
    func full() async throws {
        try await withWorld { world in
            let path = "/changes/hexagons?hours=2"
            try await world.insert([try observation(try cell(10, 50))])
            let answer = try await world.json(path)
            #expect(answer["full"]?.bool == true)
            #expect(answer["since"] == .null)
            #expect(answer.features.count == 1)
            let cursor = try #require(answer["cursor"]?.string)
            let nothing = try await world.json("\(path)&since=\(cursor)")
            #expect(nothing["full"]?.bool == false)
            #expect(nothing.features.isEmpty)
            let version = try #require(try await world.json("/collections/hexagons/items")["version"]?.double)
            let other = try await world.json("/changes/hexagons?hours=1")["cursor"]?.string ?? ""
            let beyond = String(cursor.dropLast()) + "zzz"
            for since in ["1", "\(Int(version))", other, beyond, "0\(cursor)", "+\(cursor)", "", "x", "1.1"] {
                let answer = try await world.json("\(path)&since=\(since)")
                #expect(answer["full"]?.bool == true, "\(since)")
                #expect(answer["since"] == .null, "\(since)")
                #expect(answer.features.count == 1, "\(since)")
            }
            try await world.restarted { second in
                let answer = try await second.json("\(path)&since=\(cursor)")
                #expect(answer["full"]?.bool == true, "another run")
            }
            let problem = try await world.json("/changes/wind", status: .notFound)
            #expect(problem["code"]?.string == "unknown-collection")
            let all = Catalogue.all.map(\.id)
            #expect(problem["allowed"]?.string == all.joined(separator: ", "))
            for collection in all {
                #expect(try await world.json("/changes/\(collection)")["full"]?.bool == true, "\(collection)")
            }
        }
    }

    @Test("a hexagon is told by its cell alone unless its shape is requested; a polygon has no other name")
    func geometry() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50))])
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
            try await world.insert([], reports: [report])
            let feature = try #require(try await world.json("/changes/pireps").features.first)
            #expect(feature["geometry"]?["type"]?.string == "Point")
            world.clock.advance(by: 7_200)
            try await world.refresh()
            #expect(try await world.json("/changes/pireps").features.isEmpty, "older than the history")
        }
    }

    @Test("changes are compressed with the coding that a client takes", arguments: ["gzip", "br", "zstd"])
    func compressed(name: String) async throws {
        try await withWorld { world in
            let coding = try #require(ContentCoding(rawValue: name))
            let cells = H3.disk(around: try cell(10, 50), distance: 3)
            try await world.insert(try cells.map { try observation($0) })
            let plain = try await world.get("/changes/hexagons")
            let packed = try await world.get("/changes/hexagons", [.acceptEncoding: name])
            #expect(plain.headers[.contentEncoding] == nil)
            #expect(packed.headers[.contentEncoding] == name)
            #expect(coding.decompress(packed.body) == Array(buffer: plain.body))
            #expect(packed.body.readableBytes < plain.body.readableBytes / 3)
        }
    }
}

/// Clients of several servers of one log, each with a copy of some query.
private actor ChangeModel {
    struct Client {
        var path: String
        var copy = ClientCopy()
    }

    private var random: SeededGenerator
    private let cells: [Cell]
    private var clients: [Client]
    private var step = 0
    private(set) var deltas = 0
    private(set) var fulls = 0

    static let paths = [
        "/changes/hexagons?hours=0.5", "/changes/hexagons?hours=0.5&geometry=true", "/changes/hexagons?minSeverity=2",
        "/changes/turbulence?hours=1&bbox=9,49,11,51", "/changes/observations?hours=0.5",
        "/changes/observations?severity=3&hours=1", "/changes/polygons?hours=0.5", "/changes/pireps?hours=0.5",
        "/changes/hexagons?source=nobody", "/changes/hexagons?hours=1&route=49N009E+51N011E&width=40",
        "/changes/observations?hours=0.5&coords=POLYGON((9+49.5,11+49.5,10+51,9+49.5))",
    ]

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        cells = H3.disk(around: try cell(10, 50), distance: 5).sorted()
        clients = (Self.paths + Self.paths).map { Client(path: $0) }
    }

    private func number(below end: Int) -> Int { Int(random.next() % UInt64(end)) }

    /// Lets something happen, and some clients poll.
    func next(_ servers: [World]) async throws {
        step += 1
        switch number(below: 4) {
        case 0:
            servers[0].clock.advance(by: 60 + number(below: 600))
        case 1: break
        default:
            let world = servers[0]
            let observations = try (0..<number(below: 40)).map { _ in
                try observation(
                    cells[number(below: cells.count)], altitude: 30 + number(below: 3),
                    severity: Severity(rawValue: UInt8(number(below: 5))),
                    at: world.clock.now.seconds - noon.seconds - number(below: 1_200),
                    source: ["skypath", "import"][number(below: 2)])
            }
            let reports = try (0..<number(below: 3)).map { report in
                PilotReport(
                    id: "\(step)-\(report)", place: try place(10, 50),
                    observedAt: world.clock.now.advanced(by: -number(below: 600)), type: "PIREP", aircraft: nil,
                    altitudeFeet: nil, turbulence: [], text: "UA", source: try source("awc"))
            }
            _ = try await world.store.commit(
                Batch(source: nil, observations: observations, pilotReports: reports))
        }
        // One server may be behind the other.
        for world in servers where number(below: 3) > 0 { try await world.refresh() }
        for _ in 0..<6 { try await poll(number(below: clients.count), servers[number(below: servers.count)]) }
    }

    private func poll(_ index: Int, _ world: World) async throws {
        let path = clients[index].path
        var copy = clients[index].copy
        let isFirst = copy.cursor == nil
        let answer = try await copy.update(world, path)
        if answer["full"]?.bool == false { deltas += 1 } else if !isFirst { fulls += 1 }
        let fresh = try await ClientCopy.fresh(world, path)
        #expect(copy.features == fresh, "step \(step), client \(index): \(path)")
        clients[index].copy = copy
    }
}

@Suite("A model of changes")
struct ChangeModelTests {
    @Test(
        "after every poll each client has what a full answer has: commits, ageing, restarts, evictions, two servers",
        arguments: [1, 2] as [UInt64])
    func model(_ seed: UInt64) async throws {
        try await withWorld { world in
            let model = try ChangeModel(seed: seed)
            for _ in 0..<3 {
                // So little that logs push each other out.
                try await world.restarted(cacheBytes: 150_000) { second in
                    for _ in 0..<15 { try await model.next([world, second]) }
                }
            }
            #expect(await model.deltas > 40)
            #expect(await model.fulls > 10)
        }
    }

    @Test("clients that poll one query at the same time, each from another state, get deltas of their own")
    func together() async throws {
        try await withWorld { world in
            let path = "/changes/hexagons?hours=1"
            let cells = H3.disk(around: try cell(10, 50), distance: 5).sorted()
            var copies = [ClientCopy()]
            for step in 0..<12 {
                try await world.insert(
                    try (0..<5).map { try observation(cells[step * 5 + $0], at: -600, source: "import") })
                var copy = ClientCopy()
                try await copy.update(world, path)
                copies.append(copy)
            }
            world.clock.advance(by: 60)
            try await world.insert([try observation(cells[70], at: 30)])
            let fresh = try await ClientCopy.fresh(world, path)
            #expect(fresh.count == 61)
            try await withThrowingTaskGroup { group in
                for copy in copies + copies + copies {
                    group.addTask {
                        var copy = copy
                        let isFull = copy.cursor == nil
                        let answer = try await copy.update(world, path)
                        #expect(answer["full"]?.bool == isFull)
                        return copy.features
                    }
                }
                for try await features in group { #expect(features == fresh) }
            }
        }
    }

    @Test("logs are bounded by the cache's budget, also of queries that nothing answers to")
    func bounded() async throws {
        try await withWorld { world in
            try await world.restarted(cacheBytes: 200_000) { second in
                for number in 0..<1_500 {
                    _ = try await second.json("/changes/pireps?source=nobody\(number)")
                }
                let held = second.application.changes.statistics
                #expect(held.bytes <= 200_000)
                #expect(held.entries < 500)
            }
        }
    }

    private func bytes(_ id: String) -> ArraySlice<UInt8> { ArraySlice(Array(id.utf8)) }

    @Test(
        "a log has the changes of a plain comparison, in any order of the features", arguments: 0..<20 as Range<UInt64>)
    func oracle(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let isSorted = seed % 2 == 0
        // What each state had, and the content of each id.
        var history: [(state: UInt64, features: [String: UInt64])] = []
        var log = ChangeLog()
        var features: [String: UInt64] = [:]
        for state in 1...60 as ClosedRange<UInt64> {
            for _ in 0..<UInt64.random(in: 0...6, using: &random) {
                let prefix = String(repeating: "x", count: Int.random(in: 0...2, using: &random))
                let id = "\(prefix)\(Int.random(in: 0..<30, using: &random))"
                features[id] = Bool.random(using: &random) ? UInt64.random(in: 0..<3, using: &random) : nil
            }
            var next = ChangeLog.Builder(after: log, state: state)
            let before = log
            var order = features.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            if !isSorted { order.shuffle(using: &random) }
            for id in order {
                let changed = next.note(bytes(id), features[id] ?? 0)
                let isSame = history.last?.features[id] == features[id]
                #expect(changed == (isSame ? before.changed(bytes(id)) : state), "\(id)")
            }
            log = next.finish()
            #expect(log.state == (history.last.map { $0.features == features } ?? false ? before.state : state))
            if log.state == state { history.append((state, features)) }
            for (since, old) in history where log.holds(since) {
                let changed = features.keys.filter { log.changed(bytes($0)) > since }
                var copy = old
                for id in changed { copy[id] = features[id] }
                for id in log.removed(since: since) {
                    #expect(copy.removeValue(forKey: id) != nil || old[id] == nil, "\(id)")
                }
                #expect(copy == features, "since \(since)")
            }
        }
    }

    @Test("a log drops its oldest states and the entries that only they need")
    func log() throws {
        var log = ChangeLog()
        for state in 1...3_000 as ClosedRange<UInt64> {
            var next = ChangeLog.Builder(after: log, state: state)
            // Each state removes the feature of the one before.
            _ = next.note(bytes("always"), 1)
            _ = next.note(bytes("\(state)"), state)
            log = next.finish()
            #expect(log.state == state)
        }
        #expect(!log.holds(1))
        #expect(log.holds(2_999))
        #expect(log.removed(since: 2_999) == ["2999"])
        #expect(log.changed(bytes("always")) == 0, "before all known states")
        #expect(log.bytes < 200_000)
        let held = (1...3_000).filter { log.holds($0) }
        #expect(held.count <= 1_000)
        let first = try #require(held.first)
        #expect(log.removed(since: first).count == Int(3_000 - first))
    }

    @Test("features that share an id change with any of them, and not by being requested again")
    func sharedIDs() {
        func next(_ log: ChangeLog, _ state: UInt64, _ hashes: [UInt64]) -> ChangeLog {
            var next = ChangeLog.Builder(after: log, state: state)
            for hash in hashes { _ = next.note(bytes("twice"), hash) }
            return next.finish()
        }
        let first = next(ChangeLog(), 1, [5, 6])
        #expect(next(first, 2, [5, 6]).state == 1)
        for hashes in [[5, 7], [6, 5], [5], [6]] as [[UInt64]] {
            #expect(next(first, 2, hashes).changed(bytes("twice")) == 2)
        }
    }

    @Test("a client that leaves leaves no work behind")
    func leaving() async throws {
        try await withWorld { world in
            let store = HoldingStore(world.store)
            try await world.restarted(store: store) { second in
                let client = Task { try await second.get("/changes/observations?hours=1") }
                await store.entered()
                client.cancel()
                _ = await client.result
                #expect(await store.left(), "the read was cancelled")
            }
        }
    }
}

/// A real store whose pages of observations take until they are cancelled.
private final class HoldingStore: WrappedStore {
    let store: SQLiteStore
    private let reading = AsyncStream<Void>.makeStream()
    private let cancelled = AsyncStream<Bool>.makeStream()

    init(_ store: SQLiteStore) { self.store = store }

    func entered() async { for await _ in reading.stream { return } }

    func left() async -> Bool {
        for await wasCancelled in cancelled.stream { return wasCancelled }
        return false
    }

    func page(after: ObservationKey?, from: Instant, to: Instant, limit: Int, asOf version: Version?)
        async throws(StoreError) -> [(row: ObservationRow, details: ObservationDetails)]
    {
        reading.continuation.yield()
        // Longer than any test; a cancellation ends it.
        do { try await Task.sleep(for: .seconds(300)) } catch { cancelled.continuation.yield(true) }
        cancelled.continuation.yield(false)
        throw .failed("cancelled")
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

    @Test("what a minute of changes costs is measured")
    func minute() async throws {
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
            var cursors: [String: String] = [:]
            for minute in Self.minutes..<Self.minutes + 4 {
                for form in ["geometry=false", "geometry=true"] {
                    let path = "/changes/hexagons?\(form)" + (cursors[form].map { "&since=\($0)" } ?? "")
                    let packed = try await world.get(path, [.acceptEncoding: "gzip"]).body.readableBytes
                    let answer = try await world.json(path)
                    cursors[form] = answer["cursor"]?.string
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
                try await world.insert(try reports(minute))
            }
        }
    }
}
