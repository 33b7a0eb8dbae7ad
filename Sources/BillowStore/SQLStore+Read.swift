internal import BillowFields
internal import GRDB
package import Turbulence

extension SQLStore {
    package func head() async throws(StoreError) -> Head { try await reading(Head.init) }

    package func sources() async throws(StoreError) -> [SourceRecord] {
        try await reading { [register] db in register.limitingCompleteness(try SourceRecord.allWithAreas(db, register))
        }
    }

    package func state() async throws(StoreError) -> LogState {
        try await reading(head: \.head) { [register] db in
            LogState(
                head: try Head(db), sources: register.limitingCompleteness(try SourceRecord.allWithAreas(db, register)),
                extent: try LogExtent(db))
        }
    }

    package func cursors(of source: SourceID) async throws(StoreError) -> [String: String] {
        try await pairs(Query.cursors, CursorColumn.source, .piece, .value, of: source)
    }

    package func values(of source: SourceID) async throws(StoreError) -> [String: String] {
        try await pairs(Query.sourceValues, SourceValueColumn.source, .name, .value, of: source)
    }

    private func pairs<Column: StoredColumn>(
        _ query: String, _ sourceColumn: Column, _ nameColumn: Column, _ valueColumn: Column, of source: SourceID
    ) async throws(StoreError) -> [String: String] {
        try await reading(Column.table) { [register] db in
            guard let number = try SourceRecord.all(db).first(where: { $0.id == source })?.number else {
                throw StoreError.unknownSource(source)
            }
            let statement = try RawStatement(db, query)
            try statement.bind(Int64(number.rawValue))
            var pairs: [String: String] = [:]
            // After a corrupt row SQLite may return rows of another source.
            try statement.forEachReadable(register) {
                ($0.integer(sourceColumn), try Self.pair($0, nameColumn, valueColumn))
            } _: { source, pair in
                if source == Int64(number.rawValue) { pairs[pair.0] = pair.1 }
            }
            return pairs
        }
    }

    /// A name and its value, from a query on all columns of a table.
    static func pair<Column: StoredColumn>(
        _ columns: Columns, _ nameColumn: Column, _ valueColumn: Column
    ) throws -> (String, String) {
        guard columns.isWhole(Column.self), let name = columns.text(nameColumn), let value = columns.text(valueColumn)
        else { throw UnreadableRow(unnumbered: columns, Column.self) }
        return (name, value)
    }

    /// - Complexity: proportional to the number of changes, not of stored rows.
    /// - Throws: `corrupt` also if an index is unreadable; the rows themselves may be readable then.
    package func changes(since version: Version) async throws(StoreError) -> Changes {
        try await reading(head: \.head) { [self] db in
            func opened(_ query: String) throws -> RawStatement {
                let statement = try RawStatement(db, query)
                try statement.bind(version.rawValue)
                return statement
            }
            func closed(_ query: String) throws -> RawStatement {
                let statement = try RawStatement(db, query)
                try statement.bind(version.rawValue, version.rawValue)
                return statement
            }
            let names = try SourceNames(db)
            var changes = try Changes(
                head: Head(db), sources: [], extent: LogExtent(db), opened: opened(Query.openedSince).rows(register),
                closed: closed(Query.closedSince).rows(register),
                openedReports: opened(Query.reportsOpenedSince).reports(register, names),
                closedReports: closed(Query.reportsClosedSince).reports(register, names),
                openedAreas: opened(Query.areasOpenedSince).areas(register, names),
                closedAreas: closed(Query.areasClosedSince).areas(register, names),
                positions: opened(Query.positionsSince).positions(register, names))
            let grids = try fieldGrids(db)
            changes.fields = try fields(after: version, upTo: nil, on: grids, db)
            changes.fieldGrids = grids
            if try Self.fieldDeletions(db).contains(where: { $0.version > version }) {
                changes.remainingFields = try fieldIndex(upTo: nil, on: grids, db)
            }
            // The sources are read after the rows, because unreadable rows mark them as incomplete.
            changes.sources = register.limitingCompleteness(try SourceRecord.allWithAreas(db, register))
            return changes
        }
    }

    package func extent() async throws(StoreError) -> ClosedRange<Instant>? {
        try await reading { db in try LogExtent(db).observed }
    }
}

extension LogExtent {
    init(_ db: any SQLConnection) throws {
        func instant(_ query: String) throws -> Instant? {
            try RawStatement(db, query).value().map { ObservationKey(rawValue: $0).observedAt }
        }
        self.init()
        do {
            if let oldest = try instant(Query.oldestKey), let newest = try instant(Query.newestKey) {
                observed = oldest...max(oldest, newest)
            }
        } catch let error as DatabaseError where error.isPageDamage {
            observed = try SQLiteStore.storedTimes(.observations, db)
        }
        oldestReportOrArea = try [Query.oldestReport, Query.oldestArea].compactMap { query in
            try SQLiteStore.edge(query, db).map { Instant(clamping: Int($0)) }
        }.min()
        if let oldest = try SQLiteStore.edge(Query.oldestField, db),
            let newest = try SQLiteStore.edge(Query.newestField, db)
        {
            fields = Instant(clamping: Int(oldest))...Instant(clamping: Int(max(oldest, newest)))
        }
        oldestPosition = try SQLiteStore.edge(Query.oldestBucket, db).map {
            Instant(clamping: Int($0) * AircraftPosition.bucketSeconds)
        }
    }
}
