internal import Foundation
internal import GRDB

/// The rows of a damaged file that are found page by page, without the pages' parents. Their checksums identify their
/// table. A record of another table or an index matches by chance in one of 16 million cases.
struct SalvagedPages {
    /// A table whose rows have a checksum, as defined in the new file.
    private struct Table {
        let name: String
        let types: [String]
        /// The index of the checksum; it covers the values before it.
        let sum: Int
        let isNumbered: Bool
        let insert: Statement

        init(_ table: StoredTable, sum: Int32, _ target: Database) throws {
            name = table.rawValue
            let columns = try target.columns(in: name)
            types = columns.map(\.type)
            self.sum = Int(sum)
            let sql = try String.fetchOne(
                target, sql: "SELECT sql FROM sqlite_master WHERE name = ?", arguments: [name])
            isNumbered = sql.map { !$0.hasSuffix("WITHOUT ROWID") } ?? true
            let marks = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
            insert = try target.makeStatement(sql: "INSERT INTO \(name) VALUES (\(marks)) ON CONFLICT DO NOTHING")
        }

        /// Decodes a record as a row; nil if it is not one of this table.
        func row(_ record: PageRecord) -> [DatabaseValue]? {
            var values = record.values
            guard values.count == types.count, (record.number != nil) == isNumbered else { return nil }
            if let number = record.number {
                // The record stores NULL for the key; the rowid is the key.
                guard values[0].isNull else { return nil }
                values[0] = number.databaseValue
            }
            for (index, type) in types.enumerated() {
                switch (values[index].storage, type) {
                case (.null, _), (.int64, "INTEGER"), (.string, "TEXT"), (.blob, "BLOB"), (.double, "REAL"): break
                // SQLite stores a number without a fraction as an integer.
                case (.int64(let integer), "REAL"): values[index] = Double(integer).databaseValue
                default: return nil
                }
            }
            var found = RowSum()
            for index in 0..<sum { found.add(values[index], at: Int32(index)) }
            return Int64.fromDatabaseValue(values[sum]) == found.value ? values : nil
        }
    }

    /// The number of rows in a transaction.
    private static let rowsAtOnce = 20_000

    /// Writes the rows of a damaged file into a new one, which has all tables.
    /// - Returns: the number of rows.
    static func copy(_ damaged: String, into target: Database) throws -> Int {
        guard let pages = DatabasePages(path: damaged) else { return 0 }
        let tables = try StoredTable.summed.map { try Table($0.table, sum: $0.sum, target) }
        let candidates = Dictionary(grouping: tables, by: \.types.count)
        // Some tables of the new file have initial rows.
        for table in tables { try target.execute(sql: "DELETE FROM \(table.name)") }
        var (pending, rows) = (0, 0)
        try pages.forEachRecord { record in
            guard let tables = candidates[record.values.count] else { return }
            for table in tables {
                guard let row = table.row(record) else { continue }
                if pending == 0 { try target.beginTransaction(.immediate) }
                // A row that the schema forbids was never stored.
                do {
                    try table.insert.execute(arguments: StatementArguments(row))
                    rows += 1
                } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {}
                pending += 1
                if pending == Self.rowsAtOnce {
                    try target.commit()
                    pending = 0
                }
                return
            }
        }
        if target.isInsideTransaction { try target.commit() }
        return rows
    }
}

extension StoredTable {
    /// The tables whose rows have a checksum, and its column index. Packed parts are rebuilt.
    fileprivate static var summed: [(table: StoredTable, sum: Int32)] {
        func entry<Column: StoredColumn>(_ column: Column.Type) -> (StoredTable, Int32) {
            (Column.table, Column.sum.rawValue)
        }
        return [
            entry(HeadColumn.self), entry(SourceColumn.self), entry(FetchedColumn.self), entry(StoredKindColumn.self),
            entry(CoveredAreaColumn.self), entry(CursorColumn.self), entry(SourceValueColumn.self),
            entry(ObservationColumn.self), entry(PilotReportColumn.self), entry(AreaColumn.self),
            entry(PositionColumn.self), entry(FieldGridColumn.self), entry(FieldLevelColumn.self),
            entry(DeletionColumn.self), entry(AccessKeyColumn.self),
            entry(PersistedOverrideColumn.self), entry(MonitoredFlightColumn.self),
        ]
    }
}

extension RowSum {
    fileprivate mutating func add(_ value: DatabaseValue, at column: Int32) {
        switch value.storage {
        case .null: addNull(at: column)
        case .int64(let integer): add(integer, at: column)
        case .double(let number): add(number, at: column)
        case .string(let text): add(text, at: column)
        case .blob(let data): data.withUnsafeBytes { add($0, at: column) }
        }
    }
}
