import BillowSnapshot
import BillowStore
import EngineTestSupport
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine

/// What a consumer was given.
private final class SnapshotLog: Sendable {
    private let versions = Mutex<[Int64]>([])

    var all: [Int64] { versions.withLock { $0 } }
    func add(_ snapshot: Snapshot) { versions.withLock { $0.append(snapshot.publication.version.rawValue) } }
}

@Suite("Publications are one sequence that everything downstream iterates", .timeLimit(.minutes(5)))
struct PublicationTests {
    /// Publishes another version.
    private func publish(_ world: World, _ number: Int) async throws {
        try await world.insert([try observation(try cell(Double(number), 50), at: -number)])
    }

    @Test("a consumer starts with the current snapshot, and a slow one continues with the newest")
    func newest() async throws {
        try await withWorld { world in
            var consumer = world.publisher.publications.makeAsyncIterator()
            let first = await consumer.next()
            #expect(first?.publication == world.publisher.snapshot?.publication)
            for number in 1...5 { try await publish(world, number) }
            let second = await consumer.next()
            #expect(second?.publication.version.rawValue == (first?.publication.version.rawValue ?? 0) + 5)
            #expect(second?.window.count == 5)
        }
    }

    @Test("without a publication no task is woken, not even where a fetch brought nothing new")
    func idle() async throws {
        try await withWorld { world in
            let seen = SnapshotLog()
            let consumer = Task { for await snapshot in world.publisher.publications { seen.add(snapshot) } }
            try await eventually("the consumer waits") { world.publisher.waitingConsumers == 1 }
            let before = world.publisher.snapshot
            _ = try await world.store.commit(
                Batch(source: try source("skypath"), fetchedAt: world.clock.now))
            try await world.refresh()
            try await world.refresh()
            #expect(world.publisher.snapshot?.sources != before?.sources)
            #expect(world.publisher.waitingConsumers == 1 && seen.all.count == 1)
            try await publish(world, 1)
            try await eventually("it is woken") { seen.all.count == 2 }
            consumer.cancel()
            await consumer.value
        }
    }

    @Test("two consumers are given the same publications, each at its own pace")
    func two() async throws {
        try await withWorld { world in
            let seen = SnapshotLog()
            let fast = Task { for await snapshot in world.publisher.publications { seen.add(snapshot) } }
            var slow = world.publisher.publications.makeAsyncIterator()
            for number in 1...3 {
                try await eventually("the fast one waits") { world.publisher.waitingConsumers == 1 }
                try await publish(world, number)
                try await eventually("it saw publication \(number)") { seen.all.count == number + 1 }
            }
            #expect(await slow.next()?.publication.version.rawValue == seen.all.last)
            #expect(seen.all == seen.all.sorted() && Set(seen.all).count == 4)
            fast.cancel()
            await fast.value
        }
    }

    @Test("the sequence ends with the publisher, for consumers that wait and for those that come later")
    func end() async throws {
        try await withWorld { world in
            let consumer = Task { for await _ in world.publisher.publications {} }
            try await eventually("the consumer waits") { world.publisher.waitingConsumers == 1 }
            let publisher = Task { await world.publisher.run() }
            publisher.cancel()
            await publisher.value
            await consumer.value
            var late = world.publisher.publications.makeAsyncIterator()
            #expect(await late.next() == nil)
        }
    }

    @Test("a consumer's sequence ends when its service group shuts down, and others continue")
    func shutdown() async throws {
        try await withWorld { world in
            let seen = SnapshotLog()
            let other = Task { for await snapshot in world.publisher.publications { seen.add(snapshot) } }
            try await testGracefulShutdown { trigger in
                let consumer = Task { for await _ in world.publisher.publications {} }
                try await eventually("both wait") { world.publisher.waitingConsumers == 2 }
                trigger.triggerGracefulShutdown()
                await consumer.value
            }
            #expect(world.publisher.waitingConsumers == 1)
            try await publish(world, 1)
            try await eventually("the other is woken") { seen.all.count == 2 }
            other.cancel()
            await other.value
            #expect(world.publisher.waitingConsumers == 0)
        }
    }
}
