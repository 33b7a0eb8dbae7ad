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

    /// - Returns: the number of rows of each table.
    /// - Throws: `unavailable` if the target has a log already, `corrupt` for a damaged source, `failed` if a row
    ///   differs.
    package func run(
        copied: @escaping Progress = { (_, _) throws(StoreError) in }
    ) async throws(StoreError) -> [(table: LogTable, rows: Int)] {
        let head = try await source.head()
        try await begin("\(head.log) \(head.version)")
        for table in LogTable.all { try await copy(table, copied) }
        var counts: [(table: LogTable, rows: Int)] = []
        for table in LogTable.all { counts.append((table, try await compare(table))) }
        guard try await source.head() == head else {
            throw .failed("\(source.path) was written meanwhile; empty the target and begin again")
        }
        try await finish()
        return counts
    }

    private func running<T: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLConnection) throws -> T
    ) async throws(StoreError) -> T {
        do {
            return try await pool.run { connection in try connection.transaction(.writing) { try body(connection) } }
        } catch { throw StoreError(error, address) }
    }

    /// - Parameter name: the name and the version of the log.
    private func begin(_ name: String) async throws(StoreError) {
        let address = address
        let hasTables = try await PostgreSQLStore.hasTables(address)
        if !hasTables { _ = try await PostgreSQLStore.open(address) }
        try await running { connection in
            let known = try connection.statement(
                "SELECT 1 FROM billowSchema WHERE id = 1 AND migration = \(literal(name))")
            if try known.value() != nil { return }
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
        }
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
    /// - Returns: their number.
    private func compare(_ table: LogTable) async throws(StoreError) -> Int {
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
                    guard stored == wanted else { throw Self.difference(table, place + index) }
                    index += 1
                }
                guard index == expected.count else { throw Self.difference(table, place + index) }
            }
            count += expected.count
            guard let last = expected.last, expected.count == table.pageRows else { return count }
            key = table.key(of: last)
        }
    }

    private static func difference(_ table: LogTable, _ row: Int) -> StoreError {
        .failed("row \(row + 1) of table \(table.name) is not as in the file; empty the target and begin again")
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
