internal import Foundation
internal import GRDB
public import Turbulence

extension SQLiteStore {
    /// Writes a copy of the log as it stands now into a new file, complete and durable when this returns. Reads and
    /// commits go on meanwhile.
    /// - Throws: `unavailable` where the file exists or can't be written.
    public func backup(to destination: String) async throws(StoreError) {
        guard !FileManager.default.fileExists(atPath: destination) else {
            throw .unavailable(path: destination, reason: "it exists already")
        }
        let folder = URL(fileURLWithPath: destination).deletingLastPathComponent().path
        let unfinished = destination + ".unfinished-\(UUID().uuidString)"
        do {
            try await pool.read { db in
                let copy = try DatabaseQueue(path: unfinished)
                // What is written to either from now on the other doesn't have, under the same versions.
                try copy.writeWithoutTransaction { copy in
                    try db.backup(to: copy)
                    try copy.execute(sql: Schema.renameLog)
                }
                try copy.close()
            }
            try FileHandle(forUpdating: URL(fileURLWithPath: unfinished)).synchronizeAndClose()
            try FileManager.default.moveItem(atPath: unfinished, toPath: destination)
            try FileHandle(forReadingFrom: URL(fileURLWithPath: folder)).synchronizeAndClose()
        } catch {
            for suffix in ["", "-wal", "-shm", "-journal"] {
                // Only what is there; the error that led here says what is wrong.
                try? FileManager.default.removeItem(atPath: unfinished + suffix)
            }
            throw StoreError(error, path: destination)
        }
    }

    /// Gives a damaged database of ours another name, `….corrupt-` and the time, with what lies beside it, so that a new
    /// one can take its place. Nothing is deleted.
    /// - Returns: the new name; nil where the file is not ours to move.
    public static func setAside(path: String, at now: Instant) throws(StoreError) -> String? {
        guard DatabaseFile(path: path).wasOurs() else { return nil }
        let name = "\(path).corrupt-\(now.compact)"
        do {
            for suffix in ["-wal", "-shm", ""] where FileManager.default.fileExists(atPath: path + suffix) {
                try FileManager.default.moveItem(atPath: path + suffix, toPath: name + suffix)
            }
        } catch {
            throw .unavailable(path: path, reason: "it is damaged, and can't be renamed to \(name)")
        }
        return name
    }

    /// What is wrong with the file, a line each; nothing where all is well. Reads the whole file.
    public func problems() async throws(StoreError) -> [String] {
        do {
            return try await reading(SQLiteStore.problems)
        } catch .corrupt(_, let reason) {
            return [reason]
        }
    }

    private static func problems(_ db: Database) throws -> [String] {
        var problems = try String.fetchAll(db, sql: "PRAGMA quick_check").filter { $0 != "ok" }
        // Our own rules can be asked of a sound file only.
        guard problems.isEmpty else { return problems }
        for row in try Row.fetchAll(db, sql: "PRAGMA foreign_key_check") {
            problems.append("a row of table \(row[0] as String? ?? "?") names a source that doesn't exist")
        }
        let newest = try Int64.fetchOne(
            db,
            sql: """
                SELECT max(v) FROM (
                    SELECT max(since) AS v FROM observation WHERE until IS NULL
                    UNION ALL SELECT max(until) FROM observation WHERE until IS NOT NULL
                    UNION ALL SELECT max(since) FROM pilotReport
                    UNION ALL SELECT max(until) FROM pilotReport)
                """)
        let head = try Head(db).version.rawValue
        if let newest, newest > head { problems.append("rows of version \(newest) stand above the head \(head)") }
        return problems
    }
}

extension FileHandle {
    fileprivate func synchronizeAndClose() throws {
        try synchronize()
        try close()
    }
}
