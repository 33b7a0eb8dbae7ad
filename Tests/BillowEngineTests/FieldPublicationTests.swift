import BillowFields
import BillowSnapshot
import BillowStore
import EngineTestSupport
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine

@Suite("Fields in published snapshots")
struct FieldPublicationTests {
    private func insert(_ world: World, _ fields: [FieldLevelDraft]) async throws -> Version {
        let version = try await world.store.commit(Batch(source: source("awc"), fields: fields)).version
        try await world.refresh()
        return version
    }

    @Test("a new level is part of the next snapshot, and of no version before it")
    func newLevel() async throws {
        try await withWorld { world in
            let grid = try TestField.grid()
            let first = try await insert(world, [TestField.draft(run: noon, level: .feet(30_000), on: grid)])
            let second = try await insert(world, [TestField.draft(run: noon, level: .column, number: 2, on: grid)])
            let snapshot = try #require(world.publisher.snapshot)
            let frame = try #require(snapshot.fields.frame(at: noon, asOf: snapshot.publication.version))
            #expect(frame.levels.map(\.since) == [second, first])
            #expect(snapshot.fieldGrids[frame.grid] == grid)
            #expect(snapshot.versions.fields == second && snapshot.versions.observations < second)
            let former = snapshot.superseded(at: first)
            let then = try #require(former.fields.frame(at: noon, asOf: former.publication.version))
            #expect(then.levels.map(\.level) == [.feet(30_000)])
            #expect(former.fieldGrids == snapshot.fieldGrids)
            // Another publisher reads the same from the start.
            let other = SnapshotPublisher(
                store: world.store, lifetimes: DataLifetimes(retentionSeconds: 7 * 86_400),
                severityTable: SeverityTable(), now: { world.clock.now }, logger: World.quiet())
            try await other.refresh()
            #expect(other.snapshot?.fields == snapshot.fields && other.snapshot?.fieldGrids == snapshot.fieldGrids)
        }
    }

    @Test("fields stay through new fetches, new minutes and changes of other data")
    func stay() async throws {
        try await withWorld { world in
            let version = try await insert(world, [TestField.draft(run: noon, on: TestField.grid())])
            let fields = try #require(world.publisher.snapshot?.fields)
            _ = try await world.store.commit(Batch(source: source("awc"), fetchedAt: noon))
            try await world.refresh()
            #expect(world.publisher.snapshot?.fields == fields)
            try await world.insert([observation(cell(8, 48), at: 0)])
            #expect(world.publisher.snapshot?.fields == fields)
            world.clock.advance(by: 7_200)
            try await world.refresh()
            let snapshot = try #require(world.publisher.snapshot)
            #expect(snapshot.fields == fields && !snapshot.fieldGrids.isEmpty && fields.frames.count == 1)
            #expect(snapshot.versions.fields == version && snapshot.publication.version > version)
        }
    }
}
