import BillowStore
import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import Turbulence
import UpstreamKit
import UpstreamSimulator

@testable import BillowSync

/// An upstream of which a test decides when and how each round ends.
private final class Scripted: Upstream {
    let id: SourceID
    let kind = "scripted"
    let merge = MergeRule.replace
    let simulated: Bool? = true
    let events: (any UpstreamEvents)?

    private struct RoundState {
        var rounds = 0
        var running: CheckedContinuation<Result<SyncOutcome, SyncError>, Never>?
    }
    private let state = Mutex(RoundState())

    init(events: (any UpstreamEvents)? = nil) throws {
        id = try skypath()
        self.events = events
    }

    var feeds: Set<FeedKind> { [.observations] }
    var collections: [String] { ["turbulence"] }

    /// Rounds that have begun.
    var rounds: Int { state.withLock { $0.rounds } }

    func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock {
                    $0.rounds += 1
                    $0.running = continuation
                }
            }
        } onCancel: {
            end(.failure(.cancelled))
        }
        return try result.get()
    }

    func end(_ result: Result<SyncOutcome, SyncError>) {
        state.withLock { state in
            defer { state.running = nil }
            return state.running
        }?.resume(returning: result)
    }

    /// Waits until a round has begun.
    func began(_ number: Int) async throws {
        try await eventually("round \(number) begins") { rounds >= number }
    }

    static let refused = SyncError(kind: .session, code: .upstream(.unauthorized), message: "no", isReachable: true)
}

/// Events that a test sends.
private final class ScriptedEvents: UpstreamEvents {
    let spacing = Duration.seconds(30)
    private let reports = Mutex<[@Sendable (UpstreamSignal) async -> Void]>([])

    /// The running listeners.
    var listeners: Int { reports.withLock { $0.count } }

    func listen(_ report: @escaping @Sendable (UpstreamSignal) async -> Void) async {
        reports.withLock { $0.append(report) }
        // Ends when cancelled.
        for await _ in AsyncStream<Void>.makeStream().stream {}
        reports.withLock { $0.removeAll() }
    }

    func send(_ signal: UpstreamSignal) async { for report in reports.withLock({ $0 }) { await report(signal) } }
}

@Suite("The loop of a source", .timeLimit(.minutes(20)))
struct LoopTests {
    private func loop(_ upstream: Scripted, interval: Duration = .seconds(86_400)) -> (SourceLoop, SourceStates) {
        let states = SourceStates()
        let clock = ManualClock()
        let loop = SourceLoop(
            upstream: upstream, update: .every(interval), states: states, now: { clock.now }, random: { 0.5 },
            logger: Logger(label: "sync", factory: { _ in SwiftLogNoOpLogHandler() }))
        return (loop, states)
    }

    /// Runs until the body is done, with a pause of a day between rounds: whatever comes sooner was woken.
    private func running(_ body: (Scripted, SourceLoop, SourceStates) async throws -> Void) async throws {
        let upstream = try Scripted()
        let (loop, states) = loop(upstream)
        let task = Task { try await loop.run() }
        try await upstream.began(1)
        #expect(states.all.first?.isFetching == true)
        try await body(upstream, loop, states)
        task.cancel()
        _ = await task.result
        #expect(states.all.first?.isFetching == false)
    }

    @Test("start wakes a halted loop")
    func startWakesAHaltedLoop() async throws {
        try await running { upstream, loop, states in
            upstream.end(.failure(Scripted.refused))
            try await eventually("the key is refused") { states.all.first?.isRefused == true }
            #expect(states.all.first?.nextAttempt == nil)
            // Waking alone asks nothing.
            await loop.refresh()
            #expect(upstream.rounds == 1)
            try await loop.start()
            try await upstream.began(2)
            #expect(states.all.first?.isRefused == false)
        }
    }

    @Test("refresh ends the pause")
    func refreshEndsThePause() async throws {
        try await running { upstream, loop, states in
            for number in 2...5 {
                upstream.end(.success(SyncOutcome()))
                try await eventually("the round is over") { states.all.first?.isFetching == false }
                await loop.refresh()
                try await upstream.began(number)
            }
            // During a round it makes another one follow.
            await loop.refresh()
            upstream.end(.success(SyncOutcome()))
            try await upstream.began(6)
        }
    }

    @Test("started during a round it tries once more")
    func startedDuringARoundItTriesOnceMore() async throws {
        try await running { upstream, loop, states in
            try await loop.start()
            upstream.end(.failure(Scripted.refused))
            try await upstream.began(2)
            #expect(
                states.all.first?.isRefused == false && states.all.first?.lastError?.code == .upstream(.unauthorized))
            upstream.end(.failure(Scripted.refused))
            try await eventually("the key is refused") { states.all.first?.isRefused == true }
            #expect(upstream.rounds == 2)
        }
    }

    @Test("it listens while rounds are scheduled, and an event causes a round")
    func listens() async throws {
        let events = ScriptedEvents()
        let upstream = try Scripted(events: events)
        let (states, clock) = (SourceStates(), SleepClock())
        let loop = SourceLoop(
            upstream: upstream, update: .every(.seconds(3_600)), states: states, now: { ManualClock().now },
            uptime: { clock.uptime }, random: { 0.5 }, sleep: { try await clock.sleep($0) },
            logger: Logger(label: "sync", factory: { _ in SwiftLogNoOpLogHandler() }))
        let task = Task { try await loop.run() }
        func isListening() -> Bool? { states.all.first?.isListening }
        func rested(_ seconds: Int) async throws {
            try await eventually("a pause of \(seconds) s") { clock.sleeps == [.seconds(seconds)] }
        }
        try await upstream.began(1)
        try await eventually("a listener") { events.listeners == 1 }
        #expect(isListening() == false)
        await events.send(.opened)
        #expect(isListening() == true)
        upstream.end(.success(SyncOutcome()))
        try await rested(4_500)
        clock.advance(by: .seconds(100))
        await events.send(.changed)
        await events.send(.changed)
        try await rested(2)
        #expect(upstream.rounds == 1)
        clock.advance(by: .seconds(2))
        try await upstream.began(2)
        #expect(states.all.first?.eventRounds == 1)
        // An event during the round, which the spacing delays.
        await events.send(.changed)
        upstream.end(.success(SyncOutcome()))
        try await rested(30)
        clock.advance(by: .seconds(30))
        try await upstream.began(3)
        await events.send(.closed(.timeout, failures: 1, next: .seconds(3)))
        #expect(isListening() == false)
        upstream.end(.success(SyncOutcome()))
        try await rested(3_600)

        // Without rounds there is no listener.
        try await loop.change(SourceSettings(query: nil, update: .none))
        try await eventually("no listener") { events.listeners == 0 }
        try await loop.change(SourceSettings(query: nil, update: .every(.seconds(7_200))))
        try await eventually("a listener again") { events.listeners == 1 }
        try await eventually("the pause before changes are fetched") { clock.sleeps == [.seconds(1)] }
        clock.advance(by: .seconds(1))
        try await upstream.began(4)
        await events.send(.opened)
        upstream.end(.failure(Scripted.refused))
        try await eventually("no listener of a refused source") { events.listeners == 0 && isListening() == false }
        try await loop.start()
        try await upstream.began(5)
        try await eventually("a listener of the started source") { events.listeners == 1 }
        task.cancel()
        _ = await task.result
        #expect(events.listeners == 0 && isListening() == false)
    }

    @Test("rounds never overlap")
    func roundsNeverOverlap() async throws {
        let upstream = try Scripted()
        let (loop, _) = loop(upstream, interval: .seconds(5))
        let first = Task { await loop.round() }
        try await upstream.began(1)
        #expect(await loop.round() == .seconds(5))
        #expect(upstream.rounds == 1)
        upstream.end(.success(SyncOutcome()))
        _ = await first.value
        let second = Task { await loop.round() }
        try await upstream.began(2)
        upstream.end(.success(SyncOutcome()))
        _ = await second.value
    }

    @Test("what a failed round brought is counted")
    func whatAFailedRoundBroughtIsCounted() async throws {
        let upstream = try Scripted()
        let (loop, states) = loop(upstream)
        var outcome = SyncOutcome()
        outcome.accepted = 3
        outcome.skipped = [.inTheFuture: 2]
        var error = SyncError(kind: .transient, code: .upstream(.timeout), message: "late", isReachable: false)
        error.outcome = outcome
        for result in [Result.success(outcome), .failure(error), .failure(.cancelled)] {
            let round = Task { await loop.round() }
            try await upstream.began(upstream.rounds + 1)
            upstream.end(result)
            _ = await round.value
        }
        let state = try states.all.first.orMissing()
        #expect(state.accepted == 6 && state.skipped == ["in the future": 4])
        // A cancelled round is no failure, and says nothing about the upstream.
        #expect(state.consecutiveFailures == 1 && state.isReachable == false)
    }

    @Test("an error of the store says nothing about the upstream")
    func anErrorOfTheStoreSaysNothingAboutTheUpstream() async throws {
        try await withRig(flights: 0) { rig in
            let broken = WatchedStore(rig.store, before: { _, _ throws(StoreError) in throw .failed("disk full") })
            let (loop, states) = rig.loop(try rig.upstream(.v4, store: broken))
            _ = await loop.round()
            #expect(states.all.first?.isReachable == nil && states.all.first?.lastError?.code == .store)
            #expect(states.all.first?.lastError?.message.contains("disk full") == true)
        }
    }

    @Test("a graceful shutdown ends it at once", arguments: [true, false])
    func aGracefulShutdownEndsItAtOnce(duringTheRound: Bool) async throws {
        let upstream = try Scripted()
        let (loop, states) = loop(upstream)
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: loop)],
                logger: Logger(label: "group", factory: { _ in SwiftLogNoOpLogHandler() })))
        let task = Task { try await group.run() }
        try await upstream.began(1)
        if !duringTheRound {
            upstream.end(.success(SyncOutcome()))
            try await eventually("the round is over") { states.all.first?.isFetching == false }
        }
        await group.triggerGracefulShutdown()
        try await task.value
        #expect(upstream.rounds == 1 && states.all.first?.isFetching == false)
        #expect(states.all.first?.lastError == nil)
    }
}
