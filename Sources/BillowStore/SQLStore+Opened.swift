internal import GRDB
package import Turbulence

/// The records of a kind that a later run can ask for anew, in the order in which they were stored.
package enum OpenedKind: Sendable, Hashable {
    case observations, reports, positions
    case areas(IssuedArea.DatasetNumber)
}

/// A record with what its feature needs.
package enum OpenedRecord: Sendable {
    case observation(ObservationRow, ObservationDetails)
    case report(PilotReport)
    case position(AircraftPosition)
    case area(IssuedArea)
}

/// A place in the order in which records were stored: a version, and the place within it.
package struct OpenedPlace: Sendable, Hashable, Codable {
    package var version: Int64
    /// The number or key of a row; of positions bucket, aircraft, time and source. Empty for the end of the version.
    package var within: [Int64]

    /// The end of a version.
    package init(endOf version: Version) {
        self.version = version.rawValue
        within = []
    }

    init(_ version: Int64, _ within: [Int64]) {
        self.version = version
        self.within = within
    }

    /// The arguments of a query with a number of columns within a version.
    func arguments(_ count: Int) -> [Int64] {
        within.count == count ? within : Array(repeating: .max, count: count)
    }
}

/// A page of records in the order in which they were stored.
package struct OpenedPage: Sendable {
    package var records: [OpenedRecord]
    /// The start of the next page; nil at the end.
    package var next: OpenedPlace?
}

extension SQLStore {
    /// A page of the records that were stored after a place and up to a version, and that are valid at the head.
    ///
    /// A record that is corrected or withdrawn meanwhile is left out: its correction has a later version. Unreadable
    /// rows are left out and noted.
    /// - Throws: `corrupt` also where only an index is unreadable.
    /// - Complexity: proportional to the page.
    package func opened(
        _ kind: OpenedKind, after place: OpenedPlace, upTo last: Version, limit: Int
    ) async throws(StoreError) -> OpenedPage {
        try await reading(kind.table) { [register] db in
            let names = try SourceNames(db)
            var records: [OpenedRecord] = []
            var read = 0
            var next: OpenedPlace?
            // Notes the place of unreadable rows too, so that the next page starts after them.
            func scan<Column: StoredColumn>(
                _ query: String, _ since: Column, _ within: [Column], _ decode: (Columns) throws -> OpenedRecord?
            ) throws {
                let statement = try RawStatement(db, query)
                let start = place.arguments(within.count)
                if within.count == 1 {
                    try statement.bind(place.version, start[0], last.rawValue, Int64(limit))
                } else {
                    try statement.bind(
                        place.version, start[0], start[1], start[2], start[3], last.rawValue, Int64(limit))
                }
                try statement.forEachReadable(register) { columns in
                    read += 1
                    next = OpenedPlace(columns.integer(since), within.map { columns.integer($0) })
                    return try decode(columns)
                } _: { record in
                    if let record { records.append(record) }
                }
            }
            switch kind {
            case .observations:
                try scan(Query.observationsInOrder, ObservationColumn.since, [.key]) {
                    .observation(try ObservationRow($0), ObservationDetails($0))
                }
            case .reports:
                try scan(Query.reportsInOrder, PilotReportColumn.since, [.number]) {
                    .report(try PilotReport($0, names))
                }
            case .areas(let dataset):
                try scan(Query.areasInOrder, AreaColumn.since, [.number]) { columns in
                    let area = try StoredArea(columns, names).area
                    return area.collection == dataset ? .area(area) : nil
                }
            case .positions:
                try scan(Query.positionsInOrder, PositionColumn.since, [.bucket, .icao24, .observedAt, .source]) {
                    .position(try AircraftPosition($0, names))
                }
            }
            return OpenedPage(records: records, next: read < limit ? nil : next)
        }
    }

    /// The number of records of a kind that were stored after a place and up to a version; of areas those of every
    /// dataset.
    /// - Complexity: reads an index over them.
    package func countOpened(_ kind: OpenedKind, after place: OpenedPlace, upTo last: Version)
        async throws(StoreError) -> Int
    {
        try await reading(kind.table) { db in
            let statement = try RawStatement(db, Query.countOpened(kind.table))
            // Records of a version that is written in part are counted whole.
            try statement.bind(place.within.isEmpty ? place.version : place.version - 1, last.rawValue)
            return try statement.value().map { Int($0) } ?? 0
        }
    }

    /// The number of stored observations with `from` ≤ t < `to`, including the few closed ones.
    /// - Complexity: reads the keys of the range.
    package func countObservations(from: Instant, to: Instant) async throws(StoreError) -> Int {
        try await reading(.observation) { db in
            let statement = try RawStatement(db, Query.countKeys)
            try statement.bind(ObservationKey.first(of: from).rawValue, ObservationKey.first(of: to).rawValue)
            return try statement.value().map { Int($0) } ?? 0
        }
    }
}

extension OpenedKind {
    fileprivate var table: StoredTable {
        switch self {
        case .observations: .observation
        case .reports: .pilotReport
        case .positions: .position
        case .areas: .area
        }
    }
}

extension Query {
    static let observationsInOrder = inOrder(ObservationColumn.self, "since, key", "until IS NULL AND")
    static let reportsInOrder = inOrder(PilotReportColumn.self, "since, number", "until IS NULL AND")
    static let areasInOrder = inOrder(AreaColumn.self, "since, number", "until IS NULL AND")
    static let positionsInOrder = inOrder(PositionColumn.self, "since, bucket, icao24, observedAt, source", "")

    private static func inOrder<Column: StoredColumn>(
        _ columns: Column.Type, _ order: String, _ condition: String
    ) -> String {
        let places = order.split(separator: ",").map { _ in "?" }.joined(separator: ", ")
        return """
            SELECT \(Column.list) FROM \(Column.table.rawValue)
            WHERE \(condition) (\(order)) > (\(places)) AND since <= ? ORDER BY \(order) LIMIT ?
            """
    }

    static func countOpened(_ table: StoredTable) -> String {
        let condition = table == .position ? "" : "until IS NULL AND"
        return "SELECT count(*) FROM \(table.rawValue) WHERE \(condition) since > ? AND since <= ?"
    }

    static let allInOrder =
        [observationsInOrder, reportsInOrder, areasInOrder, positionsInOrder]
        + [StoredTable.observation, .pilotReport, .area, .position].map(countOpened)
}
