package import BillowStore

/// Copies a log from a file of SQLite into PostgreSQL, row by row, and compares each row afterwards.
///
/// The copy is the same log: rows have the same keys and versions, so addresses of pictures stay valid. An interrupted
/// migration goes on where it stopped. Until it is finished, no other command opens the target.
package struct LogMigration: Sendable {
    private let source: SQLiteStore
    private let address: DatabaseAddress
    private let pool: ConnectionPool

    /// Called with a table and the number of rows so far.
    package typealias Progress = @Sendable (LogTable, Int) throws(StoreError) -> Void

    /// - Parameter source: a store that nobody else writes meanwhile.
    package init(from source: SQLiteStore, to address: DatabaseAddress) {
        self.source = source
        self.address = address
        pool = ConnectionPool(address, connections: 1)
    }

    /// What a migration has done.
    package struct Outcome: Sendable {
        /// The number of rows of each table, all of which were compared.
        package var counts: [(table: LogTable, rows: Int)] = []
        /// Whether an earlier migration had copied everything.
        package var wasComplete = false
    }

    /// Copies the log. A target that has the whole log already is compared, and not changed.
    /// - Throws: `unavailable` if the target has another log, or this log with other rows; `corrupt` for a damaged
    ///   source; `failed` if a row differs.
    package func run(copied: @escaping Progress = { (_, _) throws(StoreError) in }) async throws(StoreError) -> Outcome
    {
        let head = try await source.head()
        var outcome = Outcome()
        outcome.wasComplete = try await begin(head)
        if !outcome.wasComplete {
            for table in LogTable.all { try await copy(table, copied) }
        }
        for table in LogTable.all {
            outcome.counts.append((table, try await compare(table, isInUse: outcome.wasComplete)))
        }
        guard try await source.head() == head else {
            let remedy = outcome.wasComplete ? "begin again" : "empty the target and begin again"
            throw .failed("\(source.path) was written meanwhile; \(remedy)")
        }
        if !outcome.wasComplete { try await finish() }
        return outcome
    }

    private func running<T: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLConnection) throws -> T
    ) async throws(StoreError) -> T {
        do {
            return try await pool.run { connection in try connection.transaction(.writing) { try body(connection) } }
        } catch { throw StoreError(error, address) }
    }

    /// Marks the target as unfinished, unless it is whole.
    /// - Returns: whether the target has the whole log already, at the same version.
    private func begin(_ head: Head) async throws(StoreError) -> Bool {
        let address = address
        let name = "\(head.log) \(head.version)"
        let hasTables = try await PostgreSQLStore.hasTables(address)
        if !hasTables { _ = try await PostgreSQLStore.open(address) }
        return try await running { connection in
            let known = try connection.statement(
                "SELECT 1 FROM billowSchema WHERE id = 1 AND migration = \(literal(name))")
            if try known.value() != nil { return false }
            let whole = try connection.statement(
                """
                SELECT head.version - \(head.version) FROM head, billowSchema
                WHERE migration IS NULL AND log = \(literal(head.log))
                """)
            if let ahead = try whole.value() {
                if ahead == 0 { return true }
                throw StoreError.unavailable(
                    path: address.description,
                    reason: "it has this log already, and was not changed: " + Self.reason(ahead: ahead))
            }
            let isEmpty = try connection.statement(
                """
                SELECT 1 FROM head, billowSchema
                WHERE head.version = 0 AND migration IS NULL AND NOT EXISTS (SELECT 1 FROM source)
                    AND NOT EXISTS (SELECT 1 FROM accessKey)
                """)
            guard try isEmpty.value() != nil else {
                throw StoreError.unavailable(
                    path: address.description, reason: "it has a log, or a part of another one; use an empty database")
            }
            try connection.execute("UPDATE billowSchema SET migration = \(literal(name)) WHERE id = 1")
            return false
        }
    }

    /// - Parameter ahead: the versions by which the target's log is ahead of the file's.
    private static func reason(ahead: Int64) -> String {
        ahead > 0
            ? "the migration is complete, and the database went on by \(ahead) versions since"
            : "the file was written after the migration, by \(-ahead) versions; to copy it again, use an empty database"
    }

    /// - Parameter text: letters, digits and blanks.
    private func literal(_ text: String) -> String { "'\(text.filter { $0.isLetter || $0.isNumber || $0 == " " })'" }

    private func copy(_ table: LogTable, _ copied: Progress) async throws(StoreError) {
        var key = try await lastKey(of: table)
        var count = 0
        while true {
            let rows = try await source.page(of: table, after: key)
            guard let last = rows.last else { return }
            try await running { connection in try connection.copy(rows, into: table.name, table.columns) }
            count += rows.count
            try copied(table, count)
            key = table.key(of: last)
            if rows.count < table.pageRows { return }
        }
    }

    /// The key of the last row that an interrupted migration has copied; nil if there is none.
    private func lastKey(of table: LogTable) async throws(StoreError) -> [SQLValue]? {
        let columns = table.key.joined(separator: ", ")
        let order = table.key.map { "\($0) DESC" }.joined(separator: ", ")
        return try await running { connection in
            let types = try connection.types(of: table.key, in: table.name)
            var key: [SQLValue]?
            try connection.run("SELECT \(columns) FROM \(table.name) ORDER BY \(order) LIMIT 1").forEachRow { row in
                key = zip(row.binaryValues(count: types.count), types).map(BinaryArguments.keyValue)
            }
            return key
        }
    }

    /// Compares all rows of a table.
    ///
    /// - Parameter isInUse: whether the target was whole before.
    /// - Returns: their number.
    private func compare(_ table: LogTable, isInUse: Bool) async throws(StoreError) -> Int {
        var key: [SQLValue]?
        var count = 0
        while true {
            let expected = try await source.page(of: table, after: key)
            let place = count
            let after = key
            try await running { connection in
                let types = try connection.types(of: table.columns, in: table.name)
                let statement = try connection.statement(table.query(isFirst: after == nil))
                try statement.bindPage(after: after, rows: table.pageRows)
                var index = 0
                try statement.forEachRow { row in
                    let stored = row.binaryValues(count: types.count)
                    let wanted = index < expected.count ? try BinaryArguments.encoded(expected[index], types) : nil
                    guard stored == wanted else { throw difference(table, place + index, isInUse) }
                    index += 1
                }
                guard index == expected.count else { throw difference(table, place + index, isInUse) }
            }
            count += expected.count
            guard let last = expected.last, expected.count == table.pageRows else { return count }
            key = table.key(of: last)
        }
    }

    private func difference(_ table: LogTable, _ row: Int, _ isInUse: Bool) -> StoreError {
        let text = "row \(row + 1) of table \(table.name) is not as in the file"
        guard isInUse else { return .failed("\(text); empty the target and begin again") }
        return .unavailable(
            path: address.description,
            reason: "it has this log already, and one of the two was written since the migration: \(text); it was not "
                + "changed")
    }

    /// Copies the head, after which the target is a whole log.
    private func finish() async throws(StoreError) {
        let head = try await source.page(of: .head, after: nil)
        try await running { connection in
            try connection.execute("DELETE FROM head")
            try connection.copy(head, into: LogTable.head.name, LogTable.head.columns)
            try connection.execute(
                """
                SELECT setval(pg_get_serial_sequence('reporter', 'number'), max(number)) FROM reporter;
                UPDATE billowSchema SET migration = NULL WHERE id = 1
                """)
        }
        // Of the log's tables alone: the database may have other ones, which others may have locked.
        let tables = LogTable.all.map(\.name).joined(separator: ", ")
        do { try await pool.run { connection in try connection.execute("ANALYZE \(tables)") } } catch {
            throw StoreError(error, address)
        }
    }
}

extension BinaryArguments {
    /// A row in binary format; nil for NULL.
    static func encoded(_ row: [SQLValue], _ types: [UInt32]) throws -> [[UInt8]?] {
        try zip(row, types).map { value, type in
            var bytes: [UInt8] = []
            return try append(value, type, to: &bytes) ? bytes : nil
        }
    }

    /// A value of a key: a whole number or a text.
    static func keyValue(_ bytes: [UInt8]?, _ type: UInt32) -> SQLValue {
        guard let bytes else { return .null }
        if type == .text { return .text(bytes.withUnsafeBytes { StoredText.decoded($0) }) }
        let isNegative = bytes.first.map { $0 >= 0x80 } ?? false
        return .integer(bytes.reduce(isNegative ? -1 : 0) { $0 << 8 | Int64($1) })
    }
}
