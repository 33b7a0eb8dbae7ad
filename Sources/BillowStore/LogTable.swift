/// A table of the log, to copy it whole into another database.
package struct LogTable: Sendable {
    package let name: String
    package let columns: [String]
    /// The columns of its primary key, by which pages are ordered.
    package let key: [String]
    /// The place of the checksum among the columns; nil without one.
    package let sum: Int?
    /// The rows of a page, which must fit into memory.
    package let pageRows: Int
    /// Whether the checksum of a row is right.
    let isWhole: @Sendable (Columns) -> Bool

    /// All tables but the head, each after those that it refers to.
    package static let all: [LogTable] = [
        stored(SourceColumn.self, key: [.number]), stored(FetchedColumn.self, key: [.source, .kind]),
        stored(StoredKindColumn.self, key: [.source, .kind]), stored(CoveredAreaColumn.self, key: [.number]),
        stored(CursorColumn.self, key: [.source, .piece]), stored(SourceValueColumn.self, key: [.source, .name]),
        plain("reporter", ["number", "accessKey"], key: 1), plain("reporterSource", ["reporter", "source"], key: 2),
        stored(ObservationColumn.self, key: [.key]), stored(PilotReportColumn.self, key: [.number]),
        stored(AreaColumn.self, key: [.number], pageRows: 500),
        stored(PositionColumn.self, key: [.bucket, .icao24, .observedAt, .source]),
        stored(FieldGridColumn.self, key: [.number], pageRows: 100),
        stored(FieldLevelColumn.self, key: [.number], pageRows: 50),
        plain("changedStep", ["kind", "step", "version"], key: 2),
        stored(DeletionColumn.self, key: [.kind]), stored(PackedPartColumn.self, key: [.part], pageRows: 20),
        stored(AccessKeyColumn.self, key: [.id]), stored(PersistedOverrideColumn.self, key: [.source], pageRows: 500),
        stored(MonitoredFlightColumn.self, key: [.id], pageRows: 500),
    ]

    /// The head, which is copied last.
    package static let head = stored(HeadColumn.self, key: [.id])

    private static func stored<Column: StoredColumn>(
        _ columns: Column.Type, key: [Column], pageRows: Int = 5_000
    ) -> LogTable {
        LogTable(
            name: Column.table.rawValue, columns: Column.allCases.map(\.name), key: key.map(\.name),
            sum: Int(Column.sum.rawValue), pageRows: pageRows, isWhole: { $0.isWhole(Column.self) })
    }

    private static func plain(_ name: String, _ columns: [String], key: Int) -> LogTable {
        LogTable(
            name: name, columns: columns, key: Array(columns.prefix(key)), sum: nil, pageRows: 5_000,
            isWhole: { _ in true })
    }

    /// The query of a page, whose arguments are the key before it, if there is one, and the number of rows.
    package func query(isFirst: Bool) -> String {
        let order = key.joined(separator: ", ")
        let places = key.map { _ in "?" }.joined(separator: ", ")
        let condition = isFirst ? "" : "WHERE (\(order)) > (\(places))"
        return "SELECT \(columns.joined(separator: ", ")) FROM \(name) \(condition) ORDER BY \(order) LIMIT ?"
    }

    /// The key of a row.
    package func key(of row: [SQLValue]) -> [SQLValue] {
        key.compactMap { name in columns.firstIndex(of: name).map { row[$0] } }
    }
}

extension RawStatement {
    /// Binds the arguments of a page.
    package func bindPage(after key: [SQLValue]?, rows: Int) throws {
        let arguments = (key ?? []) + [.integer(Int64(rows))]
        for (index, argument) in arguments.enumerated() { try bind(argument, at: Int32(index + 1)) }
    }
}

extension SQLiteStore {
    /// A page of a table, with 0 in place of each checksum. A page with fewer rows than `pageRows` is the last one.
    /// - Throws: `corrupt` for a row with a wrong checksum.
    package func page(of table: LogTable, after key: [SQLValue]?) async throws(StoreError) -> [[SQLValue]] {
        let path = path
        return try await reading { db in
            let statement = try RawStatement(db, table.query(isFirst: key == nil))
            try statement.bindPage(after: key, rows: table.pageRows)
            var rows: [[SQLValue]] = []
            try statement.forEachRow { columns in
                guard table.isWhole(columns) else {
                    throw StoreError.corrupt(
                        path: path,
                        reason: "a row of table \(table.name) has a wrong checksum; billow salvage copies "
                            + "the rest into a new file")
                }
                var row = columns.values(count: table.columns.count)
                if let sum = table.sum { row[sum] = .integer(0) }
                rows.append(row)
            }
            return rows
        }
    }
}
