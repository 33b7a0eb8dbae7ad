internal import GRDB
internal import Turbulence

extension SQLStore {
    /// Reads observations in a range of keys, around unreadable pages, which are recorded.
    func readAround<Value>(
        _ damage: DatabaseError, _ keys: ClosedRange<Int64>, _ db: any SQLConnection,
        _ scan: @escaping DamagedRange.Scan<Value>,
        body: (Int64, Value) throws -> Void
    ) throws {
        var keys = keys
        if let stored = try Self.storedTimes(.observations, db) {
            let first = max(keys.lowerBound, ObservationKey.first(of: stored.lowerBound).rawValue)
            let last = min(keys.upperBound, ObservationKey.first(of: stored.upperBound.advanced(by: 1)).rawValue - 1)
            guard first <= last else { return }
            keys = first...last
        }
        try readAround(
            damage, keys, of: .observation, db, scan,
            times: { gap in
                ObservationKey(rawValue: gap.lowerBound)
                    .observedAt...ObservationKey(rawValue: gap.upperBound).observedAt
            }, body: body)
    }

    /// Reads rows of a table in a range of keys, around unreadable pages, which are recorded.
    ///
    /// - Parameter times: the times that a gap affects.
    func readAround<Value>(
        _ damage: DatabaseError, _ keys: ClosedRange<Int64>, of table: StoredTable, _ db: any SQLConnection,
        _ scan: @escaping DamagedRange.Scan<Value>, times: (ClosedRange<Int64>) -> ClosedRange<Instant>,
        body: (Int64, Value) throws -> Void
    ) throws {
        var range = DamagedRange(check: db.checkCancellation)
        defer { register.add(probes: range.probes) }
        var hasGap = false
        func note(_ gap: ClosedRange<Int64>) {
            hasGap = true
            let span = times(gap)
            register.note(gap: gap, of: table, from: span.lowerBound, to: span.upperBound, damage.description)
        }
        try range.read(keys, scan, gap: note, body)
        // An index names a missing row, or a row has another's key. Any row may be missing.
        if !hasGap { note(keys) }
    }

    /// The time span of the stored rows of a kind, to within a step, even if some pages are unreadable. nil without
    /// rows, or if the span is unreadable too.
    static func storedTimes(_ kind: ObservedTable, _ db: any SQLConnection) throws -> ClosedRange<Instant>? {
        let statement = try RawStatement(db, Query.changedExtent)
        try statement.bind(Int64(kind.rawValue))
        do {
            return try statement.first { columns in
                typealias Column = ChangedExtentColumn
                func step(_ column: Column) -> TimeStep? {
                    columns.optionalInteger(column).map { TimeStep(number: Int($0)) }
                }
                guard let first = step(.first), let last = step(.last) else { return nil }
                return TimeStep.instants(first...max(first, last))
            } ?? nil
        } catch let error as DatabaseError where error.isPageDamage { return nil }
    }

    /// Reads rows of a numbered table in number order, because an index or a page of the table is damaged.
    func readByNumber<Value, Column: StoredColumn>(
        _ query: String, _ newest: String, _ number: Column, _ from: Instant, _ to: Instant,
        asOf version: Version, _ damage: DatabaseError, _ db: any SQLConnection,
        _ decode: @escaping (Columns, SourceNames) throws -> Value
    ) throws -> [Value] {
        let names = try SourceNames(db)
        let last = try Self.edge(newest, db) ?? Self.maximumRowNumber
        // A missing report is no newer than the newest stored one. The end of a missing area's validity is unknown.
        let stored = Column.table == .pilotReport ? try Self.storedTimes(.reports, db) : nil
        let start = max(from, stored?.lowerBound ?? from)
        let times = start...max(start, min(to, stored?.upperBound ?? to))
        var values: [Value] = []
        try readAround(damage, 1...max(1, last), of: Column.table, db) { keys, body in
            let statement = try RawStatement(db, query)
            try statement.bind(
                Int64(from.seconds), Int64(to.seconds), version.rawValue, version.rawValue, keys.lowerBound,
                keys.upperBound)
            try statement.forEachReadable(self.register, { ($0.integer(number), try decode($0, names)) }) {
                try body($0, $1)
            }
        } times: { _ in
            times
        } body: { _, value in
            values.append(value)
        }
        return values
    }

    /// An upper bound for the rows of reports or areas, used if the table's last page is unreadable.
    private static var maximumRowNumber: Int64 { 1 << 24 }

    /// The first or last value of an index; nil if the index is empty or its page is unreadable.
    static func edge(_ query: String, _ db: any SQLConnection) throws -> Int64? {
        do { return try RawStatement(db, query).value() } catch let error as DatabaseError
            where error.isPageDamage
        { return nil }
    }
}

/// Stops reading a result early.
struct EndOfPage: Error {}

extension RawStatement {
    /// Binds an id at a version.
    func bind(id: String, asOf version: Version?) throws {
        try bind(id, version.bound, version.bound, version.bound, id)
    }

    /// Binds a time range `from` ≤ t < `to` at a version.
    func bind(from: Instant, to: Instant, asOf version: Version) throws {
        try bind(Int64(from.seconds), Int64(to.seconds), version.rawValue, version.rawValue)
    }
}

extension Version? {
    /// The version to bind. The largest integer stands for the head.
    var bound: Int64 { self?.rawValue ?? .max }
}
