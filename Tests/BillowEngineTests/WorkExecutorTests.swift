import EngineTestSupport
import BillowStore
import Foundation
import Geometry
import Synchronization
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine

@Suite("Heavy work is bounded and keeps off the threads that answer", .timeLimit(.minutes(20)))
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
        await #expect(throws: WorkError.overloaded(.query)) { try await work.run(.query) {} }
        #expect(work.statistics(.query).refused == 1)
        // Another class has room, and an answer that has begun goes on.
        try await work.run(.map) {}
        let going = Task { try await work.run(.query, isContinuing: true) { "on" } }
        gate.open()
        for task in tasks { try await task.value }
        #expect(try await going.value == "on")
        #expect(work.statistics(.query).running == 0)
        #expect(work.statistics(.query).waiting == 0)
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
        for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
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
        let gate = TestGate()
        let (stays, leaves) = (WorkRequester(), WorkRequester())
        let running = Task {
            try await WorkRequester.$current.withValue(leaves) {
                try await work.run(.query) {
                    await gate.pass()
                    while true {
                        try Task.checkCancellation()
                        await Task.yield()
                    }
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
        await #expect(throws: CancellationError.self) { try await running.value }
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(try await other.value == "done")
        // Whoever has left before gets nothing done.
        await #expect(throws: CancellationError.self) {
            try await WorkRequester.$current.withValue(leaves) {
                try await work.run(.query) { try Task.checkCancellation() }
            }
        }
        #expect(work.statistics(.query).running == 0)
    }

    @Test("a job, a part of it and a value made for it run on threads of its class, and need one turn")
    func threads() async throws {
        let work = Self.executor(jobs: 1, queue: 0)
        let cache = SharedCache<Int, Bool>(CacheBudget()) { _ in 1 }
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
