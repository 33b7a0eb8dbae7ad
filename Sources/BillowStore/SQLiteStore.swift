internal import Dispatch
internal import Foundation
internal import GRDB
internal import Turbulence

/// The log in one SQLite file: WAL, `synchronous = FULL`, one writer and a few readers per process. A commit survives
/// `kill -9` and power loss as soon as `commit` returns. Another process may write the same file, which raises the
/// head.
package final class SQLiteStore: SQLStore {
    /// The file's path, as given.
    package let path: String

    let pool: DatabasePool
    package let tags: ContentTags
    package let longestTransaction: Duration
    package let rowEstimate = RowEstimate()
    package let newestHead: NewestHead? = nil
    /// A temporary store's folder, which is removed with the store.
    private let temporaryFolder: URL?
    private let access: StoreAccess
    /// The files of a writing store; nil for a read-only one.
    private let files: OpenFiles?
    package let register = DamageRegister()
    /// The number of bytes that the file lacked when it was opened.
    package let missingBytes: Int64

    /// The time that a write waits for another process before it fails.
    static let busyTimeoutSeconds = 10
    /// The number of readers: enough for a page of an export, a snapshot's delta, a status and the head at the same
    /// time.
    private static let readers = 4

    /// Opens the file. For writing, a missing file is created and an older one is migrated. For reading, nothing
    /// changes, unless an older Billow wrote the file and it can be migrated.
    /// - Throws: `unavailable` if the folder or permission is missing or a newer Billow wrote the file. `foreign` if
    ///   the file or its WAL belongs to something else (it stays untouched). `corrupt` if it is damaged.
    package static func open(path: String, access: StoreAccess = .writing) async throws(StoreError) -> SQLiteStore {
        try await open(path: path, access: access, temporaryFolder: nil)
    }

    /// Checks whether a file can be opened, or created if missing, without changing anything.
    /// - Throws: the errors of `open` that the folder and the first bytes reveal.
    package static func check(path: String, access: StoreAccess = .writing) throws(StoreError) {
        do { try DatabaseFile(path: path).check(for: access) } catch { throw StoreError(error, path: path) }
    }

    /// The id of another process that has a database open; nil if none is known.
    package static func opener(path: String) -> Int32? { DatabaseFile(path: path).opener }

    /// A store in a new temporary folder, which is removed with the store. For tests and demonstrations.
    package static func temporary() async throws(StoreError) -> SQLiteStore {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("billow-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
            throw .unavailable(path: folder.path, reason: "the folder can't be made")
        }
        let path = folder.appendingPathComponent("billow.sqlite").path
        return try await open(path: path, temporaryFolder: folder)
    }

    /// Opens the file outside Swift's cooperative threads, because opening blocks on files and locks.
    ///
    /// - Parameters:
    ///   - tags: replaces the file's tags, for tests that force collisions.
    ///   - longestTransaction: half the time that another writer may have to wait.
    static func open(
        path: String, access: StoreAccess = .writing, temporaryFolder: URL?, tags: ContentTags? = nil,
        longestTransaction: Duration = .milliseconds(250)
    ) async throws(StoreError) -> SQLiteStore {
        let deadline = ContinuousClock.now + .seconds(busyTimeoutSeconds)
        do {
            while true {
                let result: Result<SQLiteStore, any Error> = await withCheckedContinuation { continuation in
                    DispatchQueue.global().async {
                        continuation.resume(
                            returning: Result {
                                try SQLiteStore(
                                    path: path, access: access, temporaryFolder: temporaryFolder, tags: tags,
                                    longestTransaction: longestTransaction)
                            })
                    }
                }
                do { return try result.get() } catch let error as DatabaseError
                    where error.resultCode == .SQLITE_BUSY && ContinuousClock.now < deadline
                {
                    // SQLite's own timeout doesn't apply here. If several processes create one file, each reads before
                    // it writes. SQLite then fails at once with a deadlock instead of waiting.
                    try await Task.sleep(for: .milliseconds(10))
                }
            }
        } catch { throw StoreError(error, path: path) }
    }

    private init(
        path: String, access: StoreAccess, temporaryFolder: URL?, tags: ContentTags?, longestTransaction: Duration
    ) throws {
        let file = DatabaseFile(path: path)
        try file.check(for: access)
        missingBytes = file.missingBytes()
        if access == .reading, let pool = try SQLiteStore.makeReadOnlyPool(file) {
            self.pool = pool
            self.access = .reading
            files = nil
        } else {
            if access == .reading { try file.check(for: .writing) }
            try SQLiteStore.createIfMissing(file)
            pool = try SQLiteStore.makePool(path: path)
            self.access = .writing
            files = OpenFiles(path: path)
        }
        self.tags = try tags ?? pool.read(ContentTags.init)
        self.longestTransaction = longestTransaction
        self.path = path
        self.temporaryFolder = temporaryFolder
    }

    /// nil if the file needs a migration first.
    private static func makeReadOnlyPool(_ file: DatabaseFile) throws -> DatabasePool? {
        var configuration = configuration
        configuration.readonly = true
        let pool = try DatabasePool(path: try file.readOnlyAddress(), configuration: configuration)
        let migrator = StoreSchema.migrator
        let (applied, isNewer, isComplete) = try pool.read { db in
            (
                try migrator.appliedIdentifiers(db), try migrator.hasBeenSuperseded(db),
                try migrator.hasCompletedMigrations(db)
            )
        }
        guard !applied.isEmpty else { throw StoreError.corrupt(path: file.path, reason: "it holds no table") }
        guard !isNewer else { throw newer(file.path) }
        if isComplete { return pool }
        try pool.close()
        guard FileManager.default.isWritableFile(atPath: file.path) else {
            throw StoreError.unavailable(
                path: file.path,
                reason: "an older version of Billow wrote it, and it can't be migrated without permission "
                    + "to write it; migrate a copy")
        }
        return nil
    }

    private static func newer(_ path: String) -> StoreError {
        .unavailable(path: path, reason: "it was written by a newer version of Billow")
    }

    /// Creates a missing database under a name of its own, and gives it the final one when it is complete. So a killed
    /// process leaves a whole database or none.
    ///
    /// Only its owner may read it, because its contents allow signing URLs. SQLite gives the files beside it the same
    /// permissions.
    private static func createIfMissing(_ file: DatabaseFile) throws {
        let destination = try file.target
        guard FileIdentity(destination) == nil else { return }
        do {
            let unfinished = try UnfinishedFile(for: destination, mode: 0o600)
            do {
                let pool = try makePool(path: unfinished.path)
                pool.releaseMemory()
                try pool.close()
                try unfinished.finish(replacing: false)
            } catch {
                unfinished.discard()
                throw error
            }
        } catch {
            // Another process has created it meanwhile.
            guard FileIdentity(destination) == nil else { return }
            guard let error = error as? FileError else { throw error }
            throw StoreError.unavailable(path: file.path, reason: error.reason)
        }
    }

    private static func makePool(path: String) throws -> DatabasePool {
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.writeWithoutTransaction { db in
            // The pool's default is NORMAL, which may lose the last commits on power loss.
            try db.execute(sql: "PRAGMA synchronous = FULL")
            guard try Int.fetchOne(db, sql: "PRAGMA synchronous") == 2 else {
                throw StoreError.unavailable(path: path, reason: "SQLite refuses synchronous = FULL")
            }
            try db.execute(sql: "PRAGMA wal_autocheckpoint = \(SQLiteStore.checkpointPages)")
            try db.execute(sql: "PRAGMA journal_size_limit = \(SQLiteStore.maximumLogBytes)")
            try db.execute(sql: "PRAGMA application_id = \(StoreSchema.applicationID)")
        }
        try migrate(pool)
        return pool
    }

    /// Migrates the schema. If another process migrates at the same time, one of them runs each step. The other one's
    /// attempt fails without a change and is retried, and finds the step done.
    private static func migrate(_ pool: DatabasePool) throws {
        let migrator = StoreSchema.migrator
        while true {
            guard try pool.read(migrator.hasBeenSuperseded) == false else {
                throw newer(pool.path)
            }
            let before = try pool.read(migrator.appliedIdentifiers)
            do {
                return try migrator.migrate(pool)
            } catch {
                guard try pool.read(migrator.appliedIdentifiers) != before else { throw error }
            }
        }
    }

    deinit {
        guard let temporaryFolder else { return }
        // An error can't be reported any more, and a leftover in the temporary folder does no harm.
        try? pool.close()
        try? FileManager.default.removeItem(at: temporaryFolder)
    }

    /// The WAL is checkpointed at this many pages (16 MB). This is rare enough that a large sync writes most pages
    /// once, and frequent enough for fast reads.
    private static let checkpointPages = 4_000
    /// The size to which the WAL is truncated after a long read delayed a checkpoint.
    private static let maximumLogBytes = 64 << 20

    private static var configuration: Configuration {
        var configuration = Configuration.atDefaultPriority
        configuration.label = "store"
        configuration.busyMode = .timeout(TimeInterval(busyTimeoutSeconds))
        configuration.maximumReaderCount = readers
        configuration.foreignKeysEnabled = true
        configuration.prepareDatabase { db in
            try RowSum.register(db)
            // In KiB. A batch of 10,000 rows fits into memory until it is committed.
            try db.execute(sql: "PRAGMA cache_size = \(db.configuration.readonly ? -8_192 : -32_768)")
        }
        return configuration
    }

    /// Checkpoints the WAL and closes all connections. Later calls fail.
    package func close() throws(StoreError) {
        // Closes the readers first. The pool itself closes its writer first, and a reader can't checkpoint.
        pool.releaseMemory()
        do { try pool.close() } catch { throw StoreError(error, path: path) }
        if access == .reading { DatabaseFile(path: path).removeEmptyCompanions() }
    }

    // MARK: Transactions

    package func reading<T: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws(StoreError) -> T {
        try await checked { try await $0.read { db in try body(db) } }
    }

    /// Runs reads that need SQLite itself in one consistent transaction.
    func readingFile<T: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> T
    ) async throws(StoreError) -> T {
        try await checked { try await $0.read(body) }
    }

    /// The transaction is IMMEDIATE. When it returns, it is durable in the file at the store's path.
    package func writing<T: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws(StoreError) -> T {
        try await checked { try await $0.write { db in try body(db) } }
    }

    /// Runs `body` if the file at the path is the opened one. A check before avoids writing to an unlinked file. A
    /// check after avoids acknowledging such a write.
    private func checked<T>(_ body: (DatabasePool) async throws -> T) async throws(StoreError) -> T {
        try files?.check()
        let result: T
        do { result = try await body(pool) } catch {
            // A connection that is opened after the file was replaced can fail in many ways.
            try files?.check()
            throw StoreError(error, path: path)
        }
        try files?.check()
        return result
    }
}
