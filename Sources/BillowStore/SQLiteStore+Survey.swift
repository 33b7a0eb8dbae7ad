internal import GRDB
internal import Turbulence

extension SQLiteStore {
    /// Seconds of the log that are read in one transaction: three parts of the archive.
    private static let pieceSeconds = 3_600

    /// Decodes every row that counts or ever counted, and compares its sum and the sums of packed parts. Damage is
    /// noted (`damage`), and marks the sources as incomplete from then on.
    package func survey(rest: Duration) async throws(StoreError) {
        for table in StoredTable.allCases {
            do throws(StoreError) { try await surveyStructure(of: table) } catch {
                // Where a page can't be read, not even the end of the transaction succeeds.
                guard case .corrupt = error else { throw error }
            }
            try await pause(rest)
        }
        if let extent = try await storedExtent() {
            var next = extent.lowerBound
            while next <= extent.upperBound {
                let end = next.advanced(by: Self.pieceSeconds)
                try await surveyObservations(from: next, to: end)
                try await pause(rest)
                // Years may lie between two rows.
                next = try await firstTime(from: end)
            }
        }
        for part in try await packedParts() {
            _ = try await reading { db in try self.isAsStored(part, db) }
            try await pause(rest / 10)
        }
        // Every version: rows that were closed long ago are read too.
        try await reading { [register] db in
            let names = try SourceNames(db)
            func survey<Row>(_ query: String, _ decode: (Columns) throws -> Row) throws {
                try RawStatement(db, query).forEachReadable(register, decode) { _ in }
            }
            try survey(Query.sourceControls, Self.controlValue)
            try survey(Query.everyCursor) { try Self.pair($0, CursorColumn.piece, .value) }
            try survey(Query.everySourceValue) { try Self.pair($0, SourceValueColumn.name, .value) }
            do {
                try survey(Query.everyReport) { try PilotReport($0, names) }
                try survey(Query.everyArea) { try StoredArea($0, names) }
            } catch let error as DatabaseError where error.isPageDamage {}
        }
        // Notes where pages can't be read.
        _ = try await pilotReports(from: .distantPast, to: .distantFuture, asOf: nil)
        _ = try await areas(nil, from: .distantPast, to: .distantFuture, asOf: nil)
        _ = try await accessKeys()
        _ = try await followedFlights()
        _ = try await sources()
        try await surveyFields { () async throws(StoreError) in try await pause(rest) }
        var next: PositionPlace?
        while true {
            let page = try await positions(
                after: next, from: .distantPast, to: .distantFuture, limit: Self.positionsAtOnce)
            guard page.count == Self.positionsAtOnce, let last = page.last else { break }
            next = PositionPlace(last)
            try await pause(rest)
        }
    }

    private static let positionsAtOnce = 20_000

    private func surveyStructure(of table: StoredTable) async throws(StoreError) {
        try await reading { [register] db in
            if let contradiction = try db.contradiction(in: table) {
                register.note(table, contradiction: contradiction)
            }
        }
    }

    private func pause(_ rest: Duration) async throws(StoreError) {
        guard rest > .zero else { return }
        do { try await Task.sleep(for: rest) } catch { throw StoreError(error, path: path) }
    }

    /// When the next row was observed that can be read; past all rows where there is none.
    private func firstTime(from instant: Instant) async throws(StoreError) -> Instant {
        try await reading { db in
            let statement = try RawStatement(db, Query.allRows)
            try statement.bind(ObservationKey.first(of: instant).rawValue)
            do {
                return try statement.first { ObservationKey(rawValue: $0.integer(0)).observedAt } ?? .distantFuture
            } catch let error as DatabaseError where error.isPageDamage {
                let keys =
                    ObservationKey.first(of: instant).rawValue...ObservationKey.first(of: .distantFuture).rawValue - 1
                var found: Instant?
                do {
                    try self.readAround(error, keys, db) { keys, body in
                        try statement.bind(keys.lowerBound)
                        try statement.forEachRow { try body($0.integer(0), ()) }
                    } body: { key, _ in
                        found = ObservationKey(rawValue: key).observedAt
                        throw EndOfPage()
                    }
                } catch is EndOfPage {}
                return found ?? .distantFuture
            }
        }
    }

    /// The first and last second of all rows, closed ones too.
    private func storedExtent() async throws(StoreError) -> ClosedRange<Instant>? {
        try await reading { db in
            func edge(_ query: String) throws -> Instant? {
                do {
                    return try RawStatement(db, query).first { ObservationKey(rawValue: $0.integer(0)).observedAt }
                } catch let error as DatabaseError where error.isPageDamage {
                    let stored = try Self.storedTimes(.observations, db)
                    return query == Query.firstKey ? stored?.lowerBound : stored?.upperBound
                }
            }
            guard let first = try edge(Query.firstKey), let last = try edge(Query.lastKey) else { return nil }
            return first...max(first, last)
        }
    }

    private func surveyObservations(from: Instant, to: Instant) async throws(StoreError) {
        try await reading { db in
            let first = ObservationKey.first(of: from).rawValue
            let end = ObservationKey.first(of: to).rawValue
            let statement = try RawStatement(db, Query.allRows)
            try statement.bind(first)
            do {
                try statement.forEachObservation(through: end - 1, self.register, ObservationRow.init) { _ in }
            } catch let error as DatabaseError where error.isPageDamage {
                // Finds and notes where the pages are.
                _ = try self.observations(first, end, asOf: nil, db)
            }
        }
    }
}
