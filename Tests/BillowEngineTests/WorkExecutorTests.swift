import EngineTestSupport
import BillowStore
import BillowSync
import Foundation
import Geometry
import Logging
import Synchronization
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine

/// An upstream that notes on which threads its rounds run.
private final class Noting: Upstream {
    let id: SourceID
    let kind = "noting"
    let merge = MergeRule.replace
    let simulated: Bool? = true
    let feeds: Set<FeedKind> = [.observations]
    let wasOnThreadsOfWork = Mutex<[Bool]>([])

    init(_ name: String) throws { id = try source(name) }

    func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome {
        wasOnThreadsOfWork.withLock { $0.append(WorkThreads.isOnOne) }
        return SyncOutcome()
    }
}

@Suite("Heavy work is bounded and doesn't block the request threads", .timeLimit(.minutes(20)))
struct WorkExecutorTests {
    private static func executor(jobs: Int, queue: Int) -> WorkExecutor {
        let limits = WorkLimits(threads: 2, jobs: jobs, queue: queue, niceness: 0)
        return WorkExecutor(limits: Dictionary(uniqueKeysWithValues: WorkClass.allCases.map { ($0, limits) }))
    }

    @Test("as many jobs run as may, as many wait as may, and the next one is refused")
    func limits() async throws {
        let work = Self.executor(jobs: 2, queue: 3)
        let gate = TestGate()
        let tasks = (0..<5).map { _ in Task { try await work.run(.query) { await gate.pass() } } }
        try await eventually("two run and three wait") {
            gate.arrivals == 2 && work.statistics(.query).waiting == 3
        }
        await #expect(throws: EngineError.work(.overloaded(.query))) { try await work.run(.query) {} }
        #expect(work.statistics(.query).refused == 1)
        // Another class has room, and a response that has begun continues.
        try await work.run(.map) {}
        let going = Task { try await work.run(.query, isContinuing: true) { "on" } }
        gate.open()
        for task in tasks { try await task.value }
        #expect(try await going.value == "on")
        #expect(work.statistics(.query).running == 0)
        #expect(work.statistics(.query).waiting == 0)
    }

    @Test("a source's round runs on the intake threads, whatever thread requested it", arguments: [true, false])
    func rounds(hasExecutor: Bool) async throws {
        let upstream = try Noting("noting")
        let loop = SourceLoop(
            upstream: upstream, update: .fast, states: SourceStates(), now: { noon },
            executor: hasExecutor ? WorkExecutor().executor(of: .intake) : nil,
            logger: Logger(label: "sync", factory: { _ in SwiftLogNoOpLogHandler() }))
        _ = await loop.round()
        _ = await loop.round()
        #expect(upstream.wasOnThreadsOfWork.withLock { $0 } == [hasExecutor, hasExecutor])
    }

    @Test("a waiting job that is cancelled leaves its place in the queue")
    func cancellation() async throws {
        let work = Self.executor(jobs: 1, queue: 2)
        let gate = TestGate()
        let first = Task { try await work.run(.query) { await gate.pass() } }
        try await eventually("the first runs") { gate.arrivals == 1 }
        let waiting = (0..<2).map { _ in Task { try await work.run(.query) { Issue.record("it was cancelled") } } }
        try await eventually("two wait") { work.statistics(.query).waiting == 2 }
        for task in waiting { task.cancel() }
        for task in waiting { await #expect(throws: EngineError.cancelled) { try await task.value } }
        #expect(work.statistics(.query).waiting == 0)
        let next = Task { try await work.run(.query) { "room" } }
        try await eventually("the next waits") { work.statistics(.query).waiting == 1 }
        gate.open()
        try await first.value
        #expect(try await next.value == "room")
    }

    @Test("a client that leaves ends its job, whether that waits or runs")
    func leaving() async throws {
        let work = Self.executor(jobs: 1, queue: 4)
        let (gate, ended) = (TestGate(), TestGate())
        let (stays, leaves) = (WorkRequester(), WorkRequester())
        let running = Task {
            try await WorkRequester.$current.withValue(leaves) {
                try await work.run(.query) {
                    await gate.pass()
                    // Ends early, by the cancellation. The job then holds its turn until the waiting one has ended.
                    try? await Task.sleep(for: .seconds(600))
                    await ended.pass()
                    try Task.checkCancellation()
                }
            }
        }
        try await eventually("it runs") { gate.arrivals == 1 }
        let waiting = Task {
            try await WorkRequester.$current.withValue(leaves) {
                try await work.run(.query) { Issue.record("its client has left") }
            }
        }
        let other = Task { try await WorkRequester.$current.withValue(stays) { try await work.run(.query) { "done" } } }
        try await eventually("two wait") { work.statistics(.query).waiting == 2 }
        gate.open()
        leaves.leave()
        await #expect(throws: EngineError.cancelled) { try await waiting.value }
        ended.open()
        await #expect(throws: EngineError.cancelled) { try await running.value }
        #expect(try await other.value == "done")
        // Whoever has left before gets nothing done.
        await #expect(throws: EngineError.cancelled) {
            try await WorkRequester.$current.withValue(leaves) {
                try await work.run(.query) { try Task.checkCancellation() }
            }
        }
        #expect(work.statistics(.query).running == 0)
    }

    @Test("a job, a part of it and a value made for it run on threads of its class, and need one turn")
    func threads() async throws {
        let work = Self.executor(jobs: 1, queue: 0)
        let cache = SharedCache<Int, Bool, any Error>(CacheBudget()) { _ in 1 }
        #expect(!WorkThreads.isOnOne)
        for workClass in WorkClass.allCases {
            let found = try await work.run(workClass) {
                let isInside = WorkThreads.isOnOne && WorkThreads.current?.workClass == workClass
                let isPartInside = try await work.run(.map) { WorkThreads.isOnOne }
                let isMadeInside = try await cache.value(for: workClass.hashValue) {
                    WorkThreads.isOnOne && WorkThreads.current?.workClass == workClass
                }
                return [isInside, isPartInside, isMadeInside]
            }
            #expect(found == [true, true, true], "\(workClass)")
        }
        #expect(!WorkThreads.isOnOne)
    }

    @Test("computations outside of jobs don't run on the request threads")
    func outsideOfJobs() async throws {
        #expect(!WorkThreads.isOnOne)
        @Sendable func isOnBackground() -> Bool { WorkThreads.isOnOne && WorkThreads.current?.workClass == .background }
        #expect(await WorkExecutor.computing { isOnBackground() })
        #expect(try await WorkExecutor.computing([1, 2, 3]) { _ in isOnBackground() } == [true, true, true])
        let cache = SharedCache<Int, Bool, any Error>(CacheBudget()) { _ in 1 }
        #expect(try await cache.value(for: 1) { isOnBackground() })
        // Not even where a task of its own has left the threads of its job.
        let strayed = try await WorkExecutor().run(.query) {
            await Task {
                await WorkExecutor.computing { WorkThreads.isOnOne && WorkThreads.current?.workClass == .query }
            }.value
        }
        #expect(strayed)
        #expect(!WorkThreads.isOnOne)
    }

    @Test("as many parts of a job are done at once as it has threads, and an error ends the others")
    func parts() async throws {
        let work = WorkExecutor(
            limits: [.query: WorkLimits(threads: 3, jobs: 1, queue: 0, niceness: 0)], hasOwnThreads: true)
        let gate = TestGate()
        let running = Task {
            try await work.run(.query) {
                try await WorkExecutor.computing(Array(0..<20)) { part in
                    if part < 6 { await gate.pass() }
                    return part * part
                }
            }
        }
        try await eventually("three run") { gate.arrivals == 3 }
        gate.open()
        #expect(try await running.value == (0..<20).map { $0 * $0 })
        #expect(gate.arrivals == 6)
        let begun = Atomic(0)
        await #expect(throws: EngineError.starting) {
            try await work.run(.query) {
                try await WorkExecutor.computing(Array(0..<1_000)) { (part) async throws(EngineError) in
                    begun.add(1, ordering: .relaxed)
                    if part == 5 { throw .starting }
                    if part > 5 { do { try await Task.sleep(for: .seconds(600)) } catch { throw .cancelled } }
                }
            }
        }
        #expect(begun.load(ordering: .relaxed) < 20)
    }

    /// An actor that computes.
    private actor Reckoner {
        private let lane = WorkExecutor().lane(.query)
        nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }
        private var sum = 0
        private(set) var strayed = 0

        func add(_ number: Int) async -> Int {
            let before = sum
            if !WorkThreads.isOnOne { strayed += 1 }
            sum = before + number
            await Task.yield()
            if !WorkThreads.isOnOne { strayed += 1 }
            return sum
        }
    }

    @Test("an actor with a lane computes one step after another on threads of work, whoever calls")
    func lane() async throws {
        let reckoner = Reckoner()
        try await withThrowingTaskGroup { group in
            for number in 1...200 {
                group.addTask {
                    if number % 2 == 0 { return await reckoner.add(number) }
                    return try await WorkExecutor().run(.map, isContinuing: true) { await reckoner.add(number) }
                }
            }
            try await group.waitForAll()
        }
        #expect(await reckoner.add(0) == 200 * 201 / 2)
        #expect(await reckoner.strayed == 0)
        #expect(!WorkThreads.isOnOne)
    }

    @Test("heavy functions notice a request that runs them outside of a job")
    func misplaced() async throws {
        #expect(!WorkExecutor.isMisplaced)
        try await WorkExecutor.$isAnswering.withValue(true) {
            #expect(WorkExecutor.isMisplaced)
            let isPlaced = try await WorkExecutor().run(.query) {
                !WorkExecutor.isMisplaced && WorkExecutor.isAnswering
            }
            #expect(isPlaced)
        }
    }
}
