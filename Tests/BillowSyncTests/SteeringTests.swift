import BillowStore
import Foundation
import Geometry
import Logging
import SkyPath
import Synchronization
import TestSupport
import Testing
import Turbulence
import UpstreamKit
import UpstreamSimulator
import JSONKit

@testable import BillowSync

/// Sleeps that a test ends.
private final class ManualSleep: Sendable {
    private struct SleepState {
        var sleepers: [(duration: Duration, wake: CheckedContinuation<Void, Never>)] = []
        var slept: [Duration] = []
    }
    private let state = Mutex(SleepState())

    /// How long was to be slept, so far.
    var slept: [Duration] { state.withLock { $0.slept } }

    func sleep(_ duration: Duration) async throws {
        await withTaskCancellationHandler {
            await withCheckedContinuation { wake in
                state.withLock {
                    $0.slept.append(duration)
                    $0.sleepers.append((duration, wake))
                }
                if Task.isCancelled { wakeAll() }
            }
        } onCancel: {
            wakeAll()
        }
        try Task.checkCancellation()
    }

    func wakeAll() {
        let sleepers = state.withLock { state in
            defer { state.sleepers = [] }
            return state.sleepers
        }
        for sleeper in sleepers { sleeper.wake.resume() }
    }

    /// Waits until somebody has slept so often.
    func slept(times: Int) async throws {
        try await eventually("somebody sleeps for time \(times)") { slept.count >= times }
    }
}

/// An upstream that records its requests.
private struct Noting: Upstream {
    final class Notes: Sendable {
        let rounds = Mutex<[DataQuery]>([])
        let forgotten = Mutex(0)
        let failure = Mutex<SyncError?>(nil)
        /// Whether a round runs until it is ended.
        let isEndless = Mutex(false)
    }

    let id: SourceID
    let kind = "noting"
    let merge = MergeRule.replace
    let simulated: Bool? = true
    let notes: Notes
    var wanted: DataQuery
    var credential: String? = "key-1"

    var query: DataQuery? { wanted }
    var types: [QueryType] { [.turbulence] }

    func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome {
        notes.rounds.withLock { $0.append(wanted) }
        if let failure = notes.failure.withLock({ $0 }) { throw failure }
        if notes.isEndless.withLock({ $0 }) {
            do { try await Task.sleep(for: .seconds(86_400)) } catch { throw .cancelled }
        }
        return SyncOutcome()
    }

    func with(query: DataQuery) -> any Upstream {
        var other = self
        other.wanted = query
        return other
    }

    func resetCursors(of area: DataQuery.Area) async throws(SyncError) { notes.forgotten.withLock { $0 += 1 } }

    var rounds: [DataQuery] { notes.rounds.withLock { $0 } }
    func rounds(_ count: Int) async throws {
        try await eventually("round \(count) begins") { rounds.count >= count }
    }
}

@Suite("A source's query and frequency can be changed while it runs", .timeLimit(.minutes(20)))
struct SteeringTests {
    private struct Stage {
        let upstream: Noting
        let loop: SourceLoop
        let states: SourceStates
        let bed: ManualSleep
        /// Of waits.
        let clock: ManualClock
        /// Of the data.
        let wall: ManualClock
        let store: SQLiteStore

        /// The settings with some members changed, as the routes do it.
        func change(_ members: [String: JSONValue]) async throws {
            try await loop.change(try await loop.settings(changedBy: members))
        }

        var state: SourceState { get throws { try states.all.first.orMissing() } }
    }

    private func stage(
        _ query: DataQuery = DataQuery(), update: UpdateFrequency = .fast, credential: String = "key-1",
        store: SQLiteStore? = nil
    ) async throws -> Stage {
        let upstream = Noting(id: try skypath(), notes: Noting.Notes(), wanted: query, credential: credential)
        let store = if let store { store } else { try await SQLiteStore.temporary() }
        let (clock, wall) = (ManualClock(), ManualClock())
        let bed = ManualSleep()
        let states = SourceStates()
        let loop = SourceLoop(
            upstream: upstream, update: update, states: states, control: store, now: { wall.now },
            uptime: { .seconds(clock.seconds1970) }, random: { 0.5 }, sleep: { try await bed.sleep($0) },
            logger: Logger(label: "sync", factory: { _ in SwiftLogNoOpLogHandler() }))
        return Stage(upstream: upstream, loop: loop, states: states, bed: bed, clock: clock, wall: wall, store: store)
    }

    private func running(_ stage: Stage, _ body: (Stage) async throws -> Void) async throws {
        let task = Task { try await stage.loop.run() }
        try await body(stage)
        task.cancel()
        stage.bed.wakeAll()
        _ = await task.result
    }

    @Test("changes within a second make one fetch for the last")
    func changesWithinASecondMakeOneFetchForTheLast() async throws {
        try await running(stage()) { stage in
            try await stage.bed.slept(times: 1)
            for hours in [4.0, 6] { try await stage.change(["history": .number(hours)]) }
            try await stage.bed.slept(times: 2)
            try await stage.change([
                "severities": .array([.number(3), .string("moderate-severe")]), "history": .number(4),
            ])
            #expect(stage.bed.slept == [.seconds(60), .seconds(1)])
            #expect(stage.upstream.rounds.count == 1)
            stage.bed.wakeAll()
            try await stage.upstream.rounds(2)
            try await stage.bed.slept(times: 3)
            #expect(stage.upstream.rounds.map(\.history) == [.twoHours, .fourHours])
            #expect(stage.upstream.rounds.last?.severities == .atLeast(.moderate))
            #expect(stage.bed.slept.last == .seconds(60))
            #expect(try stage.state.query == stage.upstream.rounds.last)
        }
    }

    @Test("a change of the query ends the running round")
    func aChangeOfTheQueryEndsTheRunningRound() async throws {
        let (west, east) = (try box(-80, 25, -20, 70), try box(-20, 25, 40, 70))
        func ring(_ ring: AreaRing) -> JSONValue {
            .array(ring.places.map { .array([.number($0.longitude), .number($0.latitude)]) })
        }
        let stage = try await stage(DataQuery(global: false, polygon: west))
        let changes = stage.states.changes()
        let (corridor, viewport) = (
            SourceState.AreaCollection(area: .corridor, collection: "turbulence"),
            SourceState.AreaCollection(area: .viewport, collection: "turbulence")
        )
        stage.upstream.notes.isEndless.withLock { $0 = true }
        try await running(stage) { stage in
            try await stage.upstream.rounds(1)
            // How often counts from the next wait on.
            try await stage.change(["update": .string("medium")])
            #expect(try stage.state.fetching == [corridor])
            try await stage.change(["polygon": .null, "viewport": ring(east)])
            try await stage.bed.slept(times: 1)
            #expect(stage.bed.slept == [.seconds(1)])
            stage.bed.wakeAll()
            try await stage.upstream.rounds(2)
            #expect(stage.upstream.rounds.last?.viewport == east && stage.upstream.rounds.last?.polygon == nil)
            #expect(try stage.state.fetching == [viewport])
            // Nothing to ask for.
            try await stage.change(["viewport": .null])
            try await stage.bed.slept(times: 2)
            stage.bed.wakeAll()
            try await eventually("it stops") { try stage.state.activity == .stopped }
            #expect(stage.upstream.rounds.count == 2)
        }
        var consumer = changes.makeAsyncIterator()
        var seen: [Set<SourceState.AreaCollection>] = []
        while seen.count < 5, let state = await consumer.next() {
            if seen.last != state.fetching { seen.append(state.fetching) }
        }
        #expect(seen == [[], [corridor], [], [viewport], []])
    }

    @Test("fetched data satisfies a smaller query")
    func whatIsHeldServesWhatAsksForLess() throws {
        let ring = try box(0, 40, 5, 45)
        let other = try box(1, 40, 5, 45)
        let small = try AircraftCategory(number: 10).orMissing()
        let base = DataQuery(types: [.turbulence, .polygons], history: .fourHours, global: false, polygon: ring)
        func needs(_ base: DataQuery, _ change: (inout DataQuery) -> Void) -> Bool {
            var query = base
            change(&query)
            return !SyncRequest(base).serves(SyncRequest(query))
        }
        #expect(needs(base) { $0.polygon = other })
        #expect(needs(base) { $0.viewport = other })
        #expect(needs(base) { $0.history = .sixHours })
        #expect(needs(base) { $0.global = true })
        #expect(needs(base) { $0.category = small })
        #expect(needs(base) { $0.polygonsUpTo = true })
        #expect(needs(base) { $0.types.insert(.flights) })
        // The upstream's polygons are made for each history apart.
        #expect(needs(base) { $0.history = .twoHours })
        #expect(!needs(base) { $0.viewport = ring })
        #expect(!needs(base) { _ in })
        #expect(!needs(base) { $0.severities = .atLeast(.light) })
        #expect(!needs(base) { $0.types = [] })
        #expect(!needs(base) { $0.polygon = nil })
        var turbulence = base
        turbulence.types = [.turbulence]
        #expect(!needs(turbulence) { $0.history = .twoHours })
        #expect(!needs(turbulence) { $0.polygonsUpTo = true })
        var upTo = base
        upTo.polygonsUpTo = true
        #expect(!needs(upTo) { $0.history = .twoHours })
        #expect(!needs(upTo) { ($0.polygonsUpTo, $0.history) = (false, .oneHour) })
        var few = base
        few.severities = .atLeast(.light)
        #expect(needs(few) { $0.severities = .all })
        few.types = []
        #expect(needs(few) { $0.types = [.turbulence] })
    }

    /// Each type of data has its scope: the world is for polygons where there is a corridor.
    @Test("`global` widens what the documents say it widens")
    func globalWidensWhatTheDocumentsSayItWidens() throws {
        let (ring, screen) = (try box(0, 40, 5, 45), try box(10, 40, 15, 45))
        func areas(_ type: QueryType, _ query: DataQuery) -> [DataQuery.Area] {
            var query = query
            query.types = Set(QueryType.skyPath)
            return query.areas(of: type)
        }
        let rows: [(DataQuery, turbulence: [DataQuery.Area], polygons: [DataQuery.Area], flights: [DataQuery.Area])] = [
            (DataQuery(), [.global], [.global], [.global]),
            (DataQuery(global: false), [], [], []),
            (DataQuery(polygon: ring), [.corridor], [.corridor, .global], [.corridor]),
            (DataQuery(global: false, polygon: ring), [.corridor], [.corridor], [.corridor]),
            (DataQuery(viewport: screen), [.viewport, .global], [.viewport, .global], [.viewport, .global]),
            (DataQuery(global: false, viewport: screen), [.viewport], [.viewport], [.viewport]),
            (
                DataQuery(polygon: ring, viewport: screen), [.corridor, .viewport], [.corridor, .viewport, .global],
                [.corridor, .viewport]
            ),
            (
                DataQuery(scopes: [.turbulence: .global], polygon: ring), [.corridor, .global], [.corridor, .global],
                [.corridor]
            ),
            (
                DataQuery(global: false, scopes: [.polygons: .global], polygon: ring), [.corridor],
                [.corridor, .global], [.corridor]
            ),
            (DataQuery(scopes: [.polygons: .areas], polygon: ring), [.corridor], [.corridor], [.corridor]),
            (DataQuery(scopes: [.turbulence: .areas]), [], [.global], [.global]),
        ]
        for row in rows {
            #expect(areas(.turbulence, row.0) == row.turbulence)
            #expect(areas(.polygons, row.0) == row.polygons)
            #expect(areas(.flights, row.0) == row.flights)
        }
    }

    @Test("what needs no data waits for its turn and another frequency counts from the last round")
    func whatNeedsNoDataWaitsForItsTurnAndAnotherFrequencyCountsFromTheLastRound() async throws {
        try await running(stage(update: .minimal)) { stage in
            try await stage.bed.slept(times: 1)
            try await stage.change(["history": .number(1)])
            try await stage.change([:])
            #expect(stage.bed.slept == [.seconds(900)] && stage.upstream.rounds.count == 1)
            // 100 of the 900 seconds are over: of the 300 another 200 are left, of the 60 none.
            stage.clock.advance(100)
            try await stage.change(["update": .string("medium")])
            try await stage.bed.slept(times: 2)
            #expect(stage.bed.slept.last == .seconds(200) && stage.upstream.rounds.count == 1)
            #expect(try stage.state.nextAttempt == stage.wall.now.advanced(by: 200))
            try await stage.change(["update": .string("fast")])
            try await stage.upstream.rounds(2)
            #expect(stage.upstream.rounds.last?.history == .oneHour)
            try await stage.bed.slept(times: 3)
            #expect(stage.bed.slept.last == .seconds(60))
        }
    }

    @Test("fewer histories of polygons are fetched at once")
    func fewerHistoriesOfPolygonsAreFetchedAtOnce() async throws {
        try await running(stage(DataQuery(types: [.polygons], history: .fourHours))) { stage in
            try await stage.bed.slept(times: 1)
            try await stage.change(["history": .number(2)])
            try await stage.bed.slept(times: 2)
            #expect(stage.bed.slept == [.seconds(60), .seconds(1)])
            stage.bed.wakeAll()
            try await stage.upstream.rounds(2)
            #expect(stage.upstream.rounds.last?.history == .twoHours)
        }
    }

    @Test(
        "fetching stops where there is nothing to ask",
        arguments: [
            ["update": JSONValue.string("none")], ["types": .array([])], ["severities": .array([])],
            ["global": .bool(false)],
        ])
    func fetchingStopsWhereThereIsNothingToAsk(members: [String: JSONValue]) async throws {
        try await running(stage()) { stage in
            try await stage.bed.slept(times: 1)
            try await stage.change(members)
            #expect(try stage.state.activity == .stopped && stage.state.nextAttempt == nil)
            stage.bed.wakeAll()
            try await stage.bed.slept(times: 2)
            #expect(stage.upstream.rounds.count == 1)
            // And continues at once when there is.
            try await stage.loop.change(SourceSettings(query: DataQuery(), update: .fast))
            try await stage.bed.slept(times: 3)
            #expect(stage.bed.slept.last == .seconds(1))
            stage.bed.wakeAll()
            try await stage.upstream.rounds(2)
        }
    }

    @Test("a demand is met at once, once a minute, and stopped or not")
    func aDemandIsMetAtOnceOnceAMinuteAndStoppedOrNot() async throws {
        try await running(stage(update: .none)) { stage in
            try await stage.bed.slept(times: 1)
            #expect(stage.upstream.rounds.isEmpty)
            try await stage.loop.requestSync(full: false)
            try await stage.upstream.rounds(1)
            stage.clock.advance(20)
            // Nobody who sets the clock holds it up.
            stage.wall.advance(-86_400)
            await #expect(throws: SourceLoop.RequestError.tooSoon(retryAfterSeconds: 40)) {
                try await stage.loop.requestSync(full: true)
            }
            #expect(stage.upstream.notes.forgotten.withLock { $0 } == 0)
            stage.clock.advance(40)
            try await stage.loop.requestSync(full: true)
            try await stage.upstream.rounds(2)
            #expect(stage.upstream.notes.forgotten.withLock { $0 } == 1)
            try await stage.change(["types": .array([])])
            stage.clock.advance(60)
            await #expect(throws: SourceLoop.RequestError.nothingToFetch) {
                try await stage.loop.requestSync(full: false)
            }
        }
    }

    @Test("overrides persist across a restart, but for the viewport")
    func whatWasSettledIsThereAfterARestartButForTheViewport() async throws {
        let store = try await SQLiteStore.temporary()
        let ring: JSONValue = .array([[0, 40], [5, 40], [5, 45], [0, 40]].map { .array($0.map { .number($0) }) })
        let first = try await stage(store: store)
        try await first.change([
            "history": .number(0.5), "polygon": ring, "viewport": ring, "global": .bool(false),
            "update": .string("PT7S"),
        ])
        let second = try await stage(store: store)
        await second.loop.restore()
        let settings = await second.loop.settings
        #expect(settings.update == .every(.seconds(7)) && settings.query?.history == .halfHour)
        #expect(settings.query?.global == false && settings.query?.polygon != nil && settings.query?.viewport == nil)
        #expect(try second.state.query == settings.query)
        // A new configuration ends it, and so does going back to it.
        let other = try await stage(DataQuery(history: .sixHours), store: store)
        await other.loop.restore()
        #expect(await other.loop.settings == SourceSettings(query: DataQuery(history: .sixHours), update: .fast))
        try await second.loop.change(SourceSettings(query: DataQuery(), update: .fast))
        #expect(try await store.persistedOverride(of: skypath()) == nil)
    }

    @Test("a refused key stays refused after a restart until started or replaced")
    func aRefusedKeyStaysRefusedAfterARestartUntilStartedOrReplaced() async throws {
        let store = try await SQLiteStore.temporary()
        let first = try await stage(store: store)
        first.upstream.notes.failure.withLock {
            $0 = SyncError(kind: .session, code: .upstream(.unauthorized), message: "no", isReachable: true)
        }
        _ = await first.loop.round()
        #expect(try first.state.activity == .refused)
        try await first.change(["update": .string("medium")])

        let second = try await stage(store: store)
        await second.loop.restore()
        _ = await second.loop.round()
        #expect(second.upstream.rounds.isEmpty)
        #expect(try second.state.isRefused)
        #expect(try second.state.lastError == first.state.lastError && second.state.lastError?.message == "no")
        #expect(await second.loop.settings.update == .medium)
        await #expect(throws: SourceLoop.RequestError.halted) { try await second.loop.requestSync(full: false) }

        let newKey = try await stage(credential: "key-2", store: store)
        await newKey.loop.restore()
        _ = await newKey.loop.round()
        #expect(newKey.upstream.rounds.count == 1)

        try await second.loop.start()
        _ = await second.loop.round()
        #expect(second.upstream.rounds.count == 1)
        let third = try await stage(store: store)
        await third.loop.restore()
        _ = await third.loop.round()
        #expect(third.upstream.rounds.count == 1)
    }

    @Test("a new viewport replaces the old one's data")
    func aNewViewportReplacesTheOldOnesData() async throws {
        try await withRig(flights: 20) { rig in
            let west = try box(-80, 25, -20, 70)
            let east = try box(-20, 25, 40, 70)
            func cells() async throws -> [Cell] { try await rig.store.picture(at: rig.clock.now).map(\.cell) }
            var query = DataQuery(global: false, viewport: west)
            try await rig.round(rig.upstream(.v4, query))
            var seen = try await cells()
            #expect(!seen.isEmpty && seen.allSatisfy { west.touches($0) })
            query.viewport = east
            let outcome = try await rig.round(rig.upstream(.v4, query))
            #expect(outcome.retracted > 0)
            seen = try await cells()
            #expect(!seen.isEmpty && seen.allSatisfy { east.touches($0) })
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(.v4, query))
            // A corridor's data stays when the viewport goes, and where they overlap.
            query.polygon = west
            try await rig.round(rig.upstream(.v4, query))
            let both = try await cells()
            query.viewport = nil
            let upstream = try rig.upstream(.v4, query)
            try await upstream.release(.viewport, now: rig.clock.now)
            try await rig.round(upstream)
            let rest = try await cells()
            #expect(rest.count < both.count && rest.allSatisfy { west.touches($0) })
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(.v4, query))
        }
    }

    @Test("a viewport ends with the process and its data with it")
    func aViewportEndsWithTheProcessAndItsDataWithIt() async throws {
        try await withRig(flights: 20) { rig in
            let (west, east) = (try box(-80, 25, -20, 70), try box(-20, 25, 40, 70))
            let query = DataQuery(global: false, polygon: east)
            var looking = query
            looking.viewport = west
            try await rig.round(rig.upstream(.v4, looking))
            let before = try await rig.store.picture(at: rig.clock.now)
            #expect(before.contains { west.touches($0.cell) && !east.touches($0.cell) })
            // After the restart there are no requests and no responses.
            let calls = rig.simulator.calls
            let states = SourceStates()
            let clock = rig.clock
            let loop = SourceLoop(
                upstream: try rig.upstream(.v4, query), update: .none, states: states, control: rig.store,
                now: { clock.now }, logger: Logger(label: "sync", factory: { _ in SwiftLogNoOpLogHandler() }))
            await loop.restore()
            let after = try await rig.store.picture(at: rig.clock.now)
            #expect(!after.isEmpty && after.count < before.count && after.allSatisfy { east.touches($0.cell) })
            #expect(rig.simulator.calls == calls)
            // The corridor continues from its cursor.
            try await rig.round(rig.upstream(.v4, query))
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(.v4, query))
        }
    }

    @Test(
        "a viewport's data ends with the process, wherever its first fetch was interrupted", arguments: [1, 2, 3, 5, 8])
    func aViewportsDataEndsWithTheProcessWhereverItsFirstFetchWasInterrupted(
        commit: Int
    ) async throws {
        try await withRig(flights: 20) { rig in
            let (west, east) = (try box(-80, 25, -20, 70), try box(-20, 25, 40, 70))
            let query = DataQuery(global: false, polygon: east)
            var looking = query
            looking.viewport = west
            try await rig.round(rig.upstream(.v4, query))
            let watched = WatchedStore(
                rig.store, after: { number, _ in if number == commit { withUnsafeCurrentTask { $0?.cancel() } } })
            let interrupted = try rig.upstream(.v4, looking, store: watched, batchSize: 10)
            let now = rig.clock.now
            let task = Task { () async -> SyncError? in
                do throws(SyncError) { _ = try await interrupted.synchronise(now: now) } catch { return error }
                return nil
            }
            #expect(await task.value?.kind == .cancelled)
            let restarted = try rig.upstream(.v4, query)
            try await restarted.prepareAfterRestart(now: now)
            #expect(try await rig.store.picture(at: now).allSatisfy { east.touches($0.cell) })
            try await rig.round(restarted)
            #expect(try await rig.store.picture(at: now) == rig.fresh(.v4, query))
        }
    }

    @Test("the upstream decides whether a key is accepted")
    func whetherTheKeyIsTakenIsForTheUpstreamToSay() async throws {
        let stage = try await stage()
        #expect(try stage.state.session == nil)
        _ = await stage.loop.round()
        #expect(try stage.state.session == true)
        let refused = SyncError(kind: .session, code: .upstream(.unauthorized), message: "no", isReachable: true)
        stage.upstream.notes.failure.withLock { $0 = refused }
        _ = await stage.loop.round()
        #expect(try stage.state.session == false && stage.state.areas[.all]?.failures == 1)
        try await stage.loop.start()
        #expect(try stage.state.session == nil && !stage.state.isRefused)
        _ = await stage.loop.round()
        #expect(try stage.state.session == false && stage.state.areas[.all]?.failures == 2)
    }

    @Test("a session continues after a restart until it ends")
    func aSessionGoesOnAfterARestartUntilItEnds() async throws {
        try await withRig(flights: 5, needsSession: true) { rig in
            func restarted(user: String = "dispatch-1") throws -> SkyPathUpstream {
                try rig.upstream(.v4, DataQuery()) {
                    $0.account = SkyPathAccount(company: "ABC", user: user)
                }
            }
            let first = try restarted()
            try await rig.round(first)
            try await first.resetCursors(of: .global)
            try await rig.round(first)
            #expect(rig.simulator.skyPathSessions == 1)
            try await rig.round(restarted())
            #expect(rig.simulator.skyPathSessions == 1)
            // Another user has another one.
            try await rig.round(restarted(user: "dispatch-2"))
            #expect(rig.simulator.skyPathSessions == 2)
            rig.clock.advance(3_600)
            try await rig.round(restarted(user: "dispatch-2"))
            #expect(rig.simulator.skyPathSessions == 3)
            try await rig.round(restarted(user: "dispatch-2"))
            #expect(rig.simulator.skyPathSessions == 3)
        }
    }

    @Test("forgetting makes the next round whole")
    func forgettingMakesTheNextRoundWhole() async throws {
        try await withRig(flights: 5) { rig in
            let upstream = try rig.upstream(.v4)
            try await upstream.resetCursors(of: .global)
            try await rig.round(upstream)
            #expect(try await !rig.store.pieces().isEmpty)
            try await upstream.resetCursors(of: .global)
            #expect(try await rig.store.pieces().isEmpty)
            try await rig.round(upstream)
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(.v4, DataQuery()))
        }
    }

    @Test(
        "a change that can't be meant is refused",
        arguments: [
            ("history", JSONValue.number(3)), ("history", .string("2")), ("types", .array([.string("snow")])),
            ("types", .string("turbulence")), ("severities", .array([.number(5)])),
            ("severities", .array([.number(1.5)])),
            ("global", .number(1)), ("polygonsUpTo", .null), ("update", .string("PT0S")), ("update", .number(60)),
            ("category", .string("C15")), ("baseURL", .string("https://example.org")), ("apiKey", .string("x")),
            ("scope", .string("global")), ("scope", .object(["turbulence": .string("corridor")])),
            ("scope", .object(["flights": .string("global")])), ("polygon", .array([])),
            ("polygon", .array([.number(1)])),
            ("viewport", .string("all")),
            ("polygon", .array([[0, 0], [1, 0], [1, 1], [0, 1]].map { .array($0.map { .number($0) }) })),
            ("polygon", .array([[0, 0], [1, 0], [1, 99], [0, 0]].map { .array($0.map { .number($0) }) })),
            ("polygon", .array((0...250).map { .array([.number(Double($0 % 250)), .number(10)]) })),
        ])
    func aChangeThatCantBeMeantIsRefused(member: String, value: JSONValue) throws {
        let settings = SourceSettings(query: DataQuery(), update: .fast)
        let problem = #expect(throws: SourceSettings.Problem.self) {
            try settings.changed(by: ["history": .number(1)].merging([member: value]) { $1 }, types: [.turbulence])
        }
        #expect(problem?.member == member && problem?.allowed.isEmpty == false)
        #expect(problem?.area == (member == "polygon" ? .corridor : member == "viewport" ? .viewport : nil))
    }

    @Test("a source without query has its frequency only")
    func aSourceWithoutQueryHasItsFrequencyOnly() throws {
        let settings = SourceSettings(query: nil, update: .fast)
        #expect(try settings.changed(by: ["update": .string("none")], types: []).update == .none)
        #expect(throws: SourceSettings.Problem.self) { try settings.changed(by: ["history": .number(2)], types: []) }
        #expect(settings.json.keys.sorted() == ["update"])
    }
}
