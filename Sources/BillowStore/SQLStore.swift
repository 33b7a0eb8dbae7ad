internal import Synchronization
package import Turbulence

/// A log in a database that speaks SQL. Its reads and writes are the same for each database (`Query`, `BatchWriter`);
/// a conforming type opens the database and runs transactions.
package protocol SQLStore: Store, ControlStore {
    /// The damage that reads have encountered.
    var register: DamageRegister { get }
    /// The tags with the log's secret.
    var tags: ContentTags { get }
    /// A commit that may be split starts a new transaction after this time.
    var longestTransaction: Duration { get }
    /// An estimate of the rows of a short window.
    var rowEstimate: RowEstimate { get }

    /// The newest head that this process has read; nil for a database that can't lose commits while it is open.
    var newestHead: NewestHead? { get }

    /// The problems of the database, one line each; empty for a sound one. Reads all of it.
    func problems() async throws(StoreError) -> [String]

    /// Closes all connections. Later calls fail, or open new ones.
    func close() throws(StoreError)

    /// Runs reads in one consistent transaction, off the caller's thread.
    func reading<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws(StoreError) -> T

    /// Runs one transaction that no other writer of the log runs beside, off the caller's thread. An error or
    /// cancellation rolls it back. When it returns, the transaction is durable.
    func writing<T: Sendable>(_ body: @escaping @Sendable (any SQLConnection) throws -> T) async throws(StoreError) -> T
}

extension SQLStore {
    package var damage: [StoredDamage] { register.damage }
    package func marked(_ sources: [SourceRecord]) -> [SourceRecord] { register.limitingCompleteness(sources) }

    /// Runs reads that include the head.
    ///
    /// A database can be put back to an earlier state while servers run. The log is then renamed before it is read,
    /// since its next versions would have numbers that clients know with other data.
    func reading<T: Sendable>(
        head: @Sendable (T) -> Head, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws(StoreError) -> T {
        guard let newestHead else { return try await reading(body) }
        let known = newestHead.head
        var found = try await reading(body)
        if let known, known.isLost(in: head(found)) {
            // Every writing transaction renames such a log.
            try await writing { _ in }
            found = try await reading(body)
        }
        newestHead.note(head(found))
        return found
    }

    /// Runs reads on one table, and records an unreadable page of it.
    func reading<T: Sendable>(
        _ table: StoredTable, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws(StoreError) -> T {
        try await reading { [register] db in try register.recordingDamage(table) { try body(db) } }
    }

    /// The number of rows of a table, including closed ones.
    /// - Complexity: reads an index of the table.
    package func count(_ table: StoredTable) async throws(StoreError) -> Int {
        try await reading(table) { db in
            try RawStatement(db, "SELECT count(*) FROM \(table.rawValue)").value().map { Int($0) } ?? 0
        }
    }
}

/// The number of rows of the last short window, an estimate for the next one.
package final class RowEstimate: Sendable {
    private let count = Atomic(0)

    package init() {}

    var rows: Int {
        get { count.load(ordering: .relaxed) }
        set { count.store(newValue, ordering: .relaxed) }
    }
}
