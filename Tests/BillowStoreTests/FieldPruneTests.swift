import BillowFields
import Datasets
import GRDB
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

@Suite("Deleting old fields")
struct FieldPruneTests {
    private static let hour = 3_600

    /// The fields that are left: product, run and valid time in hours from noon.
    private func left(_ store: any SQLStore) async throws -> [String] {
        try await store.fields(asOf: nil).index.frames.map { frame in
            let run = (frame.identity.run.seconds - noon.seconds) / Self.hour
            return "\(frame.identity.product.name) \(run)+\(frame.identity.lead / Self.hour)"
        }
    }

    @Test(
        "fields about an earlier time go, their planes are gone with them, and only fields are marked",
        arguments: StoreKind.all)
    func byValidTime(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let awc = try source("awc")
        let grid = try grid()
        _ = try await store.commit(
            Batch(
                source: awc,
                fields: [
                    draft(run: -3 * Self.hour, on: grid), draft(run: -2 * Self.hour, on: grid),
                    draft(.forecast, run: -3 * Self.hour, lead: 2 * Self.hour, on: grid),
                ],
                fetchedKinds: [.fields: noon.advanced(by: -9_000), .hazards: noon.advanced(by: -9_000)],
                completeSince: noon.advanced(by: -9_000)))
        _ = try await store.commit(observation(at: -3 * Self.hour))
        let before = try await store.fields(asOf: nil)
        let head = try await store.head()
        let cut = noon.advanced(by: -2 * Self.hour)
        let pruned = try await store.prune(Pruning(before: .distantPast, fieldsBefore: cut))
        #expect(pruned.fieldLevels == 1 && pruned.observations == 0)
        #expect(try await left(store) == ["gtgn -2+0", "gtg -3+2"])
        let after = try await store.head()
        #expect(after.version.rawValue == head.version.rawValue + 1 && after.log == head.log)
        // What was known before is known of later instants alone.
        await #expect(throws: StoreError.self) { try await store.fields(asOf: head.version) }
        let gone = try #require(before.index.frames.first?.levels.first?.row)
        await #expect(throws: StoreError.self) { try await store.fieldPlane(row: gone) }
        let index = try await store.fields(asOf: nil).index
        #expect(index.deletions == [FieldDeletion(before: cut, version: after.version)])
        #expect(!index.isKnown(at: cut, asOf: head.version) && index.isKnown(at: cut, asOf: after.version))
        #expect(index.isKnown(at: noon, asOf: head.version))
        let changes = try await store.changes(since: head.version)
        #expect(changes.remainingFields == index && changes.fields.isEmpty)
        #expect(try await store.changes(since: after.version).remainingFields == nil)
        let record = try #require(try await store.sources().first { $0.id == awc })
        #expect(record.fetchedSince[.fields] == cut)
        #expect(record.fetchedSince[.hazards] == noon.advanced(by: -9_000))
        #expect(record.completeSince == noon.advanced(by: -9_000) && record.lost[.observations] == nil)
        #expect(try await store.prune(Pruning(before: .distantPast, fieldsBefore: cut)).isNothing)
        #expect(try await store.head() == after)
        #expect(try await store.problems() == [])
    }

    @Test(
        "of a past instant the forecasts of earlier runs go, level by level; nothing that pictures show is missing",
        arguments: StoreKind.all)
    func earlierForecasts(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let grid = try grid()
        var drafts: [FieldLevelDraft] = []
        for run in [-4, -3, -2] {
            for lead in 1...5 {
                drafts.append(try draft(.forecast, run: run * Self.hour, lead: lead * Self.hour, on: grid))
            }
        }
        // A level that only the earlier run has, and a nowcast of the same instant.
        drafts.append(
            try draft(.forecast, run: -4 * Self.hour, lead: 3 * Self.hour, level: .feet(40_000), on: grid))
        drafts.append(try draft(run: -1 * Self.hour, on: grid))
        _ = try await store.commit(
            Batch(source: source("awc"), fields: drafts, fetchedKinds: [.fields: noon.advanced(by: -9_000)]))
        // Of another source, nothing is in the place of it.
        _ = try await store.commit(
            Batch(
                source: source("skypath"),
                fields: [draft(.forecast, run: -9 * Self.hour, lead: 8 * Self.hour, on: grid)]))
        let before = try await store.head().version
        let pruned = try await store.prune(
            Pruning(before: .distantPast, earlierForecastsBefore: noon))
        // About 10:00 the run of 8:00; about 11:00 those of 8:00 and 9:00.
        #expect(pruned.fieldLevels == 3)
        let expected = [
            "gtg -4+1", "gtg -3+1", "gtgn -1+0", "gtg -9+8", "gtg -4+3", "gtg -2+1", "gtg -4+4", "gtg -3+3", "gtg -2+2",
            "gtg -4+5", "gtg -3+4", "gtg -2+3", "gtg -3+5", "gtg -2+4", "gtg -2+5",
        ]
        #expect(try await left(store) == expected)
        let lone = try #require(
            try await store.fields(asOf: nil).index.frames.first { $0.identity.lead == 3 * Self.hour })
        #expect(lone.levels.map(\.level) == [.feet(40_000)])
        #expect(try await store.head().version.rawValue == before.rawValue + 1)
        let record = try #require(try await store.sources().last)
        #expect(record.fetchedSince[.fields] == noon.advanced(by: -9_000) && record.lost[.fields] == nil)
        let index = try await store.fields(asOf: nil).index
        #expect(!index.isKnown(at: noon.advanced(by: -1), asOf: before))
        #expect(index.isKnown(at: noon.advanced(by: 2 * Self.hour), asOf: before))
    }

    @Test(
        "imports stay until they are deleted by hand", arguments: StoreKind.all, ["imported", "fetched, then imported"])
    func imports(_ kind: StoreKind, order: String) async throws {
        let store = try await makeStore(kind)
        let old = [try draft(run: -9 * Self.hour, on: grid())]
        if order != "imported" { _ = try await store.commit(Batch(source: source("awc"), fields: old)) }
        _ = try await store.commit(
            Batch(source: source("awc"), fields: old, importedBefore: noon.advanced(by: -8 * Self.hour)))
        #expect(try await store.prune(Pruning(before: noon, sparesImports: true)).isNothing)
        #expect(try await store.prune(Pruning(before: noon, sources: [source("skypath")])).isNothing)
        let log = try await store.head().log
        #expect(try await store.prune(Pruning(before: noon, changesPictures: true)).fieldLevels == 1)
        #expect(try await store.head().log != log)
        #expect(try await left(store).isEmpty)
    }

    @Test(
        "whichever transaction a deletion ends after, what is gone is marked, and the same again completes it",
        arguments: StoreKind.all)
    func killed(_ kind: StoreKind) async throws {
        let cut = noon.advanced(by: -20 * 900)
        for last in [1, 9, 20] {
            let store = try await makeStore(kind)
            let drafts = try (0..<40).map { try draft(run: -$0 * 900, number: $0, on: grid()) }
            _ = try await store.commit(Batch(source: source("awc"), fields: drafts))
            let before = try await store.head().version
            let pruning = Pruning(before: .distantPast, fieldsBefore: cut)
            await #expect(throws: StoreError.self) {
                try await store.prune(pruning, longest: .zero, rowsAtOnce: 1) { number async throws(StoreError) in
                    if number >= last, try await Self.hasRaised(store, since: before) { throw .failed("killed") }
                }
            }
            let index = try await store.fields(asOf: nil).index
            #expect(index.frames.count < 40 && index.deletions.first?.before == cut)
            #expect(try await index == store.changes(since: before).remainingFields)
            #expect(try await store.prune(pruning).fieldLevels == index.frames.count - 21)
            #expect(try await left(store).count == 21)
            #expect(try await store.problems() == [])
        }
    }

    private static func hasRaised(_ store: any SQLStore, since version: Version) async throws(StoreError) -> Bool {
        try await store.head().version > version
    }

    @Test(
        "two runs that were stored confirm the time of the older one, however far ahead they look",
        arguments: StoreKind.all)
    func confirmedTime(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        func confirmed() async throws -> Int? {
            try await store.confirmedTime(retentionSeconds: 86_400).map { $0.seconds - noon.seconds }
        }
        let levels: [FieldLevel] = [.column, .feet(30_000), .feet(32_000)]
        _ = try await store.commit(
            Batch(
                source: source("awc"),
                fields: try levels.map {
                    try draft(.forecast, run: 0, lead: 6 * Self.hour, level: $0, on: grid())
                }))
        #expect(try await confirmed() == nil)
        _ = try await store.commit(
            Batch(
                source: source("awc"),
                fields: try levels.map {
                    try draft(.forecast, run: Self.hour, lead: 6 * Self.hour, level: $0, on: grid())
                }))
        #expect(try await confirmed() == 0)
    }

    @Test("the log tells which instants its fields are about", arguments: StoreKind.all)
    func extent(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        #expect(try await store.state().extent.fields == nil)
        _ = try await store.commit(
            Batch(
                source: source("awc"),
                fields: [
                    draft(run: -Self.hour, on: grid()), draft(.forecast, run: 0, lead: 6 * Self.hour, on: grid()),
                ]))
        let extent = try await store.state().extent
        #expect(extent.fields == noon.advanced(by: -Self.hour)...noon.advanced(by: 6 * Self.hour))
        #expect(extent.oldest == noon.advanced(by: -Self.hour))
    }
}
