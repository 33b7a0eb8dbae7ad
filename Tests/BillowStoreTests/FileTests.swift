import Foundation
import GRDB
import Geometry
import Testing
import Turbulence

@testable import BillowStore

@Suite("Opening a file")
struct FileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func refusal(of path: String) async -> StoreError? {
        await #expect(throws: StoreError.self) { try await SQLiteStore.open(path: path) }
    }

    private func expectUnavailable(_ path: String, _ words: String) async {
        guard case .unavailable(let named, let reason)? = await refusal(of: path) else {
            Issue.record("\(path) was not refused as unavailable")
            return
        }
        #expect(named == path)
        #expect(reason.contains(words), "\(reason)")
    }

    private func expectForeign(_ path: String, _ words: String) async {
        guard case .foreign(let named, let reason)? = await refusal(of: path) else {
            Issue.record("\(path) was not refused as foreign")
            return
        }
        #expect(named == path)
        #expect(reason.contains(words), "\(reason)")
    }

    @Test("every connection has the required settings")
    func everyConnectionKeepsItsPromises() async throws {
        let store = try await SQLiteStore.open(path: folder.path("a.sqlite"))
        let (synchronous, journal, id) = try await store.pool.writeWithoutTransaction { db in
            (
                try Int.fetchOne(db, sql: "PRAGMA synchronous"), try String.fetchOne(db, sql: "PRAGMA journal_mode"),
                try Int32.fetchOne(db, sql: "PRAGMA application_id")
            )
        }
        #expect(synchronous == 2)
        #expect(journal == "wal")
        #expect(id == StoreSchema.applicationID)
    }

    @Test("written rows are there after reopening")
    func whatWasWrittenIsThereAfterReopening() async throws {
        let path = folder.path("a.sqlite")
        let one = try observation(aircraft: "B77W")
        var store = try await SQLiteStore.open(path: path)
        var record = try await store.register(source("skypath"), merge: .replace, simulated: true)
        record.storedKinds = [.observations]
        _ = try await store.commit(Batch(source: one.source, observations: [one], cursors: ["all": "7"]))
        try store.close()
        await #expect(throws: StoreError.self) { try await store.head() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["a.sqlite"])

        store = try await SQLiteStore.open(path: path)
        #expect(try await store.head().version.rawValue == 1)
        #expect(try await store.sources() == [record])
        #expect(try await store.contents() == [one])
        #expect(try await store.cursors(of: one.source) == ["all": "7"])
        #expect(try await store.commit(one).duplicates == 1)
    }

    @Test("a temporary store leaves nothing")
    func aTemporaryStoreLeavesNothing() async throws {
        let path: String
        do {
            let store = try await SQLiteStore.temporary()
            path = store.path
            #expect(FileManager.default.fileExists(atPath: path))
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(!FileManager.default.fileExists(atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path))
    }

    @Test("paths that can't be are refused")
    func pathsThatCantBe() async throws {
        await expectUnavailable(folder.path("none/a.sqlite"), "does not exist")
        await expectUnavailable(folder.url.path, "it is a folder")
        await expectUnavailable("", "path of a file")
        await expectUnavailable(":memory:", "path of a file")
        try Data().write(to: URL(fileURLWithPath: folder.path("file")))
        await expectUnavailable(folder.path("file/a.sqlite"), "does not exist")
    }

    /// The kernel's own folder, where not even root makes a file.
    @Test("a folder that takes no file is said", .enabled(if: FileManager.default.fileExists(atPath: "/proc/self")))
    func aFolderThatTakesNoFile() async throws {
        let error = await refusal(of: "/proc/billow.sqlite")
        guard case .unavailable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a file without permission is said", .enabled(if: getuid() != 0, "root may write anywhere"))
    func withoutPermission() async throws {
        let path = folder.path("a.sqlite")
        try await SQLiteStore.open(path: path).close()
        let files = FileManager.default
        try files.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
        await expectUnavailable(path, "no permission to write it")
        try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        try files.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder.url.path)
        await expectUnavailable(path, "no permission to write into the folder")
        await expectUnavailable(folder.path("b.sqlite"), "no permission to write into the folder")
        try files.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
    }

    @Test("a file of another kind is refused and not touched")
    func aFileOfAnotherKindIsRefusedAndNotTouched() async throws {
        let text = Data(String(repeating: "not a database ", count: 20).utf8)
        // The name tells nothing, and a first page of zeros tells no more.
        for name in ["notes.txt", "notes.sqlite"] {
            let path = folder.path(name)
            for content in [text, text.prefix(30), Data("SQLite format 2\u{0}".utf8), Data(repeating: 0, count: 8_192)]
            {
                try content.write(to: URL(fileURLWithPath: path))
                await expectForeign(path, "not an SQLite database")
                #expect(throws: StoreError.self) { try SQLiteStore.check(path: path) }
                #expect(try SQLiteStore.setAside(path: path, at: noon) == nil)
                #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
            }
        }
    }

    @Test("a database of ours that is damaged is set aside", arguments: [16..<50, 100..<4_096])
    func aDatabaseOfOursThatIsDamagedIsSetAside(_ damaged: Range<Int>)
        async throws
    {
        let path = folder.path("a.sqlite")
        try await SQLiteStore.open(path: path).close()
        var content = try Data(contentsOf: URL(fileURLWithPath: path))
        content.replaceSubrange(damaged, with: Data(repeating: 7, count: damaged.count))
        try content.write(to: URL(fileURLWithPath: path))
        try SQLiteStore.check(path: path)
        guard case .corrupt? = await refusal(of: path) else {
            Issue.record("not refused as corrupt")
            return
        }
        let name = try #require(try SQLiteStore.setAside(path: path, at: noon))
        #expect(try Data(contentsOf: URL(fileURLWithPath: name)) == content)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("another program's database is refused and not touched", arguments: [0, 1_196_444_487])
    func anotherProgramsDatabaseIsRefusedAndNotTouched(id: Int) async throws {
        let path = folder.path("other.sqlite")
        let other = try DatabaseQueue(path: path)
        try await other.write { db in
            try db.execute(sql: "PRAGMA application_id = \(id); CREATE TABLE a (b)")
        }
        try other.close()
        let content = try Data(contentsOf: URL(fileURLWithPath: path))
        await expectForeign(path, "another program")
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["other.sqlite"])
    }

    @Test("an empty file and an empty database become ours")
    func anEmptyFileAndAnEmptyDatabaseBecomeOurs() async throws {
        try Data().write(to: URL(fileURLWithPath: folder.path("a.sqlite")))
        #expect(try await SQLiteStore.open(path: folder.path("a.sqlite")).head().version == .zero)
        let other = try DatabaseQueue(path: folder.path("b.sqlite"))
        try await other.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
        try other.close()
        #expect(try await SQLiteStore.open(path: folder.path("b.sqlite")).head().version == .zero)
    }

    @Test("two may make the same file at once")
    func twoMayMakeTheSameFileAtOnce() async throws {
        for round in 0..<10 {
            let path = folder.path("a\(round).sqlite")
            try await withThrowingTaskGroup { group in
                for _ in 0..<6 { group.addTask { try await SQLiteStore.open(path: path) } }
                for try await store in group { #expect(try await store.head().version == .zero) }
            }
        }
    }

    @Test("a full disk is said so and leaves nothing")
    func aFullDiskIsSaidSoAndLeavesNothing() async throws {
        let store = try await makeStore()
        _ = try await store.commit(observation(at: -1))
        func limit(pages: Int) async throws {
            try await store.pool.writeWithoutTransaction { db in
                _ = try Int.fetchOne(db, sql: "PRAGMA max_page_count = \(pages)")
            }
        }
        try await limit(pages: 30)
        let batch = Batch(source: nil, observations: try (0..<5_000).map { try observation(at: $0) })
        let error = await #expect(throws: StoreError.self) { try await store.commit(batch) }
        #expect(error?.description.hasSuffix("is full") == true, "\(String(describing: error))")
        #expect(try await store.contents().count == 1)
        #expect(try await store.head().version.rawValue == 1)
        try await limit(pages: 1_000_000)
        // On a busy machine the batch is divided.
        #expect(try await store.commit(batch).version.rawValue >= 2)
        #expect(try await store.contents().count == 5_001)
    }

    @Test("a file from a newer version is refused")
    func aFileFromANewerVersionIsRefused() async throws {
        let path = folder.path("a.sqlite")
        let store = try await SQLiteStore.open(path: path)
        try await store.pool.write {
            try $0.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('99 from the future')")
        }
        try store.close()
        await expectUnavailable(path, "newer version")
    }

    @Test("a damaged file is found")
    func aDamagedFileIsFound() async throws {
        let path = folder.path("a.sqlite")
        let store = try await SQLiteStore.open(path: path)
        _ = try await store.register(source("skypath"), merge: .replace, simulated: false)
        _ = try await store.commit(
            Batch(source: nil, observations: try (0..<5_000).map { try observation(at: $0) }))
        #expect(try await store.problems().isEmpty)
        try store.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for offset in stride(from: 64 * 4_096, to: bytes.count, by: 4_096) {
            bytes.replaceSubrange(offset..<offset + 64, with: Data(repeating: 0xAB, count: 64))
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        let damaged = try await SQLiteStore.open(path: path)
        #expect(try await !damaged.problems().isEmpty)
    }

    @Test("rows above the head are found")
    func rowsAboveTheHeadAreFound() async throws {
        let store = try await makeStore()
        _ = try await store.commit(observation())
        try await store.pool.write { db in
            try db.execute(sql: HeadColumn.update([.version: "0"], where: "id = 1"))
        }
        #expect(try await store.problems().contains { $0.contains("above the head") })
    }

    @Test("a backup is the log as it stood")
    func aBackupIsTheLogAsItStood() async throws {
        let store = try await makeStore()
        let some = try (0..<100).map { try observation(at: $0) }
        _ = try await store.commit(Batch(source: nil, observations: some))
        try await store.backup(to: folder.path("copy.sqlite"))
        _ = try await store.commit(observation(at: 100))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["copy.sqlite"])
        let copy = try await SQLiteStore.open(path: folder.path("copy.sqlite"))
        #expect(try await copy.head().version.rawValue == 1)
        // From here on the same version means another thing in each.
        #expect(try await copy.head().log != store.head().log)
        #expect(try await copy.contents().count == 100)
        #expect(try await copy.problems().isEmpty)
        // It never replaces a file, and says where it can't write.
        await #expect(throws: StoreError.self) { try await store.backup(to: folder.path("copy.sqlite")) }
        await #expect(throws: StoreError.self) { try await store.backup(to: folder.path("none/copy.sqlite")) }
    }

    @Test("a file locked for too long is said so")
    func aFileLockedForTooLongIsSaidSo() {
        let error = StoreError(DatabaseError(resultCode: .SQLITE_BUSY), path: "a")
        #expect(error.description == "the database failed: another process kept a locked for more than 10 s")
        #expect(StoreError(DatabaseError(resultCode: .SQLITE_FULL), path: "a").description.contains("is full"))
    }
}
