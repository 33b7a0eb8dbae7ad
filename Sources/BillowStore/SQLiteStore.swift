internal import Dispatch
internal import Foundation
internal import GRDB
internal import Synchronization
package import Turbulence

/// The log in one SQLite file: WAL, `synchronous = FULL`, one writer and a few readers per process. What `commit`
/// returned survives `kill -9` and the loss of power. Another process may write the same file; it shows at the head.
package final class SQLiteStore: Store {
    /// The file, as given.
    package let path: String

    let pool: DatabasePool
    /// Tags with the file's secret.
    let tags: ContentTags
    /// A commit that may be divided starts a new transaction after this time.
    let longestTransaction: Duration
    /// How many rows the last short window had: the next one is about as large.
    let shortWindow = Atomic(0)
    /// Removed when the store goes: set for a temporary one.
    private let temporaryFolder: URL?
    private let access: StoreAccess
    /// The files of a store that writes; nil of one that only reads.
    private let files: OpenFiles?
    /// The damage that reads have met.
    let register = DamageRegister()
    package var damage: [StoredDamage] { register.damage }
    package func marked(_ sources: [SourceRecord]) -> [SourceRecord] { register.marking(sources) }
    /// By how many bytes the file was too short when it was opened.
    package let missingBytes: Int64

    /// How long a write waits for another process before it fails.
    static let busyTimeoutSeconds = 10
    /// Enough for a page of an export, a snapshot's delta, a status and the head at once.
    private static let readers = 4

    /// Opens the file. To write, it is created where there is none, and an older one is migrated. To read, nothing
    /// changes, unless an older Billow wrote the file and it can be migrated.
    /// - Throws: `unavailable` where the folder or the permission is missing or a newer Billow wrote it, `foreign`
    ///   where the file or its log is something else (it is not touched then), `corrupt` where it is damaged.
    package static func open(path: String, access: StoreAccess = .writing) async throws(StoreError) -> SQLiteStore {
        try await open(path: path, access: access, temporaryFolder: nil)
    }

    /// Looks whether a file can be opened, or created where there is none, and changes nothing.
    /// - Throws: as `open`, as far as the folder and the first bytes tell.
    package static func check(path: String, access: StoreAccess = .writing) throws(StoreError) {
        do { try DatabaseFile(path: path).check(for: access) } catch { throw StoreError(error, path: path) }
    }

    /// The id of another process that has a database open; nil where none is known.
    package static func opener(path: String) -> Int32? { DatabaseFile(path: path).opener }

    /// A store in a new folder of its own, which goes when the store does. For tests and try-outs.
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

    /// Opening waits for files and locks, so it runs beside the threads of Swift's tasks.
    ///
    /// - Parameters:
    ///   - tags: other ones than the file's, for tests that force collisions.
    ///   - longestTransaction: half of what another writer may have to wait for.
    static func open(
        path: String, access: StoreAccess = .writing, temporaryFolder: URL?, tags: ContentTags? = nil,
        longestTransaction: Duration = .milliseconds(250)
    ) async throws(StoreError) -> SQLiteStore {
        let deadline = ContinuousClock.now + .seconds(busyTimeoutSeconds)
        do {
            while true {
                let result: Result<SQLiteStore, any Error> = await withCheckedContinuation { continuation in
                    DispatchQueue.global(qos: .userInitiated).async {
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
                    // SQLite's own timeout doesn't apply here: where several make one file, each reads before it
                    // writes, and SQLite refuses at once a writer that could only wait for ever.
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
            try file.createPrivate()
            pool = try SQLiteStore.makePool(path: path)
            self.access = .writing
            files = OpenFiles(path: path)
        }
        self.tags = try tags ?? pool.read(ContentTags.init)
        self.longestTransaction = longestTransaction
        self.path = path
        self.temporaryFolder = temporaryFolder
    }

    /// nil where the file has to be migrated first.
    private static func makeReadOnlyPool(_ file: DatabaseFile) throws -> DatabasePool? {
        var configuration = configuration
        configuration.readonly = true
        let pool = try DatabasePool(path: try file.readOnlyAddress(), configuration: configuration)
        let migrator = Schema.migrator
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

    private static func makePool(path: String) throws -> DatabasePool {
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.writeWithoutTransaction { db in
            // The pool's own choice is NORMAL, which may lose the last commits with the power.
            try db.execute(sql: "PRAGMA synchronous = FULL")
            guard try Int.fetchOne(db, sql: "PRAGMA synchronous") == 2 else {
                throw StoreError.unavailable(path: path, reason: "SQLite refuses synchronous = FULL")
            }
            try db.execute(sql: "PRAGMA wal_autocheckpoint = \(SQLiteStore.checkpointPages)")
            try db.execute(sql: "PRAGMA journal_size_limit = \(SQLiteStore.keptLogBytes)")
            try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
        }
        try migrate(pool)
        return pool
    }

    /// Brings the schema up to date. Where another process does the same at the same time, each step is done by one of
    /// them: the other one's fails, changes nothing, and finds it done.
    private static func migrate(_ pool: DatabasePool) throws {
        let migrator = Schema.migrator
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

    /// The write-ahead log is folded into the file when it has this many pages (16 MB): rarely enough that a large sync
    /// writes most pages once, often enough that reads stay fast.
    private static let checkpointPages = 4_000
    /// The write-ahead log shrinks back to this after a long read held it up.
    private static let keptLogBytes = 64 << 20

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "store"
        configuration.busyMode = .timeout(TimeInterval(busyTimeoutSeconds))
        configuration.maximumReaderCount = readers
        configuration.foreignKeysEnabled = true
        configuration.prepareDatabase { db in
            try RowSum.register(db)
            // KiB. A batch of 10,000 rows stays in memory until it is committed.
            try db.execute(sql: "PRAGMA cache_size = \(db.configuration.readonly ? -8_192 : -32_768)")
        }
        return configuration
    }

    /// Ends all connections, the log folded back into the file. Calls after it fail.
    package func close() throws(StoreError) {
        // Closes the readers. The pool itself closes its writer first, and a reader that is last can't fold the log.
        pool.releaseMemory()
        do { try pool.close() } catch { throw StoreError(error, path: path) }
        if access == .reading { DatabaseFile(path: path).removeEmptyCompanions() }
    }

    // MARK: Transactions

    /// Runs reads on one consistent picture, off the caller's thread.
    func reading<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(StoreError) -> T {
        try await checked { try await $0.read(body) }
    }

    /// Runs reads on one table, and notes where a page of it can't be read.
    func reading<T: Sendable>(
        _ table: StoredTable, _ body: @escaping @Sendable (Database) throws -> T
    ) async throws(StoreError) -> T {
        try await reading { [register] db in try register.noting(table) { try body(db) } }
    }

    /// Runs one IMMEDIATE transaction, off the caller's thread; an error or a cancelled task leaves nothing of it.
    /// When it returns, the transaction is durable in the file at the store's path.
    func writing<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(StoreError) -> T {
        try await checked { try await $0.write(body) }
    }

    /// Calls `body` while the file at the path is the one that was opened. It is checked before, so that nothing is
    /// written to a file that nobody can find; and after, so that nothing is acknowledged that was.
    private func checked<T>(_ body: (DatabasePool) async throws -> T) async throws(StoreError) -> T {
        try files?.check()
        let result: T
        do { result = try await body(pool) } catch {
            // A connection that is opened after the file was replaced fails in many ways.
            try files?.check()
            throw StoreError(error, path: path)
        }
        try files?.check()
        return result
    }
}
