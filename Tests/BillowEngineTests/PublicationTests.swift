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

    @Test("a window of no seconds leaves out the rows of earlier minutes, which commands read from the store")
    func noWindow() async throws {
        try await withWorld { world in
            try await world.insert([
                try observation(try cell(10, 50), at: -120), try observation(try cell(11, 50), at: 0),
            ])
            let publisher = SnapshotPublisher(
                store: world.store, lifetimes: world.publisher.lifetimes, severityTable: SeverityTable(),
                liveSeconds: 0, now: { [clock = world.clock] in clock.now }, logger: World.quiet())
            try await publisher.refresh()
            #expect(world.publisher.snapshot?.window.count == 2)
            #expect(publisher.snapshot?.window.count == 1)
            #expect(publisher.snapshot?.liveFrom == world.clock.now.floored(toMultipleOf: 60))
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

    @Test("a slow consumer of changes continues with the newest snapshot, and gets all changes since its last one")
    func changes() async throws {
        try await withWorld { world in
            var consumer = world.publisher.publications.withChanges.makeAsyncIterator()
            let first = try #require(await consumer.next())
            #expect(first.previous == nil && first.changes == nil)
            for number in 1...3 { try await publish(world, number) }
            let second = try #require(await consumer.next())
            #expect(second.previous?.publication == first.snapshot.publication)
            #expect(second.snapshot.publication == world.publisher.snapshot?.publication)
            #expect(second.changes?.opened.count == 3 && second.changes?.head == second.snapshot.head)
            try await publish(world, 4)
            #expect(await consumer.next()?.changes?.opened.count == 1)
            // A new minute changes no row.
            world.clock.advance(by: 60)
            try await world.refresh()
            let minute = try #require(await consumer.next())
            #expect(minute.changes?.opened.isEmpty == true)
        }
    }

    @Test("a consumer that is too far behind learns that anything may have changed, and holds no rows")
    func farBehind() async throws {
        try await withWorld { world in
            try await publish(world, 1)
            let snapshot = try #require(world.publisher.snapshot)
            let row = try #require(try await world.store.rows(from: .distantPast, to: .distantFuture).rows.first)
            func changes(_ count: Int) -> Changes {
                Changes(head: snapshot.head, sources: [], opened: Array(repeating: row, count: count))
            }
            func later(_ seconds: Int) -> Snapshot {
                Snapshot(
                    publication: Publication(
                        version: snapshot.publication.version, asOf: noon.advanced(by: seconds)), log: snapshot.log,
                    window: snapshot.window, liveFrom: snapshot.liveFrom, sources: [], lifetimes: snapshot.lifetimes,
                    severityTable: snapshot.severityTable)
            }
            let channel = PublicationChannel()
            channel.send(snapshot, nil)
            var consumer = Publications(channel).withChanges.makeAsyncIterator()
            _ = await consumer.next()
            channel.send(later(60), changes(ChangedPublications.maximumRows - 1))
            channel.send(later(120), changes(1))
            #expect(await consumer.next()?.changes?.opened.count == ChangedPublications.maximumRows)
            channel.send(later(180), changes(ChangedPublications.maximumRows))
            channel.send(later(240), changes(1))
            channel.send(later(300), changes(1))
            let behind = try #require(await consumer.next())
            #expect(behind.changes == nil && behind.snapshot.publication.asOf == noon.advanced(by: 300))
            channel.send(later(360), changes(2))
            #expect(await consumer.next()?.changes?.opened.count == 2)
        }
    }

    @Test("the generation changes with each snapshot, also where only fetch times differ")
    func generation() async throws {
        try await withWorld { world in
            let publisher = world.publisher
            let first = publisher.generation
            try await world.refresh()
            #expect(publisher.generation == first)
            _ = try await world.store.commit(Batch(source: try source("skypath"), fetchedAt: world.clock.now))
            try await world.refresh()
            #expect(publisher.generation == first + 1)
            try await publish(world, 1)
            #expect(publisher.generation == first + 2)
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
