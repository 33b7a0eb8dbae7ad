import AsyncHTTPClient
import BillowFields
import BillowStore
import Foundation
import GRIBKit
import GRIBMaking
import NOAAGuidance
import Synchronization
import TestSupport
import Testing
import Turbulence
import UpstreamKit
import UpstreamSimulator

@testable import BillowSync

private func noaa() throws -> SourceID { try SourceID("noaa").orMissing() }

/// Every 120th point of NOAA's grid: 15 × 9 of them.
private let every = 120
private let levels = [10_000, 22_000, 34_000]

/// The simulated grids, each made once for all tests: most tests serve the same files, and a debug build takes long.
private final class RememberedGuidance: GuidanceContent {
    private struct Key: Hashable {
        let file: SimulatedGuidanceFile
        /// nil for the values of the column.
        let feet: Int?
        let message: SimulatedGuidanceMessage?
    }

    private let content: SimulatedGuidance
    private let made = Mutex<[Key: Task<[UInt8], Never>]>([:])
    private let values = Mutex<[Key: [Float]]>([:])

    init(_ content: SimulatedGuidance) { self.content = content }

    func messages(of file: SimulatedGuidanceFile) -> [SimulatedGuidanceMessage] { content.messages(of: file) }

    func bytes(of message: SimulatedGuidanceMessage, in file: SimulatedGuidanceFile) async -> [UInt8] {
        let key = Key(file: file, feet: nil, message: message)
        let task = made.withLock { made in
            if let known = made[key] { return known }
            let task = Task { [content] in await content.bytes(of: message, in: file) }
            made[key] = task
            return task
        }
        return await task.value
    }

    /// What a message packs.
    func edrs(of file: SimulatedGuidanceFile, altitudeFeet: Int?) -> [Float] {
        let key = Key(file: file, feet: altitudeFeet, message: nil)
        if let known = values.withLock({ $0[key] }) { return known }
        let edrs = content.edrs(of: file, altitudeFeet: altitudeFeet)
        values.withLock { $0[key] = edrs }
        return edrs
    }
}

/// NOAA's look-alike, a store, and what brings the one into the other.
private struct GuidanceRig: Sendable {
    let simulator: UpstreamSimulator
    let baseURL: String
    let http: HTTPClient
    let clock: ManualClock
    let store: SQLiteStore

    /// What a process would begin with: nothing is known but what the store has.
    func upstream(
        _ plan: GuidancePlan = plan(), simulated: Bool? = true, work: any ComputationExecutor = InlineExecutor(),
        configure: (inout GuidanceConfiguration) -> Void = { _ in }
    ) throws -> NOAAUpstream {
        var configuration = GuidanceConfiguration(baseURL: baseURL)
        configuration.timeout = .seconds(900)
        configuration.spacing = .zero
        configuration.gapBytes = 0
        configure(&configuration)
        let clock = clock
        return NOAAUpstream(
            id: try noaa(), configuration: configuration, plan: plan, httpClient: http,
            clock: GuidanceClock(now: { .seconds(clock.seconds1970) }, sleep: { _ in await Task.yield() }),
            work: work, simulated: simulated, store: store)
    }

    static func plan(_ leadHours: [Int] = [1, 3]) -> GuidancePlan {
        GuidancePlan(levels: levels.map { AltitudeLevel(feet: $0) }, leadHours: leadHours)
    }

    func frames() async throws -> [FieldFrame] { try await store.fields(asOf: nil).index.frames }

    /// The runs and leads that are stored, in hours: `gtg 21+3`.
    func names() async throws -> [String] {
        try await frames().map { frame in
            let run = frame.identity.run.seconds % 86_400
            let minutes = run % 3_600 / 60
            return "\(frame.identity.product.name) \(run / 3_600)\(minutes == 0 ? "" : ":\(minutes)")"
                + (frame.identity.product == .forecast ? "+\(frame.identity.lead / 3_600)" : "")
        }.sorted()
    }

    /// Whether every level that is stored has the values that the simulator packed, and none is stored twice.
    func isRight(_ content: RememberedGuidance) async throws -> Bool {
        for frame in try await frames() {
            let identity = frame.identity
            let file = SimulatedGuidanceFile(
                product: identity.product == .nowcast ? .gtgn : .gtg, runSeconds: identity.run.seconds,
                leadHours: identity.lead / 3_600)
            guard Set(frame.levels.map(\.level)).count == frame.levels.count else { return false }
            for record in frame.levels {
                let plane = try await store.fieldPlane(row: record.row).orMissing()
                let made = Self.made(content, file, record.level)
                let isSame = zip(plane.values, made).allSatisfy { stored, made in
                    made.isNaN ? stored == FieldPlane.missing : abs(Float(stored) / 100 - made) < 0.01
                }
                if !isSame || plane.values.count != made.count { return false }
            }
        }
        return true
    }

    /// A nowcast's column is that of the levels that were fetched, a forecast's that of all levels.
    private static func made(
        _ content: RememberedGuidance, _ file: SimulatedGuidanceFile, _ level: FieldLevel
    ) -> [Float] {
        if case .feet(let feet) = level { return content.edrs(of: file, altitudeFeet: Int(feet)) }
        if file.product == .gtg { return content.edrs(of: file, altitudeFeet: nil) }
        let all = levels.map { content.edrs(of: file, altitudeFeet: $0) }
        return all[0].indices.map { point in all.reduce(Float.nan) { Float.maximum($0, $1[point]) } }
    }
}

/// - Parameter clock: 22:40 by default.
private func withGuidance(
    clock: ManualClock = ManualClock(), content: any GuidanceContent,
    simulate: @Sendable (inout GuidanceSimulation) -> Void = { _ in },
    _ body: @Sendable (GuidanceRig) async throws -> Void
) async throws {
    var simulation = GuidanceSimulation(content: content)
    simulation.indexed = [.gtg, .gtgn]
    simulation.requestsPerMinute = nil
    simulation.cachedFiles = 16
    simulate(&simulation)
    var configuration = UpstreamSimulator.Configuration(seed: 7, flights: 1, clock: { clock.seconds1970 })
    configuration.guidance = simulation
    try await UpstreamSimulator.withRunning(configuration) { simulator, baseURL in
        let http = HTTPClient(configuration: GuidanceClient.recommendedHTTPConfiguration)
        do {
            try await body(
                GuidanceRig(
                    simulator: simulator, baseURL: baseURL, http: http, clock: clock, store: try await .temporary()))
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }
}

/// Tells of each piece of work, by its number.
private final class CountedWork: ComputationExecutor {
    private let count = Mutex(0)
    private let before: @Sendable (Int) -> Void

    init(before: @escaping @Sendable (Int) -> Void) { self.before = before }

    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        before(
            count.withLock { count in
                count += 1
                return count
            })
        return try body()
    }
}

@Suite("NOAA's grids in the store")
struct GuidanceSyncTests {
    private static let content = RememberedGuidance(SimulatedGuidance(seed: 7, every: every))

    @Test("a round brings the newest nowcast with its column and the newest run, and the same again brings nothing")
    func round() async throws {
        try await withGuidance(content: Self.content) { rig in
            let upstream = try rig.upstream()
            let outcome = try await upstream.synchronise(now: rig.clock.now)
            #expect(outcome.accepted == 12 && outcome.duplicates == 0 && outcome.skipped.isEmpty)
            #expect(try await rig.names() == ["gtg 21+1", "gtg 21+3", "gtgn 22:30"])
            for frame in try await rig.frames() {
                #expect(frame.levels.map(\.level.number) == [-1] + levels)
                #expect(frame.source == (try noaa()))
            }
            #expect(try await rig.isRight(Self.content))
            let record = try await rig.store.source()
            #expect(record.simulated == true && record.fetchedAt(.fields) == rig.clock.now)

            let calls = rig.simulator.calls
            let head = try await rig.store.head()
            let again = try await upstream.synchronise(now: rig.clock.now)
            #expect(again.accepted == 0 && again.wasAnswered)
            // The nowcast of 22:30 is known; of forecasts only that of 22:00 could be newer.
            #expect(rig.simulator.calls <= calls + 2)
            #expect(try await rig.store.head().version == head.version)
            // Nor does another process fetch anything again.
            let restarted = try await rig.upstream().synchronise(now: rig.clock.now)
            #expect(restarted.accepted == 0 && restarted.duplicates == 0)
        }
    }

    @Test("what appears later is fetched when it is there, and nothing else") func later() async throws {
        // 22:05: of the run of 21:00 leads up to 10 are there.
        try await withGuidance(clock: ManualClock(1_795_214_400 - 2_100), content: Self.content) { rig in
            let upstream = try rig.upstream(GuidanceRig.plan([1, 18]))
            _ = try await upstream.synchronise(now: rig.clock.now)
            // What the newest run lacks, the one before has, where it isn't over.
            #expect(try await rig.names() == ["gtg 20+18", "gtg 21+1", "gtgn 22"])
            rig.clock.advance(1_200)
            let outcome = try await upstream.synchronise(now: rig.clock.now)
            #expect(outcome.accepted == 8)
            #expect(try await rig.names() == ["gtg 20+18", "gtg 21+1", "gtg 21+18", "gtgn 22", "gtgn 22:15"])
            #expect(try await rig.isRight(Self.content))
        }
    }

    @Test("a run can be kept back until all of it is there") func whole() async throws {
        try await withGuidance(clock: ManualClock(1_795_214_400 - 2_100), content: Self.content) { rig in
            var plan = GuidanceRig.plan([1, 18])
            plan.publication = .whole
            let upstream = try rig.upstream(plan)
            _ = try await upstream.synchronise(now: rig.clock.now)
            #expect(try await rig.names() == ["gtg 20+1", "gtg 20+18", "gtgn 22"])
            let versions = Set(try await rig.frames().filter { $0.identity.product == .forecast }.map(\.version))
            #expect(versions.count == 1)
            rig.clock.advance(1_200)
            _ = try await upstream.synchronise(now: rig.clock.now)
            #expect(try await rig.names().filter { $0.hasPrefix("gtg 21") } == ["gtg 21+1", "gtg 21+18"])
            #expect(try await rig.isRight(Self.content))
        }
    }

    @Test("nowcasts of the past are caught up with, as far as the settings say") func catchUp() async throws {
        try await withGuidance(content: Self.content) { rig in
            var plan = GuidancePlan(products: [.gtgn], levels: levels.map { AltitudeLevel(feet: $0) })
            plan.historySeconds = 3_600
            let upstream = try rig.upstream(plan)
            _ = try await upstream.synchronise(now: rig.clock.now)
            #expect(try await rig.names() == ["gtgn 21:45", "gtgn 22", "gtgn 22:15", "gtgn 22:30"])
            let calls = rig.simulator.calls
            _ = try await upstream.synchronise(now: rig.clock.now)
            #expect(rig.simulator.calls <= calls + 1)
        }
    }

    @Test("other levels are fetched of files that were complete") func otherLevels() async throws {
        try await withGuidance(content: Self.content) { rig in
            let first = GuidancePlan(products: [.gtgn], levels: [AltitudeLevel(feet: 34_000)], hasColumn: false)
            _ = try await rig.upstream(first).synchronise(now: rig.clock.now)
            let second = GuidancePlan(
                products: [.gtgn], levels: levels.map { AltitudeLevel(feet: $0) }, hasColumn: true)
            let outcome = try await rig.upstream(second).synchronise(now: rig.clock.now)
            // One of the levels was there.
            #expect(outcome.accepted == 3 && outcome.duplicates == 1)
            #expect(try await rig.isRight(Self.content))
        }
    }

    // MARK: Faults

    private static let faults: [Fault] = [
        .lateFiles, .growingFile, .replacedFile, .missingIndex, .truncatedMessage, .wrongLength, .rangeIgnored,
        .wrongRange, .redirected, .forbidden, .rateLimited, .serverError, .unavailable, .truncatedBody, .htmlPage,
        .emptyBody, .connectionReset, .wrongTypes,
    ]

    @Test("a product that can't be read does not delay the other") func oneProduct() async throws {
        try await withGuidance(content: Self.content) { rig in
            let upstream = try rig.upstream()
            // The first request is the one for the directory of nowcasts.
            rig.simulator.setFault(.htmlPage, count: 1, of: .noaa)
            let error = await #expect(throws: SyncError.self) { try await upstream.synchronise(now: rig.clock.now) }
            #expect(error?.isPartial == true)
            let names = try await rig.names()
            #expect(!names.isEmpty && names.allSatisfy { $0.hasPrefix("gtg ") })
            rig.simulator.setFault(.serverError, of: .noaa)
            rig.clock.advance(60)
            let failure = await #expect(throws: SyncError.self) { try await upstream.synchronise(now: rig.clock.now) }
            #expect(failure?.isPartial == false)
        }
    }

    @Test("through each fault, with restarts between, all levels are stored once and right", arguments: faults)
    func eachFault(_ fault: Fault) async throws {
        try await withGuidance(content: Self.content) { rig in
            rig.simulator.setFault(fault, of: .noaa)
            // A failed round states why, and the next process continues.
            for _ in 0..<2 {
                _ = try? await rig.upstream().synchronise(now: rig.clock.now)
                #expect(try await rig.isRight(Self.content), "\(fault)")
            }
            rig.simulator.setFault(nil)
            // A block lasts up to an hour.
            rig.clock.advance(fault == .forbidden || fault == .rateLimited ? 3_600 : 0)
            for _ in 0..<2 { _ = try await rig.upstream().synchronise(now: rig.clock.now) }
            let frames = try await rig.frames()
            let newest = rig.clock.now.seconds / 900 * 900
            for (product, run, lead) in [
                (FieldProduct.nowcast, newest, 0),
                (.forecast, (rig.clock.now.seconds - 3_600) / 3_600 * 3_600, 1),
                (.forecast, (rig.clock.now.seconds - 3_600) / 3_600 * 3_600, 3),
            ] {
                let frame = frames.first {
                    $0.identity.product == product && $0.identity.run.seconds == run
                        && $0.identity.lead == lead * 3_600
                }
                #expect(frame?.levels.map(\.level.number) == [-1] + levels, "\(fault): \(product.name)+\(lead)")
            }
            #expect(try await rig.isRight(Self.content), "\(fault)")
        }
    }

    @Test("a block before the first response outlasts a restart", arguments: [Fault.forbidden, .rateLimited])
    func blocked(_ fault: Fault) async throws {
        try await withGuidance(content: Self.content) { rig in
            rig.simulator.setFault(fault, of: .noaa)
            await #expect(throws: SyncError.self) { try await rig.upstream().synchronise(now: rig.clock.now) }
            rig.simulator.setFault(nil)
            await #expect(throws: SyncError.self) { try await rig.upstream().synchronise(now: rig.clock.now) }
            #expect(try await rig.names().isEmpty)
            rig.clock.advance(3_600)
            _ = try await rig.upstream().synchronise(now: rig.clock.now)
            #expect(try await !rig.names().isEmpty)
        }
    }

    @Test("a block does not let simulated data into a store of real data after a restart")
    func blockedAmongReal() async throws {
        try await withGuidance(content: Self.content) { rig in
            _ = try await rig.store.register(#require(SourceID("other")), merge: .keep, simulated: false)
            rig.simulator.setFault(.forbidden, of: .noaa)
            await #expect(throws: SyncError.self) {
                try await rig.upstream(simulated: nil).synchronise(now: rig.clock.now)
            }
            rig.simulator.setFault(nil)
            rig.clock.advance(3_600)
            let error = await #expect(throws: SyncError.self) {
                try await rig.upstream(simulated: nil).synchronise(now: rig.clock.now)
            }
            #expect(error?.code == .simulatedData, "\(String(describing: error))")
            #expect(try await rig.names().isEmpty)
        }
    }

    @Test("a file that was half fetched when the process ended is read on from there, and its column is of all levels")
    func restart() async throws {
        try await withGuidance(content: Self.content) { rig in
            let plan = GuidancePlan(products: [.gtgn], levels: levels.map { AltitudeLevel(feet: $0) })
            let work = CountedWork { number in
                // After two levels the server fails.
                if number == 2 { rig.simulator.setFault(.serverError) }
            }
            let broken = try rig.upstream(plan, work: work) { $0.maximumResumptions = 0 }
            await #expect(throws: SyncError.self) { try await broken.synchronise(now: rig.clock.now) }
            rig.simulator.setFault(nil)
            #expect(try await rig.frames().first?.levels.map(\.level.number) == [10_000, 22_000])
            let calls = rig.simulator.calls
            let outcome = try await rig.upstream(plan).synchronise(now: rig.clock.now)
            #expect(outcome.accepted == 2 && outcome.duplicates == 0)
            // Twice its head, its index, and one range.
            #expect(rig.simulator.calls == calls + 4)
            #expect(try await rig.frames().first?.levels.map(\.level.number) == [-1] + levels)
            #expect(try await rig.isRight(Self.content))
        }
    }

    @Test("the source was fetched with its first whole file, however long the round goes on") func fetchedEarly()
        async throws
    {
        try await withGuidance(content: Self.content) { rig in
            let round = Mutex<Task<SyncOutcome, any Error>?>(nil)
            // The nowcast is whole, and the first forecast is being read.
            let work = CountedWork { number in
                if number == levels.count + 2 { round.withLock { $0?.cancel() } }
            }
            let upstream = try rig.upstream(work: work)
            let now = rig.clock.now
            let task = Task { try await upstream.synchronise(now: now) }
            round.withLock { $0 = task }
            await #expect(throws: SyncError.self) { try await task.value }
            #expect(try await rig.names().first { $0.hasPrefix("gtgn") } == "gtgn 22:30")
            #expect(try await rig.store.source().fetchedAt(.fields) == now)
        }
    }

    @Test("without an index the whole file is read, and the wanted levels are used") func sequential() async throws {
        let content = RememberedGuidance(SimulatedGuidance(seed: 7, extent: .whole, every: every))
        try await withGuidance(content: content, simulate: { $0.indexed = [.gtg] }) { rig in
            let plan = GuidancePlan(products: [.gtgn], levels: levels.map { AltitudeLevel(feet: $0) })
            let outcome = try await rig.upstream(plan).synchronise(now: rig.clock.now)
            #expect(outcome.accepted == 4 && outcome.skipped.isEmpty)
            #expect(try await rig.isRight(content))
        }
    }

    @Test("messages that stay broken are counted, and given up after a few readings; the rest is used")
    func stayBroken() async throws {
        try await withGuidance(content: Self.content) { rig in
            rig.simulator.setFault(.wrongLength)
            let plan = GuidancePlan(products: [.gtgn])
            for reading in 1...3 {
                let outcome = try await rig.upstream(plan).synchronise(now: rig.clock.now)
                #expect(outcome.skipped == [.field(.frame("wrong-length")): 6])
                #expect(outcome.accepted == (reading == 1 ? 12 : 0))
            }
            let calls = rig.simulator.calls
            let outcome = try await rig.upstream(plan).synchronise(now: rig.clock.now)
            #expect(outcome.skipped.isEmpty && rig.simulator.calls <= calls + 1)
            // A maximum of some levels would look smoother than the air is.
            let levels = try await rig.frames().flatMap { $0.levels.map(\.level) }
            #expect(levels.count == 12 && !levels.contains(.column))
        }
    }

    @Test("each message that can't be used is refused by its reason, and the rest of the file is used")
    func refusals() async throws {
        let content = BadContent()
        try await withGuidance(content: content) { rig in
            let plan = GuidancePlan(products: [.gtgn])
            let outcome = try await rig.upstream(plan).synchronise(now: rig.clock.now)
            var expected: [SkipReason: Int] = [:]
            for (_, reason) in BadContent.messages { if let reason { expected[.field(reason), default: 0] += 1 } }
            #expect(outcome.skipped == expected)
            #expect(outcome.accepted == 2)
            #expect(
                try await rig.frames().first?.levels.map(\.level.number)
                    == BadContent.messages.indices.filter { BadContent.messages[$0].1 == nil }.map(BadContent.feet))
        }
    }

    // MARK: Budget and truth

    @Test("the budget of bytes holds across restarts") func budget() async throws {
        try await withGuidance(content: Self.content) { rig in
            func round() async throws(SyncError) {
                let upstream: NOAAUpstream
                do { upstream = try rig.upstream { $0.bytesPerDay = 3_000 } } catch {
                    throw SyncError(kind: .store, code: .store, message: "\(error)", isReachable: nil)
                }
                _ = try await upstream.synchronise(now: rig.clock.now)
            }
            for _ in 0..<2 {
                do throws(SyncError) {
                    try await round()
                    Issue.record("the budget did not hold")
                } catch {
                    #expect(error.code == .upstream(.creditsSpent) && error.retryAfterSeconds == 4_800)
                }
            }
            let text = try await rig.store.values(of: try noaa())["budget"].orMissing()
            let ledger = try JSONDecoder().decode(RequestBudget.Ledger.self, from: Data(text.utf8))
            // The length of an index is known when it has come.
            #expect(ledger.bytes > 1_000 && ledger.bytes < 5_000)
            #expect(try await rig.isRight(Self.content))
        }
    }

    @Test("simulated grids are refused where real ones are configured") func realSource() async throws {
        try await withGuidance(content: Self.content) { rig in
            do throws(SyncError) {
                let upstream: NOAAUpstream
                do { upstream = try rig.upstream(simulated: false) } catch {
                    throw SyncError(kind: .store, code: .store, message: "\(error)", isReachable: nil)
                }
                _ = try await upstream.synchronise(now: rig.clock.now)
                Issue.record("simulated data was taken")
            } catch { #expect(error.code == .simulatedData) }
            let sources = try await rig.store.sources()
            #expect(sources.isEmpty)
        }
    }

    @Test("a cursor that can't be read, or is about other levels, begins anew") func cursors() throws {
        var cursor = GuidanceCursor(GuidanceRig.plan())
        let file = try GuidanceFile(product: .gtg, runSeconds: 1_795_212_000, leadHours: 3).orMissing()
        cursor.noteComplete(file)
        #expect(GuidanceCursor(cursor.text, GuidanceRig.plan()) == cursor)
        #expect(cursor.newestRun(leadHours: [3]) == file.runSeconds && cursor.newestRun(leadHours: [1, 3]) == nil)
        for text in [nil, "", "{}", cursor.text.replacing("levels", with: "level")] {
            #expect(GuidanceCursor(text, GuidanceRig.plan()).complete.isEmpty)
        }
        #expect(GuidanceCursor(cursor.text, GuidancePlan()).complete.isEmpty)
    }

    @Test(
        "pressure levels are altitudes of the standard atmosphere",
        arguments: [(101_325.0, 0), (84_310, 5_000), (30_089, 30_000), (23_842, 35_000), (18_754, 40_000)])
    func pressure(_ pascals: Double, _ feet: Int) {
        #expect(FieldReading.pressureAltitude(pascals: pascals) == feet)
    }
}

/// A nowcast of messages that are wrong, each in its own way.
private struct BadContent: GuidanceContent {
    /// What is wrong with each, and why it is refused; nil for the two that are right.
    static let messages: [(String, FieldReadingError?)] = [
        ("right", nil), ("NaN", .values), ("1e20", .values), ("negative", .values), ("large", .values),
        ("parameter", .parameter), ("future", .inTheFuture), ("past", .time), ("grid", .grid),
        ("empty", .withoutValues),
        ("level", .level), ("packing", .message(.unknownTemplate)), ("slightly negative", nil),
        ("duplicate", .duplicate),
    ]

    private static let air = SimulatedGuidance(seed: 7, every: every)

    static func feet(_ place: Int) -> Int { 10_000 + 2_000 * place }

    /// The second of two of a level has the level of the first.
    private static func level(_ place: Int) -> AltitudeLevel {
        AltitudeLevel(feet: messages[place].0 == "duplicate" ? feet(0) : feet(place))
    }

    func messages(of file: SimulatedGuidanceFile) -> [SimulatedGuidanceMessage] {
        Self.messages.indices.map { place in
            SimulatedGuidanceMessage(
                parameter: "EDPARM", level: "\(Self.level(place).wholeMetres) m above mean sea level")
        }
    }

    func bytes(of message: SimulatedGuidanceMessage, in file: SimulatedGuidanceFile) async -> [UInt8] {
        // Two have one name: they come in turn, which no other content needs to know.
        let place = Self.messages.indices.first { Self.level($0).wholeMetres == Self.metres(message) } ?? 0
        return Self.bytes(place, file)
    }

    private static func metres(_ message: SimulatedGuidanceMessage) -> Int? {
        message.level.split(separator: " ").first.flatMap { Int($0) }
    }

    private static func bytes(_ place: Int, _ file: SimulatedGuidanceFile) -> [UInt8] {
        var grid = air.grid
        var values = air.edrs(of: file, altitudeFeet: 20_000)
        let point = values.count / 2
        let name = messages[place].0
        switch name {
        case "NaN": values[point] = .nan
        case "1e20": values[point] = 1e20
        case "negative": values[point] = -0.2
        case "slightly negative": values[point] = -0.001
        case "large": values[point] = 3
        case "empty": values = values.map { _ in .nan }
        case "grid":
            grid.rows -= 1
            values = Array(values.prefix(grid.count))
        default: break
        }
        var draft = GRIBDraft(grid: grid, referenceSeconds: file.runSeconds, values: values)
        draft.level = .altitude(level(place))
        switch name {
        case "NaN", "1e20":
            draft.packing = .ieee
            draft.hasBitmap = name != "NaN"
        case "parameter": draft.parameter = .clearAirTurbulence
        case "future": draft.referenceSeconds += 7_200
        case "past": draft.referenceSeconds -= 3_600
        case "level": draft.level = .altitude(AltitudeLevel(feet: 50_000))
        default: break
        }
        guard var bytes = try? draft.message() else { return [] }
        if name == "packing", let section = section(5, of: bytes) { bytes[section + 10] = 41 }
        return bytes
    }

    /// Where a section begins.
    private static func section(_ number: UInt8, of bytes: [UInt8]) -> Int? {
        var place = 16
        while place < bytes.count - 4 {
            if bytes[place + 4] == number { return place }
            place += bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        return nil
    }
}
