internal import Foundation
internal import GRDB
internal import Turbulence

/// How a caller uses a database.
package enum StoreAccess: Sendable, Hashable {
    /// Reads only: the file and its folder may be read-only, and nothing in them changes.
    case reading
    /// Reads and writes; a missing file is created.
    case writing
}

/// A database file before SQLite opens it. Opening for writing may change a file, so files that must stay unchanged are
/// detected first. These are another program's database and a write-ahead log (WAL) of another database.
struct DatabaseFile {
    var path: String

    /// The suffixes of the files that SQLite creates beside a database.
    static let companions = ["-wal", "-shm", "-journal"]

    /// - Throws: `StoreError.unavailable` if the file can't be opened or created. `StoreError.foreign` if the file or
    ///   its WAL belongs to another program or database. `StoreError.unreleased` if a build from before the first
    ///   release wrote it. `StoreError.corrupt` if its first page is unreadable.
    func check(for access: StoreAccess = .writing) throws {
        guard !path.isEmpty, path != ":memory:" else { throw unavailable("it must be the path of a file") }
        removeReplacedCompanions()
        var isFolder: ObjCBool = false
        let files = FileManager.default
        guard files.fileExists(atPath: path, isDirectory: &isFolder) else {
            guard access == .writing else { throw unavailable("there is no such file") }
            try checkFolder()
            return try checkNoOrphanedLog("there is no such file")
        }
        guard !isFolder.boolValue else { throw unavailable("it is a folder") }
        guard files.isReadableFile(atPath: path) else { throw unavailable("no permission to read it") }
        if access == .writing {
            guard files.isWritableFile(atPath: path) else { throw unavailable("no permission to write it") }
            try checkFolder()
        }
        let header = try header()
        if header.isEmpty {
            try checkNoOrphanedLog("it is empty (0 bytes)")
            guard access == .writing else { throw StoreError.corrupt(path: path, reason: "it is empty (0 bytes)") }
            return
        }
        try checkOwner(header, access)
        try checkLog(header)
        try checkRelease()
    }

    /// SQLite creates its write-ahead log beside the file.
    private func checkFolder() throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw unavailable("the folder \(folder) does not exist")
        }
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw unavailable("no permission to write into the folder \(folder)")
        }
    }

    private func unavailable(_ reason: String) -> StoreError { .unavailable(path: path, reason: reason) }

    // MARK: The header

    /// The first 100 bytes, or fewer if the file is shorter.
    ///
    /// Source: SQLite file format, section 1.3, https://sqlite.org/fileformat2.html
    private func header() throws -> FileHeader {
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }  // No data was written, so a failed close loses nothing.
            return FileHeader(bytes: Array(try file.read(upToCount: FileHeader.length) ?? Data()))
        } catch {
            throw unavailable("it can't be read")
        }
    }

    private func checkOwner(_ header: FileHeader, _ access: StoreAccess) throws {
        guard header.isSQLite else {
            throw StoreError.foreign(
                path: path,
                reason: "it is not an SQLite database, and is left as it is; give another file, or move it away")
        }
        guard header.isWhole else {
            throw StoreError.corrupt(path: path, reason: "it ends within its header, after \(header.bytes.count) bytes")
        }
        if header.isOurs { return }
        // The id may only be in the WAL of a killed process. A file without any table may be used.
        if header.applicationID == 0, try isOursOrEmpty(access) { return }
        throw StoreError.foreign(path: path, reason: "it is the SQLite database of another program; give another file")
    }

    /// Whether the damaged file begins with SQLite's magic bytes and Billow's application id. Billow never moves
    /// another program's file.
    func isBillowFile() -> Bool {
        // An unreadable header is no proof of ownership.
        guard let header = try? header() else { return false }
        return header.isSQLite && header.isOurs
    }

    /// A process that was killed while it created the file leaves a rollback journal. SQLite rolls it back on opening,
    /// which needs write permission.
    private func isOursOrEmpty(_ access: StoreAccess) throws -> Bool {
        let needsRollback = Self.size(path + "-journal") > 0
        guard !needsRollback || access == .writing else {
            throw unavailable("a process was killed while it created the file; any command that writes repairs it")
        }
        let (id, isEmpty) = try reading(readonly: !needsRollback) { db in
            (
                try Int32.fetchOne(db, sql: "PRAGMA application_id"),
                try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 0
            )
        }
        return id == StoreSchema.applicationID || id == 0 && isEmpty
    }

    private func reading<T>(readonly: Bool = true, immutable: Bool = false, _ body: (Database) throws -> T) throws -> T
    {
        var configuration = Configuration.atDefaultPriority
        configuration.readonly = readonly
        configuration.busyMode = .timeout(TimeInterval(SQLiteStore.busyTimeoutSeconds))
        let queue = try DatabaseQueue(
            path: immutable ? Self.immutableAddress(path) : path, configuration: configuration)
        defer { try? queue.close() }  // A reader has no data to lose.
        return try queue.read(body)
    }

    /// Reads the file in immutable mode if it has no WAL, so that SQLite creates no file beside it.
    private func checkRelease() throws {
        let isUnreleased: Bool
        // Opening the file reports damage later.
        do { isUnreleased = try reading(immutable: Self.size(path + "-wal") == 0, StoreSchema.isUnreleased) } catch {
            return
        }
        if isUnreleased { throw StoreError.unreleased(path: path) }
    }

    // MARK: Missing bytes

    /// The number of bytes by which the file is shorter than its header says; 0 for a complete file. While a WAL
    /// exists, the file may still have to grow.
    func missingBytes() -> Int64 {
        guard let header = try? header(), header.isSQLite, header.isWhole, Self.size(path + "-wal") == 0 else {
            return 0
        }
        return max(0, header.fileSize - Self.size(path))
    }

    /// The size of a file in bytes; 0 if it doesn't exist.
    static func size(_ path: String) -> Int64 { FileIdentity.status(path).map { Int64($0.st_size) } ?? 0 }

    // MARK: The log beside it

    /// SQLite deletes a WAL that has no database, so Billow creates no database beside one.
    private func checkNoOrphanedLog(_ what: String) throws {
        guard Self.size(path + "-wal") > 0 else { return }
        throw unavailable(
            "\(what), but a write-ahead log \(path)-wal with data is there; put the database back, or move the log away"
        )
    }

    /// Checks that the WAL of a killed process belongs to this database. SQLite can't detect a foreign WAL: it would
    /// mix the pages of two databases.
    private func checkLog(_ header: FileHeader) throws {
        guard Self.size(path + "-wal") > 0 else { return }
        // SQLite checkpoints and deletes the WAL before it leaves WAL mode.
        guard header.usesLog else { throw foreignLog }
        // A process that has the database open has validated the WAL.
        guard opener == nil else { return }
        let alone: WriteAheadLogState
        // Without the pages in its WAL the file may be invalid, which proves nothing.
        do { alone = try reading(immutable: true, WriteAheadLogState.init) } catch { return }
        do {
            guard try reading(WriteAheadLogState.init).mayFollow(alone) else { throw foreignLog }
        } catch let error as DatabaseError {
            // A file that is readable only without its WAL is not damaged, because SQLite checks each WAL page by
            // checksum. So the WAL is foreign.
            if [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR].contains(error.resultCode) { throw foreignLog }
        } catch is UnreadableRow {
            throw foreignLog
        }
    }

    private var foreignLog: StoreError {
        .foreign(
            path: path,
            reason: "the write-ahead log \(path)-wal beside it belongs to another database, and nothing was changed; "
                + "move \(path)-wal and \(path)-shm away, and put a backup back with billow restore only")
    }

    /// Removes the side files of a previous database that has them under another name, too. They are left if a process
    /// ends, or the power fails, between the replacement of a database and their removal. SQLite would read them into
    /// the new database.
    func removeReplacedCompanions() {
        removeMarkedCompanions()
        // Only a file with a second name has a place to be found at.
        let linked = Self.companions.filter { FileIdentity.status(path + $0).map { $0.st_nlink > 1 } ?? false }
        guard !linked.isEmpty else { return }
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent()
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let previous = names.filter { $0.hasPrefix(url.lastPathComponent + ".") }
            .map { folder.appendingPathComponent($0).path }
        for suffix in linked {
            let identity = FileIdentity(path + suffix)
            let isKept = previous.contains { name in
                guard FileIdentity(name + suffix) == identity, let main = FileIdentity(name) else { return false }
                return main != FileIdentity(path)
            }
            if isKept { unlink(path + suffix) }
        }
    }

    /// A file with the name of the log that replaces another one.
    private var replacementMark: String { path + ".replaced-by" }

    /// Notes durably that a file is about to replace the database. On a file system without hard links, nothing else
    /// tells the side files of the previous one from those of the new one.
    func markReplacement(by file: String) throws {
        let mark = try UnfinishedFile(for: replacementMark, mode: 0o600, besides: path)
        do {
            try mark.write(Array(DatabaseFile(path: file).logName().utf8))
            try mark.finish(replacing: true)
        } catch {
            mark.discard()
            throw error
        }
    }

    /// Removes the side files of a previous database if the marked one has replaced it, and then the mark.
    private func removeMarkedCompanions() {
        guard let mark = FileManager.default.contents(atPath: replacementMark) else { return }
        // The previous database may be unreadable. It is not the marked one then.
        if let name = try? logName(), mark == Data(name.utf8) {
            for suffix in Self.companions { unlink(path + suffix) }
            // The mark goes last, also after a loss of power. If it stays, the next command removes it.
            do throws(FileError) { try Folder(of: path).sync() } catch { return }
        }
        unlink(replacementMark)
    }

    /// The name of the log in the file alone, without the files beside it.
    private func logName() throws -> String { try reading(immutable: true) { try StoredHead($0).head.log } }

    /// The id of another process that has the file open as a database, found by its file lock; nil if there is none.
    ///
    /// Source: SQLite source, os.h (PENDING_BYTE, SHARED_FIRST, SHARED_SIZE)
    var opener: Int32? {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = 0x4000_0000
        lock.l_len = 512
        guard fcntl(descriptor, F_GETLK, &lock) == 0, lock.l_type != Int16(F_UNLCK) else { return nil }
        return lock.l_pid
    }

    /// A URI that makes SQLite read the file as it is, without locks and without its WAL.
    static func immutableAddress(_ path: String) -> String {
        let whole = URL(fileURLWithPath: path).path
        let escaped = whole.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? whole
        return "file:\(escaped)?immutable=1"
    }

    // MARK: Reading only

    /// The path or URI that SQLite opens to read the file without changing anything.
    ///
    /// Source: https://sqlite.org/wal.html (read-only databases)
    func readOnlyAddress() throws -> String {
        guard try header().usesLog else { return path }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        // SQLite shares the WAL index with other processes in the `-shm` file.
        if FileManager.default.isWritableFile(atPath: folder) || Self.size(path + "-shm") > 0 { return path }
        guard Self.size(path + "-wal") == 0 else {
            throw unavailable(
                "its write-ahead log can't be read in a folder without permission to write; copy both files elsewhere")
        }
        return Self.immutableAddress(path)
    }

    /// Removes the empty files that a read-only connection leaves beside the database. A connection with write access
    /// deletes them when it is the last to close.
    func removeEmptyCompanions() {
        guard FileManager.default.fileExists(atPath: path + "-wal"), Self.size(path + "-wal") == 0 else { return }
        var configuration = Configuration.atDefaultPriority
        configuration.busyMode = .immediateError
        // If the file can't be opened for writing, the empty files stay. They do no harm.
        guard let queue = try? DatabaseQueue(path: path, configuration: configuration) else { return }
        _ = try? queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
        try? queue.close()
    }

    // MARK: Creating

    /// The path at which the file is created: the destination of a symbolic link, or the path itself.
    var target: String {
        get throws {
            var path = path
            // Linux follows at most this many links.
            for _ in 0..<40 {
                guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { return path }
                path = URL(fileURLWithPath: next, relativeTo: URL(fileURLWithPath: path)).path
            }
            throw unavailable("its symbolic links lead to no file")
        }
    }
}

/// The first bytes of an SQLite file.
struct FileHeader {
    static let length = 100
    static let magic = Array("SQLite format 3\u{0}".utf8)

    var bytes: [UInt8]

    var isEmpty: Bool { bytes.isEmpty }
    var isSQLite: Bool { bytes.starts(with: Self.magic) }
    var isWhole: Bool { bytes.count == Self.length }
    var applicationID: UInt32 { integer(68) }
    var isOurs: Bool { isWhole && applicationID == UInt32(bitPattern: StoreSchema.applicationID) }
    /// Whether the file is in the mode with a write-ahead log.
    var usesLog: Bool { isWhole && bytes[18] == 2 }

    /// The size that the file must have, in bytes; 0 if the header doesn't state it.
    var fileSize: Int64 {
        // The page count is valid if the two counters beside it agree.
        guard integer(24) == integer(92) else { return 0 }
        let page = Int64(bytes[16]) << 8 | Int64(bytes[17])
        return Int64(integer(28)) * (page == 1 ? 65_536 : page)
    }

    /// The page size in bytes; nil for an invalid header.
    var pageSize: Int? {
        guard isWhole, isSQLite else { return nil }
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        guard size == 1 || (512...32_768).contains(size) && size & (size - 1) == 0 else { return nil }
        return size == 1 ? 65_536 : size
    }

    private func integer(_ offset: Int) -> UInt32 {
        bytes.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}

/// A database's record of its versions, which shows whether a WAL belongs to it.
private struct WriteAheadLogState {
    var head: Head
    var rules: Version

    init(_ db: Database) throws {
        let stored = try StoredHead(db)
        head = stored.head
        rules = stored.rules
    }

    /// Whether one database state can follow from another by commits. Versions only rise. A new name of the log is a
    /// change of all frames, which is recorded (`Query.renewHead`).
    func mayFollow(_ other: WriteAheadLogState) -> Bool {
        head.version >= other.head.version && (head.log == other.head.log || rules > other.head.version)
    }
}

/// The identity of the file at a path.
struct FileIdentity: Hashable, Sendable {
    var device: UInt64
    var number: UInt64

    /// nil if there is no file.
    init?(_ path: String) {
        guard let status = Self.status(path) else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }

    static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }
}

/// The files of an open database, to detect their removal or replacement. SQLite continues to read and write a file
/// that has been unlinked.
struct OpenFiles: Sendable {
    private let known: [(path: String, identity: FileIdentity?)]

    init(path: String) {
        known = ["", "-wal", "-shm"].map { (path + $0, FileIdentity(path + $0)) }
    }

    /// - Throws: `StoreError.replaced` if a file is no longer the opened one.
    func check() throws(StoreError) {
        for (path, identity) in known where identity != nil {
            let now = FileIdentity(path)
            guard now != identity else { continue }
            throw .replaced(path: path, isGone: now == nil)
        }
    }
}
