import Datasets
import Foundation
import GRDB
import Geometry
import Testing
import Turbulence

@testable import BillowStore

@Suite("Committing a batch")
struct CommitTests {
    @Test("every field comes back as it went", arguments: StoreKind.all)
    func everyFieldComesBackAsItWent(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let sent = [
            try observation(severity: 4, edr: 4_512, at: 1, category: 60, aircraft: "B77W"),
            try observation(id: "", severity: nil, edr: 0, at: 2, source: "awc", kind: .pilotReport, aircraft: ""),
            try observation(id: "naïve \u{0} 'id'", altitude: 0, top: 60, severity: 0, at: 3, category: 110),
        ]
        let result = try await store.commit(Batch(source: nil, observations: sent))
        #expect(result == BatchResult(version: Version(rawValue: 1), accepted: 3))
        #expect(try await store.contents() == sent)
        #expect(try await store.head().version == Version(rawValue: 1))
    }

    @Test("the same content is one observation", arguments: StoreKind.all)
    func theSameContentIsOneObservation(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let one = try observation()
        #expect(try await store.commit(one, one).accepted == 1)
        let again = try await store.commit(one)
        #expect(again == BatchResult(version: Version(rawValue: 1), duplicates: 1))
        // What its identity doesn't name makes no second one.
        #expect(try await store.commit(observation(kind: .pilotReport, aircraft: "A320")).duplicates == 1)
        #expect(try await store.contents() == [one])
    }

    @Test("whatever makes up the content tells observations apart", arguments: StoreKind.all)
    func whateverMakesUpTheContentTellsObservationsApart(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let other = try source("other")
        _ = try await store.register(other, merge: .keep, simulated: false)
        let different = [
            try observation(source: "awc"), try observation(cell: 20_001, source: "awc"),
            try observation(altitude: 37, source: "awc"), try observation(altitude: 37, top: 38, source: "awc"),
            try observation(severity: 3, source: "awc"), try observation(edr: 0, source: "awc"),
            try observation(severity: nil, edr: 0, source: "awc"), try observation(at: 1, source: "awc"),
            try observation(source: "other"), try observation(category: 60, source: "awc"),
            try observation(category: 70, source: "awc"),
        ]
        #expect(try await store.commit(Batch(source: nil, observations: different)).accepted == different.count)
        #expect(try await store.commit(Batch(source: nil, observations: different)).duplicates == different.count)
        #expect(try await Set(store.contents()) == Set(different))
    }

    @Test("whatever a computed value is about tells it apart", arguments: StoreKind.all)
    func whateverAComputedValueIsAboutTellsItApart(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let different = [
            try observation(), try observation(cell: 20_001), try observation(altitude: 37),
            try observation(altitude: 37, top: 38), try observation(at: 1), try observation(source: "awc"),
            try observation(category: 60), try observation(category: 70),
        ]
        let first = try await store.commit(Batch(source: nil, observations: different))
        #expect(first == BatchResult(version: Version(rawValue: 1), accepted: different.count))
        #expect(try await store.commit(Batch(source: nil, observations: different)).duplicates == different.count)
    }

    @Test("another computed value of a place and second corrects", arguments: StoreKind.all)
    func anotherComputedValueOfAPlaceAndSecondCorrects(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let rough = try observation(severity: 3)
        let smooth = try observation(severity: 0)
        _ = try await store.commit(rough)
        let result = try await store.commit(smooth)
        #expect(result == BatchResult(version: Version(rawValue: 2), accepted: 1, corrected: 1))
        #expect(try await store.contents() == [smooth])
        let changes = try await store.changes(since: Version(rawValue: 1))
        #expect(changes.opened.map(\.intensity) == [smooth.intensity])
        #expect(changes.closed.map(\.intensity) == [rough.intensity])
        #expect(changes.closed.map(\.until) == [Version(rawValue: 2)])
        #expect(try await store.commit(smooth).duplicates == 1)
        // And back: the key of the first one is taken by its closed row.
        #expect(try await store.commit(rough).corrected == 1)
        #expect(try await store.contents() == [rough])
        // In one batch the last one counts.
        let both = try await store.commit(observation(severity: 1), observation(severity: 4))
        #expect(both == BatchResult(version: Version(rawValue: 4), accepted: 2, corrected: 2))
        #expect(try await store.contents() == [observation(severity: 4)])
        #expect(try await store.problems().isEmpty)
    }

    @Test("independent reports of a place and second stand beside each other", arguments: StoreKind.all)
    func independentReportsOfAPlaceAndSecondStandBesideEachOther(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let both = [try observation(severity: 3, source: "awc"), try observation(severity: 0, source: "awc")]
        _ = try await store.commit(both[0])
        #expect(try await store.commit(both[1]) == BatchResult(version: Version(rawValue: 2), accepted: 1))
        #expect(try await Set(store.contents()) == Set(both))
        #expect(try await store.commit(both[0], both[1]).duplicates == 2)
    }

    /// SkyPath's bulk call gives no EDR, its corridor call does: asking the one must not undo the other.
    @Test("a computed value keeps its EDR", arguments: StoreKind.all)
    func aComputedValueKeepsItsEDR(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let plain = try observation(severity: 3)
        let measured = try observation(severity: 3, edr: 2_500)
        #expect(try await store.commit(plain).accepted == 1)
        #expect(try await store.commit(measured).corrected == 1)
        #expect(try await store.commit(plain) == BatchResult(version: Version(rawValue: 2), duplicates: 1))
        #expect(try await store.contents() == [measured])
        // Another severity without EDR says something else, and so does another EDR.
        #expect(try await store.commit(observation(severity: 2)).corrected == 1)
        #expect(try await store.commit(measured).corrected == 1)
        #expect(try await store.commit(observation(severity: 3, edr: 2_600)).corrected == 1)
        // Independent reports with and without are two.
        #expect(try await store.commit(observation(severity: 3, edr: 2_500, source: "awc")).accepted == 1)
        #expect(try await store.commit(observation(severity: 3, source: "awc")).accepted == 1)
    }

    @Test("the same id with other content corrects", arguments: StoreKind.all)
    func theSameIdWithOtherContentCorrects(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let first = try observation(id: "a", severity: 2)
        let second = try observation(id: "a", severity: 3, at: 60)
        #expect(try await store.commit(first).accepted == 1)
        #expect(try await store.commit(first).duplicates == 1)
        let correction = try await store.commit(second)
        #expect(correction == BatchResult(version: Version(rawValue: 2), accepted: 1, corrected: 1))
        #expect(try await store.contents() == [second])
        let changes = try await store.changes(since: Version(rawValue: 1))
        #expect(changes.opened.map(\.intensity) == [second.intensity])
        #expect(changes.closed.map(\.intensity) == [first.intensity])
        #expect(changes.closed.map(\.until) == [Version(rawValue: 2)])
        // And back: its first key is taken by the closed row.
        #expect(try await store.commit(first).corrected == 1)
        #expect(try await store.contents() == [first])
        // The same id from another source is another observation.
        #expect(try await store.commit(observation(id: "a", severity: 3, source: "awc")).corrected == 0)
        #expect(try await store.contents().count == 2)
    }

    @Test("the last of one id in a batch counts", arguments: StoreKind.all)
    func theLastOfOneIdInABatchCounts(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let versions = [1, 2, 3].map { severity in try? observation(id: "a", severity: severity) }.compactMap { $0 }
        let result = try await store.commit(Batch(source: nil, observations: versions))
        #expect(result == BatchResult(version: Version(rawValue: 1), accepted: 3, corrected: 2))
        #expect(try await store.contents() == [versions[2]])
        let changes = try await store.changes(since: .zero)
        #expect(changes.opened.count == 1)
        #expect(changes.closed.isEmpty)
    }

    @Test("observations of equal content and different ids stand beside each other", arguments: StoreKind.all)
    func observationsOfEqualContentAndDifferentIdsStandBesideEachOther(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let result = try await store.commit(observation(id: "a"), observation(id: "b"), observation())
        #expect(result.accepted == 3)
        #expect(try await store.commit(observation(id: "b"), observation(), observation(id: "a")).duplicates == 3)
    }

    @Test("an unknown source refuses the whole batch", arguments: StoreKind.all)
    func anUnknownSourceRefusesTheWholeBatch(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let batch = Batch(
            source: try source("skypath"),
            observations: [try observation(), try observation(source: "nobody", aircraft: "last")],
            cursors: ["all": "1"], fetchedAt: noon)
        let error = await #expect(throws: StoreError.self) { try await store.commit(batch) }
        guard case .unknownSource(let name) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(name.name == "nobody")
        #expect(try await store.contents().isEmpty)
        #expect(try await store.head().version == .zero)
        #expect(try await store.cursors(of: source("skypath")).isEmpty)
        #expect(try await store.sources()[0].fetchedAt == nil)
    }

    @Test("a failure in the middle leaves nothing")
    func aFailureInTheMiddleLeavesNothing() async throws {
        let store = try await makeStore()
        try await store.pool.write { db in
            try db.execute(
                sql: """
                    CREATE TRIGGER fail AFTER INSERT ON pilotReport WHEN NEW.id = 'bad'
                    BEGIN SELECT RAISE(ABORT, 'out of luck'); END
                    """)
        }
        let batch = Batch(
            source: try source("awc"), observations: try (0..<100).map { try observation(at: $0) },
            pilotReports: [try pilotReport(), try pilotReport(id: "bad")], cursors: ["all": "1"])
        let error = await #expect(throws: StoreError.self) { try await store.commit(batch) }
        #expect(error.map(String.init(describing:))?.contains("out of luck") == true)
        #expect(try await store.contents().isEmpty)
        #expect(try await store.head().version == .zero)
        // And the store still works.
        #expect(try await store.commit(observation()).version == Version(rawValue: 1))
    }

    @Test("a cancelled task commits whole or not at all", arguments: StoreKind.all)
    func aCancelledTaskCommitsWholeOrNotAtAll(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        var expected = 0
        for round in 0..<10 {
            let observations = try (0..<500).map { try observation(at: round * 1_000 + $0) }
            let task = Task { try await store.commit(Batch(source: nil, observations: observations)) }
            if round % 2 == 0 { await Task.yield() }
            task.cancel()
            _ = await task.result
            let count = try await store.contents().count
            #expect(count == expected || count == expected + 500)
            #expect(try await store.head().version.rawValue == Int64(count / 500))
            expected = count
        }
    }

    @Test("a kind is known since it was last fetched after a gap", arguments: StoreKind.all)
    func aKindIsKnownSinceItWasLastFetchedAfterAGap(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        func since(_ kind: FeedKind, fetchedAt seconds: Int) async throws -> Int? {
            let batch = Batch(source: try source("awc"), fetchedKinds: [kind: noon.advanced(by: seconds)])
            _ = try await store.commit(batch)
            let record = try #require(try await store.sources().first { try $0.id == source("awc") })
            return record.completeSince(kind).map { $0.seconds - noon.seconds }
        }
        #expect(try await since(.hazards, fetchedAt: 0) == 0)
        #expect(try await since(.hazards, fetchedAt: 3_600) == 0)
        #expect(try await since(.hazards, fetchedAt: 7_201) == 7_201)
        #expect(try await since(.positions, fetchedAt: 900) == 900)
        #expect(try await since(.positions, fetchedAt: 1_800) == 900)
        #expect(try await since(.positions, fetchedAt: 2_701) == 2_701)
        // What a later fetch makes up for has no holes of its own.
        #expect(try await since(.reports, fetchedAt: 100_000) == nil)
    }

    @Test("a source's values are set, replaced and removed beside its cursors", arguments: StoreKind.all)
    func valuesAreKept(_ kind: StoreKind) async throws {
        let store = try await kind.emptyStore()
        let skypath = try source("skypath")
        _ = try await store.register(skypath, merge: .replace, simulated: false)
        _ = try await store.commit(Batch(source: skypath, cursors: ["a": "1"], values: ["a": "2", "b": "3"]))
        let result = try await store.commit(Batch(source: skypath, values: ["a": nil, "b": "4"]))
        #expect(result.version.rawValue == 0)
        #expect(try await store.values(of: skypath) == ["b": "4"])
        #expect(try await store.cursors(of: skypath) == ["a": "1"])
        await #expect(throws: StoreError.self) { try await store.commit(Batch(source: nil, values: ["a": "1"])) }
    }

    @Test("a commit without changes raises no version but stores cursors and times", arguments: StoreKind.all)
    func nothingNewRaisesNoVersionButKeepsCursorsAndTimes(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let skypath = try source("skypath")
        let later = noon.advanced(by: 60)
        _ = try await store.commit(
            Batch(source: skypath, observations: [try observation()], cursors: ["a": "1", "b": "1"], fetchedAt: noon))
        let result = try await store.commit(
            Batch(
                source: skypath, observations: [try observation()], cursors: ["a": "2", "b": nil, "c": ""],
                fetchedAt: later, completeSince: noon))
        #expect(result == BatchResult(version: Version(rawValue: 1), duplicates: 1))
        #expect(!result.changed)
        #expect(try await store.cursors(of: skypath) == ["a": "2", "c": ""])
        #expect(try await store.cursors(of: source("awc")).isEmpty)
        let record = try await store.sources()[0]
        #expect(record.fetchedAt == later)
        #expect(record.completeSince == noon)
        // A batch without times leaves them.
        _ = try await store.commit(Batch(source: skypath))
        #expect(try await store.sources()[0] == record)
    }

    @Test("state without a source is refused", arguments: StoreKind.all)
    func stateWithoutASourceIsRefused(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        await #expect(throws: StoreError.self) { try await store.commit(Batch(source: nil, cursors: ["a": "1"])) }
        await #expect(throws: StoreError.self) { try await store.commit(Batch(source: nil, fetchedAt: noon)) }
    }

    @Test("versions are dense", arguments: StoreKind.all)
    func versionsAreDense(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        for number in 1...20 {
            #expect(try await store.commit(observation(at: number / 2)).version.rawValue == Int64(number / 2 + 1))
        }
    }

    @Test("two stores on one file share one line of versions", arguments: StoreKind.all)
    func twoStoresOnOneFileShareOneLineOfVersions(_ kind: StoreKind) async throws {
        let place = try await kind.place()
        let server = try await place.open()
        let importer = try await place.open()
        _ = try await server.register(source("skypath"), merge: .replace, simulated: false)
        let versions = try await withThrowingTaskGroup(of: Int64.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let store = number % 2 == 0 ? server : importer
                    return try await store.commit(observation(at: number)).version.rawValue
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(versions.sorted() == Array(1...20))
        #expect(try await server.head() == importer.head())
        // What one wrote is a duplicate for the other.
        #expect(try await importer.commit(observation(at: 0), observation(at: 1)).duplicates == 2)
        #expect(try await server.changes(since: .zero).opened.count == 20)
    }

    // MARK: Keys

    @Test("colliding tags cost no observation", arguments: StoreKind.all)
    func collidingTagsCostNoObservation(_ kind: StoreKind) async throws {
        let place = try await kind.place()
        // All of a second collide, at the last tag, so that the chain goes round.
        let store = try await place.open(tags: ContentTags { _ in 0x3FFF_FFFE })
        _ = try await store.register(source("skypath"), merge: .replace, simulated: false)
        let some = try (0..<20).map {
            try observation(id: $0 % 3 == 0 ? "id\($0)" : nil, cell: 20_000 + $0, at: $0 % 2)
        }
        #expect(try await store.commit(Batch(source: nil, observations: some)).accepted == 20)
        #expect(try await store.commit(Batch(source: nil, observations: some.reversed())).duplicates == 20)
        #expect(try await Set(store.contents()) == Set(some))
        let rows = try await store.rows(from: noon, to: noon.advanced(by: 2)).rows
        #expect(rows.filter { $0.key.observedAt == noon }.count == 10)
        #expect(rows.allSatisfy { $0.key.observedAt == $0.observedAt })
        #expect(rows.contains { $0.key == ObservationKey.first(of: noon) })
        #expect(try await store.commit(observation(id: "id3", cell: 30_000)).corrected == 1)
        #expect(try await Set(store.contents()).count == 20)
    }

    @Test("retracted content opens again", arguments: StoreKind.all)
    func retractedContentOpensAgain(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let one = try observation()
        for round in 1...3 {
            #expect(try await store.commit(one).version.rawValue == Int64(2 * round - 1))
            let gone = try await store.commit(Batch(source: one.source, retraction: .everything))
            #expect(gone.retracted == 1)
            #expect(gone.version.rawValue == Int64(2 * round))
        }
        #expect(try await store.commit(one, one).accepted == 1)
        #expect(try await store.contents() == [one])
        #expect(try await store.commit(one).duplicates == 1)
    }

    @Test("an export comes back as the same observations", arguments: StoreKind.all)
    func anExportComesBackAsTheSameObservations(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        // The second one stands at the third key of its content.
        let some = [
            try observation(source: "awc"), try observation(severity: 3, source: "awc"),
            try observation(id: "named", source: "awc"), try observation(at: 9),
        ]
        _ = try await store.commit(some[1])
        _ = try await store.commit(Batch(source: some[1].source, retraction: .everything))
        _ = try await store.commit(Batch(source: nil, observations: some))
        let exported = try await exported(store)
        #expect(exported.compactMap(\.id).count == 4)
        let head = try await store.head()
        #expect(try await store.commit(Batch(source: nil, observations: exported)).duplicates == 4)
        #expect(try await store.head() == head)
        // Into another database, twice, in the other order.
        let other = try await makeStore(kind)
        #expect(try await other.commit(Batch(source: nil, observations: exported)).accepted == 4)
        #expect(try await other.commit(Batch(source: nil, observations: exported.reversed())).duplicates == 4)
        #expect(try await Set(other.contents()) == Set(some))
        // And what never left is the same there too.
        #expect(try await other.commit(Batch(source: nil, observations: some)).duplicates == 4)
    }

    @Test("an export of a corrected value comes back as the same", arguments: StoreKind.all)
    func anExportOfACorrectedValueComesBackAsTheSame(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(observation(severity: 3))
        _ = try await store.commit(observation(severity: 0))
        let exported = try await exported(store)
        #expect(exported.map(\.intensity) == [.reported(.smooth, edr: nil)])
        #expect(try await store.commit(Batch(source: nil, observations: exported)).duplicates == 1)
        let other = try await makeStore(kind)
        #expect(try await other.commit(Batch(source: nil, observations: exported)).accepted == 1)
        #expect(try await other.commit(observation(severity: 0)).duplicates == 1)
        #expect(try await other.contents() == [observation(severity: 0)])
    }

    @Test("an edited export corrects what it was made from", arguments: StoreKind.all)
    func anEditedExportCorrectsWhatItWasMadeFrom(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(observation())
        var edited = try await exported(store)[0]
        edited.intensity = .reported(.moderateSevere, edr: nil)
        #expect(try await store.commit(edited).corrected == 1)
        #expect(try await store.contents() == [edited])
        #expect(try await store.commit(edited).duplicates == 1)
        let id = try edited.id.orMissing()
        #expect(try await store.observation(id: id)?.row.intensity == edited.intensity)
        // Under another source's name it's another observation, once.
        edited.source = try source("awc")
        #expect(try await store.commit(edited).accepted == 1)
        #expect(try await store.commit(edited).duplicates == 1)
        #expect(try await store.contents().count == 2)
    }

    private func exported(_ store: any SQLStore) async throws -> [Observation] {
        let ids = try await store.page(after: nil, from: .distantPast, to: .distantFuture, limit: .max)
            .map { $0.details.id ?? $0.row.key.id }
        return zip(try await store.contents(), ids).map { observation, id in
            var observation = observation
            observation.id = id
            return observation
        }
    }
}
