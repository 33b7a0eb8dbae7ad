import Geometry
import Testing
import Turbulence

@testable import BillowStore

@Suite("Retracting what a complete fetch no longer has")
struct RetractionTests {
    private func place(of observation: Observation) -> Retraction.ValueKey {
        Retraction.ValueKey(
            cell: observation.cell.dense, altitude: observation.altitude, category: observation.category)
    }

    @Test("a retraction closes what is gone and nothing else", arguments: StoreKind.all)
    func closesWhatIsGoneAndNothingElse(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let gone = try observation(cell: 20_001, at: 100)
        let newerThanStanding = try observation(cell: 20_002, at: 120)
        let atTheEdges = [try observation(cell: 20_003, at: 0), try observation(cell: 20_003, at: 200)]
        let kept = [
            try observation(cell: 20_001, at: -1),  // before the window
            try observation(cell: 20_001, at: 201),  // after it
            try observation(cell: 20_001, at: 100, source: "awc"),  // another source
            try observation(cell: 30_000, at: 100),  // not covered
            try observation(cell: 20_002, at: 110),  // standing
            try observation(cell: 20_002, at: 50),  // superseded by what stands
            try observation(cell: 20_002, altitude: 39, at: 110),  // standing at another level
        ]
        _ = try await store.commit(
            Batch(source: nil, observations: [gone, newerThanStanding] + atTheEdges + kept))
        let end = try Cell(dense: 30_000).orMissing()
        let retraction = Retraction(
            from: noon, to: noon.advanced(by: 200), covers: { $0.cell < end },
            standing: [place(of: kept[4]): kept[4].observedAt, place(of: kept[6]): kept[6].observedAt])
        let batch = Batch(source: try source("skypath"), retraction: retraction, fetchedAt: noon)
        let result = try await store.commit(batch)
        #expect(result == BatchResult(version: Version(rawValue: 2), retracted: 4))
        #expect(try await Set(store.contents()) == Set(kept))
        #expect(try await store.changes(since: Version(rawValue: 1)).closed.count == 4)
        // The same again finds nothing.
        let again = try await store.commit(batch)
        #expect(again == BatchResult(version: Version(rawValue: 2)))
    }

    /// Hidden rows are shown once they are requested, and shown rows remain.
    @Test("what was shown is not hidden and what was hidden is shown when it is requested", arguments: StoreKind.all)
    func whatWasShownIsNotHiddenAndWhatWasHiddenIsShownWhenItIsAskedFor(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let skypath = try source("skypath")
        _ = try await store.register(skypath, merge: .replace, simulated: nil)
        for (kind, expected) in [
            (ObservationKind.superseding, ObservationKind.superseding), (.superseding, .superseding),
            (.inSitu, .inSitu), (.superseding, .inSitu),
        ] {
            _ = try await store.commit(
                Batch(source: skypath, observations: [try observation(severity: 0, kind: kind)]))
            #expect(try await store.contents().map(\.kind) == [expected])
        }
    }

    @Test("another category is another place", arguments: StoreKind.all)
    func otherCategoryIsAnotherPlace(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let some = try [60, 70, nil].map { try observation(category: $0) }
        _ = try await store.commit(Batch(source: nil, observations: some))
        _ = try await store.commit(
            Batch(
                source: try source("skypath"),
                retraction: Retraction(
                    from: .distantPast, to: .distantFuture, covers: { $0.category != nil },
                    standing: [place(of: some[0]): noon])))
        #expect(try await Set(store.contents()) == [some[0], some[2]])
    }

    @Test("a row of the same batch remains open", arguments: StoreKind.all)
    func whatComesInTheSameBatchStands(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let old = try observation(cell: 20_001, at: 0)
        let new = try observation(cell: 20_002, at: 60)
        _ = try await store.commit(old)
        let result = try await store.commit(
            Batch(
                source: try source("skypath"), observations: [new],
                retraction: Retraction(
                    from: noon, to: noon.advanced(by: 60), covers: { _ in true },
                    standing: [place(of: new): new.observedAt])))
        #expect(result == BatchResult(version: Version(rawValue: 2), accepted: 1, retracted: 1))
        #expect(try await store.contents() == [new])
    }

    @Test("what comes in the same batch and does not stand goes", arguments: StoreKind.all)
    func whatComesInTheSameBatchAndDoesNotStandGoes(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let result = try await store.commit(
            Batch(
                source: try source("skypath"), observations: [try observation(), try observation(source: "awc")],
                retraction: .everything))
        #expect(result == BatchResult(version: Version(rawValue: 1), accepted: 2, retracted: 1))
        #expect(try await store.contents() == [try observation(source: "awc")])
        let changes = try await store.changes(since: .zero)
        #expect(changes.opened.count == 1 && changes.closed.isEmpty)
    }

    @Test("two at once close each row once", arguments: StoreKind.all)
    func twoAtOnceCloseEachRowOnce(_ kind: StoreKind) async throws {
        let place = try await kind.place()
        let store = try await place.open()
        let other = try await place.open()
        let skypath = try source("skypath")
        _ = try await store.register(skypath, merge: .replace, simulated: false)
        for round in 1...10 {
            _ = try await store.commit(
                Batch(source: nil, observations: try (0..<50).map { try observation(at: 100 * round + $0) }))
            let batch = Batch(source: skypath, retraction: .everything)
            async let one = store.commit(batch)
            async let two = other.commit(batch)
            let retracted = try await [one.retracted, two.retracted].sorted()
            #expect(retracted == [0, 50])
            // One version for what came, one for what went.
            #expect(try await store.head().version.rawValue == Int64(2 * round))
        }
    }

    @Test("a retraction reaches to the ends of time", arguments: StoreKind.all)
    func reachesToTheEndsOfTime(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        var last = try observation()
        last.observedAt = .distantFuture
        _ = try await store.commit(last)
        #expect(try await store.commit(Batch(source: last.source, retraction: .everything)).retracted == 1)
    }
}
