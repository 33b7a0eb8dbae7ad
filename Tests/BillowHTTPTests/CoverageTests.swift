import EngineTestSupport
import BillowExchange
import BillowRaster
import BillowSnapshot
import BillowStore
import BillowSync
import BillowTiles
import Datasets
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

/// Whether the log covers what is shown: what isn't known is incomplete.
@Suite("Coverage")
struct CoverageTests {
    /// The state of a source.
    enum SourceCase: String, Sendable, CaseIterable {
        /// Configured, and never fetched.
        case neverReached
        /// Fetched now, complete since three hours ago.
        case fresh
        /// Fetched now after a gap, complete since half an hour ago.
        case withGap
        /// Fetched now; from when on it is complete isn't known.
        case withoutStart
        /// Fetched an hour ago, complete since three hours ago.
        case stale
        /// Not fetched by the clock; it was once, an hour ago.
        case stopped
        /// The same, and it never was.
        case neverStarted
        /// A watched folder, imports and ingest.
        case inbox, imported, ingested

        /// Whether it is in the settings, and fetched by the clock.
        var feed: FreshnessSettings.FetchedSource? {
            switch self {
            case .neverReached, .fresh, .withGap, .withoutStart, .stale:
                FreshnessSettings.FetchedSource(kinds: [.observations], intervalSeconds: 60)
            case .stopped, .neverStarted: FreshnessSettings.FetchedSource(kinds: [.observations], intervalSeconds: nil)
            case .inbox: FreshnessSettings.FetchedSource(kinds: [], intervalSeconds: 60)
            case .imported, .ingested: nil
            }
        }

        func record(_ id: SourceID, _ number: UInt8) -> SourceRecord? {
            var record = SourceRecord(number: SourceNumber(rawValue: number), id: id, merge: .keep)
            func fetched(secondsAgo: Int, since: Int?) {
                record.fetchedAt = noon.advanced(by: -secondsAgo)
                record.fetchedKinds = [.observations: noon.advanced(by: -secondsAgo)]
                record.completeSince = since.map { noon.advanced(by: -$0) }
            }
            switch self {
            case .neverReached, .neverStarted: break
            case .fresh: fetched(secondsAgo: 60, since: 10_800)
            case .withGap: fetched(secondsAgo: 60, since: 1_800)
            case .withoutStart: fetched(secondsAgo: 60, since: nil)
            case .stale, .stopped: fetched(secondsAgo: 3_600, since: 10_800)
            case .inbox: record.fetchedAt = noon
            case .imported, .ingested: break
            }
            if isStored { record.storedKinds = [.observations] }
            return record
        }

        var isStored: Bool { [.inbox, .imported, .ingested].contains(self) }

        /// What is incomplete where it is the only source: pictures of a history of an hour, now, an hour ago and three
        /// hours ago. nil where it has no say.
        var incomplete: [Bool]? {
            switch self {
            case .neverReached, .withoutStart: [true, true, true]
            case .fresh: [false, false, true]
            case .withGap: [true, true, true]
            case .stale, .stopped: [true, false, true]
            case .neverStarted: nil
            case .inbox, .imported, .ingested: [false, false, false]
            }
        }
    }

    /// All sets of one to three standings, also of the same.
    private static let combinations: [[SourceCase]] = {
        let all = SourceCase.allCases
        var sets: [[SourceCase]] = []
        for first in all.indices {
            sets.append([all[first]])
            for second in first..<all.count {
                sets.append([all[first], all[second]])
                for third in second..<all.count { sets.append([all[first], all[second], all[third]]) }
            }
        }
        return sets
    }()

    @Test("pictures are complete when every source that feeds them covers them, whatever the other sources are")
    func combinations() async throws {
        #expect(Self.combinations.count == 10 + 55 + 220)
        try await withWorld { world in
            let base = try world.application.frames.snapshot()
            for standings in Self.combinations {
                var feeds: [SourceID: FreshnessSettings.FetchedSource] = [:]
                var records: [SourceRecord] = []
                for (number, standing) in standings.enumerated() {
                    let id = try source("source\(number)")
                    feeds[id] = standing.feed
                    if let record = standing.record(id, UInt8(number)) { records.append(record) }
                }
                // Where nothing is configured at all, whatever was ever fetched counts.
                guard !feeds.isEmpty || standings.allSatisfy(\.isStored) else { continue }
                let snapshot = Snapshot(
                    publication: base.publication, log: base.log, window: base.window, liveFrom: base.liveFrom,
                    sources: records, lifetimes: base.lifetimes, severityTable: base.severityTable)
                let policy = FreshnessPolicy(
                    FreshnessRegister(FreshnessSettings(staleAfterSeconds: 300, feeds: feeds)),
                    frames: world.application.frames,
                    requests: world.states.requests)
                let said = [0, 3_600, 10_800].map { secondsAgo in
                    policy.dataStatus(
                        LayerList(.hexagons), at: noon.advanced(by: -secondsAgo),
                        filter: Filter(history: .oneHour), in: snapshot
                    ).isIncomplete
                }
                let votes = standings.compactMap(\.incomplete)
                // A source that was never started and never fetched has no say; nothing at all is unknown.
                let expected =
                    votes.isEmpty
                    ? [true, true, true] : (0..<3).map { index in votes.contains { $0[index] } }
                #expect(said == expected, "\(standings)")
            }
        }
    }

    // MARK: - What is to come

    @Test("a picture of what is to come is incomplete where one of its layers was never fetched")
    func unknownAhead() async throws {
        try await withWorld(feeds: ["awc": [.hazards]]) { world in
            let hazard = IssuedArea(
                collection: .hazards, id: "ahead", source: try source("awc"), kind: "SIGMET",
                validFrom: noon.advanced(by: -600), validTo: noon.advanced(by: 7_200),
                geometry: try MultiPolygon(outline: [try place(0, 0), try place(1, 0), try place(0, 1)]).orMissing())
            _ = try await world.store.commit(
                Batch(
                    source: try source("awc"), areas: [hazard], fetchedAt: noon, fetchedKinds: [.hazards: noon],
                    completeSince: noon.advanced(by: -86_400)))
            try await world.refresh()
            for seconds in [0, 120, 3_600] {
                let time = noon.advanced(by: seconds).compact
                let end = noon.advanced(by: seconds + 1_800).compact
                for (layers, isIncomplete) in [("hazards", false), ("hazards,forecast", true), ("hazards,gtg", true)] {
                    for address in [
                        "/tiles/\(layers)/\(time)/0/0/0.png", "/maps/\(layers).png?width=64&time=\(time)",
                    ] {
                        let answer = try await world.get(address)
                        #expect(answer.status == .ok, "\(address)")
                        #expect((answer.header("X-Incomplete") == "true") == isIncomplete, "\(address)")
                    }
                    let manifest = try await world.json(
                        "/timeline.json?start=\(time)&end=\(end)&intervals=2&layers=\(layers)&composed=true")
                    let frames = manifest["layers"]?[0]?["frames"]?.items ?? []
                    #expect(!frames.isEmpty)
                    #expect(
                        frames.allSatisfy { ($0["incomplete"]?.bool == true) == isIncomplete }, "\(layers) \(manifest)")
                }
            }
        }
    }

    // MARK: - Retention

    private static let day = 86_400

    /// A source that is complete since a month ago, and a file of two months ago.
    private func withOldImport(_ test: @Sendable (World) async throws -> Void) async throws {
        try await withWorld(feeds: ["skypath": Set(Catalogue.kinds).subtracting([.fields])]) { world in
            _ = try await world.store.commit(
                Batch(
                    source: nil,
                    observations: [try observation(try cell(10, 50), at: -60 * Self.day, source: "import")],
                    importedBefore: .distantFuture))
            try await world.fetched("skypath", completeSince: noon.advanced(by: -30 * Self.day))
            try await world.refresh()
            try await test(world)
        }
    }

    @Test("what retention deleted is incomplete wherever it is requested, and is cached for a minute at most")
    func retention() async throws {
        try await withOldImport { world in
            for daysAgo in [10, 15, 20, 40] {
                let time = noon.advanced(by: -daysAgo * Self.day).compact
                let end = noon.advanced(by: 3_600 - daysAgo * Self.day).compact
                for address in [
                    "/tiles/hexagons/\(time)/0/0/0.png?v=0", "/tiles/hexagons/\(time)/0/0/0.mvt?v=0",
                    "/maps/hexagons.png?width=64&time=\(time)", "/collections/hexagons/items?time=\(time)",
                    "/collections/observations/items?datetime=\(time)/..",
                    "/profiles.json?route=40N070W+40N090W&time=\(time)",
                    "/animations/hexagons.png?start=\(time)&end=\(end)&width=64",
                ] {
                    let answer = try await world.get(address)
                    #expect(answer.header("X-Incomplete") == "true", "\(address) \(answer.status)")
                    let caching = try answer.headers[.cacheControl].orMissing()
                    #expect(caching == "public, max-age=60, stale-while-revalidate=5", "\(address): \(caching)")
                }
            }
            let manifest = try await world.json("/timeline.json?start=-20d&end=-10d&intervals=4&layers=hexagons")
            let layer = try manifest["layers"]?[0].orMissing()
            #expect(layer?["frames"]?.items.allSatisfy { $0["incomplete"]?.bool == true } == true)
            #expect(layer?["incomplete"]?.bool == true)
            #expect(layer?["completeSince"]?.string == noon.advanced(by: -7 * Self.day).description)
        }
    }

    @Test("a complete frame may be cached for as long as retention leaves it whole")
    func edge() async throws {
        try await withOldImport { world in
            for (secondsAgo, seconds) in [(0, 604_800), (6 * Self.day, Self.day), (7 * Self.day - 1, 1)] {
                let time = noon.advanced(by: -secondsAgo).compact
                let answer = try await world.get("/tiles/hexagons/\(time)/0/0/0.png\(world.revision(.zero))")
                #expect(answer.header("X-Incomplete") == nil)
                #expect(answer.headers[.cacheControl] == "public, max-age=\(seconds), immutable")
            }
        }
    }

    // MARK: - Everywhere

    @Test("every answer that shows data says at which instant, how fresh, and that it is incomplete and simulated")
    func everyRoute() async throws {
        try await withWorld(feeds: ["skypath": Set(Catalogue.kinds).subtracting([.fields])], simulated: true) { world in
            _ = try await world.store.register(try source("skypath"), merge: .replace, simulated: true)
            try await world.insert([try observation(id: "a", try cell(10, 50), at: -60)])
            let since = noon.advanced(by: -600)
            try await world.fetched("skypath", completeSince: since)
            try await world.refresh()
            let routes = Set(
                world.application.router().routes.filter { $0.method == .get }.map { "\($0.path)" }
                    .filter { !$0.hasPrefix("/ogc/") })
            for route in routes.subtracting(SampleAddresses.ofOthers.keys).sorted() {
                let addresses = try SampleAddresses.ofData[route].orMissing("an example of \(route)")
                for address in addresses {
                    let answer = try await world.get(address)
                    #expect(answer.status.code < 400, "\(address): \(answer.text.prefix(300))")
                    #expect(answer.header("X-Frame-Time") != nil, "\(address)")
                    #expect(answer.header("X-Simulated") == "true", "\(address)")
                    let isOfInstant = Catalogue.all.contains { dataset in
                        dataset.selection == .standing && address.contains("/\(dataset.id)/items")
                    }
                    #expect(answer.header("X-Incomplete") == (isOfInstant ? nil : "true"), "\(address)")
                    #expect(answer.header("Access-Control-Expose-Headers")?.contains("X-Incomplete") == true)
                    guard let tag = answer.headers[.eTag], !tag.isEmpty else { continue }
                    let again = try await world.get(address, [.ifNoneMatch: tag])
                    #expect(again.header("X-Incomplete") == answer.header("X-Incomplete"), "\(address) \(again.status)")
                }
            }
            let alert = try await world.send(
                .post, "/alerts", #"{"position": [10, 50], "altitude": 38000, "track": 90}"#,
                [.contentType: "application/json"])
            #expect(alert.header("X-Incomplete") == "true" && alert.header("X-Simulated") == "true")
            #expect(try alert.json["incomplete"]?.bool == true)
            #expect(try alert.json["completeSince"]?.string == since.description)
        }
    }

    @Test("alerts and flights are as fresh as tiles, also where the source's query was changed")
    func alerts() async throws {
        let feed = FreshnessSettings.FetchedSource(kinds: [.observations], intervalSeconds: 3_600)
        let settings = FreshnessSettings(staleAfterSeconds: nil, feeds: [try source("skypath"): feed])
        try await withWorld(freshness: settings) { world in
            // By the file an hour lies between two fetches; it was changed to a minute.
            world.loops.add(
                SourceLoop(
                    upstream: Silent(id: try source("skypath")), update: .fast, states: world.states,
                    control: world.store, now: { world.clock.now }, logger: World.quiet()))
            try await world.insert([try observation(try cell(10, 50), at: -60)])
            try await world.fetched("skypath", secondsAgo: 1_000, completeSince: noon.advanced(by: -86_400))
            try await world.refresh()
            #expect(try await world.json("/tiles/hexagons.json")["billow"]?["stale"]?.bool == true)
            let body = #"{"position": [10, 50], "altitude": 38000, "track": 90}"#
            let alert = try await world.post("/alerts", body)
            #expect(alert["stale"]?.bool == true && alert["incomplete"]?.bool == true)
            let key = try await world.key(.read).text
            let flight = try await world.send(
                .post, "/flights", body, key: key, [.contentType: "application/json"])
            #expect(flight.status == .created)
            #expect(try flight.json["alert"]?["stale"]?.bool == true)
            #expect(flight.header("X-Incomplete") == "true")
        }
    }

    // MARK: - Hatching

    @Test("incomplete pictures are hatched where that is requested, and only they")
    func hatch() async throws {
        try await withWorld(feeds: ["skypath": [.observations]]) { world in
            try await world.insert([try observation(try cell(10, 50), at: -60)])
            try await world.fetched("skypath", completeSince: noon.advanced(by: -7_200))
            try await world.refresh()
            for address in [
                "/tiles/hexagons/%/3/4/2.png?", "/tiles/hexagons/%/3/0/0.png?", "/maps/hexagons.png?width=200&time=%&",
            ] {
                for (time, isIncomplete) in [(noon, false), (noon.advanced(by: -60), true)] {
                    let address = address.replacing("%", with: time.compact)
                    let plain = try await world.get(address)
                    let hatched = try await world.get(address + "incomplete=hatch")
                    #expect(hatched.status == .ok && hatched.header("X-Incomplete") == (isIncomplete ? "true" : nil))
                    #expect((plain.headers[.eTag] != hatched.headers[.eTag]) == isIncomplete, "\(address)")
                    #expect((plain.body != hatched.body) == isIncomplete, "\(address)")
                    #expect(try await world.get(address + "incomplete=none").body == plain.body)
                    #expect(try await world.get(address + "incomplete=dots").status == .badRequest)
                    let tag = try hatched.headers[.eTag].orMissing()
                    let again = try await world.get(address + "incomplete=hatch", [.ifNoneMatch: tag])
                    #expect(again.status == .notModified)
                }
            }
            // Lines run on from tile to tile.
            let time = noon.advanced(by: -60).compact
            let left = try await world.picture("/tiles/hexagons/\(time)/4/0/0.png?incomplete=hatch")
            let right = try await world.picture("/tiles/hexagons/\(time)/4/1/0.png?incomplete=hatch")
            #expect((0..<256).allSatisfy { row in (0..<256).allSatisfy { left[$0, row] == right[$0, row] } })
        }
    }
}

/// An upstream that answers with nothing.
private struct Silent: Upstream {
    let id: SourceID
    let kind = "silent"
    let merge = MergeRule.replace
    let simulated: Bool? = false
    var wanted = DataQuery()

    var query: DataQuery? { wanted }
    var types: [QueryType] { [.turbulence] }
    func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome { SyncOutcome() }
    func with(query: DataQuery) -> any Upstream { Silent(id: id, wanted: query) }
}
