internal import GRDB
internal import Synchronization
package import Turbulence

extension SQLStore {
    /// A range up to this long is read without counting its rows first. A request waits for an archive part, and
    /// counting would add a tenth to its time.
    private static var uncountedSeconds: Int { 3_600 }
    /// The capacity for an unknown number of rows: some 5 MB.
    private static var maximumReservedRows: Int { 65_536 }

    package func rows(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> Rows {
        try await reading { db in
            try DeletedBefore.check(.rest, from: from, asOf: version, db)
            let first = ObservationKey.first(of: from).rawValue
            let end = ObservationKey.first(of: to).rawValue
            // An array that grows by doubling would touch twice the memory.
            var capacity = rowEstimate.rows
            let isShort = to.seconds - from.seconds <= Self.uncountedSeconds
            if !isShort {
                let count = try RawStatement(db, Query.countKeys)
                try count.bind(first, end)
                // Closed rows are few, so the count is a good estimate.
                do { capacity = try count.value().map { Int($0) } ?? 0 } catch let error as DatabaseError
                    where error.isPageDamage
                { capacity = 0 }
            }
            let rows = try self.observations(first, end, asOf: version, capacity: capacity, db)
            if isShort {
                rowEstimate.rows = min(rows.count + rows.count / 8, Self.maximumReservedRows)
            }
            // The sources are read after the rows, because unreadable rows mark them as incomplete.
            return try Rows(
                head: Head(db), sources: self.register.limitingCompleteness(SourceRecord.all(db)), rows: rows)
        }
    }

    /// The rows with `first` ≤ key < `end` at a version (nil: the head), around unreadable pages.
    func observations(
        _ first: Int64, _ end: Int64, asOf version: Version?, capacity: Int = 0, _ db: any SQLConnection
    ) throws -> [ObservationRow] {
        func scan(_ keys: ClosedRange<Int64>, _ body: (Int64, ObservationRow) throws -> Void) throws {
            let statement = try RawStatement(db, version == nil ? Query.openRows : Query.rowsAsOf)
            if let version {
                try statement.bind(keys.lowerBound, version.rawValue, version.rawValue)
            } else {
                try statement.bind(keys.lowerBound)
            }
            try statement.forEachObservation(through: keys.upperBound, register, ObservationRow.init) {
                try body($0.key.rawValue, $0)
            }
        }
        guard first < end else { return [] }
        let keys = first...end - 1
        var rows: [ObservationRow] = []
        rows.reserveCapacity(capacity)
        do { try scan(keys) { rows.append($1) } } catch let error as DatabaseError where error.isPageDamage {
            rows = []
            try readAround(error, keys, db, scan) { rows.append($1) }
        }
        return rows
    }

    /// A page of observations. A `limit` below 1 gives an empty page. Unreadable rows don't count against the limit.
    package func page(
        after: ObservationKey?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [(row: ObservationRow, details: ObservationDetails)] {
        typealias Item = (row: ObservationRow, details: ObservationDetails)
        // No overflow: a key is never the largest integer, because instants end far below.
        let first = max(ObservationKey.first(of: from).rawValue, after.map { $0.rawValue &+ 1 } ?? 0)
        let end = ObservationKey.first(of: to).rawValue
        guard limit > 0, first < end else { return [] }
        return try await reading { [self] db in
            try DeletedBefore.check(.rest, from: ObservationKey(rawValue: first).observedAt, asOf: version, db)
            func scan(_ keys: ClosedRange<Int64>, _ body: (Int64, Item) throws -> Void) throws {
                let statement = try RawStatement(db, Query.rowsAsOf)
                try statement.bind(keys.lowerBound, version.bound, version.bound)
                try statement.forEachObservation(
                    through: keys.upperBound, register,
                    { (row: try ObservationRow($0), details: ObservationDetails($0)) },
                    key: \.row.key
                ) { try body($0.row.key.rawValue, $0) }
            }
            var page: [Item] = []
            var next = first
            func append(_ key: Int64, _ item: Item) throws {
                page.append(item)
                next = key + 1
                if page.count == limit { throw EndOfPage() }
            }
            do {
                do { try scan(next...end - 1, append) } catch let error as DatabaseError where error.isPageDamage {
                    guard next < end else { return page }
                    try readAround(error, next...end - 1, db, scan, body: append)
                }
            } catch is EndOfPage {}
            return page
        }
    }

    /// Returns closed rows too.
    package func observations(of keys: [ObservationKey]) async throws(StoreError)
        -> [ObservationKey: (row: ObservationRow, details: ObservationDetails)]
    {
        try await read(keys) { (try ObservationRow($0), ObservationDetails($0)) }
    }

    /// Returns the details of closed rows too.
    package func details(of keys: [ObservationKey]) async throws(StoreError) -> [ObservationKey: ObservationDetails] {
        try await read(keys) { columns in
            // An unreadable row has no details.
            _ = try ObservationRow(columns)
            return ObservationDetails(columns)
        }
    }

    /// Reads rows by key. A row that became unreadable since its key was read is left out.
    private func read<Value: Sendable>(
        _ keys: [ObservationKey], _ decode: @escaping @Sendable (Columns) throws -> Value
    ) async throws(StoreError) -> [ObservationKey: Value] {
        try await reading { [self] db in
            let statement = try RawStatement(db, Query.observationByKey)
            var values: [ObservationKey: Value] = [:]
            values.reserveCapacity(keys.count)
            for key in keys {
                try statement.bind(key.rawValue)
                do {
                    if let found = try statement.firstReadable(register, decode) { values[key] = found }
                } catch let error as DatabaseError where error.isPageDamage {
                    continue
                }
            }
            return values
        }
    }

    /// If two sources use the same id, the one with the lower number wins.
    package func observation(
        id: String, asOf version: Version?
    ) async throws(StoreError) -> (row: ObservationRow, details: ObservationDetails)? {
        try await reading { [register] db in
            let byID = try RawStatement(db, Query.observationsByFeatureID)
            try byID.bind(id: id, asOf: version)
            /// A missing row may have been deleted.
            func missing() throws { try DeletedBefore.check(.rest, from: .distantPast, asOf: version, db) }
            var found: (row: ObservationRow, details: ObservationDetails)?
            try byID.forEachReadable(register, { (try ObservationRow($0), ObservationDetails($0)) }) { row, details in
                if row.source.rawValue < found?.row.source.rawValue ?? .max { found = (row, details) }
            }
            if let found { return found }
            guard let key = ObservationKey(id: id) else {
                try missing()
                return nil
            }
            let byKey = try RawStatement(db, Query.observationByKey)
            try byKey.bind(key.rawValue)
            guard
                let found = try byKey.firstReadable(register, { (try ObservationRow($0), ObservationDetails($0)) }),
                found.1.id == nil, found.0.since.rawValue <= version.bound,
                found.0.until.map({ $0.rawValue > version.bound }) ?? true
            else {
                try missing()
                return nil
            }
            return found
        }
    }
}

/// Stops reading at the end of a key range.
private struct EndOfRange: Error {}

extension RawStatement {
    /// Decodes all rows of a query on observations, and skips unreadable ones.
    func rows(_ damage: DamageRegister) throws -> [ObservationRow] {
        try readable(damage, ObservationRow.init)
    }

    /// Decodes the rows of a query on observations in key order, up to a key. The query itself has no upper bound.
    func forEachObservation(
        through last: Int64, _ damage: DamageRegister, _ decode: (Columns) throws -> ObservationRow,
        _ body: (ObservationRow) throws -> Void
    ) throws {
        try forEachObservation(through: last, damage, decode, key: \.key, body)
    }

    func forEachObservation<Value>(
        through last: Int64, _ damage: DamageRegister, _ decode: (Columns) throws -> Value,
        key: (Value) -> ObservationKey, _ body: (Value) throws -> Void
    ) throws {
        do {
            try forEachReadable(damage, decode) { value in
                guard key(value).rawValue <= last else { throw EndOfRange() }
                try body(value)
            }
        } catch is EndOfRange {}
    }
}
