internal import BillowStore

/// The sessions of Billow that hold the head's lock in a COPY and have stopped sending rows.
///
/// While the server waits for rows of a COPY, it heeds no timeout but those of TCP, and the kernel of a suspended
/// process goes on acknowledging. So a waiting writer ends such a session. Its transaction is rolled back. When its
/// process goes on, it runs the transaction again.
///
/// Source: PostgreSQL documentation, "COPY Progress Reporting",
/// https://www.postgresql.org/docs/15/progress-reporting.html#COPY-PROGRESS-REPORTING
struct StalledCopies: Sendable {
    /// A session, by its process and start, and the bytes that it has received.
    private let states: Set<String>

    private static let waiting = """
        SELECT DISTINCT p.pid,
            p.pid || ' ' || a.backend_start || ' ' || a.query_start || ' ' || p.bytes_processed AS state
        FROM pg_stat_progress_copy p JOIN pg_stat_activity a ON a.pid = p.pid JOIN pg_locks l ON l.pid = p.pid
        WHERE p.datname = current_database() AND a.usename = current_user AND a.wait_event = 'ClientRead'
            AND l.granted AND l.locktype = 'relation' AND l.relation = to_regclass('head')
            AND p.pid <> pg_backend_pid()
        """

    /// The sessions that wait for rows at present.
    init(_ connection: PostgreSQLConnection) throws {
        var states: Set<String> = []
        try connection.statement("SELECT state FROM (\(Self.waiting)) AS waiting").forEachRow { columns in
            if let state = columns.firstText { states.insert(state) }
        }
        self.states = states
    }

    /// Ends the sessions that have received nothing between two looks, in which a whole lock's time limit passed.
    func end(since earlier: StalledCopies, _ connection: PostgreSQLConnection) throws {
        for state in states.intersection(earlier.states) {
            _ = try connection.run(
                "SELECT pg_terminate_backend(pid) FROM (\(Self.waiting)) AS waiting WHERE state = $1", [.text(state)],
                types: [.text])
        }
    }
}

extension PostgreSQLStore {
    /// The attempts to lock the head, each of which waits for `PostgreSQLConnection.longestWaitForHead`.
    private static let attempts = 3

    /// Runs a writing transaction. Where it waits for the head's lock in vain, it looks for a stalled copy, which it
    /// ends when the second attempt was in vain too.
    func afterStalledCopies<T: Sendable>(
        _ pool: ConnectionPool, _ transaction: () async throws -> T
    ) async throws -> T {
        var earlier: StalledCopies?
        for _ in 1..<Self.attempts {
            do { return try await transaction() } catch let error as PostgreSQLError where error.isLockTimeout {
                earlier = try await pool.run { [earlier] connection in
                    let now = try StalledCopies(connection)
                    if let earlier { try now.end(since: earlier, connection) }
                    return now
                }
            }
        }
        return try await transaction()
    }
}
