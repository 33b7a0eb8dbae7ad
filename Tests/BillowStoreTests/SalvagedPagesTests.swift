import Datasets
import Foundation
import GRDB
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

@Suite("A salvage page by page")
struct SalvagedPagesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A file with rows of every kind, some of them longer than a page, and rows that were deleted.
    private func fill(_ path: String) async throws -> SQLiteStore {
        let store = try await SQLiteStore.open(path: path)
        _ = try await store.register(source("skypath"), merge: .replace, simulated: false)
        _ = try await store.register(source("awc"), merge: .keep, simulated: false)
        for number in 0..<60 {
            try await store.add(
                AccessKey(
                    id: String(format: "%016x", number), name: "key \(number)",
                    hash: String(repeating: "a", count: 64), scopes: .ingest, createdAt: noon))
            try await store.add(MonitoredFlight(id: "flight \(number)", accessKey: "key", value: "{}"))
        }
        try await store.removeMonitoredFlights((30..<60).map { "flight \($0)" })
        _ = try await store.commit(
            Batch(
                source: source("skypath"),
                observations: try (0..<3_000).map { try observation(id: $0 % 2 == 0 ? "o-\($0)" : nil, at: $0) },
                fetchedAt: noon, completeSince: noon.advanced(by: -3_600)))
        _ = try await store.commit(
            Batch(
                source: source("awc"),
                pilotReports: try (0..<500).map {
                    try pilotReport(id: "r\($0)", at: $0, text: String(repeating: "UA ", count: $0 * 10))
                },
                areas: try (0..<300).map { try area("a\($0)", text: String(repeating: "Wörter ", count: $0 * 5)) },
                positions: try (0..<2_000).map { try position(String(format: "%06x", $0 % 100 + 1), at: $0 * 3) },
                fetchedKinds: [.hazards: noon, .positions: noon]))
        // Of a source that is gone from the rows.
        _ = try await store.prune(Pruning(before: noon.advanced(by: 100), sources: nil))
        return store
    }

    /// All that is stored, as text. A source whose row is lost is named by its number in a salvage.
    private struct Contents: Equatable {
        var observations: Set<Observation>
        var reports: Set<String>
        var areas: Set<String>
        var positions: Set<String>
        var keys: Set<String>
        var flights: Set<String>
        var sources: [String]

        init(_ store: SQLiteStore) async throws {
            func texts(_ values: some Sequence<some Any>) -> Set<String> {
                Set(
                    values.map {
                        String(reflecting: $0).replacing("salvaged-0", with: "skypath")
                            .replacing("salvaged-1", with: "awc")
                    })
            }
            observations = Set(
                try await store.contents().map { observation in
                    var observation = observation
                    switch observation.source.name {
                    case "salvaged-0": observation.source = try source("skypath")
                    case "salvaged-1": observation.source = try source("awc")
                    default: break
                    }
                    return observation
                })
            reports = texts(try await store.pilotReports(from: .distantPast, to: .distantFuture, asOf: nil))
            areas = texts(try await store.areas(nil, from: .distantPast, to: .distantFuture, asOf: nil))
            positions = texts(try await store.positions(from: .distantPast, to: .distantFuture, asOf: nil))
            keys = texts(try await store.accessKeys())
            flights = texts(try await store.monitoredFlights())
            sources = try await store.sources().map { "\($0.number) \($0.id) \($0.merge) \($0.storedKinds.count)" }
        }
    }

    private func pages(_ path: String, _ condition: String) throws -> [Int] {
        let queue = try DatabaseQueue(path: path)
        defer { try? queue.close() }
        return try queue.read { try Int.fetchAll($0, sql: "SELECT pageno FROM dbstat WHERE \(condition)") }
    }

    private func overwrite(_ path: String, _ pages: [Int]) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for page in pages {
            bytes.replaceSubrange((page - 1) * 4_096..<page * 4_096, with: Data(repeating: 0xAB, count: 4_096))
        }
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    @Test(
        "has every row of a table whose root or inner pages are lost",
        arguments: ["observation", "pilotReport", "area", "position", "accessKey"])
    func lostRoot(table: String) async throws {
        let path = folder.path("a.sqlite")
        let store = try await fill(path)
        let before = try await Contents(store)
        try store.close()
        let inner = try pages(path, "name = '\(table)' AND pagetype = 'internal'")
        #expect(!inner.isEmpty)
        try overwrite(path, inner)
        let new = folder.path("new.sqlite")
        let salvaged = try await SQLiteStore.salvage(path, to: new, now: noon.advanced(by: 7_200))
        // How much is missing isn't known: only that this was found.
        #expect(!salvaged.isWhole && salvaged.completeSince != nil)
        let whole = try await SQLiteStore.open(path: new)
        // Keys of tables without numbers lie in inner pages too.
        if ["position", "accessKey"].contains(table) {
            let after = try await Contents(whole)
            #expect(after.positions.isSubset(of: before.positions) && after.keys.isSubset(of: before.keys))
            #expect(before.positions.count - after.positions.count < 60 && before.keys.count - after.keys.count < 10)
        } else {
            #expect(try await Contents(whole) == before)
        }
        #expect(try await whole.problems() == [])
    }

    @Test("has every row where the list of tables is lost, or the first page with all that leads to it")
    func lostList() async throws {
        let path = folder.path("a.sqlite")
        let store = try await fill(path)
        let before = try await Contents(store)
        try store.close()
        let list = try pages(path, "name = 'sqlite_schema'")
        #expect(list.count > 2 && list.contains(1))
        for (number, lost) in [[list[list.count - 1]], [1], list].enumerated() {
            let copy = folder.path("\(number).sqlite")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            try overwrite(copy, lost)
            let new = folder.path("\(number)-new.sqlite")
            let salvaged = try await SQLiteStore.salvage(copy, to: new, now: noon.advanced(by: 7_200))
            #expect(!salvaged.isWhole)
            #expect(salvaged.completeSince == noon.advanced(by: 7_501))
            let whole = try await SQLiteStore.open(path: new)
            #expect(try await Contents(whole) == before, "\(lost)")
            #expect(try await whole.problems() == [])
            for record in try await whole.sources() { #expect(record.lost[.observations] != nil) }
            // The same content is known again: the secret of the tags was found too.
            let again = try await whole.commit(Batch(source: nil, observations: whole.contents()))
            #expect(again.accepted == 0 && again.duplicates == before.observations.count)
        }
    }

    @Test("has what was committed to the log beside the file, and nothing that wasn't")
    func log() async throws {
        let path = folder.path("a.sqlite")
        let store = try await fill(path)
        // Folded into the file; what follows is in the log alone.
        try await store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
        _ = try await store.commit(
            Batch(source: nil, observations: try (0..<500).map { try observation(id: "late-\($0)", at: 5_000 + $0) }))
        let before = try await Contents(store)
        let copy = folder.path("b.sqlite")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        try store.close()
        try overwrite(copy, [1])
        // A torn frame at the end of the log is none.
        let end = try FileHandle(forWritingTo: URL(fileURLWithPath: copy + "-wal"))
        try end.seekToEnd()
        try end.write(contentsOf: Data(repeating: 1, count: 4_120))
        try end.close()
        let pages = try #require(DatabasePages(path: copy))
        // The log has the first page as well: the counters of the file change with each commit.
        #expect(pages.page(1)?.starts(with: FileHeader.magic) == true)
        var records = 0
        try pages.forEachRecord { record in
            if record.values.contains(where: { String.fromDatabaseValue($0)?.hasPrefix("late-") == true }) {
                records += 1
            }
        }
        // Rows, and the index of their ids.
        #expect(records == 1_000)
        try overwrite(copy, [1])
        let new = folder.path("new.sqlite")
        _ = try await SQLiteStore.salvage(copy, to: new, now: noon.advanced(by: 7_200))
        #expect(try await Contents(SQLiteStore.open(path: new)) == before)
    }

    @Test("finds nothing in another program's database, in noise, and in a file that is cut anywhere")
    func nothingElse() async throws {
        let other = folder.path("other.sqlite")
        let queue = try DatabaseQueue(path: other)
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE a (b, c, d, e); CREATE INDEX f ON a (b, c)")
            for number in 0..<1_000 {
                try db.execute(sql: "INSERT INTO a VALUES (?, 'x', 2.5, NULL)", arguments: [number])
            }
        }
        try queue.close()
        var random = SeededGenerator(seed: 5)
        let noise = folder.path("noise.sqlite")
        try Data((0..<200_000).map { _ in UInt8.random(in: 0...255, using: &random) }).write(
            to: URL(fileURLWithPath: noise))
        for path in [other, noise] {
            await #expect(throws: StoreError.self) {
                try await SQLiteStore.salvage(path, to: folder.path("new.sqlite"))
            }
        }
        let whole = folder.path("a.sqlite")
        let store = try await fill(whole)
        let before = try await Contents(store)
        try store.close()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: whole))
        for number in 0..<8 {
            // Any bytes may have changed, and any number may be missing.
            var changed = bytes.prefix(Int.random(in: 50_000..<bytes.count, using: &random))
            for _ in 0..<2_000 {
                changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let copy = folder.path("\(number).sqlite")
            try changed.write(to: URL(fileURLWithPath: copy))
            let new = folder.path("\(number)-new.sqlite")
            guard (try? await SQLiteStore.salvage(copy, to: new, now: noon.advanced(by: 7_200))) != nil else {
                continue
            }
            let after = try await Contents(SQLiteStore.open(path: new))
            #expect(after.observations.isSubset(of: before.observations))
            #expect(after.reports.isSubset(of: before.reports) && after.areas.isSubset(of: before.areas))
            #expect(after.positions.isSubset(of: before.positions) && after.keys.isSubset(of: before.keys))
            #expect(after.flights.isSubset(of: before.flights))
        }
    }
}
