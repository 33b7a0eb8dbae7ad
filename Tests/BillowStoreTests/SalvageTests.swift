import Datasets
import Foundation
import GRDB
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

@Suite("A salvage of a damaged database")
struct SalvageTests: DamagedFiles {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("a salvage has every row that can be read, keys, changed queries and sources, and marks what it lacks")
    func salvage() async throws {
        let path = try await makeFile(count: 20_000)
        #expect(try overwrite(path, pagesOf: "observation") { [$0[$0.count / 2]] } == 1)
        try change(path, "UPDATE pilotReport SET turbulence = '{\"a\":1}' WHERE id = 'r7'")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let new = folder.path("new.sqlite")
        let salvaged = try await SQLiteStore.salvage(path, to: new)
        #expect(!salvaged.isWhole)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        let store = try await SQLiteStore.open(path: new)
        let rows = try await store.rows(from: .distantPast, to: .distantFuture)
        #expect(rows.rows.count > 19_800 && rows.rows.count < 20_000)
        #expect(salvaged.tables.first { $0.name == "observation" }?.rows == rows.rows.count)
        #expect(salvaged.tables.first { $0.name == "pilotReport" }?.refused == 1)
        #expect(try await store.pilotReports(from: .distantPast, to: .distantFuture, asOf: nil).count == 19)
        #expect(try await store.accessKeys() == [key(1)])
        #expect(try await store.persistedOverride(of: source("skypath")) == "{\"a\":1}")
        // Everything that an upstream still has is fetched anew.
        #expect(try await store.cursors(of: source("skypath")).isEmpty)
        #expect(try await store.values(of: source("skypath")).isEmpty)
        let since = try salvaged.completeSince.orMissing()
        #expect(since >= noon.advanced(by: 9_000))
        #expect(rows.sources.allSatisfy { $0.completeSince == since })
        #expect(rows.head.version == salvaged.version)
        #expect(try await store.problems() == [])
        #expect(try await store.commit(observation(at: 30_000)).accepted == 1)
        await #expect(throws: StoreError.self) { try await SQLiteStore.salvage(path, to: new) }
    }

    @Test(
        "a salvage keeps every row that can be read, marks what is missing, and what comes later is complete",
        arguments: DamagedPages.allCases, [(1_200, true), (20_000, true), (20_000, false)])
    func salvageOfEdges(place: DamagedPages, file: (count: Int, hasTimes: Bool)) async throws {
        let path = try await makeFile(count: file.count)
        let lost = try rows(path, of: "observation", in: place.pages)
        let pages = try overwrite(path, pagesOf: "observation", place.pages)
        // When what changed tells between when anything was stored; without it the moment of the salvage does.
        if !file.hasTimes { #expect(try overwrite(path, pagesOf: "changedStep") { $0 } > 0) }
        let now = noon.advanced(by: file.count + 3_600)
        let new = folder.path("new.sqlite")
        let salvaged = try await SQLiteStore.salvage(path, to: new, now: now)
        let table = try #require(salvaged.tables.first { $0.name == "observation" })
        #expect(table.rows == file.count - lost && table.gaps.count == pages)
        let store = try await SQLiteStore.open(path: new)
        let rows = try await store.rows(from: .distantPast, to: .distantFuture)
        #expect(rows.rows.count == file.count - lost)
        let since = try salvaged.completeSince.orMissing()
        #expect(since > noon && since <= now.advanced(by: 301))
        if file.hasTimes { #expect(since <= noon.advanced(by: file.count + 20)) }
        // No row that is there is newer than what is missing, where the last page is.
        let newest = try rows.rows.map(\.observedAt).max().orMissing()
        #expect((since > newest) == [.last, .firstAndLast].contains(place))
        #expect(rows.sources.allSatisfy { $0.completeSince == since })
        #expect(rows.sources.allSatisfy { $0.lost[.observations] == .distantPast...since.advanced(by: -1) })

        _ = try await store.commit(
            Batch(
                source: source("skypath"), observations: [try observation(at: file.count + 7_200)],
                fetchedAt: now.advanced(by: 3_600)))
        #expect(try await store.sources().first?.completeSince == since)
        #expect(try await store.problems() == [])
    }

    @Test("a salvage that lacks keys alone is complete from then on")
    func salvageWithoutKeys() async throws {
        let path = try await makeFile(count: 5)
        #expect(try overwrite(path, pagesOf: "accessKey") { $0 } == 1)
        let salvaged = try await SQLiteStore.salvage(path, to: folder.path("new.sqlite"), now: noon.advanced(by: 60))
        #expect(!salvaged.isWhole && salvaged.completeSince == noon.advanced(by: 360))
    }

    @Test("a salvage by a clock that is years behind marks what is missing all the same")
    func salvageByClockBehind() async throws {
        let path = try await makeFile(count: 1_200)
        #expect(try overwrite(path, pagesOf: "pilotReport") { $0 } >= 1)
        let new = folder.path("new.sqlite")
        let salvaged = try await SQLiteStore.salvage(path, to: new, now: noon.advanced(by: -2 * 365 * 86_400))
        // As new as any report that was stored.
        #expect(try salvaged.completeSince.orMissing() > noon.advanced(by: 19))
        let store = try await SQLiteStore.open(path: new)
        for record in try await store.sources() {
            #expect(try record.lost[.reports].orMissing().contains(noon.advanced(by: 20)))
        }
    }

    @Test("a salvage of a sound database is the same database, cursors too")
    func salvageOfSound() async throws {
        let path = try await makeFile(count: 500)
        let new = folder.path("new.sqlite")
        let salvaged = try await SQLiteStore.salvage(path, to: new)
        #expect(salvaged.isWhole && salvaged.completeSince == nil)
        let old = try await SQLiteStore.open(path: path)
        let store = try await SQLiteStore.open(path: new)
        #expect(try await store.contents() == old.contents())
        #expect(try await store.sources() == old.sources())
        #expect(try await store.cursors(of: source("skypath")) == ["all": "7"])
        #expect(try await store.values(of: source("skypath")) == ["session": "s"])
        #expect(try await store.head().log != old.head().log)
        #expect(try await store.changes(since: .zero).opened.count == 500)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { !$0.contains("unfini") })
    }

    @Test("rows keep a source whose name can't be read")
    func salvageWithoutSource() async throws {
        let path = try await makeFile(count: 5)
        try change(path, "PRAGMA foreign_keys = OFF; DELETE FROM source WHERE number = 0")
        let new = folder.path("new.sqlite")
        _ = try await SQLiteStore.salvage(path, to: new)
        let store = try await SQLiteStore.open(path: new)
        #expect(try await store.sources().map(\.id.name) == ["salvaged-0", "awc"])
        #expect(try await store.contents().count == 5)
    }

    @Test("rows whose source is lost stay real or simulated, as far as anything says so, and end no others")
    func natureOfLostSources() async throws {
        func salvaged(simulated: Bool?, lost: [String]) async throws -> [SourceRecord] {
            let path = folder.path("\(UUID()).sqlite")
            let store = try await SQLiteStore.open(path: path)
            _ = try await store.register(source("skypath"), merge: .replace, simulated: simulated)
            _ = try await store.commit(try observation(id: "o"))
            try store.close()
            for name in lost { #expect(try overwrite(path, pagesOf: name) { $0 } == 1) }
            let new = folder.path("\(UUID()).sqlite")
            _ = try await SQLiteStore.salvage(path, to: new)
            return try await SQLiteStore.open(path: new).sources()
        }
        for simulated in [true, false, nil] {
            let sources = try await salvaged(simulated: simulated, lost: ["source"])
            #expect(sources.map(\.id.name) == ["salvaged-0"])
            #expect(sources.map(\.simulated) == [simulated])
            #expect(sources.map(\.merge) == [.keep])
        }
        // Nothing says that it is real.
        #expect(try await salvaged(simulated: false, lost: ["source", "head"]).map(\.simulated) == [true])
    }

    private static let kinds = Catalogue.kinds

    @Test("a source that is made known after a salvage is complete no earlier than what is missing")
    func newSourceAfterSalvage() async throws {
        let path = try await makeFile(count: 5)
        #expect(try overwrite(path, pagesOf: "source") { $0 } == 1)
        let new = folder.path("new.sqlite")
        let now = noon.advanced(by: 86_400)
        _ = try await SQLiteStore.salvage(path, to: new, now: now)
        let store = try await SQLiteStore.open(path: new)
        _ = try await store.register(source("ingest"), merge: .keep, simulated: nil)
        _ = try await store.commit(observation(at: 90_000, source: "ingest"))
        let ingest = try #require(try await store.sources().first { $0.id.name == "ingest" })
        for kind in Self.kinds {
            #expect(ingest.lost[kind].map { $0.lowerBound == .distantPast && $0.upperBound >= now } == true)
        }
        #expect(try await store.contents().count == 6)
    }

    @Test("the kinds of data that were ever stored are known, also of a salvaged file and after damage")
    func storedKinds() async throws {
        let path = try await makeFile(count: 5)
        func kinds(_ store: SQLiteStore) async throws -> [Set<FeedKind>] {
            try await store.sources().map(\.storedKinds)
        }
        let store = try await SQLiteStore.open(path: path)
        #expect(try await kinds(store) == [[.observations], [.reports]])
        var polygon = try area("b")
        polygon.collection = .polygons
        _ = try await store.commit(Batch(source: source("awc"), areas: [try area("a"), polygon]))
        let seen = try position("000001", at: 1, source: "skypath")
        _ = try await store.commit(Batch(source: source("skypath"), positions: [seen]))
        let all: [Set<FeedKind>] = [[.observations, .positions], [.reports, .hazards, .polygons]]
        #expect(try await kinds(store) == all)
        // Retention forgets nothing of it.
        _ = try await store.prune(Pruning(before: .distantFuture, sources: nil))
        #expect(try await kinds(store) == all)
        try store.close()

        let other = try await makeFile("b.sqlite", count: 5)
        try change(other, "UPDATE storedKind SET kind = 'hazards' WHERE source = 1")
        let damaged = try await SQLiteStore.open(path: other)
        #expect(try await kinds(damaged) == [[.observations], []])
        for record in try await damaged.sources() {
            #expect(Self.kinds.allSatisfy { record.lost[$0] == .distantPast ... .distantFuture })
        }
        try damaged.close()
        let new = folder.path("new.sqlite")
        #expect(try await !SQLiteStore.salvage(other, to: new, now: noon).isWhole)
        #expect(try await kinds(SQLiteStore.open(path: new)) == [[.observations], [.reports]])
    }

    @Test("the observations of a reporter whose row is lost are no other reporter's")
    func salvageWithoutReporter() async throws {
        let path = folder.path("a.sqlite")
        var store = try await SQLiteStore.open(path: path)
        _ = try await store.register(source("skypath"), merge: .replace, simulated: false)
        _ = try await store.commit(
            Batch(source: nil, observations: [try observation(id: "x", severity: 4)], reporter: "first"))
        try store.close()
        try change(path, "PRAGMA foreign_keys = OFF; DELETE FROM reporterSource; DELETE FROM reporter")
        let new = folder.path("new.sqlite")
        _ = try await SQLiteStore.salvage(path, to: new)
        store = try await SQLiteStore.open(path: new)
        _ = try await store.commit(
            Batch(source: nil, observations: [try observation(id: "x", severity: 0)], reporter: "second"))
        #expect(try await store.contents().contains { $0.intensity.severity == .moderateSevere })
        #expect(try await store.problems().isEmpty)
    }

    @Test(
        "a definition that was damaged is what the schema says",
        arguments: ["CREATE TABLE observation", "cell INTEGER NOT NULL", "CREATE TABLE accessKey"])
    func damagedDefinition(of text: String) async throws {
        let path = try await makeFile(count: 50)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let range = try bytes.range(of: Data(text.utf8)).orMissing()
        bytes[range.lowerBound + 2] ^= 0x10
        try bytes.write(to: URL(fileURLWithPath: path))
        let new = folder.path("new.sqlite")
        let salvaged = try await SQLiteStore.salvage(path, to: new)
        #expect(salvaged.isWhole)
        let store = try await SQLiteStore.open(path: new)
        #expect(try await store.contents().count == 50)
        #expect(try await store.accessKeys() == [key(1)])
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { !$0.contains("source") })
    }

    @Test("the definition of a table is recognised by its columns, whatever its comments say")
    func otherComments() async throws {
        let path = try await makeFile(count: 50)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        // The table's name in the list of tables is damaged too, so that only the definition tells it.
        let name = try bytes.range(of: Data("observationobservation".utf8)).orMissing()
        bytes[name.lowerBound + 2] ^= 0x10
        let comment = try bytes.range(of: Data("-- ".utf8), in: name.lowerBound..<bytes.count).orMissing()
        bytes[comment.upperBound] ^= 0x01
        try bytes.write(to: URL(fileURLWithPath: path))
        let new = folder.path("new.sqlite")
        #expect(try await SQLiteStore.salvage(path, to: new).isWhole)
        #expect(try await SQLiteStore.open(path: new).contents().count == 50)
    }

    @Test("a salvage of an unreadable file reports that, and leaves no file")
    func salvageOfNothing() async throws {
        let path = try await makeFile(count: 5)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes.replaceSubrange(100..<bytes.count, with: Data(repeating: 7, count: bytes.count - 100))
        try bytes.write(to: URL(fileURLWithPath: path))
        let error = await #expect(throws: StoreError.self) {
            try await SQLiteStore.salvage(path, to: folder.path("new.sqlite"))
        }
        guard case .corrupt(let named, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(named == path)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { !$0.contains("new") })
    }
}
