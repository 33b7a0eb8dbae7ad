import BillowStore
import TestSupport
import Testing
import Turbulence

@testable import BillowPostgreSQL

@Suite("The lease of the sync")
struct LeaseTests {
    private static let seconds = 60

    /// A store with a source, and the batch of a fetch of it that stores a cursor.
    private func makeStore() async throws -> (store: PostgreSQLStore, fetch: @Sendable (String) -> Batch) {
        let store = try await PostgreSQLStore.open(PostgreSQLCluster.shared().address())
        let source = try #require(SourceID("a"))
        _ = try await store.register(source, merge: .keep, simulated: false)
        return (store, { Batch(source: source, cursors: ["all": $0]) })
    }

    @Test("one holder has it at a time, and each next one gets a higher number")
    func oneAtATime() async throws {
        let (store, _) = try await makeStore()
        let first = try #require(try await store.takeLease(holder: "a", seconds: Self.seconds))
        #expect(try await store.leaseHolder() == "a")
        #expect(try await store.takeLease(holder: "b", seconds: Self.seconds) == nil)
        #expect(try await store.renewLease(holder: "a", fence: first, seconds: Self.seconds))
        #expect(try await !store.renewLease(holder: "b", fence: first, seconds: Self.seconds))
        try await store.releaseLease(holder: "b", fence: first)
        #expect(try await store.takeLease(holder: "b", seconds: Self.seconds) == nil)
        try await store.releaseLease(holder: "a", fence: first)
        #expect(try await store.leaseHolder() == nil)
        let second = try #require(try await store.takeLease(holder: "b", seconds: Self.seconds))
        #expect(second == first + 1)
        #expect(try await !store.renewLease(holder: "a", fence: first, seconds: Self.seconds))
    }

    @Test("a lease that isn't renewed ends by itself")
    func expires() async throws {
        let (store, _) = try await makeStore()
        let first = try #require(try await store.takeLease(holder: "a", seconds: 1))
        try await eventually("the end of the lease", within: .seconds(60)) {
            try await store.takeLease(holder: "b", seconds: Self.seconds) == first + 1
        }
        #expect(try await !store.renewLease(holder: "a", fence: first, seconds: Self.seconds))
    }

    @Test("a holder that lost its number takes its own lease again, with a higher one")
    func again() async throws {
        let (store, _) = try await makeStore()
        let first = try #require(try await store.takeLease(holder: "a", seconds: Self.seconds))
        #expect(try await store.takeLease(holder: "a", seconds: Self.seconds) == first + 1)
        #expect(try await !store.renewLease(holder: "a", fence: first, seconds: Self.seconds))
        #expect(try await store.takeLease(holder: "b", seconds: Self.seconds) == nil)
    }

    @Test("of many that ask at once, one gets it")
    func race() async throws {
        let (store, _) = try await makeStore()
        let fences = try await withThrowingTaskGroup(of: Int64?.self) { group in
            for number in 0..<20 {
                // It lasts longer than the slowest of them takes to ask.
                group.addTask { try await store.takeLease(holder: "\(number)", seconds: 3_600) }
            }
            return try await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
        }
        #expect(fences == [1])
    }

    @Test("a former holder can't write, and others can")
    func fenced() async throws {
        let (store, fetch) = try await makeStore()
        let fence = try #require(try await store.takeLease(holder: "a", seconds: Self.seconds))
        let leader = store.fenced { fence }
        _ = try await leader.commit(fetch("1"))
        try await store.releaseLease(holder: "a", fence: fence)
        // Nobody else has taken it, so nobody else has fetched.
        _ = try await leader.commit(fetch("2"))
        _ = try await store.takeLease(holder: "b", seconds: Self.seconds)
        let error = await #expect(throws: StoreError.self) { try await leader.commit(fetch("3")) }
        #expect(error?.description.contains("another server leads") == true)
        await #expect(throws: StoreError.self) { try await store.fenced { nil }.commit(fetch("4")) }
        let source = try #require(SourceID("a"))
        #expect(try await store.cursors(of: source) == ["all": "2"])
        _ = try await store.commit(fetch("5"))
        #expect(try await leader.cursors(of: source) == ["all": "5"])
    }

    @Test("nobody takes the lease while a holder's transaction runs")
    func running() async throws {
        let (store, _) = try await makeStore()
        let fence = try #require(try await store.takeLease(holder: "a", seconds: Self.seconds))
        try await store.releaseLease(holder: "a", fence: fence)
        let order = Recorder()
        let began = AsyncStream<Void>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await store.fenced { fence }.writing { db in
                    began.continuation.finish()
                    _ = try db.statement("SELECT 1 FROM pg_sleep(1)").value()
                    order.add("committed")
                }
            }
            for await _ in began.stream {}
            // Another process, with connections of its own.
            let other = try await PostgreSQLStore.open(store.address)
            _ = try await other.takeLease(holder: "b", seconds: Self.seconds)
            order.add("taken")
            try await group.waitForAll()
        }
        #expect(order.events == ["committed", "taken"])
    }
}
