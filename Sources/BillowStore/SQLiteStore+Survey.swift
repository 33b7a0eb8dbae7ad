internal import GRDB
internal import Turbulence

extension SQLiteStore {
    /// The key range that is read in one transaction: one hour, which is three archive parts.
    private static let pieceKeys: Int64 = 3_600 << ObservationKey.tagBits
    /// The key range of all times.
    private static let keys: ClosedRange<Int64> =
        ObservationKey.first(of: .distantPast).rawValue...ObservationKey.first(of: .distantFuture).rawValue - 1

    /// Decodes every open or closed row, and verifies its checksum and those of packed parts. Damage is recorded
    /// (`damage`), and marks the sources as incomplete.
    package func survey(rest: Duration) async throws(StoreError) {
        for table in StoredTable.allCases {
            try await survey(table) { () async throws(StoreError) in try await surveyStructure(of: table) }
            try await pause(rest)
        }
        try await survey(.accessKey) { () async throws(StoreError) in _ = try await accessKeys() }
        try await survey(.monitoredFlight) { () async throws(StoreError) in _ = try await monitoredFlights() }
        try await surveyRows(.persistedOverride, Query.persistedOverrides) { row, _ in try Self.overrideValue(row) }
        try await surveyRows(.cursor, Query.everyCursor) { row, _ in try Self.pair(row, CursorColumn.piece, .value) }
        try await surveyRows(.sourceValue, Query.everySourceValue) { row, _ in
            try Self.pair(row, SourceValueColumn.name, .value)
        }
        try await surveyRows(.reporter, Query.everyReporter) { _, _ in }
        try await surveyRows(.reporterSource, Query.everyReporterSource) { _, _ in }
        try await survey(.observation) { () async throws(StoreError) in try await surveyObservations(rest) }
        try await survey(.packedPart) { () async throws(StoreError) in
            for part in try await packedParts() {
                _ = try await reading { db in try self.isAsStored(part, db) }
                try await pause(rest / 10)
            }
        }
        // First every version, including rows that were closed long ago. Then the rows around unreadable pages.
        try await surveyRows(.pilotReport, Query.everyReport) { try PilotReport($0, $1) }
        try await survey(.pilotReport) { () async throws(StoreError) in
            _ = try await pilotReports(from: .distantPast, to: .distantFuture, asOf: nil)
        }
        try await surveyRows(.area, Query.everyArea) { try StoredArea($0, $1) }
        try await survey(.area) { () async throws(StoreError) in
            _ = try await areas(nil, from: .distantPast, to: .distantFuture, asOf: nil)
        }
        try await surveyRows(.position, Query.everyPosition) { try AircraftPosition($0, $1) }
        try await survey(.position) { () async throws(StoreError) in try await surveyPositions(rest) }
        try await survey(.fieldLevel) { () async throws(StoreError) in
            try await surveyFields { () async throws(StoreError) in try await pause(rest) }
        }
    }

    /// Surveys a table. An unreadable table does not stop the survey of the others.
    private func survey(_ table: StoredTable, _ body: () async throws(StoreError) -> Void) async throws(StoreError) {
        do throws(StoreError) { try await body() } catch {
            guard case .corrupt(_, let reason) = error else { throw error }
            register.note(unreadable: table, reason)
        }
    }

    /// Decodes each row of a table, up to an unreadable page. It reads the sources' names in the same transaction,
    /// because new sources may register during a long survey.
    private func surveyRows<Row>(
        _ table: StoredTable, _ query: String, _ decode: @escaping @Sendable (Columns, SourceNames) throws -> Row
    ) async throws(StoreError) {
        try await reading { [register] db in
            let names = try SourceNames(db)
            let statement = try RawStatement(db, query)
            do {
                try statement.forEachReadable(register, { try decode($0, names) }) { _ in }
            } catch let error as DatabaseError where error.isPageDamage {
                if !table.isReadAround { register.note(unreadable: table, error.description) }
            }
        }
    }

    private func surveyObservations(_ rest: Duration) async throws(StoreError) {
        try await surveyRows(.observation, Query.rowsOfNoTime) { row, _ in try ObservationRow(row) }
        var first = Self.keys.lowerBound
        // Two consecutive rows may be years apart.
        while let found = try await firstKey(from: first) {
            let last = min(found + Self.pieceKeys, Self.keys.upperBound)
            try await surveyObservations(found...last)
            guard last < Self.keys.upperBound else { return }
            first = last + 1
            try await pause(rest)
        }
    }

    private func surveyPositions(_ rest: Duration) async throws(StoreError) {
        var next: PositionCursor?
        while true {
            let page = try await positions(
                after: next, from: .distantPast, to: .distantFuture, limit: Self.positionsAtOnce)
            guard page.count == Self.positionsAtOnce, let last = page.last else { return }
            next = PositionCursor(last)
            try await pause(rest)
        }
    }

    private static let positionsAtOnce = 20_000

    private func surveyStructure(of table: StoredTable) async throws(StoreError) {
        try await readingFile { [register] db in
            if let contradiction = try db.contradiction(in: table) {
                register.note(table, contradiction: contradiction)
            }
        }
    }

    private func pause(_ rest: Duration) async throws(StoreError) {
        guard rest > .zero else { return }
        do { try await Task.sleep(for: rest) } catch { throw StoreError(error, path: path) }
    }

    /// The first key, not below another, whose row is readable; nil if there is none. Corrupt rows may be out of order.
    private func firstKey(from first: Int64) async throws(StoreError) -> Int64? {
        try await reading { db in
            func scan(_ keys: ClosedRange<Int64>, _ body: (Int64, Void) throws -> Void) throws {
                let statement = try RawStatement(db, Query.allRows)
                try statement.bind(keys.lowerBound)
                try statement.forEachRow {
                    let key = $0.integer(ObservationColumn.key)
                    if keys.contains(key) { try body(key, ()) }
                }
            }
            var found: Int64?
            func end(_ key: Int64, _: Void) throws {
                found = key
                throw EndOfPage()
            }
            do {
                do { try scan(first...Self.keys.upperBound, end) } catch let error as DatabaseError
                    where error.isPageDamage
                { try self.readAround(error, first...Self.keys.upperBound, db, scan, body: end) }
            } catch is EndOfPage {}
            return found
        }
    }

    private func surveyObservations(_ keys: ClosedRange<Int64>) async throws(StoreError) {
        try await reading { db in
            let statement = try RawStatement(db, Query.allRows)
            try statement.bind(keys.lowerBound)
            do {
                try statement.forEachObservation(through: keys.upperBound, self.register, ObservationRow.init) { _ in }
            } catch let error as DatabaseError where error.isPageDamage {
                // Locates the unreadable pages and records them.
                _ = try self.observations(keys.lowerBound, keys.upperBound + 1, asOf: nil, db)
            }
        }
    }
}
