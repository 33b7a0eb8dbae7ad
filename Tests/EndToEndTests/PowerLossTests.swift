import BillowExchange
import BillowSnapshot
import EngineTestSupport
import Foundation
import Geometry
import Logging
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowStore
@testable import BillowSync
@testable import billow

/// The operations of servers and commands on files. The histories of commits, prunings and checkpoints are in
/// BillowStoreTests.
@Suite("Loss of power in operations on files", .serialized, .enabled(if: DiskTrace.isAvailable))
struct PowerLossTests {
    private static let histories = PowerLosses.histories(1)
    private static let rows = 300
    /// The observations lie in the twenty hours before noon.
    private static let spanSeconds = 20 * 3_600

    private let quiet = Logger(label: "power loss") { _ in SwiftLogNoOpLogHandler() }

    /// Observations that are determined by a word.
    private func observations(_ word: String, _ count: Int = rows, seed: UInt64 = 1) throws -> [Observation] {
        var random = SeededGenerator(seed: seed)
        var observations: [Observation] = []
        for number in 0..<count {
            let cell = try cell(Double(number % 100), Double(number / 100))
            let age = Int.random(in: 1..<Self.spanSeconds, using: &random)
            let source = number % 3 == 0 ? "awc" : "skypath"
            observations.append(
                try observation(
                    id: "\(word)\(number)", cell, severity: Severity(rawValue: UInt8(number % 5)), at: -age,
                    source: source))
        }
        return observations
    }

    private func batch(_ observations: [Observation]) throws -> Batch {
        Batch(
            source: nil, observations: observations,
            registration: SourceRegistration(
                [try source("skypath"), try source("awc")], simulatedByDefault: nil, unnamed: try source("skypath")))
    }

    /// A store whose long operations take many transactions.
    private func open(_ folder: TemporaryFolder, _ name: String = "a.sqlite") async throws -> SQLiteStore {
        try await SQLiteStore.open(path: folder.path(name), temporaryFolder: nil, longestTransaction: .zero)
    }

    /// The rows of a sound database. The complete check includes the packed parts.
    private func soundRows(_ store: SQLiteStore) async throws -> StoredRows {
        #expect(try await DatabaseCheck(store, logger: quiet).problems == [])
        #expect(store.damage.isEmpty)
        let rows = try await StoredRows(store)
        #expect(rows.isEachOnce)
        return rows
    }

    private func soundRows(_ path: String) async throws -> StoredRows {
        let store = try await SQLiteStore.open(path: path, access: .reading)
        let rows = try await soundRows(store)
        try store.close()
        return rows
    }

    // MARK: Rows

    @Test("an import keeps acknowledged observations, and a second import adds the rest", arguments: histories)
    func importing(seed: UInt64) async throws {
        let files = try TemporaryFolder()
        let sent = try ["a", "b", "c"].map { try observations($0, 600, seed: seed) }
        let paths = try sent.enumerated().map { number, observations in
            let lines = observations.map { observation in
                let place = H3.center(of: observation.cell)
                return "\(observation.id ?? ""),\(place.longitude),\(place.latitude),38000,"
                    + "\(observation.intensity.severity?.rawValue ?? 0),\(observation.observedAt),\(observation.source)"
            }
            let header = "id,lon,lat,altitude,severity,observedAt,source"
            return try files.write("\(number).csv", ([header] + lines).joined(separator: "\n") + "\n")
        }
        func importFile(_ path: String, _ store: SQLiteStore) async throws {
            let summary = try await FileImporter(store: store, now: { noon }).importFile(path)
            #expect(summary.observationCount == 600 && summary.refusedCount == 0)
        }
        try await PowerLossSeries<StoredRows>(name: "import", seed: seed).run { folder, acknowledge in
            let store = try await open(folder)
            for path in paths {
                try await importFile(path, store)
                acknowledge(try await StoredRows(store))
            }
            #expect(try await store.head().version.rawValue > 3)
            try store.close()
        } check: { folder, acknowledged in
            let store = try await open(folder)
            let found = try await soundRows(store)
            let least = acknowledged.last
            #expect(found.ids.isSuperset(of: least?.ids ?? []))
            #expect(found.version >= least?.version ?? .zero)
            #expect(found.ids.isSubset(of: sent.prefix(acknowledged.count + 1).flatMap { StoredRows.ids($0) }))
            for path in paths { try await importFile(path, store) }
            #expect(try await soundRows(store).ids == StoredRows.ids(sent.joined()))
            try store.close()
        }
    }

    /// What deletes old rows.
    enum Deletion: String, CaseIterable {
        case prune, retention
    }

    @Test(
        "a deletion deletes nothing else, and its repetition completes it", arguments: Deletion.allCases, histories)
    func deletion(_ deletion: Deletion, seed: UInt64) async throws {
        let all = try observations("n", 2_000, seed: seed)
        let before = noon.advanced(by: -12 * 3_600)
        let young = StoredRows.ids(all.filter { $0.observedAt >= noon.advanced(by: -8 * 3_600) })
        func delete(_ store: SQLiteStore) async throws {
            switch deletion {
            case .prune:
                _ = try await store.prune(
                    Pruning(before: before, changesPictures: true), longest: .zero, rowsAtOnce: 200)
            case .retention:
                try await Retention(
                    store: store, lifetimes: DataLifetimes(retentionSeconds: 3_600), now: { noon }, logger: quiet
                ).prune()
            }
        }
        var (first, last): (StoredRows?, StoredRows?)
        try await PowerLossSeries<StoredRows>(name: deletion.rawValue, seed: seed).run { folder in
            let store = try await open(folder)
            _ = try await store.commit(batch(all))
            first = try await StoredRows(store)
            try store.close()
        } run: { folder, acknowledge in
            let store = try await open(folder)
            try await delete(store)
            let rows = try await StoredRows(store)
            last = rows
            acknowledge(rows)
            try store.close()
        } check: { folder, acknowledged in
            let store = try await open(folder)
            let found = try await soundRows(store)
            let (most, least) = (try #require(acknowledged.last ?? first), try #require(last))
            #expect(found.ids.isSubset(of: most.ids) && found.version >= most.version)
            #expect(found.ids.isSuperset(of: least.ids))
            try await delete(store)
            #expect(try await soundRows(store).observations == least.observations)
            try store.close()
        }
        let left = try #require(last)
        #expect(left.ids.isSuperset(of: young) && left.ids.count < all.count * 3 / 4)
        if deletion == .prune { #expect(left.ids == StoredRows.ids(all.filter { $0.observedAt >= before })) }
    }

    @Test("packing changes no row, and no packed part differs from its rows", arguments: histories)
    func packing(seed: UInt64) async throws {
        let range = ArchivePart(noon.advanced(by: -Self.spanSeconds))...ArchivePart(noon)
        func pack(_ store: SQLiteStore, _ packed: @escaping (Int) -> Void = { _ in }) async throws {
            let archive = Archive(store: store, logger: quiet)
            for (number, part) in try await archive.unpackedParts(in: range).enumerated() {
                try await archive.pack(part)
                packed(number + 1)
            }
        }
        var first: StoredRows?
        try await PowerLossSeries<Int>(name: "packing", seed: seed).run { folder in
            let store = try await open(folder)
            _ = try await store.commit(batch(observations("n", seed: seed)))
            first = try await StoredRows(store)
            try store.close()
        } run: { folder, acknowledge in
            let store = try await open(folder)
            try await pack(store, acknowledge)
            try store.close()
        } check: { folder, acknowledged in
            let store = try await open(folder)
            #expect(try await soundRows(store) == first)
            #expect(try await store.packedParts().count >= acknowledged.last ?? 0)
            try await pack(store)
            #expect(try await soundRows(store) == first)
            #expect(try await store.unpackedParts(in: range).isEmpty)
            try store.close()
        }
    }

    @Test("an upgrade of a file of the first release goes on, with every row once", arguments: histories)
    func upgrade(seed: UInt64) async throws {
        let dump = Repository.folder.appending(path: "Tests/BillowStoreTests/Fixtures/released-0.1.0.sql").path
        let load = """
            import sqlite3, sys
            file = sqlite3.connect(sys.argv[1])
            file.executescript(open(sys.argv[2]).read())
            file.executescript(f"PRAGMA application_id = {sys.argv[3]}; PRAGMA journal_mode = WAL")
            """
        var whole: StoredRows?
        try await PowerLossSeries<StoredRows>(name: "upgrade", seed: seed).run { folder in
            for name in ["a.sqlite", "whole"] {
                let made = try await Command.run(
                    "-c", load, folder.path(name), dump, "\(StoreSchema.applicationID)",
                    executable: URL(filePath: "/usr/bin/python3"))
                try #require(made.status == 0, "\(made.errors)")
            }
            whole = try await soundRows(folder.path("whole"))
        } run: { folder, acknowledge in
            let store = try await open(folder)
            acknowledge(try await StoredRows(store))
            try store.close()
        } check: { folder, _ in
            #expect(try await soundRows(folder.path("a.sqlite")) == whole)
            let store = try await open(folder)
            _ = try await store.commit(batch(observations("afterwards", 1)))
            try store.close()
        }
        #expect(whole?.observations.count == 4 && whole?.reports.count == 2)
    }

    // MARK: Files

    @Test("a backup is whole or not there, and an acknowledged one stays", arguments: histories)
    func backup(seed: UInt64) async throws {
        var states: [StoredRows] = []
        try await PowerLossSeries<Int>(name: "backup", seed: seed).run { folder in
            try await open(folder).close()
        } run: { folder, acknowledge in
            let store = try await open(folder)
            for number in 0..<3 {
                _ = try await store.commit(batch(observations("n\(number)-", 200, seed: seed)))
                states.append(try await StoredRows(store))
                try await store.backup(to: folder.path("\(number).sqlite"))
                acknowledge(number)
            }
            try store.close()
        } check: { folder, acknowledged in
            for (number, state) in states.enumerated() {
                let path = folder.path("\(number).sqlite")
                guard FileManager.default.fileExists(atPath: path) else {
                    #expect(number >= acknowledged.count, "backup \(number) is gone")
                    continue
                }
                #expect(try await soundRows(path) == state)
            }
            let rows = try await soundRows(folder.path("a.sqlite"))
            #expect(rows.ids.isSuperset(of: acknowledged.last.map { states[$0].ids } ?? []))
        }
    }

    @Test("scheduled backups are whole, and none is deleted before a newer one is durable", arguments: histories)
    func scheduledBackups(seed: UInt64) async throws {
        let keep = 2
        let clock = TestClock(noon)
        func schedule(_ store: SQLiteStore, _ folder: TemporaryFolder) -> BackupSchedule {
            var settings = BackupSettings(folder: folder.path("backups/of/a"))
            settings.keep = keep
            return BackupSchedule(
                store: store, settings: settings, status: BackupStatus(settings), now: { clock.now }, logger: quiet)
        }
        var states: [Instant: StoredRows] = [:]
        try await PowerLossSeries<Instant>(name: "scheduled backups", seed: seed).run { folder in
            try await open(folder).close()
        } run: { folder, acknowledge in
            let store = try await open(folder)
            for number in 0..<5 {
                clock.advance(by: 3_600)
                _ = try await store.commit(batch(observations("n\(number)-", 100, seed: seed)))
                states[clock.now] = try await StoredRows(store)
                #expect(await schedule(store, folder).attempt())
                acknowledge(clock.now)
            }
            try store.close()
        } check: { folder, acknowledged in
            let store = try await open(folder)
            let backups = schedule(store, folder).backups()
            #expect(backups.count >= min(keep, acknowledged.count), "\(backups) after \(acknowledged.count)")
            if let newest = acknowledged.last { #expect(backups.last?.time ?? .distantPast >= newest) }
            for backup in backups { #expect(try await soundRows(backup.path) == states[backup.time]) }
            _ = try await soundRows(store)
            try store.close()
        }
    }

    /// What a restore or a salvage replaces.
    enum Previous: String, CaseIterable {
        case sound, withLog, withJournal, damagedWithLog, unknownWithLog

        /// Whether SQLite can open it.
        var isReadable: Bool { self == .sound || self == .withLog || self == .withJournal }
    }

    /// What a restore replaces, and whether the disk has hard links.
    private static let replaced = Previous.allCases.flatMap { previous in [true, false].map { (previous, $0) } }

    /// Makes a database as a killed process leaves it, readable or not.
    private func makePrevious(_ previous: Previous, in folder: TemporaryFolder, seed: UInt64) async throws -> StoredRows
    {
        let live = try TemporaryFolder()
        let store = try await open(live)
        _ = try await store.commit(batch(observations("old", seed: seed)))
        let rows = try await StoredRows(store)
        if previous != .withLog && previous != .unknownWithLog { try store.close() }
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store.path + suffix) {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: folder.path("a.sqlite") + suffix)
        }
        switch previous {
        case .sound, .withLog: break
        case .withJournal: try await leaveJournal(folder.path("a.sqlite"))
        // SQLite can't read the table of contents.
        case .damagedWithLog:
            try overwrite(folder.path("a.sqlite"), from: 100, count: 900)
            try Data(repeating: 0xFF, count: 5_000).write(to: URL(filePath: folder.path("a.sqlite-wal")))
        // Billow doesn't pass the file to SQLite, so that its log stays beside it.
        case .unknownWithLog: try overwrite(folder.path("a.sqlite"), from: 0, count: 16)
        }
        return rows
    }

    private func overwrite(_ path: String, from start: UInt64, count: Int) throws {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.seek(toOffset: start)
        try file.write(contentsOf: Data(repeating: 0xFF, count: count))
        try file.close()
    }

    /// Kills a process in the middle of a transaction without a write-ahead log.
    private func leaveJournal(_ path: String) async throws {
        let write = """
            import os, signal, sqlite3, sys
            file = sqlite3.connect(sys.argv[1], isolation_level=None)
            file.executescript("PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; BEGIN")
            file.execute("CREATE TABLE filler AS SELECT randomblob(3000) FROM observation")
            os.kill(os.getpid(), signal.SIGKILL)
            """
        let run = try await Command.run("-c", write, path, executable: URL(filePath: "/usr/bin/python3"))
        try #require(run.status == -SIGKILL, "\(run.errors)")
        #expect(FileManager.default.fileExists(atPath: path + "-journal"))
    }

    @Test(
        "a restore leaves the previous database or the restored one, and the previous one beside it",
        arguments: replaced, histories)
    private func restore(_ replaced: (previous: Previous, hasLinks: Bool), seed: UInt64) async throws {
        let (previous, hasLinks) = replaced
        var (old, new): (StoredRows?, StoredRows?)
        func restore(_ folder: TemporaryFolder) async throws -> String? {
            try await SQLiteStore.restore(folder.path("b.sqlite"), to: folder.path("a.sqlite"), at: noon)
        }
        try await PowerLossSeries<String>(
            name: "restore, \(previous)\(hasLinks ? "" : ", without hard links")", seed: seed, hasLinks: hasLinks
        ).run { folder in
            let other = try TemporaryFolder()
            let store = try await open(other)
            _ = try await store.commit(batch(observations("new", seed: seed)))
            new = try await StoredRows(store)
            try await store.backup(to: folder.path("b.sqlite"))
            try store.close()
            old = try await makePrevious(previous, in: folder, seed: seed)
        } run: { folder, acknowledge in
            acknowledge(try #require(try await restore(folder)))
        } check: { folder, acknowledged in
            let path = folder.path("a.sqlite")
            let isOld = try await isPrevious(path, previous, old, else: new)
            #expect(!isOld || acknowledged.isEmpty)
            if !isOld {
                let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
                let name = try #require(
                    names.first { $0.hasPrefix("a.sqlite.before-restore-") && $0.hasSuffix("Z") })
                if previous.isReadable {
                    #expect(try await StoredRows(open(folder, name)).observations == old?.observations)
                }
                #expect(previous != .unknownWithLog || names.contains(name + "-wal"))
            }
            _ = try await restore(folder)
            #expect(try await soundRows(path) == new)
        }
    }

    /// Whether a path has the previous database. It has another one otherwise, whole and open for writing.
    /// - Parameter new: the expected rows; nil if they are salvaged from the previous database.
    private func isPrevious(
        _ path: String, _ previous: Previous, _ old: StoredRows?, else new: StoredRows?
    ) async throws -> Bool {
        let bytes = FileManager.default.contents(atPath: path).map { Array($0.prefix(200)) } ?? []
        let overwritten = [UInt8](repeating: 0xFF, count: 16)
        if bytes.starts(with: overwritten) || bytes.dropFirst(100).starts(with: overwritten) { return true }
        let store = try await SQLiteStore.open(path: path)
        let rows = try await soundRows(store)
        try store.close()
        if previous.isReadable, rows.observations == old?.observations { return true }
        #expect(new == nil || rows == new)
        return false
    }

    @Test(
        "a server that replaces a damaged database keeps it, and keeps all salvaged rows", arguments: [true, false],
        histories)
    func replacement(hasLinks: Bool, seed: UInt64) async throws {
        var old: StoredRows?
        func replace(_ folder: TemporaryFolder) async throws -> String {
            try await SQLiteStore.replaceDamaged(path: folder.path("a.sqlite"), reason: "test", at: noon).name
        }
        try await PowerLossSeries<String>(
            name: "replacement\(hasLinks ? "" : " without hard links")", seed: seed, hasLinks: hasLinks
        ).run { folder in
            old = try await makePrevious(.damagedWithLog, in: folder, seed: seed)
        } run: { folder, acknowledge in
            acknowledge(try await replace(folder))
        } check: { folder, acknowledged in
            let path = folder.path("a.sqlite")
            let isOld = try await isPrevious(path, .damagedWithLog, old, else: nil)
            #expect(!isOld || acknowledged.isEmpty)
            if isOld { _ = try await replace(folder) }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            #expect(names.contains { $0.hasPrefix("a.sqlite.corrupt-") && $0.hasSuffix("Z") }, "\(names)")
            #expect(try await soundRows(path).ids == old?.ids)
        }
    }

    @Test("an exported file is the previous one or the new one", arguments: histories)
    func output(seed: UInt64) async throws {
        let texts = (0..<6).map { [UInt8](repeating: UInt8(65 + $0), count: 2_000 + 700 * $0) }
        try await PowerLossSeries<Int>(name: "export", seed: seed).run { folder, acknowledge in
            for (number, text) in texts.enumerated() {
                let output = try OutputFile(folder.path("out.csv"), sparing: folder.path("a.sqlite"))
                try await output.write {
                    try output.write(Array(text.prefix(900)))
                    try output.write(Array(text.dropFirst(900)))
                }
                acknowledge(number)
            }
        } check: { folder, acknowledged in
            let found = FileManager.default.contents(atPath: folder.path("out.csv")).map { Array($0) }
            #expect(found != nil || acknowledged.isEmpty)
            if let found {
                let number = try #require(texts.firstIndex(of: found))
                #expect(number >= acknowledged.last ?? 0)
            }
        }
    }

    @Test("an export since the last run goes on where its files end", arguments: histories)
    func dailyFiles(seed: UInt64) async throws {
        let content = DailyFiles.Content(collection: "observations", format: "csv", query: "", header: "id\n")
        let days = ["2026-11-19", "2026-11-20", "2026-11-21"]
        let runs = 6
        func file(_ folder: TemporaryFolder) throws -> DailyFiles {
            try DailyFiles(folder: folder.path("daily/files"), content, log: "log")
        }
        /// The lines that a run appends to a day.
        func lines(_ run: Int, _ day: String) -> [UInt8] {
            Array((0..<100).map { "\(run)-\(day)-\($0)\n" }.joined().utf8)
        }
        func daysOf(_ run: Int) -> [String] { Array(days.prefix(1 + run / 2)) }
        func append(_ folder: TemporaryFolder, _ run: Int) throws {
            var files = try file(folder)
            for day in daysOf(run) {
                if try files.length(day: day) == 0 { try files.append(Array("id\n".utf8), day: day) }
                try files.append(Array(lines(run, day).prefix(500)), day: day)
                try files.append(Array(lines(run, day).dropFirst(500)), day: day)
            }
            try files.commit(OpenedPlace(endOf: Version(rawValue: Int64(run + 1))))
        }
        try await PowerLossSeries<Int>(name: "export since the last run", seed: seed).run { folder, acknowledge in
            for run in 0..<runs {
                try append(folder, run)
                acknowledge(run + 1)
            }
        } check: { folder, acknowledged in
            let done = Int(try file(folder).place.version)
            #expect(done >= acknowledged.last ?? 0)
            for run in done..<runs { try append(folder, run) }
            for day in days {
                let text = FileManager.default.contents(atPath: folder.path("daily/files/observations-\(day).csv"))
                let expected = (0..<runs).filter { daysOf($0).contains(day) }.flatMap { lines($0, day) }
                #expect(text.map { Array($0) } == Array("id\n".utf8) + expected, "\(day), from run \(done)")
            }
        }
    }
}
