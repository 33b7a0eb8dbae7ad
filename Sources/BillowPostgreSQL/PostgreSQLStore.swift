package import BillowStore

/// The log in a PostgreSQL database, which any number of processes may read and write.
///
/// A writing transaction locks the head row first. So versions are dense and in commit order, and no two transactions
/// write the log at the same time.
package final class PostgreSQLStore: SQLStore {
    package let address: DatabaseAddress
    package let register: DamageRegister
    package let tags: ContentTags
    package let longestTransaction: Duration
    package let rowEstimate: RowEstimate
    package let newestHead: NewestHead?
    private let pool: ConnectionPool
    /// The fencing number of the lease; nil for a store that need not have it.
    private let fence: (@Sendable () -> Int64?)?
    /// What exists as long as the store, for tests.
    private let lifetime: (any AnyObject & Sendable)?
    /// One transaction of this process writes at a time. The others wait without a connection.
    private let writer: Permits

    /// The number of connections: readers as for SQLite, and a writer.
    private static let connections = 5

    /// Opens a database. For writing, missing tables are created and older ones migrated.
    /// - Throws: `unavailable` if libpq is missing, the server can't be reached or refuses the user, or a newer Billow
    ///   made the tables. For reading also if there are no tables.
    package static func open(
        _ address: DatabaseAddress, access: StoreAccess = .writing
    ) async throws(StoreError) -> PostgreSQLStore {
        try await open(address, access: access, tags: nil, lifetime: nil)
    }

    /// Whether a database has the tables of a log.
    package static func hasTables(_ address: DatabaseAddress) async throws(StoreError) -> Bool {
        try await looking(at: address) { try PostgreSQLSchema.exists($0) }
    }

    /// The tables of a database, without changing them, and whether the user may create more.
    /// - Throws: `unavailable` as `open` does for reading, except for missing and older tables.
    package static func tables(
        at address: DatabaseAddress
    ) async throws(StoreError) -> (tables: PostgreSQLTables, canCreate: Bool) {
        try await looking(at: address) { connection in
            (try PostgreSQLSchema.tables(connection, address), try PostgreSQLSchema.canCreate(connection))
        }
    }

    private static func looking<T: Sendable>(
        at address: DatabaseAddress, _ body: @escaping @Sendable (PostgreSQLConnection) throws -> T
    ) async throws(StoreError) -> T {
        do { return try await ConnectionPool(address, connections: 1).run(body) } catch {
            throw StoreError(opening: error, address)
        }
    }

    /// Executes SQL in a session of its own, for tests and administration.
    package static func execute(_ sql: String, at address: DatabaseAddress) async throws(StoreError) {
        do {
            try await ConnectionPool(address, connections: 1).run { connection in try connection.execute(sql) }
        } catch { throw StoreError(error, address) }
    }

    /// - Parameters:
    ///   - tags: replaces the log's tags, for tests that force collisions.
    ///   - longestTransaction: half the time that another writer may have to wait.
    ///   - lifetime: an object that exists as long as the store.
    package static func open(
        _ address: DatabaseAddress, access: StoreAccess = .writing, tags: ContentTags?,
        longestTransaction: Duration = .milliseconds(250), lifetime: (any AnyObject & Sendable)?
    ) async throws(StoreError) -> PostgreSQLStore {
        let pool = ConnectionPool(address, connections: connections)
        do {
            let stored = try await pool.run { connection in
                if access == .writing {
                    try migrate(connection, address)
                } else if let problem = try PostgreSQLSchema.tables(connection, address).problem {
                    throw StoreError.unavailable(path: address.description, reason: problem)
                }
                return try ContentTags(connection)
            }
            return PostgreSQLStore(
                address, pool, tags: tags ?? stored, longestTransaction: longestTransaction, lifetime: lifetime)
        } catch { throw StoreError(opening: error, address) }
    }

    private init(
        _ address: DatabaseAddress, _ pool: ConnectionPool, tags: ContentTags, longestTransaction: Duration,
        lifetime: (any AnyObject & Sendable)?
    ) {
        self.address = address
        self.pool = pool
        self.tags = tags
        self.longestTransaction = longestTransaction
        self.lifetime = lifetime
        register = DamageRegister()
        rowEstimate = RowEstimate()
        newestHead = NewestHead()
        writer = Permits(1)
        fence = nil
    }

    init(fencing store: PostgreSQLStore, _ fence: @escaping @Sendable () -> Int64?) {
        address = store.address
        pool = store.pool
        tags = store.tags
        longestTransaction = store.longestTransaction
        lifetime = store.lifetime
        register = store.register
        rowEstimate = store.rowEstimate
        newestHead = store.newestHead
        writer = store.writer
        self.fence = fence
    }

    /// Creates the tables. Of several processes that do so at once, all but one fail, and find the tables afterwards.
    private static func migrate(_ connection: PostgreSQLConnection, _ address: DatabaseAddress) throws {
        for _ in 0..<10 where try PostgreSQLSchema.tables(connection, address) != .current {
            do { try PostgreSQLSchema.migrate(connection, address) } catch let error as PostgreSQLError
                where error.isConflict
            { continue }
        }
    }

    /// Closes the connections that are not in use.
    package func close() { pool.close() }

    // MARK: Transactions

    package func reading<T: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws(StoreError) -> T {
        do {
            return try await pool.run { connection in
                try connection.transaction(.reading) { try body(connection) }
            }
        } catch { throw StoreError(error, address) }
    }

    package func writing<T: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws(StoreError) -> T {
        do {
            try await writer.acquire()
            defer { writer.release() }
            let (result, head) = try await afterStalledCopies(pool) { [fence, pool, newestHead] in
                try await pool.run { connection in
                    try connection.transaction(.writingLog) {
                        try Self.lockHead(connection, known: newestHead?.head)
                        if let fence { try Self.check(fence(), connection) }
                        let result = try body(connection)
                        return (result, try Head(connection))
                    }
                }
            }
            newestHead?.note(head)
            return result
        } catch { throw StoreError(error, address) }
    }

    /// Runs a transaction that doesn't write the log.
    func changing<T: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLConnection) throws -> T
    ) async throws(StoreError) -> T {
        do {
            return try await pool.run { connection in
                try connection.transaction(.writing) { try body(connection) }
            }
        } catch { throw StoreError(error, address) }
    }

    /// Locks the row that every change of the log raises. A log that was moved, or lost commits, gets another name. The
    /// versions of both may have the same numbers.
    /// - Parameter known: a head that was read before.
    private static func lockHead(_ connection: PostgreSQLConnection, known: Head?) throws {
        let isAtHome = try connection.statement(
            """
            SELECT CAST((SELECT place FROM home WHERE id = 1) = currentHome() AS INTEGER) FROM head WHERE id = 1
            FOR UPDATE
            """
        ).value()
        let isLost = if let known { known.isLost(in: try Head(connection)) } else { false }
        guard isAtHome == 0 || isLost else { return }
        try Head.rename(connection)
        try connection.statement("UPDATE home SET place = currentHome() WHERE id = 1").run()
    }

    // MARK: Checks

    /// Does nothing: the server checks its own pages, if its cluster has data checksums.
    package func survey(rest: Duration) async throws(StoreError) {}

    package func problems() async throws(StoreError) -> [String] { try await versionProblems() }

    /// The size of the database, without the server's write-ahead log and disk.
    package func size(counting: Bool) async throws(StoreError) -> StoreSize? {
        var rows: [StoredTable: Int] = [:]
        if counting {
            for table in StoredTable.allCases { rows[table] = try await count(table) }
        }
        let bytes = try await reading { db in
            try db.statement("SELECT pg_database_size(current_database())").value() ?? 0
        }
        return StoreSize(bytes: Int(bytes), logBytes: 0, freeBytes: nil, rows: rows)
    }
}

extension StoreError {
    /// Converts an error of the server or of the connection.
    init(_ error: any Error, _ address: DatabaseAddress) {
        switch error {
        case let error as StoreError: self = error
        case let error as PostgreSQLError: self.init(error, address)
        case let error as LibraryError: self = .unavailable(path: address.description, reason: error.reason)
        case is CancellationError: self = .failed("the operation was cancelled")
        default: self.init(unreadable: error, path: address.description)
        }
    }

    private init(_ error: PostgreSQLError, _ address: DatabaseAddress) {
        switch error.state {
        case "53100": self = .full(path: address.description)
        case "57014": self = .failed("the operation was cancelled")
        case "55P03": self = .failed("another process kept \(address) locked for more than 15 s")
        case "XX001", "XX002": self = .corrupt(path: address.description, reason: error.message)
        default: self = .failed("\(address): \(error)")
        }
    }

    /// Converts an error of opening a database.
    init(opening error: any Error, _ address: DatabaseAddress) {
        guard let error = error as? PostgreSQLError else {
            self.init(error, address)
            return
        }
        self = .unavailable(path: address.description, reason: error.description)
    }
}
