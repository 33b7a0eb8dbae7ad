internal import GRDB
internal import Geometry
internal import Turbulence

extension Salvage {
    /// The number of rows in a transaction of the new file.
    private static let rowsAtOnce = 20_000
    /// The number of levels in a transaction: each has tens of thousands of bytes.
    private static let levelsAtOnce = 200
    /// The most probes: far more than a thousand gaps need.
    private static let maximumProbes = 1 << 20

    /// An error of the new file. Reading the old file in another way would not help.
    private struct TargetError: Error {
        var error: any Error
    }

    /// Copies a table. A table without keys is short, and is read from both ends of its rowid order.
    /// - Parameter time: the newest time of a row with a key; nil for data that no frame shows.
    mutating func copy(
        _ table: String, keys order: SalvageOrder?, time: (Int64) -> Instant? = { _ in nil }
    ) throws {
        guard let columns = try SalvageColumns(table, source: source, target: target, isUnreleased: isUnreleased)
        else { return }
        var writer = try SalvageWriter(
            target, table, columns, order, contentKeys: table == "observation" ? contentKeys : nil)
        if let order {
            let query = """
                SELECT \(columns.list) FROM \(table) \(order.isUnique ? "NOT INDEXED" : "")
                WHERE \(order.list) >= \(order.marks) ORDER BY \(order.columns.joined(separator: ", "))
                """
            var range = DamagedRange(hints: hints(table), maximumProbes: Self.maximumProbes)
            // The minimum and maximum keys may be in an unreadable page, so the range is unbounded.
            let source = source
            var gaps: [ClosedRange<Int64>] = []
            var strays: Set<[DatabaseValue]> = []
            try range.read(0...Int64.max - 1) { keys, body in
                let rows = try Row.fetchCursor(
                    source, sql: query, arguments: StatementArguments(order.arguments(keys.lowerBound)))
                while let row = try rows.next() {
                    guard let key = order.key(of: row) else {
                        strays.insert(Array(row.databaseValues))
                        continue
                    }
                    try body(key, row)
                }
            } gap: { gap in
                gaps.append(gap)
            } _: { _, row in
                do { try writer.write(row) } catch { throw TargetError(error: error) }
            }
            writer.copied.gaps = gaps
            writer.copied.refused += strays.count
            let newest = newestTime(of: table)
            // Any column of a row may be wrong, including its time.
            if !strays.isEmpty || writer.hasWrongSum { noteMissing(time(0).map { _ in newest }) }
            for gap in gaps { noteMissing(time(gap.upperBound).map { min($0, newest) }) }
            if try copyBackwards(table, order, columns, into: &writer) { noteMissing(newest) }
        } else {
            // A table without numbers can't be bisected, so it is read from both ends.
            for direction in ["", "ORDER BY 1 DESC"] {
                do {
                    let rows = try Row.fetchCursor(source, sql: "SELECT \(columns.list) FROM \(table) \(direction)")
                    while let row = try rows.next() { try writer.write(row) }
                    break
                } catch let error as DatabaseError where error.isPageDamage {
                    if !direction.isEmpty { writer.copied.gaps = [0...0] }
                }
            }
        }
        if let found { try copyFound(table, from: found, into: &writer) }
        if isListLost {
            writer.copied.gaps = [0...0]
            noteMissing(time(0).map { _ in end })
        }
        if target.isInsideTransaction { try target.commit() }
        for key in writer.refusedKeys { noteMissing(time(key)) }
        result.tables.append(writer.copied)
    }

    /// Reads a table from its other end if its pages contradict each other. A corrupt key hides the rows on one side of
    /// it.
    /// - Returns: whether the pages contradict each other.
    private func copyBackwards(
        _ table: String, _ order: SalvageOrder, _ columns: SalvageColumns, into writer: inout SalvageWriter
    ) throws -> Bool {
        guard let stored = StoredTable(rawValue: table), try source.contradiction(in: stored) != nil else {
            return false
        }
        let rows = try Row.fetchCursor(
            source,
            sql: """
                SELECT \(columns.list) FROM \(table) \(order.isUnique ? "NOT INDEXED" : "")
                ORDER BY \(order.columns.map { "\($0) DESC" }.joined(separator: ", "))
                """)
        writer.isFromBehind = true
        do { while let row = try rows.next() { try writer.write(row) } } catch let error as DatabaseError
            where error.isPageDamage
        {}
        writer.copied.gaps.append(0...0)
        return true
    }

    /// Adds the rows of a table that were found page by page. The number of rows that are still missing is unknown.
    private func copyFound(_ table: String, from found: Database, into writer: inout SalvageWriter) throws {
        guard let columns = try SalvageColumns(table, source: found, target: target, isUnreleased: false) else {
            return
        }
        writer.isFromBehind = true
        let rows = try Row.fetchCursor(found, sql: "SELECT \(columns.list) FROM \(table)")
        while let row = try rows.next() { try writer.write(row) }
    }

    /// Writes the rows of one table into the new file.
    private struct SalvageWriter {
        let target: Database
        let order: SalvageOrder?
        let contentKeys: ContentKeys?
        let insert: Statement
        /// The key's index among the columns.
        let keyIndex: Int?
        private let columns: SalvageColumns
        /// Whether a row has a wrong checksum.
        var hasWrongSum = false
        /// Whether most rows were written before.
        var isFromBehind = false
        var copied: SalvageResult.Table
        var refusedKeys: [Int64] = []
        private var keysRead: Set<Int64> = []
        private var pending = 0
        private let rowsAtOnce: Int

        init(
            _ target: Database, _ table: String, _ columns: SalvageColumns, _ order: SalvageOrder?,
            contentKeys: ContentKeys?
        ) throws {
            self.target = target
            self.columns = columns
            self.order = order
            self.contentKeys = contentKeys
            insert = try target.makeStatement(sql: columns.insert(into: table))
            keyIndex = columns.names.firstIndex(of: "key")
            rowsAtOnce = table == "fieldLevel" ? Salvage.levelsAtOnce : Salvage.rowsAtOnce
            copied = SalvageResult.Table(name: table, rows: 0, refused: 0, gaps: [])
        }

        mutating func write(_ row: Row) throws {
            if !target.isInsideTransaction { try target.beginTransaction(.immediate) }
            var isWritten = false
            if !columns.isWhole(row) {
                hasWrongSum = true
                if !isFromBehind { copied.refused += 1 }
                pending += 1
                return
            }
            // A recomputed key doesn't show whether the row was already copied.
            if contentKeys != nil, let key = order?.key(of: row), !keysRead.insert(key).inserted { return }
            do {
                isWritten = try insert(row)
                // The same row, read from the other end.
                if !isWritten, isFromBehind || order?.isUnique != true { return }
            } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {}
            if isWritten {
                copied.rows += 1
            } else {
                copied.refused += 1
                if let key = order?.key(of: row) { refusedKeys.append(key) }
            }
            pending += 1
            if pending == rowsAtOnce {
                try target.commit()
                pending = 0
            }
        }

        /// - Returns: false if the row exists already.
        private func insert(_ row: Row) throws -> Bool {
            var values = columns.values(of: row)
            guard let keyIndex, var key = contentKeys?.key(of: row) else {
                try insert.execute(arguments: StatementArguments(values))
                return target.changesCount > 0
            }
            while true {
                values[keyIndex] = key.rawValue.databaseValue
                try insert.execute(arguments: StatementArguments(values))
                if target.changesCount > 0 { return true }
                key = key.next
            }
        }
    }
}

/// The columns of a copied table, as defined in the new file.
struct SalvageColumns {
    /// All columns except the checksum, which is recomputed.
    let names: [String]
    /// The SQL expressions for the source: one per name, and a last one for whether the checksum is right.
    let list: String
    /// The number of columns that the checksum covers; nil if the table has none.
    private let summed: Int?

    /// Values for columns that files of unreleased builds may lack.
    private static let defaults = [
        "imported": "0", "transient": "0", "reporter": "0", "idTaken": "0", "ruleChanged": "0", "since": "fetchedAt",
    ]

    /// nil if the source lacks the table.
    init?(_ table: String, source: Database, target: Database, isUnreleased: Bool) throws {
        guard try source.tableExists(table), try target.tableExists(table) else { return nil }
        let known = Set(try source.columns(in: table).map(\.name))
        let all = try target.columns(in: table).map(\.name)
        let summed = all.firstIndex(of: "sum")
        let names = all.filter { $0 != "sum" }
        self.summed = summed
        self.names = names
        var isWhole = "1"
        if let summed, !isUnreleased {
            isWhole = "sum = row_sum(\(names.prefix(summed).joined(separator: ", ")))"
            // The bytes have their own checksum.
            if names.contains("packedSum") { isWhole += " AND packedSum = row_sum(packed)" }
        }
        let columns = names.map { name in
            // Builds from before the first release stored separately whether the nature of a source is known.
            if name == "simulated", known.contains("settled") { return "iif(settled, simulated, NULL) AS simulated" }
            return known.contains(name) ? "\"\(name)\"" : "\(Self.defaults[name] ?? "NULL") AS \(name)"
        }
        list = (columns + [isWhole]).joined(separator: ", ")
    }

    func isWhole(_ row: Row) -> Bool { Bool.fromDatabaseValue(row[names.count] as DatabaseValue) ?? false }

    func values(of row: Row) -> [DatabaseValue] { Array(row.databaseValues.prefix(names.count)) }

    func insert(into table: String) -> String {
        let marks = names.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let list = (names.map { "\"\($0)\"" } + (summed == nil ? [] : ["sum"])).joined(separator: ", ")
        let sum = summed.map { summed in
            ", row_sum(\((0..<summed).map { "?\($0 + 1)" }.joined(separator: ", ")))"
        }
        let values = marks + (sum ?? "")
        return "INSERT INTO \(table) (\(list)) VALUES (\(values)) ON CONFLICT DO NOTHING"
    }
}

/// The order in which a table's rows are read. Its keys are never negative.
struct SalvageOrder {
    /// One column, or two that are compared as a pair.
    var columns: [String]
    /// The left shift of the first column, which combines two columns into one number.
    var shift: Int64 = 0

    init(_ columns: String..., shift: Int64 = 0) {
        self.columns = columns
        self.shift = shift
    }

    static let observations = SalvageOrder("key")
    static let positions = SalvageOrder("bucket", "icao24", shift: PositionKey.aircraftBits)

    /// nil for an invalid value.
    func key(of row: Row) -> Int64? {
        let values = columns.compactMap { column in
            let value: DatabaseValue = row[column]
            return Int64.fromDatabaseValue(value)
        }
        guard values.count == columns.count, let first = values.first, first >= 0, first < .max >> shift else {
            return nil
        }
        return values.count == 1 ? first : first << shift | values[1] & (1 << shift - 1)
    }

    /// The query arguments that represent a key.
    func arguments(_ key: Int64) -> [Int64] {
        columns.count == 1 ? [key] : [key >> shift, key & (1 << shift - 1)]
    }

    /// `(a, b)`; a single column has no parentheses, so that SQLite uses its index.
    var list: String { columns.count == 1 ? columns[0] : "(\(columns.joined(separator: ", ")))" }
    var marks: String { columns.count == 1 ? "?" : "(?, ?)" }
    var isUnique: Bool { columns.count == 1 }
}

/// Computes the keys of observations with the new file's tags. Unreleased builds used other tags, and a secret may be
/// lost.
struct ContentKeys {
    private let tags: ContentTags
    private let sources: [Int: SourceRecord]

    /// - Parameter target: the new file, with its sources and its secret.
    init(_ target: Database) throws {
        tags = try ContentTags(target)
        sources = Dictionary(
            uniqueKeysWithValues: try SourceRecord.all(target).map { (Int($0.number.rawValue), $0) })
    }

    /// A replacement name for a source with an unreadable one.
    static func unnamed(_ number: Int) -> String { "salvaged-\(number)" }

    /// The first candidate key of a row without a public id; nil for other rows and invalid ones.
    func key(of row: Row) -> ObservationKey? {
        func integer(_ column: String) -> Int? { Int.fromDatabaseValue(row[column] as DatabaseValue) }
        let isNamed = !(row["externalId"] as DatabaseValue).isNull && integer("idTaken") != 1
        guard !isNamed, let key = integer("key"), let number = integer("source"),
            let source = sources[number]?.id ?? SourceID(Self.unnamed(number)),
            let cell = integer("cell").flatMap({ Cell(h3: UInt64(bitPattern: Int64($0))) }),
            let lowest = integer("altitudeMin").flatMap({ AltitudeBlock(thousands: $0 / 1_000) }),
            let highest = integer("altitudeMax").flatMap({ AltitudeBlock(thousands: $0 / 1_000) }),
            let altitude = AltitudeBand(lowest: lowest, highest: highest),
            let intensity = Intensity(
                severity: integer("severity").flatMap { UInt8(exactly: $0) }.flatMap(Severity.init(rawValue:)),
                edr: integer("edr").flatMap { EDR(tenThousandths: $0) })
        else { return nil }
        let observation = Observation(
            id: nil, cell: cell, altitude: altitude, intensity: intensity,
            observedAt: ObservationKey(rawValue: Int64(key)).observedAt,
            category: integer("category").flatMap { AircraftCategory(number: $0) }, source: source, kind: .inSitu,
            aircraft: nil)
        let isComputed = (sources[number]?.merge ?? .replace) == .replace
        return ObservationKey(
            observedAt: observation.observedAt, tag: tags(isComputed ? .value(observation) : .report(observation)))
    }
}
