/// The columns of a query's result, in their order. Query texts and value positions are derived from this list.
protocol ResultColumn: CaseIterable, RawRepresentable, Hashable, Sendable where RawValue == Int32 {
    /// The SQL expression that is selected.
    var expression: String { get }
}

extension ResultColumn {
    /// The name of a table's column.
    var name: String { "\(self)" }

    var expression: String { name }

    /// All columns, for SELECT.
    static var list: String { allCases.map(\.expression).joined(separator: ", ") }
}

/// The columns of a table whose rows have a checksum, in the order in which rows are written and read.
///
/// `sum` is the checksum over the columns before it (`RowSum`).
protocol StoredColumn: ResultColumn {
    static var table: StoredTable { get }
    static var sum: Self { get }
}

extension StoredColumn {
    /// Its position among the arguments of `insert`.
    var argument: Int32 { rawValue + 1 }

    /// The columns that the checksum covers.
    static var summed: [Self] { allCases.filter { $0.rawValue < sum.rawValue } }

    /// An SQL condition: the row's checksum is right.
    static var isWhole: String { "sum = \(rowSum { $0.name })" }

    /// An SQL expression for the checksum of a row with other values.
    static func rowSum(_ value: (Self) -> String) -> String {
        "row_sum(\(summed.map(value).joined(separator: ", ")))"
    }

    /// Inserts a row; SQLite computes the checksum.
    static var insert: String {
        let values = allCases.map { $0 == sum ? rowSum { "?\($0.argument)" } : "?\($0.argument)" }
        return "INSERT INTO \(table.rawValue) (\(list)) VALUES (\(values.joined(separator: ", ")))"
    }

    /// Inserts a row, or updates the row with the same key.
    static func upsert(key: [Self]) -> String {
        "\(insert) ON CONFLICT (\(key.map(\.name).joined(separator: ", "))) DO UPDATE SET \(replacement)"
    }

    /// Inserts a row unless one with the same key exists. A row with a wrong checksum is replaced.
    static func insertUnlessWhole(key: [Self]) -> String { "\(upsert(key: key)) WHERE NOT (\(isWhole))" }

    private static var replacement: String {
        allCases.map { "\($0.name) = excluded.\($0.name)" }.joined(separator: ", ")
    }

    /// Inserts a row whose values include the checksum.
    static var insertWithSum: String {
        let values = allCases.map { "?\($0.argument)" }.joined(separator: ", ")
        return "INSERT INTO \(table.rawValue) (\(list)) VALUES (\(values))"
    }

    /// Inserts a row with the next number, which is its first column.
    static var insertNumbered: String {
        let values = allCases.map { column in
            func value(_ column: Self) -> String { column.rawValue == 0 ? "next.number" : "?\(column.argument)" }
            return column == sum ? rowSum(value) : value(column)
        }
        return """
            INSERT INTO \(table.rawValue) (\(list))
            SELECT \(values.joined(separator: ", "))
            FROM (SELECT coalesce(max(number), 0) + 1 AS number FROM \(table.rawValue)) AS next
            """
    }

    /// Updates rows and their checksums. A row with a wrong checksum stays unchanged, because it must not look intact
    /// afterwards.
    /// - Parameter changes: the new values, with numbered arguments.
    static func update(_ changes: [Self: String], where condition: String) -> String {
        let set = changes.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.name) = \($0.value)" }
        return """
            UPDATE \(table.rawValue) SET \(set.joined(separator: ", ")), sum = \(rowSum { changes[$0] ?? $0.name })
            WHERE \(condition) AND \(isWhole)
            """
    }

    /// Closes a row with a wrong checksum. The checksum stays wrong: the row frees its identity, and the loss stays
    /// detectable. The arguments are the version and the key.
    static func setAside(until: Self, since: Self, key: Self) -> String {
        let end = "max(?1, \(since.name))"
        return """
            UPDATE \(table.rawValue) SET \(until.name) = \(end), sum = ~\(rowSum { $0 == until ? end : $0.name })
            WHERE \(key.name) = ?2 AND \(until.name) IS NULL
            """
    }
}

/// The head of the log.
enum HeadColumn: Int32, StoredColumn {
    case id, version, rules, log, deletions, tagSecret, simulated, sum
    static let table = StoredTable.head
}

/// Sources.
enum SourceColumn: Int32, StoredColumn {
    case number, name, mergeRule, simulated, fetchedAt, completeSince, ruleChanged, sum
    static let table = StoredTable.source
}

/// Fetch times by kind of data.
enum FetchedColumn: Int32, StoredColumn {
    case source, kind, fetchedAt, since, sum
    static let table = StoredTable.fetched
}

/// The kinds of data that were ever stored.
enum StoredKindColumn: Int32, StoredColumn {
    case source, kind, sum
    static let table = StoredTable.storedKind
}

/// The areas that sources are queried for.
enum CoveredAreaColumn: Int32, StoredColumn {
    case number, source, kind, part, ring, since, until, sum
    static let table = StoredTable.coveredArea
}

/// Cursors.
enum CursorColumn: Int32, StoredColumn {
    case source, piece, value, sum
    static let table = StoredTable.cursor
}

/// Key-value pairs of sources.
enum SourceValueColumn: Int32, StoredColumn {
    case source, name, value, sum
    static let table = StoredTable.sourceValue
}

/// Observations.
enum ObservationColumn: Int32, StoredColumn {
    case key, cell, altitudeMin, altitudeMax, severity, edr, category, source, kind, since, until, externalId, aircraft
    case imported, transient, reporter, idTaken, sum
    static let table = StoredTable.observation
}

/// Pilot reports.
enum PilotReportColumn: Int32, StoredColumn {
    case number, id, source, lon, lat, observedAt, type, aircraft, altitude, turbulence, text, since, until, imported
    case sum
    static let table = StoredTable.pilotReport
}

/// Issued areas.
enum AreaColumn: Int32, StoredColumn {
    case number, collection, id, source, kind, hazard, severity, altitudeMin, altitudeMax, validFrom, validTo, issuedAt
    case forecastHour, history, status, text, geometry, since, until, imported, statedTo, sum
    static let table = StoredTable.area
}

/// Positions of aircraft.
enum PositionColumn: Int32, StoredColumn {
    case bucket, icao24, observedAt, source, lon, lat, callsign, altitude, geometricAltitude, groundSpeed, heading
    case verticalRate, onGround, category, since, sum
    static let table = StoredTable.position
}

/// Grids of fields.
enum FieldGridColumn: Int32, StoredColumn {
    case number, definition, sum
    static let table = StoredTable.fieldGrid
}

/// Levels of fields. The bytes have their own checksum, `packedSum`, because a query for the list of levels doesn't
/// read them.
enum FieldLevelColumn: Int32, StoredColumn {
    case number, source, product, run, validTime, level, grid, since, imported, packedSum, sum, packed
    static let table = StoredTable.fieldLevel
}

/// Deletions.
enum DeletionColumn: Int32, StoredColumn {
    case kind, before, version, sum
    static let table = StoredTable.deletion
}

/// Packed parts. The bytes have their own checksum (`WindowPart`), so they follow this one.
enum PackedPartColumn: Int32, StoredColumn {
    case part, version, rowSum, sum, packed
    static let table = StoredTable.packedPart
}

/// Access keys.
enum AccessKeyColumn: Int32, StoredColumn {
    case id, name, hash, scopes, createdAt, revokedAt, sum
    static let table = StoredTable.accessKey
}

/// Persisted overrides of sources.
enum PersistedOverrideColumn: Int32, StoredColumn {
    case source, value, sum
    static let table = StoredTable.persistedOverride
}

/// Monitored flights.
enum MonitoredFlightColumn: Int32, StoredColumn {
    case id, accessKey, value, sum
    static let table = StoredTable.monitoredFlight
}
