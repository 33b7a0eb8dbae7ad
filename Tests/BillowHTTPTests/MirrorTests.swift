import BillowStore
import Datasets
import EngineTestSupport
import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import NIOCore
import Synchronization
import TestSupport
import Testing
import Turbulence
import UpstreamKit

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowSync

/// A server as a mirror reaches it, without a socket.
private final class RoutedServer: MirroredServer {
    let world: World
    let configuration: BillowConfiguration
    private let state = Mutex((cursors: [String?](), isReachable: true))

    init(_ world: World, box: BoundingBox? = nil) {
        self.world = world
        configuration = BillowConfiguration(baseURL: "http://127.0.0.1:1", box: box)
    }

    /// The cursors of the requests since the last call of this.
    func takeCursors() -> [String?] {
        state.withLock { state in
            defer { state.cursors = [] }
            return state.cursors
        }
    }

    func set(isReachable: Bool) { state.withLock { $0.isReachable = isReachable } }

    func changes(of dataset: Dataset, since cursor: String?) async throws(UpstreamError) -> MirrorAnswer {
        let isReachable = state.withLock { state in
            state.cursors.append(cursor)
            return state.isReachable
        }
        guard isReachable else { throw .unreachable("refused") }
        let response: TestResponse
        do { response = try await world.get(configuration.path(of: dataset, since: cursor)) } catch {
            throw .unreachable("\(error)")
        }
        guard response.status == .ok else { throw .invalidRequest(UpstreamProblem(status: response.status.code)) }
        do throws(UnreadableResponse) { return try MirrorAnswer(Array(buffer: response.body), of: dataset) } catch {
            throw .unreadable(error)
        }
    }
}

/// A store whose commits fail from some number on.
private final class FailingCommits: WrappedStore {
    let store: SQLiteStore
    private let rest: Mutex<Int>

    init(_ store: SQLiteStore, after number: Int) {
        self.store = store
        rest = Mutex(number)
    }

    func commit(_ batch: Batch) async throws(StoreError) -> BatchResult {
        let isOver = rest.withLock { rest in
            rest -= 1
            return rest < 0
        }
        guard !isOver else { throw .failed("the end") }
        return try await store.commit(batch)
    }
}

/// A server and a mirror of it, with one clock.
private struct Pair: Sendable {
    let central: World
    let edge: World
    let server: RoutedServer

    func upstream(store: (any Store)? = nil) throws -> BillowUpstream {
        var upstream = BillowUpstream(
            id: try source("central"), server: server, simulated: nil, store: store ?? edge.store,
            retentionSeconds: 7 * 86_400)
        upstream.batchSize = 40
        return upstream
    }

    @discardableResult
    func round() async throws -> SyncOutcome {
        let outcome = try await upstream().synchronise(now: edge.clock.now)
        try await edge.refresh()
        return outcome
    }

    func advance(by seconds: Int) async throws {
        central.clock.advance(by: seconds)
        edge.clock.advance(by: seconds)
        try await central.refresh()
        try await edge.refresh()
    }

    /// The features of an export, by line, with the sources' names of the server.
    static func features(_ world: World, _ path: String) async throws -> [String] {
        let response = try await world.get("/export/\(path)")
        #expect(response.status == .ok, "\(path): \(response.text.prefix(300))")
        return response.text.split(separator: "\n").map {
            String($0).replacing(#""source":"central."#, with: #""source":""#)
        }.sorted()
    }

    /// Compares everything that both show, inside the box.
    func compare(_ what: String) async throws {
        let box = server.configuration.box.map { "&bbox=\($0.west),\($0.south),\($0.east),\($0.north)" } ?? ""
        let later = central.clock.now.advanced(by: 7_200).compact
        let before = central.clock.now.advanced(by: -1_800).compact
        for path in [
            "hexagons.geojsonl?hours=2", "hexagons.geojsonl?hours=6&minAltitude=31000", "pireps.geojsonl?hours=6",
            "observations.geojsonl?hours=6", "hazards.geojsonl?hours=2", "hazards.geojsonl?datetime=\(later)",
            "hexagons.geojsonl?datetime=\(before)",
        ] {
            let (theirs, ours) = (
                try await Self.features(central, path + box), try await Self.features(edge, path + box)
            )
            #expect(theirs == ours, "\(what): \(path)")
        }
    }

    /// What an answer says about its data.
    struct Status: Equatable {
        var stale: Bool?
        var incomplete: Bool?
        var dataTime: String?
    }

    func status(_ world: World, _ query: String = "hexagons/items?limit=1") async throws -> Status {
        let json = try await world.json("/collections/\(query)")
        return Status(
            stale: json["stale"]?.bool, incomplete: json["incomplete"]?.bool, dataTime: json["dataTime"]?.string)
    }
}

private func withPair(
    box: BoundingBox? = nil, _ test: @escaping @Sendable (Pair) async throws -> Void
) async throws {
    let feeds: [String: Set<FeedKind>] = ["skypath": [.observations], "awc": [.reports, .hazards]]
    try await withWorld(feeds: feeds) { central in
        try await withWorld(feeds: ["central": Set(Catalogue.mirrored.map(\.kind))], simulated: nil, known: [:]) {
            edge in
            try await test(Pair(central: central, edge: edge, server: RoutedServer(central, box: box)))
        }
    }
}

/// What comes, changes and goes on a server.
private struct Events {
    var random: SeededGenerator
    private let cells: [Cell]
    private var step = 0

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        cells = H3.disk(around: try cell(10, 50), distance: 9).sorted()
    }

    mutating func number(below end: Int) -> Int { Int(random.next() % UInt64(end)) }

    private mutating func area(_ now: Instant, _ name: Int) throws -> IssuedArea {
        let west = 7 + Double(number(below: 40)) / 10
        let ring = try [(0.0, 0.0), (1.5, 0.0), (1.5, 1.0), (0.0, 1.0)].map { try place(west + $0.0, 49.5 + $0.1) }
        let from = now.advanced(by: [-3_600, 0, 5_400][number(below: 3)])
        return IssuedArea(
            collection: .hazards, id: "sigmet-\(name)", source: try source("awc"), kind: "sigmet", hazard: "TURB",
            severity: .moderateSevere, altitudeMinFeet: 20_000, altitudeMaxFeet: 40_000, validFrom: from,
            validTo: from.advanced(by: 10_800), issuedAt: now, text: "SIGMET \"\(name)\"",
            geometry: try MultiPolygon(outline: ring).orMissing())
    }

    mutating func happen(in world: World) async throws {
        step += 1
        let now = world.clock.now
        let ago = now.seconds - noon.seconds
        var observations: [Observation] = []
        for _ in 0..<number(below: 60) {
            let isOther = number(below: 4) == 0
            observations.append(
                try observation(
                    id: isOther && number(below: 2) == 0 ? "r\(number(below: 20))" : nil,
                    cells[number(below: cells.count)], altitude: 30 + number(below: 3),
                    severity: Severity(rawValue: UInt8(number(below: 5))),
                    edr: number(below: 3) == 0 ? Double(number(below: 9_999)) / 10_000 : nil,
                    at: ago - number(below: 3_600), category: number(below: 2) == 0 ? "C60" : nil,
                    source: isOther ? "import" : "skypath",
                    kind: isOther ? .pilotReport : number(below: 6) == 0 ? .superseding : .inSitu,
                    aircraft: number(below: 3) == 0 ? "B738" : nil))
        }
        let reports = try (0..<number(below: 5)).map { _ in
            PilotReport(
                id: "p\(number(below: 12))", place: try place(9 + Double(number(below: 200)) / 100, 50.1),
                observedAt: now.advanced(by: -number(below: 1_800)), type: "PIREP", aircraft: "A320",
                altitudeFeet: 31_000,
                turbulence: [
                    TurbulenceGroup(
                        severity: .moderate, intensity: "MOD", baseFeet: 30_000, topFeet: nil, type: "CAT",
                        frequency: nil)
                ], text: "UA /OV é \(step)", source: try source("awc"))
        }
        var areas: [IssuedArea] = []
        for name in 0..<number(below: 4) { areas.append(try area(now, name)) }
        var batch = Batch(
            source: try source("awc"), pilotReports: reports, areas: areas,
            areaReplacements: number(below: 3) == 0 ? [AreaReplacement(collection: .hazards, kind: nil, at: now)] : [],
            fetchedAt: now, completeSince: noon.advanced(by: -7 * 86_400))
        _ = try await world.store.commit(batch)
        batch = Batch(
            source: try source("skypath"), observations: observations, fetchedAt: now,
            completeSince: noon.advanced(by: -7 * 86_400))
        if number(below: 4) == 0 {
            let odd = UInt32(number(below: 3))
            batch.retraction = Retraction(
                from: now.advanced(by: -7_200), to: now, covers: { $0.cell.dense % 3 == odd }, standing: [:])
        }
        _ = try await world.store.commit(batch)
        try await world.refresh()
    }
}

@Suite("Mirrors of a server", .timeLimit(.minutes(20)))
struct MirrorTests {
    @Test(
        "a mirror shows what its server shows after any history, also when cursors are lost",
        arguments: [1, 2, 3, 4, 5, 6] as [UInt64], [false, true])
    func history(_ seed: UInt64, _ hasBox: Bool) async throws {
        let box = hasBox ? BoundingBox(west: 9.4, south: 49.6, east: 10.6, north: 50.6) : nil
        try await withPair(box: box) { pair in
            var events = try Events(seed: seed)
            for step in 0..<14 {
                if events.number(below: 4) > 0 { try await events.happen(in: pair.central) }
                if events.number(below: 2) == 0 { try await pair.advance(by: 30 + events.number(below: 2_400)) }
                if events.number(below: 4) == 0 { try await pair.upstream().resetCursors(of: .all) }
                try await pair.round()
                try await pair.compare("step \(step)")
            }
            let sources = try await pair.edge.store.sources().map(\.id.name)
            #expect(sources.allSatisfy { $0 == "central" || $0.hasPrefix("central.") })
        }
    }

    @Test("what another database at the server's address lacks is closed, pilot reports among it")
    func replaced() async throws {
        try await withPair { pair in
            var events = try Events(seed: 8)
            for _ in 0..<4 { try await events.happen(in: pair.central) }
            try await pair.round()
            #expect(try await !Pair.features(pair.edge, "pireps.geojsonl?hours=6").isEmpty)
            try await withWorld(feeds: ["skypath": [.observations], "awc": [.reports, .hazards]]) { other in
                try await other.insert([try observation(try cell(10, 50))])
                let replaced = Pair(central: other, edge: pair.edge, server: RoutedServer(other))
                let outcome = try await replaced.round()
                #expect(outcome.retracted > 0 && outcome.accepted > 0)
                try await replaced.compare("another database")
                #expect(try await Pair.features(pair.edge, "pireps.geojsonl?hours=6").isEmpty)
                #expect(try await Pair.features(pair.edge, "observations.geojsonl?hours=6").count == 1)
            }
        }
    }

    @Test("a restarted mirror goes on from its cursors, and asks for everything after its area has changed")
    func cursors() async throws {
        try await withPair { pair in
            var events = try Events(seed: 9)
            try await events.happen(in: pair.central)
            try await pair.round()
            let count = Catalogue.mirrored.count
            #expect(pair.server.takeCursors() == [String?](repeating: nil, count: count))
            try await events.happen(in: pair.central)
            try await pair.round()
            let cursors = pair.server.takeCursors()
            #expect(cursors.count == count && !cursors.contains(nil))
            let head = try await pair.edge.store.head()
            let outcome = try await pair.round()
            #expect(outcome.accepted == 0 && outcome.retracted == 0)
            #expect(try await pair.edge.store.head() == head, "nothing changed, so no version is new")
            #expect(!pair.server.takeCursors().contains(nil))

            let smaller = BoundingBox(west: 9.9, south: 49.9, east: 10.1, north: 50.1)
            let part = Pair(central: pair.central, edge: pair.edge, server: RoutedServer(pair.central, box: smaller))
            try await part.round()
            #expect(part.server.takeCursors() == [String?](repeating: nil, count: count))
            try await part.compare("smaller")
            let rest = try await Pair.features(pair.edge, "observations.geojsonl?hours=6").count
            let all = try await Pair.features(pair.central, "observations.geojsonl?hours=6").count
            #expect(rest < all, "what is no longer mirrored is let go")
        }
    }

    @Test("a mirror is never fresher or more complete than its server says")
    func freshness() async throws {
        try await withPair { pair in
            var events = try Events(seed: 3)
            #expect(try await pair.status(pair.edge).stale == true)
            try await events.happen(in: pair.central)
            try await pair.round()
            let (theirs, ours) = (try await pair.status(pair.central), try await pair.status(pair.edge))
            #expect(theirs.stale == false && theirs.incomplete == false)
            #expect(ours == theirs)
            for query in ["hazards/items?limit=1", "pireps/items?limit=1&hours=2"] {
                let (theirs, ours) = (
                    try await pair.status(pair.central, query), try await pair.status(pair.edge, query)
                )
                #expect(ours == theirs, "\(query)")
            }

            // The server's sources are silent, while the mirror reaches it all the time.
            let last = ours.dataTime
            for _ in 0..<4 {
                try await pair.advance(by: 120)
                try await pair.round()
                let (theirs, ours) = (try await pair.status(pair.central), try await pair.status(pair.edge))
                #expect(ours.stale == theirs.stale)
                #expect(ours.incomplete == true || theirs.incomplete == false)
                #expect(ours.dataTime == last)
            }
            #expect(try await pair.status(pair.edge).stale == true)
            #expect(try await pair.status(pair.edge, "hexagons/items?limit=1&source=central.skypath").stale == true)
            #expect(try await pair.status(pair.edge, "hazards/items?limit=1").stale == true)

            try await events.happen(in: pair.central)
            try await pair.round()
            let again = try await pair.status(pair.edge)
            #expect(try await pair.status(pair.central) == again)
            #expect(again.incomplete == false, "it has everything since before")

            // The server can't be reached.
            pair.server.set(isReachable: false)
            try await pair.advance(by: 240)
            await #expect(throws: SyncError.self) { try await pair.round() }
            #expect(try await pair.status(pair.edge).stale == false)
            try await pair.advance(by: 120)
            let offline = try await pair.status(pair.edge)
            #expect(offline.stale == true && offline.incomplete == true)
            #expect(try await !Pair.features(pair.edge, "hexagons.geojsonl?hours=2").isEmpty)
            #expect(try await pair.status(pair.edge, "hexagons/items?limit=1&source=central.skypath").stale == true)
        }
    }

    @Test("a mirror of a box says that it is complete in the box alone")
    func box() async throws {
        let box = try #require(BoundingBox(west: 9.4, south: 49.6, east: 10.6, north: 50.6))
        try await withPair(box: box) { pair in
            var events = try Events(seed: 4)
            try await events.happen(in: pair.central)
            try await pair.round()
            for collection in ["hexagons", "hazards", "pireps"] {
                let hours = collection == "pireps" ? "&hours=2" : ""
                let inside = "\(collection)/items?limit=1&bbox=9.5,49.7,10.5,50.5\(hours)"
                let outside = "\(collection)/items?limit=1&bbox=9.5,49.7,12,50.5\(hours)"
                #expect(try await pair.status(pair.edge, inside).incomplete == false, "\(collection)")
                #expect(try await pair.status(pair.edge, outside).incomplete == true, "\(collection)")
                #expect(try await pair.status(pair.central, outside).incomplete == false, "\(collection)")
            }
        }
    }

    @Test("a server that has lost data, or doesn't know what it has, is mirrored as incomplete from the start")
    func incomplete() async throws {
        try await withPair { pair in
            let now = noon
            for name in ["skypath", "awc"] {
                _ = try await pair.central.store.commit(
                    Batch(source: try source(name), fetchedAt: now, completeSince: nil))
            }
            try await pair.central.refresh()
            try await pair.round()
            for query in ["hexagons/items?limit=1", "hazards/items?limit=1", "pireps/items?limit=1&hours=2"] {
                let (theirs, ours) = (
                    try await pair.status(pair.central, query), try await pair.status(pair.edge, query)
                )
                #expect(theirs.incomplete == true && theirs.stale == false, "\(query)")
                #expect(ours.incomplete == true && ours.stale == false, "\(query)")
            }
            // It is complete from a time on within the history.
            for name in ["skypath", "awc"] {
                _ = try await pair.central.store.commit(
                    Batch(source: try source(name), fetchedAt: now, completeSince: noon.advanced(by: -3 * 3_600)))
            }
            try await pair.central.refresh()
            try await pair.round()
            for (hours, isIncomplete) in [("2", false), ("4", true)] {
                let query = "hexagons/items?limit=1&hours=\(hours)"
                #expect(try await pair.status(pair.central, query).incomplete == isIncomplete)
                #expect(try await pair.status(pair.edge, query).incomplete == isIncomplete)
            }
        }
    }

    @Test("what a failing database interrupts is completed later, and no cursor is ahead of its data", arguments: 1...6)
    func interrupted(_ commits: Int) async throws {
        try await withPair { pair in
            var events = try Events(seed: UInt64(commits))
            for _ in 0..<4 { try await events.happen(in: pair.central) }
            for _ in 0..<3 {
                let failing = try pair.upstream(store: FailingCommits(pair.edge.store, after: commits))
                _ = try? await failing.synchronise(now: pair.edge.clock.now)  // The store fails by intention.
                try await events.happen(in: pair.central)
            }
            try await pair.round()
            try await pair.compare("after \(commits) commits")
        }
    }

    @Test("a server that mirrors itself, or one that mirrors it, is refused")
    func loops() async throws {
        try await withPair { pair in
            var events = try Events(seed: 5)
            try await events.happen(in: pair.central)
            try await pair.round()
            let itself = BillowUpstream(
                id: try source("self"), server: RoutedServer(pair.central), simulated: nil, store: pair.central.store,
                retentionSeconds: 86_400)
            let back = BillowUpstream(
                id: try source("back"), server: RoutedServer(pair.edge), simulated: nil, store: pair.central.store,
                retentionSeconds: 86_400)
            for upstream in [itself, back] {
                let head = try await pair.central.store.head()
                do throws(SyncError) {
                    _ = try await upstream.synchronise(now: pair.central.clock.now)
                    Issue.record("it was not refused")
                } catch {
                    #expect(error.code == .upstream(.configurationInvalid) && error.kind == .refused)
                }
                #expect(try await pair.central.store.head() == head)
            }
            #expect(try await !pair.central.store.sources().contains { ["self", "back"].contains($0.id.name) })
        }
    }

    @Test("two mirrors in a chain show the same, each with its own name before the sources'")
    func chain() async throws {
        try await withPair { pair in
            var events = try Events(seed: 6)
            for _ in 0..<3 { try await events.happen(in: pair.central) }
            try await pair.round()
            try await withWorld(feeds: ["ship": Set(Catalogue.mirrored.map(\.kind))], simulated: nil, known: [:]) {
                ship in
                let upstream = BillowUpstream(
                    id: try source("ship"), server: RoutedServer(pair.edge), simulated: nil, store: ship.store,
                    retentionSeconds: 86_400)
                _ = try await upstream.synchronise(now: ship.clock.now)
                try await ship.refresh()
                for path in ["hexagons.geojsonl?hours=2", "pireps.geojsonl?hours=6", "hazards.geojsonl?hours=2"] {
                    let theirs = try await Pair.features(pair.central, path)
                    let ours = try await Pair.features(ship, path).map {
                        $0.replacing(#""source":"ship.central."#, with: #""source":""#)
                    }
                    #expect(theirs == ours.sorted(), "\(path)")
                }
                let theirs = try await pair.status(pair.central)
                #expect(try await pair.status(ship) == theirs)
            }
        }
    }
}
