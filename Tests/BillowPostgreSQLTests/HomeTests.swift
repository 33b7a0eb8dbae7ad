import BillowStore
import EngineTestSupport
import TestSupport
import Testing
import Turbulence

@testable import BillowPostgreSQL

@Suite("The place of a log")
struct HomeTests {
    private func fetch(_ store: PostgreSQLStore, _ minute: Int) async throws {
        let source = try source("a")
        _ = try await store.register(source, merge: .keep, simulated: false)
        let observation = try observation(try cell(10, 50), at: 60 * minute, source: "a")
        _ = try await store.commit(Batch(source: source, observations: [observation]))
    }

    /// A server of its own, with a database that holds one commit.
    private func filledStore() async throws -> (PostgreSQLCluster, DatabaseAddress, PostgreSQLStore) {
        let cluster = try await PostgreSQLCluster.start()
        let address = try await cluster.address()
        let store = try await PostgreSQLStore.open(address)
        try await fetch(store, 0)
        return (cluster, address, store)
    }

    private func head(_ store: PostgreSQLStore) async throws -> Head { try await store.state().head }

    @Test("a standby that took over has another log from its first change on, and keeps that name")
    func promotion() async throws {
        let (cluster, address, store) = try await filledStore()
        let before = try await head(store)
        try await fetch(store, 1)
        #expect(try await head(store).log == before.log)
        store.close()
        try await cluster.promote()
        let promoted = try await PostgreSQLStore.open(address)
        #expect(try await head(promoted).log == before.log)
        try await fetch(promoted, 2)
        let after = try await head(promoted)
        #expect(after.log != before.log)
        try await fetch(promoted, 3)
        #expect(try await head(promoted).log == after.log)
        promoted.close()
    }

    @Test("a restored dump is another log from its first change on, and the original keeps its name")
    func dump() async throws {
        let (cluster, _, store) = try await filledStore()
        let before = try await head(store)
        let copy = try await PostgreSQLStore.open(try await cluster.copy(of: "test_1", named: "restored"))
        #expect(try await head(copy) == before)
        try await fetch(copy, 1)
        try await fetch(store, 2)
        #expect(try await head(copy).log != before.log)
        #expect(try await head(store).log == before.log)
        #expect(try await head(copy).version == head(store).version)
        copy.close()
        store.close()
    }

    /// How a server notices that files were put back.
    enum Notice: CaseIterable { case read, changes, commit, otherCommit }

    @Test("a server that knows later versions than the database gives the log another name", arguments: Notice.allCases)
    func putBack(_ notice: Notice) async throws {
        let (cluster, address, store) = try await filledStore()
        let other = try await PostgreSQLStore.open(address)
        let saved = try await head(store)
        try await cluster.save()
        try await fetch(store, 1)
        let lost = try await head(other)
        #expect(lost.log == saved.log && lost.version > saved.version)
        try await cluster.putBack()
        switch notice {
        case .read: #expect(try await head(other).log != saved.log)
        case .changes: #expect(try await other.changes(since: lost.version).head.log != saved.log)
        case .commit: try await fetch(store, 2)
        // The other server knows of the lost version from a read alone.
        case .otherCommit: try await fetch(other, 2)
        }
        let after = try await head(store)
        #expect(after.log != saved.log)
        // The log keeps its new name.
        try await fetch(other, 3)
        try await fetch(store, 4)
        #expect(try await head(other).log == after.log)
        #expect(try await head(other) == head(store))
        other.close()
        store.close()
    }
}
