import Geometry
import Testing
import Turbulence

@testable import BillowStore

@Suite("Ending transient observations")
struct TransientTests {
    private func store(_ kind: StoreKind) async throws -> (any SQLStore, SourceID) {
        let store = try await makeStore(kind)
        let skypath = try source("skypath")
        _ = try await store.register(skypath, merge: .replace, simulated: nil)
        return (store, skypath)
    }

    private func end(_ store: any SQLStore, at seconds: Int, but kept: Cell? = nil) async throws -> BatchResult {
        try await store.commit(
            Batch(
                source: try source("skypath"),
                transientEnd: TransientEnd(at: noon.advanced(by: seconds)) { $0.cell != kept }))
    }

    /// What stands at an instant: the newest row of each cell, where that is shown.
    private func standing(_ store: any SQLStore, at seconds: Int) async throws -> Set<Cell> {
        let instant = noon.advanced(by: seconds)
        let rows = try await store.rows(from: .distantPast, to: instant.advanced(by: 1)).rows
        let newest = Dictionary(grouping: rows, by: \.cell).compactMapValues { rows in
            rows.max { $0.observedAt < $1.observedAt }
        }
        return Set(newest.filter { $0.value.kind.isShown }.keys)
    }

    @Test(
        "pictures of before the end keep what ended, and those from then on have nothing in its place",
        arguments: StoreKind.all)
    func past(_ kind: StoreKind) async throws {
        let (store, skypath) = try await store(kind)
        let some = [try observation(cell: 20_001, at: 0), try observation(cell: 20_002, at: 30)]
        let before = try await store.commit(Batch(source: skypath, observations: some, isTransient: true)).version
        let cells = Set(some.map(\.cell))
        #expect(try await end(store, at: 100).retracted == 2)
        #expect(try await standing(store, at: 99) == cells)
        #expect(try await standing(store, at: 100).isEmpty)
        // The rows themselves are the same, at the former version and at this one.
        #expect(try await store.rows(from: .distantPast, to: .distantFuture, asOf: before).rows.count == 2)
        #expect(try await store.changes(since: before).closed.isEmpty)
        // The version of pictures from before the end is what it was.
        let changed = try await store.changedTimes(since: before, from: .distantPast)
        #expect(try await changed.newest == store.head().version)
        #expect(
            try await store.lastChange(of: .observed(.observations, at: noon.advanced(by: 80), lookBackSeconds: 7_200))
                == before)
        #expect(
            try await store.lastChange(
                of: .observed(.observations, at: noon.advanced(by: 120), lookBackSeconds: 7_200))
                > before)
        // What has ended ends once.
        #expect(try await end(store, at: 200).retracted == 0)
    }

    @Test("permanent observations remain, in any order of arrival", arguments: StoreKind.all, [true, false])
    func lasting(_ kind: StoreKind, lastingFirst: Bool) async throws {
        let (store, skypath) = try await store(kind)
        let (mine, both, other) = (
            try observation(cell: 20_001), try observation(cell: 20_002), try observation(cell: 20_003)
        )
        let lasting = Batch(source: skypath, observations: [both, other])
        let transient = Batch(source: skypath, observations: [mine, both], isTransient: true)
        for batch in lastingFirst ? [lasting, transient] : [transient, lasting] { _ = try await store.commit(batch) }
        #expect(try await end(store, at: 60, but: mine.cell).retracted == 0)
        #expect(try await end(store, at: 60).retracted == 1)
        #expect(try await standing(store, at: 60) == [both.cell, other.cell])
    }

    @Test("a newer observation that lasts isn't hidden by the end of an older one", arguments: StoreKind.all)
    func newerLasting(_ kind: StoreKind) async throws {
        let (store, skypath) = try await store(kind)
        _ = try await store.commit(
            Batch(source: skypath, observations: [try observation(cell: 20_001, at: 0)], isTransient: true))
        let newer = try observation(cell: 20_001, at: 30)
        _ = try await store.commit(Batch(source: skypath, observations: [newer]))
        #expect(try await end(store, at: 60).retracted == 0)
        #expect(try await standing(store, at: 60) == [newer.cell])
    }

    @Test("an observation that is fetched again is open again, and can end again", arguments: StoreKind.all)
    func again(_ kind: StoreKind) async throws {
        let (store, skypath) = try await store(kind)
        let some = try observation(cell: 20_001, at: 0)
        let batch = Batch(
            source: skypath, observations: [some],
            fetchedPlaces: [
                Retraction.ValueKey(cell: some.cell.dense, altitude: some.altitude, category: some.category): noon
            ], isTransient: true)
        _ = try await store.commit(batch)
        _ = try await end(store, at: 60)
        let ended = try await store.head().version
        let result = try await store.commit(batch)
        #expect(result.duplicates == 1)
        #expect(try await store.head().version > ended)
        #expect(try await standing(store, at: 90) == [some.cell])
        #expect(try await end(store, at: 120).retracted == 1)
        #expect(try await standing(store, at: 119) == [some.cell])
        #expect(try await standing(store, at: 120).isEmpty)
    }

    @Test("observations after the end are closed", arguments: StoreKind.all)
    func later(_ kind: StoreKind) async throws {
        let (store, skypath) = try await store(kind)
        let some = [try observation(cell: 20_001, at: 0), try observation(cell: 20_001, at: 90)]
        _ = try await store.commit(Batch(source: skypath, observations: some, isTransient: true))
        #expect(try await end(store, at: 60).retracted == 2)
        #expect(try await standing(store, at: 59) == [some[0].cell])
        #expect(try await standing(store, at: 100).isEmpty)
    }

    @Test("a correction is transient only where both are", arguments: StoreKind.all)
    func correction(_ kind: StoreKind) async throws {
        let (store, skypath) = try await store(kind)
        _ = try await store.commit(Batch(source: skypath, observations: [try observation(severity: 1)]))
        _ = try await store.commit(
            Batch(source: skypath, observations: [try observation(severity: 3)], isTransient: true))
        #expect(try await end(store, at: 60).retracted == 0)
        #expect(try await store.contents().map(\.intensity.severity) == [.moderate])
    }
}
