internal import Foundation
internal import GRDB

/// The look at a file before it is opened for writing: opening as ours would change another program's file.
struct DatabaseFile {
    var path: String

    /// - Throws: `StoreError.unavailable` where nothing can be opened or made, `StoreError.foreign` where something else is
    ///   there, `StoreError.corrupt` where it is so damaged that it can't be read.
    func check() throws {
        guard !path.isEmpty, path != ":memory:" else {
            throw StoreError.unavailable(path: path, reason: "it must be the path of a file")
        }
        var isFolder: ObjCBool = false
        let files = FileManager.default
        guard files.fileExists(atPath: path, isDirectory: &isFolder) else { return try checkFolder() }
        guard !isFolder.boolValue else { throw StoreError.unavailable(path: path, reason: "it is a folder") }
        guard files.isReadableFile(atPath: path) else {
            throw StoreError.unavailable(path: path, reason: "no permission to read it")
        }
        guard files.isWritableFile(atPath: path) else {
            throw StoreError.unavailable(path: path, reason: "no permission to write it")
        }
        try checkFolder()
        try checkHeader()
    }

    /// SQLite keeps its write-ahead log beside the file.
    private func checkFolder() throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw StoreError.unavailable(path: path, reason: "the folder \(folder) does not exist")
        }
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw StoreError.unavailable(path: path, reason: "no permission to write into the folder \(folder)")
        }
    }

    /// Source: SQLite file format, section 1.3 (magic at 0, application id at 68), sqlite.org/fileformat2.html
    private func checkHeader() throws {
        let header: Data
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }  // Nothing was written, so nothing can be lost by it.
            header = try file.read(upToCount: 100) ?? Data()
        } catch {
            throw StoreError.unavailable(path: path, reason: "it can't be read")
        }
        if header.isEmpty { return }
        guard header.starts(with: Self.magic) else {
            throw StoreError.foreign(
                path: path,
                reason: "it is not an SQLite database, and is left as it is; give another file, or move it away")
        }
        let id = Self.applicationID(header)
        if id == UInt32(bitPattern: Schema.applicationID) { return }
        // The id may still stand in the log of a process that was killed; a file without any table is nobody's.
        if id == 0, try isOursOrEmpty() { return }
        throw StoreError.foreign(path: path, reason: "it is the SQLite database of another program; give another file")
    }

    private static let magic = Array("SQLite format 3\u{0}".utf8)

    /// nil where the header is too short to have one.
    private static func applicationID(_ header: Data) -> UInt32? {
        let bytes = header.dropFirst(68).prefix(4)
        return bytes.count == 4 ? bytes.reduce(0) { $0 << 8 | UInt32($1) } : nil
    }

    /// Whether what is damaged there was ours: it begins as a database does, and bears our mark. Another program's file is
    /// nobody's to move.
    func wasOurs() -> Bool {
        // What can't be read can't be told to be ours.
        guard let file = try? FileHandle(forReadingFrom: URL(fileURLWithPath: path)) else { return false }
        defer { try? file.close() }  // Nothing was written, so nothing can be lost by it.
        guard let header = try? file.read(upToCount: 100) else { return false }
        return header.starts(with: Self.magic)
            && Self.applicationID(header) == UInt32(bitPattern: Schema.applicationID)
    }

    private func isOursOrEmpty() throws -> Bool {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(TimeInterval(SQLiteStore.busyTimeoutSeconds))
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        return try queue.read { db in
            let id = try Int32.fetchOne(db, sql: "PRAGMA application_id")
            return try id == Schema.applicationID
                || id == 0 && Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_master") == 0
        }
    }
}
