package import BillowStore

/// The lease of the sync: of all servers on one database, one fetches from the sources.
///
/// Times are of the database's clock alone. Each new holder gets a higher fencing number. A holder takes the lease
/// under the lock of the head row, and a fenced transaction compares its number under the same lock. So a former holder
/// can't commit anything after another one has taken the lease.
extension PostgreSQLStore {
    /// A view of this store for what only the holder of the lease may write. It shares the connections.
    ///
    /// - Parameter fence: the fencing number of the lease; nil without the lease.
    package func fenced(by fence: @escaping @Sendable () -> Int64?) -> PostgreSQLStore {
        PostgreSQLStore(fencing: self, fence)
    }

    /// The name of the current holder; nil while the lease is free.
    package func leaseHolder() async throws(StoreError) -> String? {
        try await reading { db in
            var holder: String?
            try db.statement("SELECT holder FROM lease WHERE id = 1 AND expires >= \(Self.clock)")
                .forEachRow { holder = $0.firstText }
            return holder
        }
    }

    /// Extends the lease if this holder still has it.
    ///
    /// - Parameter fence: the number that `takeLease` returned.
    /// - Returns: false if another holder has taken it.
    package func renewLease(holder: String, fence: Int64, seconds: Int) async throws(StoreError) -> Bool {
        try await changing { connection in
            let update = try connection.run(
                """
                UPDATE lease SET expires = \(Self.clock) + $3 WHERE id = 1 AND holder = $1 AND fence = $2
                """, [.text(holder), .integer(fence), .integer(Int64(seconds) * 1_000)],
                types: [.text, .int8, .int8])
            return update.changedRows == 1
        }
    }

    /// Takes the lease if it is free, or if this holder has it but doesn't know its number any more.
    ///
    /// - Returns: the fencing number; nil if another holder has the lease.
    package func takeLease(holder: String, seconds: Int) async throws(StoreError) -> Int64? {
        // Without a free lease the head stays unlocked.
        let current = try await leaseHolder()
        guard current == nil || current == holder else { return nil }
        return try await writing { db in
            let take = try db.statement(
                """
                UPDATE lease SET holder = ?1, fence = fence + 1, expires = \(Self.clock) + ?2
                WHERE id = 1 AND (expires < \(Self.clock) OR holder = ?1) RETURNING fence
                """)
            try take.bind(.text(holder), at: 1)
            try take.bind(.integer(Int64(seconds) * 1_000), at: 2)
            return try take.value()
        }
    }

    /// Ends the lease, so that another holder need not wait.
    package func releaseLease(holder: String, fence: Int64) async throws(StoreError) {
        try await changing { connection in
            _ = try connection.run(
                "UPDATE lease SET expires = 0 WHERE id = 1 AND holder = $1 AND fence = $2",
                [.text(holder), .integer(fence)],
                types: [.text, .int8])
        }
    }

    /// The milliseconds of the database's clock.
    private static let clock = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"

    /// - Throws: if another server has taken the lease.
    static func check(_ fence: Int64?, _ connection: PostgreSQLConnection) throws {
        guard let fence, try connection.statement("SELECT fence FROM lease WHERE id = 1").value() == fence else {
            throw StoreError.failed("another server leads the sync; nothing was written")
        }
    }
}
