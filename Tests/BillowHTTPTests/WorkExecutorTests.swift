import BillowStore
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Synchronization
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP

/// Something that tests wait for.
final class TestGate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var passed = 0
    }

    private let state = Mutex(State())

    /// How many have come.
    var arrivals: Int { state.withLock { $0.passed } }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                state.passed += 1
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Holds the calling thread until the gate is open.
    func block() {
        state.withLock { $0.passed += 1 }
        while !state.withLock({ $0.isOpen }) { Thread.sleep(forTimeInterval: 0.005) }
    }
}

/// Waits for a condition for as long as a test may take.
func until(_ what: String, _ condition: () async -> Bool) async throws {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(120)
    while !(await condition()) {
        guard clock.now < end else { throw Missing(description: "not within two minutes: \(what)") }
        try await Task.sleep(for: .milliseconds(5))
    }
}

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
        try await until("two run and three wait") {
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
        try await until("the first runs") { gate.arrivals == 1 }
        let waiting = (0..<2).map { _ in Task { try await work.run(.query) { Issue.record("it was cancelled") } } }
        try await until("two wait") { work.statistics(.query).waiting == 2 }
        for task in waiting { task.cancel() }
        for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(work.statistics(.query).waiting == 0)
        let next = Task { try await work.run(.query) { "room" } }
        try await until("the next waits") { work.statistics(.query).waiting == 1 }
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
        try await until("it runs") { gate.arrivals == 1 }
        let waiting = Task {
            try await WorkRequester.$current.withValue(leaves) {
                try await work.run(.query) { Issue.record("its client has left") }
            }
        }
        let other = Task { try await WorkRequester.$current.withValue(stays) { try await work.run(.query) { "done" } } }
        try await until("two wait") { work.statistics(.query).waiting == 2 }
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

    // MARK: - Over HTTP

    @Test("a full queue is answered with 503 and when to come again, for each class of route")
    func refusals() async throws {
        let work = Self.executor(jobs: 0, queue: 0)
        try await withWorld(work: work) { world in
            let routes = [
                "/tiles/hexagons/latest/2/1/1.png?hours=1", "/maps/hexagons.png",
                "/animations/hexagons.png?intervals=2",
                "/legend.png", "/timeline.json", "/collections/hexagons/items", "/changes/hexagons",
                "/export/hexagons.csv", "/profiles.json?route=KJFK%20EGLL", "/collections/polygons/items",
            ]
            for route in routes {
                let answer = try await world.get(route)
                #expect(answer.status == .serviceUnavailable, "\(route)")
                #expect(try answer.json["code"]?.string == "overloaded", "\(route)")
                #expect(Int(answer.headers[.retryAfter] ?? "") ?? 0 >= 1, "\(route)")
            }
            let alert = try await world.send(.post, "/alerts", #"{"position":[8,50]}"#)
            #expect(alert.status == .serviceUnavailable)
            #expect(try await world.get("/healthz").status == .ok)
            #expect(try await world.get("/readyz").status == .ok)
        }
    }

    @Test("while every class is busy with blocked work and 64 requests wait for each, what is cheap is answered")
    func saturation() async throws {
        let work = WorkExecutor(hasOwnThreads: true)
        try await withWorld(work: work) { world in
            try await world.take([try observation(try cell(10, 50))])
            let cached = "/tiles/hexagons/latest/3/4/2.png"
            // A frame of the past, which what comes in then doesn't change.
            let past = "/tiles/hexagons/20261121T110000Z/3/4/2.png"
            let frame = try await world.get(past)
            try await world.take([try observation(try cell(11, 51), at: -5)])
            let tile = try await world.get(cached)
            #expect(tile.status == .ok)

            let gate = TestGate()
            var blocked: [Task<Void, any Error>] = []
            for workClass in WorkClass.allCases {
                // Every thread of the class, and every turn.
                for _ in 0..<work.limits(workClass).jobs {
                    blocked.append(Task { try await work.run(workClass) { gate.block() } })
                }
            }
            try await until("every turn is taken") {
                WorkClass.allCases.allSatisfy { work.statistics($0).running == work.limits($0).jobs }
            }
            let requests = [
                "/tiles/pireps/latest/3/1/1.png", "/maps/hexagons.png?width=",
                "/animations/hexagons.png?intervals=2&width=",
                "/collections/hexagons/items?limit=",
            ]
            let clients = requests.flatMap { route in
                (1...64).map { number in
                    let path = route.hasSuffix("=") ? "\(route)\(number + 200)" : route
                    return Task { try await world.get(path).status }
                }
            }
            try await until("the queues are full") {
                work.statistics(.map).waiting == work.limits(.map).queue
                    && work.statistics(.animation).waiting == work.limits(.animation).queue
                    && work.statistics(.query).waiting == 64
                    && work.statistics(.tile).waiting + work.statistics(.renewal).waiting == 64
            }
            // Nobody is let in until these are answered: what waited for a job would never end.
            #expect(try await world.get("/healthz").status == .ok)
            #expect(try await world.get("/readyz").status == .ok)
            let again = try await world.get(cached)
            #expect(again.status == .ok)
            #expect(again.body == tile.body)
            #expect(try await world.get(past).body == frame.body)
            gate.open()
            for task in blocked { try await task.value }
            var statuses: [HTTPResponse.Status: Int] = [:]
            for client in clients { statuses[try await client.value, default: 0] += 1 }
            #expect(statuses.keys.allSatisfy { [.ok, .serviceUnavailable].contains($0) }, "\(statuses)")
            // Of maps and of animations, those beyond the queue.
            #expect(statuses[.serviceUnavailable] == 2 * (64 - work.limits(.map).queue))
        }
    }

    @Test("a tile that was asked for before is renewed after a publication while new tiles fill their class")
    func renewal() async throws {
        let work = WorkExecutor(hasOwnThreads: true)
        try await withWorld(work: work) { world in
            let cell = try cell(10, 50)
            let known = PixelPlace(H3.center(of: cell), zoom: 8).path()
            try await world.take([try observation(cell, severity: .light)])
            #expect(try await world.colour(cell) == Pixel.light)

            let gate = TestGate()
            let blocked = (0..<work.limits(.tile).jobs).map { _ in
                Task { try await work.run(.tile) { gate.block() } }
            }
            try await until("every turn is taken") {
                work.statistics(.tile).running == work.limits(.tile).jobs
            }
            world.clock.advance(by: 60)
            try await world.take([try observation(cell, severity: .moderate, at: 30)])
            let client = Task { try await world.get("/tiles/pireps/latest/3/1/1.png").status }
            try await until("a tile that is asked for the first time waits") { work.statistics(.tile).waiting == 1 }
            #expect(try await world.get(known).status == .ok)
            #expect(try await world.colour(cell) == Pixel.moderate)
            #expect(work.statistics(.tile).waiting == 1)
            gate.open()
            for task in blocked { try await task.value }
            #expect(try await client.value == .ok)
        }
    }
}
