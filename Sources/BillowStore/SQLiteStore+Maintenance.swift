internal import Foundation
internal import GRDB
internal import Synchronization
package import Turbulence

extension SQLiteStore {
    // MARK: Backup and restore

    /// Finds the problems of a database, one line each; empty for a sound one.
    package typealias Check = @Sendable (SQLiteStore) async throws(StoreError) -> [String]

    /// Writes a backup of the log into a new file that only its owner can read. The backup is complete and durable when
    /// this returns. Reads and commits continue meanwhile. A cancelled backup leaves no file.
    ///
    /// - Parameter check: the check that the copy must pass before it gets its name; nil for none.
    /// - Throws: `unavailable` if the file exists or can't be written; `corrupt` if the check finds a problem, which
    ///   this database must have too.
    package func backup(to destination: String, check: Check? = nil) async throws(StoreError) {
        guard FileIdentity(destination) == nil else {
            throw .unavailable(path: destination, reason: "it exists already")
        }
        do {
            try await copy(to: destination) { file in
                if let check {
                    let copy = try await Self.open(path: file.path, access: .reading)
                    let problems = try await check(copy)
                    try copy.close()
                    if let problem = problems.first { throw StoreError.corrupt(path: self.path, reason: problem) }
                }
                try file.finish(replacing: false)
            }
        } catch { throw StoreError(error, path: destination) }
    }

    /// - Parameter finish: gives the complete copy its name.
    private func copy(to destination: String, finish: (UnfinishedFile) async throws -> Void) async throws {
        let file = try UnfinishedFile(for: destination, mode: 0o600)
        let isCancelled = CancellationFlag()
        do {
            try await withTaskCancellationHandler {
                try await pool.read { db in try Self.copy(db, to: file.path, unless: isCancelled) }
            } onCancel: {
                isCancelled.set()
            }
            try await finish(file)
        } catch {
            file.discard()
            throw error
        }
    }

    /// The number of pages between two checks for cancellation.
    private static let pagesAtOnce: CInt = 4_096

    private static func copy(_ db: Database, to path: String, unless isCancelled: CancellationFlag) throws {
        var configuration = Configuration.atDefaultPriority
        configuration.prepareDatabase(RowSum.register)
        let copy = try DatabaseQueue(path: path, configuration: configuration)
        // Starts the read transaction that holds all steps at one version.
        _ = try Head(db)
        try copy.writeWithoutTransaction { copy in
            try db.backup(to: copy, pagesPerStep: pagesAtOnce) { _ in
                if isCancelled.isSet { throw CancellationError() }
            }
            // From now on, equal versions of the two logs mean different rows.
            try Head.rename(copy)
            // With a WAL beside a file in rollback mode, `DatabaseFile` would refuse the file.
            guard try String.fetchOne(copy, sql: "PRAGMA journal_mode = DELETE") == "delete" else {
                throw FileError(path: path, reason: "its log can't be folded")
            }
        }
        try copy.close()
    }

    /// Replaces a database by a copy of a backup, in one step: at every moment the path has the previous database or
    /// the restored one. The previous database and its side files stay, under another name.
    ///
    /// - Parameter check: the check that the backup must pass.
    /// - Returns: the previous database's new name; nil if there was none.
    /// - Throws: `unavailable` if another process has the database open, `corrupt` for a damaged backup.
    package static func restore(
        _ backup: String, to path: String, at now: Instant,
        check: Check = { (store) throws(StoreError) in try await store.problems() }
    ) async throws(StoreError) -> String? {
        guard !DatabaseNames(path).include(backup) else {
            throw .unavailable(path: backup, reason: "it is the database that is to be replaced")
        }
        let source = try await open(path: backup, access: .reading)
        if let problem = try await check(source).first { throw .corrupt(path: backup, reason: problem) }
        do {
            var previous: String?
            try await source.copy(to: path) { file in
                if let opener = opener(path: path) {
                    throw StoreError.unavailable(
                        path: path, reason: "process \(opener) has it open; stop the server, then restore")
                }
                await foldLog(path)
                previous = try replace(path, by: file, keeping: "before-restore", at: now)
            }
            try source.close()
            return previous
        } catch { throw StoreError(error, path: path) }
    }

    /// Moves the log of a killed process into its database, or undoes its journal, so that one file has everything. A
    /// database that can't be opened stays as it is.
    private static func foldLog(_ path: String) async {
        let logs = ["-wal", "-journal"].map { DatabaseFile.size(path + $0) }
        guard FileIdentity(path) != nil, logs.contains(where: { $0 > 0 }) else { return }
        // SQLite folds the log when the last connection is closed.
        if let store = try? await open(path: path) { try? store.close() }
    }

    // MARK: Renaming

    /// Renames a damaged Billow database and its side files to `….corrupt-` and the time, so that a new one can be
    /// created. Nothing is deleted.
    /// - Returns: the new name; nil if the file is not Billow's.
    package static func setAside(path: String, at now: Instant) throws(StoreError) -> String? {
        guard DatabaseFile(path: path).isBillowFile() else { return nil }
        guard let (name, suffixes) = try freeName(path: path, word: "corrupt", at: now) else { return nil }
        for suffix in suffixes { try rename(path + suffix, name + suffix) }
        return name
    }

    /// What became of a damaged database.
    package struct Replacement: Sendable {
        /// The damaged database's new name.
        package let name: String
        /// What the new database has; or why nothing is readable, and then there is no database.
        package let salvaged: Result<SalvageResult, StoreError>
    }

    /// Replaces a damaged Billow database by a copy of everything readable, in one step as `restore` does: keys,
    /// overrides and rows. If nothing is readable, it renames the damaged one like `setAside`.
    ///
    /// - Parameter reason: why it can't be opened.
    /// - Throws: `corrupt` with the reason if the file is not Billow's, or if another process has it open, which would
    ///   continue with a file that no longer has a name.
    package static func replaceDamaged(
        path: String, reason: String, at now: Instant
    ) async throws(StoreError) -> Replacement {
        let error = StoreError.corrupt(path: path, reason: reason)
        guard opener(path: path) == nil, DatabaseFile(path: path).isBillowFile() else { throw error }
        do throws(StoreError) {
            let (salvaged, name) = try await salvage(path, as: path, at: now) { file in
                try replace(path, by: file, keeping: "corrupt", at: now)
            }
            guard let name else { throw error }
            return Replacement(name: name, salvaged: .success(salvaged))
        } catch {
            guard case .corrupt = error, let name = try setAside(path: path, at: now) else { throw error }
            return Replacement(name: name, salvaged: .failure(error))
        }
    }

    /// Gives a complete file the name of a database. The previous database and its side files stay, under another name.
    /// At every moment, also after a loss of power, the path has either of the two; and where it has the new one, the
    /// previous one has its new name.
    /// - Returns: the previous database's new name; nil if there was none.
    private static func replace(
        _ path: String, by file: UnfinishedFile, keeping word: String, at now: Instant
    ) throws -> String? {
        let name = try keep(path: path, as: word, at: now) {
            try DatabaseFile(path: path).markReplacement(by: file.path)
        }
        try file.finish(replacing: name != nil)
        // The side files belong to the previous database, which has them under its new name.
        DatabaseFile(path: path).removeReplacedCompanions()
        return name
    }

    /// Gives a database and its side files a second name, durably. They keep the first one. On a file system without
    /// hard links, copies get the second name.
    /// - Parameter mark: runs if a side file could only be copied.
    /// - Returns: the name; nil if there is no file.
    private static func keep(
        path: String, as word: String, at now: Instant, mark: () throws -> Void
    ) throws -> String? {
        guard let (name, suffixes) = try freeName(path: path, word: word, at: now) else { return nil }
        var named: [String] = []
        var hasCopies = false
        do {
            for suffix in suffixes {
                if link(path + suffix, name + suffix) != 0 {
                    try copy(path, suffix, to: name)
                    hasCopies = hasCopies || !suffix.isEmpty
                }
                named.append(name + suffix)
            }
            try Folder(of: path).sync()
            if hasCopies { try mark() }
        } catch {
            // Nothing is replaced, so nothing needs the second name.
            for name in named { unlink(name) }
            throw error
        }
        return name
    }

    /// Copies a database or a file beside it, where no file can have two names.
    private static func copy(_ path: String, _ suffix: String, to name: String) throws {
        do throws(FileError) {
            let file = try UnfinishedFile(for: name + suffix, mode: 0o600, besides: path)
            do throws(FileError) {
                try file.append(contentsOf: path + suffix)
                try file.finish(replacing: false)
            } catch {
                file.discard()
                throw error
            }
        } catch {
            throw StoreError.unavailable(
                path: path,
                reason: "it can't be replaced, because no copy of it can be kept: \(error); nothing has changed")
        }
    }

    private static func rename(_ path: String, _ name: String) throws(StoreError) {
        do { try FileManager.default.moveItem(atPath: path, toPath: name) } catch {
            throw .unavailable(path: path, reason: "it can't be renamed to \(name)")
        }
    }

    /// A name that no file has, and the suffixes of the files that need it; nil if there is no file.
    private static func freeName(
        path: String, word: String, at now: Instant
    ) throws(StoreError) -> (name: String, suffixes: [String])? {
        let suffixes = ([""] + DatabaseFile.companions).filter { FileIdentity(path + $0) != nil }
        guard !suffixes.isEmpty else { return nil }
        // Two renamed files of the same second need different names.
        let names = [""] + (2...99).map { "-\($0)" }
        let free = names.lazy.map { "\(path).\(word)-\(now.compact)\($0)" }.first { name in
            ([""] + DatabaseFile.companions).allSatisfy { FileIdentity(name + $0) == nil }
        }
        guard let name = free else {
            throw .unavailable(path: path, reason: "it can't be renamed: all names are taken")
        }
        return (name, suffixes)
    }

    // MARK: Check

    /// A warning that names who else may read the file; nil if only its owner may. The file holds the hashes that sign
    /// URLs.
    package static func permissionWarning(path: String) -> String? {
        guard let mode = FileIdentity.status(path)?.st_mode, mode & 0o077 != 0 else { return nil }
        return
            "\(path) can be read or written by others (mode \(String(mode & 0o777, radix: 8))), and it holds the "
            + "hashes of keys: chmod 600 \(path)"
    }

    /// The problems of the file, one line each; empty for a sound file. Reads the whole file.
    package func problems() async throws(StoreError) -> [String] {
        var problems: [String] = []
        if missingBytes > 0 {
            problems.append("the file is cut: \(missingBytes) bytes are missing at its end")
        }
        func note(_ body: () async throws(StoreError) -> Void) async throws(StoreError) {
            do { try await body() } catch {
                guard case .corrupt(_, let reason) = error else { throw error }
                problems.append(reason)
            }
        }
        try await note { () async throws(StoreError) in problems += try await readingFile(SQLiteStore.integrityProblems)
        }
        // Decodes every row, which records the unreadable ones.
        try await note { () async throws(StoreError) in try await survey(rest: .zero) }
        problems += damage.map(\.description)
        try await note { () async throws(StoreError) in problems += try await versionProblems() }
        return problems
    }

    /// The problems that SQLite reports: pages, indices against tables, column constraints and foreign keys to sources.
    private static func integrityProblems(_ db: Database) throws -> [String] {
        var problems = try String.fetchAll(db, sql: "PRAGMA integrity_check").filter { $0 != "ok" }
        // Billow's own checks need sound pages.
        guard problems.isEmpty else { return problems }
        for row in try Row.fetchAll(db, sql: "PRAGMA foreign_key_check") {
            let table: String? = row["table"]
            let parent: String? = row["parent"]
            problems.append("a row of table \(table ?? "?") names a \(parent ?? "row") that doesn't exist")
        }
        return problems
    }
}

/// A cancellation flag for work that runs outside any task.
private final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }
    func set() { flag.store(true, ordering: .relaxed) }
}
