import Foundation
import GRDB
import Testing
import Turbulence

@testable import BillowStore

@Suite("Files of a database")
struct FileSafetyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    private func makeStore(_ name: String, count: Int = 10) async throws -> SQLiteStore {
        let store = try await SQLiteStore.open(path: folder.path(name))
        _ = try await store.register(source("skypath"), merge: .replace, simulated: false)
        _ = try await store.commit(Batch(source: nil, observations: try (0..<count).map { try observation(at: $0) }))
        return store
    }

    private func reason(_ error: StoreError?) -> String { error.map(\.description) ?? "no error" }

    // MARK: Removed or replaced while it is open

    @Test("a database whose files go away takes nothing more, and says so", arguments: ["", "-wal", "-shm"])
    func removed(suffix: String) async throws {
        let store = try await makeStore("a.sqlite")
        try FileManager.default.moveItem(atPath: store.path + suffix, toPath: folder.path("moved"))
        for _ in 0..<2 {
            let writing = await #expect(throws: StoreError.self) { try await store.commit(observation(at: 50)) }
            let reading = await #expect(throws: StoreError.self) { try await store.head() }
            for error in [writing, reading] {
                guard case .replaced(let path, true)? = error else {
                    Issue.record("\(reason(error))")
                    return
                }
                #expect(path == store.path + suffix)
            }
        }
        // Put back, it is the same.
        try FileManager.default.moveItem(atPath: folder.path("moved"), toPath: store.path + suffix)
        #expect(try await store.commit(observation(at: 50)).accepted == 1)
    }

    @Test("a database that another one took the place of takes nothing more")
    func replaced() async throws {
        let other = try await makeStore("b.sqlite")
        try other.close()
        let store = try await makeStore("a.sqlite")
        #expect(rename(other.path, store.path) == 0)
        let error = await #expect(throws: StoreError.self) { try await store.commit(observation(at: 50)) }
        guard case .replaced(_, false)? = error else {
            Issue.record("\(reason(error))")
            return
        }
    }

    @Test("what is removed during a transaction is not acknowledged")
    func removedWithin() async throws {
        let store = try await makeStore("a.sqlite")
        let error = await #expect(throws: StoreError.self) {
            try await store.writing { db in
                try RawStatement(db, "UPDATE head SET rules = rules").run()
                _ = unlink(store.path)
            }
        }
        guard case .replaced? = error else {
            Issue.record("\(reason(error))")
            return
        }
    }

    // MARK: Creating

    @Test("a new database, and what lies beside it, is its owner's only")
    func permissions() async throws {
        let store = try await makeStore("a.sqlite")
        for suffix in ["", "-wal", "-shm"] {
            #expect(try FileIdentity.status(store.path + suffix).orMissing().st_mode & 0o777 == 0o600, "\(suffix)")
        }
        #expect(SQLiteStore.permissionWarning(path: store.path) == nil)
        try await store.backup(to: folder.path("b.sqlite"))
        #expect(try FileIdentity.status(folder.path("b.sqlite")).orMissing().st_mode & 0o777 == 0o600)
        // One that is there keeps what it has, which a check says.
        try store.close()
        #expect(chmod(store.path, 0o644) == 0)
        try await SQLiteStore.open(path: store.path).close()
        #expect(try FileIdentity.status(store.path).orMissing().st_mode & 0o777 == 0o644)
        #expect(SQLiteStore.permissionWarning(path: store.path)?.contains("644") == true)
    }

    @Test("a file whose creation was killed is brought in order")
    func killedWhileCreated() async throws {
        let half = folder.path("half.sqlite")
        let queue = try DatabaseQueue(path: half)
        let folder = folder
        try await queue.writeWithoutTransaction { db in
            // Pages go to the file before the transaction ends, and the journal says how to undo them.
            try db.execute(sql: "VACUUM; PRAGMA cache_size = 2; PRAGMA cache_spill = 2; BEGIN IMMEDIATE")
            try db.execute(sql: "CREATE TABLE a (b); PRAGMA application_id = \(StoreSchema.applicationID)")
            for _ in 0..<50 { try db.execute(sql: "INSERT INTO a VALUES (randomblob(3000))") }
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: half + suffix, toPath: folder.path("a.sqlite") + suffix)
            }
            try db.execute(sql: "ROLLBACK")
        }
        try queue.close()
        #expect(DatabaseFile.size(folder.path("a.sqlite-journal")) > 512)
        #expect(try await SQLiteStore.open(path: folder.path("a.sqlite")).head().version == .zero)
        #expect(try !names().contains("a.sqlite-journal"))
    }

    @Test("an empty file, and a file that is cut, are said to be")
    func emptyAndCut() async throws {
        let empty = folder.path("empty.sqlite")
        try Data().write(to: URL(fileURLWithPath: empty))
        let error = await #expect(throws: StoreError.self) { try await SQLiteStore.open(path: empty, access: .reading) }
        #expect(reason(error).contains("0 bytes"))
        #expect(try bytes(empty).isEmpty)

        let store = try await makeStore("a.sqlite", count: 2_000)
        try store.close()
        #expect(truncate(store.path, off_t(try bytes(store.path).count - 1_234)) == 0)
        let cut = try await SQLiteStore.open(path: store.path, access: .reading)
        #expect(cut.missingBytes == 1_234)
        #expect(try await cut.problems().first?.contains("1234 bytes are missing") == true)
        #expect(try await cut.rows(from: .distantPast, to: .distantFuture).rows.count > 1_500)
    }

    // MARK: Reading only

    @Test("reading changes no byte and leaves no file")
    func reading() async throws {
        let store = try await makeStore("a.sqlite", count: 500)
        try store.close()
        let before = try bytes(store.path)
        let reader = try await SQLiteStore.open(path: store.path, access: .reading)
        #expect(try await reader.problems() == [])
        #expect(try await reader.contents().count == 500)
        try await reader.backup(to: folder.path("b.sqlite"))
        await #expect(throws: StoreError.self) { try await reader.commit(observation(at: 900)) }
        try reader.close()
        #expect(try bytes(store.path) == before)
        #expect(try names() == ["a.sqlite", "b.sqlite"])
        // A backup can be read from anywhere: it needs no file beside it.
        let backup = try await SQLiteStore.open(path: folder.path("b.sqlite"), access: .reading)
        #expect(try await backup.contents().count == 500)
        #expect(try names() == ["a.sqlite", "b.sqlite"])
        await #expect(throws: StoreError.self) {
            try await SQLiteStore.open(path: folder.path("c.sqlite"), access: .reading)
        }
    }

    @Test("reading continues beside a writer, and in a log that a killed process left")
    func readingBesideWriter() async throws {
        let store = try await makeStore("a.sqlite")
        let reader = try await SQLiteStore.open(path: store.path, access: .reading)
        _ = try await store.commit(observation(at: 100))
        #expect(try await reader.contents().count == 11)
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: folder.path("c.sqlite") + suffix)
        }
        let log = try bytes(folder.path("c.sqlite-wal"))
        let killed = try await SQLiteStore.open(path: folder.path("c.sqlite"), access: .reading)
        #expect(try await killed.contents().count == 11)
        try killed.close()
        #expect(try bytes(folder.path("c.sqlite-wal")) == log)
    }

    // MARK: A log of another database

    /// A database as a backup of it was, beside the log that it had later.
    private func mixed(usesLog: Bool) async throws -> String {
        let store = try await makeStore("a.sqlite", count: 3_000)
        let path = folder.path("x.sqlite")
        try await store.backup(to: path)
        if usesLog {
            // As backups were made before, and as a copied file is.
            try await SQLiteStore.open(path: path).close()
        }
        _ = try await store.commit(
            Batch(source: nil, observations: try (3_000..<6_000).map { try observation(at: $0) }))
        try FileManager.default.copyItem(atPath: store.path + "-wal", toPath: path + "-wal")
        return path
    }

    @Test("a database beside another one's log is refused and not touched", arguments: [false, true])
    func foreignLog(usesLog: Bool) async throws {
        let path = try await mixed(usesLog: usesLog)
        let before = [try bytes(path), try bytes(path + "-wal")]
        for access in [StoreAccess.writing, .reading] {
            let error = await #expect(throws: StoreError.self) {
                try await SQLiteStore.open(path: path, access: access)
            }
            guard case .foreign(_, let reason)? = error else {
                Issue.record("\(reason(error))")
                return
            }
            #expect(reason.contains("belongs to another database") && reason.contains("restore"))
        }
        #expect([try bytes(path), try bytes(path + "-wal")] == before)
        try FileManager.default.removeItem(atPath: path + "-wal")
        _ = unlink(path + "-shm")
        #expect(try await SQLiteStore.open(path: path).contents().count == 3_000)
    }

    @Test("its own log makes a database whole, also where it was pruned or given another rule")
    func ownLog() async throws {
        let store = try await makeStore("a.sqlite", count: 100)
        func copy(_ name: String) throws -> String {
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: store.path + suffix, toPath: folder.path(name) + suffix)
            }
            return folder.path(name)
        }
        try await store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        _ = try await store.prune(Pruning(before: noon.advanced(by: 50), changesPictures: true))
        #expect(try await SQLiteStore.open(path: copy("b.sqlite")).contents().count == 50)
        try await store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        _ = try await store.register(source("skypath"), merge: .keep, simulated: false)
        #expect(try await SQLiteStore.open(path: copy("c.sqlite")).head() == store.head())
        try await store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try await store.setPersistedOverride("{}", of: source("skypath"))
        #expect(try await SQLiteStore.open(path: copy("d.sqlite")).head() == store.head())
    }

    @Test("nothing is created beside a log whose database is gone: SQLite would delete it")
    func logWithoutDatabase() async throws {
        let store = try await makeStore("a.sqlite")
        try FileManager.default.copyItem(atPath: store.path + "-wal", toPath: folder.path("b.sqlite-wal"))
        for content in [nil, Data()] {
            if let content { try content.write(to: URL(fileURLWithPath: folder.path("b.sqlite"))) }
            let error = await #expect(throws: StoreError.self) {
                try await SQLiteStore.open(path: folder.path("b.sqlite"))
            }
            #expect(reason(error).contains("write-ahead log"))
        }
        #expect(try bytes(folder.path("b.sqlite-wal")) == bytes(store.path + "-wal"))
    }

    // MARK: Restore

    @Test("a restored database is the backup; the former one stays, with its log")
    func restore() async throws {
        let path = try await mixed(usesLog: true)
        let backup = folder.path("backup.sqlite")
        let store = try await makeStore("c.sqlite", count: 42)
        try await store.backup(to: backup)
        let before = [try bytes(path), try bytes(path + "-wal")]
        let former = try #require(try await SQLiteStore.restore(backup, to: path, at: noon))
        #expect(former == path + ".before-restore-\(noon.compact)")
        #expect([try bytes(former), try bytes(former + "-wal")] == before)
        let restored = try await SQLiteStore.open(path: path)
        #expect(try await restored.contents().count == 42)
        #expect(try await restored.head().log != store.head().log)
        try restored.close()
        // Again, in the same second, and where there is none.
        #expect(try await SQLiteStore.restore(backup, to: path, at: noon) == former + "-2")
        #expect(try await SQLiteStore.restore(backup, to: folder.path("new.sqlite"), at: noon) == nil)
        #expect(try names().allSatisfy { !$0.contains("unfinished") })
    }

    @Test("the log of a killed process is folded into the former database, and nothing of it stays at the path")
    func restoreBesideOwnLog() async throws {
        let store = try await makeStore("a.sqlite", count: 7)
        // As a killed process leaves it: the file, and its log with all rows.
        let path = folder.path("b.sqlite")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: path + suffix)
        }
        let other = try await makeStore("c.sqlite", count: 3)
        let backup = folder.path("backup.sqlite")
        try await other.backup(to: backup)
        let former = try #require(try await SQLiteStore.restore(backup, to: path, at: noon))
        #expect(
            try names().filter { $0.hasPrefix("b.sqlite") }.sorted() == [
                "b.sqlite", "b.sqlite.before-restore-\(noon.compact)",
            ])
        #expect(try await SQLiteStore.open(path: former).contents().count == 7)
        #expect(try await SQLiteStore.open(path: path).contents().count == 3)
    }

    @Test("a database that can't be kept under another name is not replaced, and nothing changes")
    func restoreWithoutCopy() async throws {
        let store = try await makeStore("a.sqlite", count: 7)
        let backup = folder.path("backup.sqlite")
        try await store.backup(to: backup)
        let path = folder.path("b.sqlite")
        try FileManager.default.copyItem(atPath: backup, toPath: path)
        // A folder has no second name, as a file on FAT and exFAT, and it can't be copied as a file.
        try FileManager.default.createDirectory(atPath: path + "-shm", withIntermediateDirectories: false)
        let (before, namesBefore) = (try bytes(path), try names())
        let error = await #expect(throws: StoreError.self) {
            try await SQLiteStore.restore(backup, to: path, at: noon)
        }
        #expect(reason(error).contains("no copy of it can be kept") && reason(error).contains("nothing has changed"))
        #expect(try bytes(path) == before && names() == namesBefore)
    }

    @Test("a backup that fails its check leaves no file")
    func checkedBackup() async throws {
        let store = try await makeStore("a.sqlite", count: 7)
        let backup = folder.path("backup.sqlite")
        let error = await #expect(throws: StoreError.self) {
            try await store.backup(to: backup) { (copy) throws(StoreError) in
                try await copy.problems() + ["one problem"]
            }
        }
        guard case .corrupt(store.path, "one problem")? = error else {
            Issue.record("\(reason(error))")
            return
        }
        #expect(try names().allSatisfy { !$0.hasPrefix("backup") })
        try await store.backup(to: backup) { (copy) throws(StoreError) in try await copy.problems() }
        #expect(try await SQLiteStore.open(path: backup).contents().count == 7)
    }

    @Test("a backup that isn't sound, or is the database itself, is not restored")
    func restoreRefused() async throws {
        let path = try await mixed(usesLog: false)
        let before = try bytes(path)
        _ = unlink(path + "-wal")
        await #expect(throws: StoreError.self) { try await SQLiteStore.restore(path, to: path, at: noon) }
        let bad = folder.path("bad.sqlite")
        try before.dropLast(5_000).write(to: URL(fileURLWithPath: bad))
        let error = await #expect(throws: StoreError.self) { try await SQLiteStore.restore(bad, to: path, at: noon) }
        guard case .corrupt? = error else {
            Issue.record("\(reason(error))")
            return
        }
        #expect(try bytes(path) == before)
        #expect(try names().allSatisfy { !$0.contains("restore-") })
    }

    // MARK: Files that get their name when they are whole

    @Test("two writers of one file never mix, and the remains of a killed one are removed")
    func unfinished() throws {
        let path = folder.path("out.csv")
        let remains = folder.path("out.csv.unfinished-\(UUID().uuidString)")
        let others = ["out.csv.unfinished-notes", "other.csv.unfinished-\(UUID().uuidString)"]
        for path in [remains] + others.map(folder.path) { try Data("x".utf8).write(to: URL(fileURLWithPath: path)) }
        var times = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]
        #expect(utimes(remains, &times) == 0)
        let first = try UnfinishedFile(for: path)
        let second = try UnfinishedFile(for: path)
        try first.write(Array("first".utf8))
        try second.write(Array("second ".utf8))
        try second.write([])
        try second.write(Array("more".utf8))
        #expect(try !names().contains("out.csv"))
        try second.finish(replacing: true)
        #expect(try bytes(path) == Data("second more".utf8))
        #expect(throws: FileError.self) { try first.finish(replacing: false) }
        #expect(try bytes(path) == Data("second more".utf8))
        try first.finish(replacing: true)
        #expect(try bytes(path) == Data("first".utf8))
        let third = try UnfinishedFile(for: path)
        try third.write([1])
        third.discard()
        #expect(try names() == (others + ["out.csv"]).sorted())
    }

    @Test("a database and what lies beside it are known by any path")
    func namesOfADatabase() async throws {
        let store = try await makeStore("a.sqlite")
        try await store.backup(to: folder.path("backup.sqlite"))
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "a.sqlite")
        try FileManager.default.createSymbolicLink(atPath: folder.path("folder"), withDestinationPath: ".")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("dangling"), withDestinationPath: "a.sqlite-journal")
        try FileManager.default.linkItem(atPath: store.path, toPath: folder.path("hard"))
        let names = DatabaseNames(store.path)
        for name in [
            "a.sqlite", "a.sqlite-wal", "a.sqlite-shm", "a.sqlite-journal", "link", "hard", "dangling",
            "folder/a.sqlite",
            "./folder/../a.sqlite-wal", "backup.sqlite", "backup.sqlite-wal",
        ] { #expect(names.areLost(byWriting: folder.path(name)), "\(name)") }
        for name in ["b.sqlite", "a.sqlite.csv", "folder/b"] {
            #expect(!names.areLost(byWriting: folder.path(name)), "\(name)")
        }
    }

    @Test("a backup that is cancelled leaves nothing")
    func cancelledBackup() async throws {
        let store = try await makeStore("a.sqlite", count: 1_000)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.backup(to: folder.path("b.sqlite"))
        }
        await #expect(throws: StoreError.self) { try await task.value }
        #expect(try names().allSatisfy { $0.hasPrefix("a.sqlite") })
    }
}
