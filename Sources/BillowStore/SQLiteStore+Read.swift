internal import GRDB
internal import Synchronization
public import Turbulence

extension SQLiteStore {
    public func head() async throws(StoreError) -> Head { try await reading(Head.init) }

    public func sources() async throws(StoreError) -> [SourceRecord] { try await reading(SourceRecord.all) }

    public func state() async throws(StoreError) -> LogState {
        try await reading { db in
            LogState(head: try Head(db), sources: try SourceRecord.all(db), extent: try LogExtent(db))
        }
    }

    public func cursors(of source: SourceID) async throws(StoreError) -> [String: String] {
        try await reading { db in
            guard let number = try SourceRecord.all(db).first(where: { $0.id == source })?.number else {
                throw StoreError.unknownSource(source)
            }
            let statement = try RawStatement(db, Query.cursors)
            statement.bind(Int64(number.rawValue), at: 1)
            var cursors: [String: String] = [:]
            try statement.forEachRow { columns in
                if let piece = columns.text(0), let value = columns.text(1) { cursors[piece] = value }
            }
            return cursors
        }
    }

    /// - Complexity: by what changed, not by what is stored.
    public func changes(since version: Version) async throws(StoreError) -> Changes {
        try await reading { db in
            func opened(_ query: String) throws -> RawStatement {
                let statement = try RawStatement(db, query)
                statement.bind(version.rawValue, at: 1)
                return statement
            }
            func closed(_ query: String) throws -> RawStatement {
                let statement = try opened(query)
                statement.bind(version.rawValue, at: 2)
                return statement
            }
            return try Changes(
                head: Head(db), sources: SourceRecord.all(db), extent: LogExtent(db),
                opened: opened(Query.openedSince).rows(), closed: closed(Query.closedSince).rows(),
                openedReports: opened(Query.reportsOpenedSince).reports(),
                closedReports: closed(Query.reportsClosedSince).reports(),
                openedAreas: opened(Query.areasOpenedSince).areas(),
                closedAreas: closed(Query.areasClosedSince).areas(),
                positions: opened(Query.positionsSince).positions())
        }
    }

    /// A part of the archive is read while somebody waits: counting its rows first would take a tenth of that.
    private static let uncountedSeconds = 3_600
    /// Room asked for without knowing: some 5 MB.
    private static let mostExpected = 65_536

    public func rows(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> Rows {
        try await reading { db in
            let first = ObservationKey.first(of: from).rawValue
            let end = ObservationKey.first(of: to).rawValue
            // An array that grows by doubling would touch twice the memory.
            var capacity = self.shortWindow.load(ordering: .relaxed)
            let isShort = to.seconds - from.seconds <= Self.uncountedSeconds
            if !isShort {
                let count = try RawStatement(db, Query.countKeys)
                count.bind(first, at: 1)
                count.bind(end, at: 2)
                // Closed rows are few.
                capacity = try count.first { Int($0.integer(0)) } ?? 0
            }
            let statement = try RawStatement(db, version == nil ? Query.openRows : Query.rowsAsOf)
            statement.bind(first, at: 1)
            statement.bind(end, at: 2)
            if let version {
                statement.bind(version.rawValue, at: 3)
                statement.bind(version.rawValue, at: 4)
            }
            let rows = try statement.rows(capacity: capacity)
            if isShort {
                self.shortWindow.store(min(rows.count + rows.count / 8, Self.mostExpected), ordering: .relaxed)
            }
            return try Rows(head: Head(db), sources: SourceRecord.all(db), rows: rows)
        }
    }

    public func pilotReports(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError)
        -> [PilotReport]
    {
        try await reading { db in
            let statement = try RawStatement(db, Query.reportsAsOf)
            statement.bind(from: from, to: to, asOf: try version ?? Head(db).version)
            return try statement.reports()
        }
    }

    public func areas(
        _ collection: IssuedArea.Collection?, from: Instant, to: Instant, asOf version: Version?
    ) async throws(StoreError) -> [IssuedArea] {
        let areas = try await reading { db in
            let statement = try RawStatement(db, Query.areasAsOf)
            statement.bind(from: from, to: to, asOf: try version ?? Head(db).version)
            return try statement.areas()
        }
        return areas.filter { collection == nil || $0.collection == collection }
            .sorted { ($0.id, $0.source, $0.validFrom) < ($1.id, $1.source, $1.validFrom) }
    }

    public func areaChanges(of collection: IssuedArea.Collection, in range: ClosedRange<Instant>, asOf version: Version)
        async throws(StoreError) -> [Instant]
    {
        try await reading { db in
            let statement = try RawStatement(db, Query.areaValidities)
            statement.bind(from: range.lowerBound, to: range.upperBound, asOf: version)
            statement.bind(Int64(collection.rawValue), at: 5)
            var changes = Set<Instant>()
            try statement.forEachRow { columns in
                for column: Int32 in [0, 1] {
                    let instant = Instant(clamping: Int(columns.integer(column)))
                    if range.contains(instant) { changes.insert(instant) }
                }
            }
            return changes.sorted()
        }
    }

    public func positions(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError)
        -> [AircraftPosition]
    {
        try await reading { db in
            let statement = try Self.between(from, to, RawStatement(db, Query.positionsBetween))
            statement.bind(version.bound, at: 5)
            return try statement.positions()
        }
    }

    /// A quarter of a day to a read, so that none holds a reader for long, however much is stored.
    public func aircraft(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> [ICAO24] {
        let stored = try await reading { db -> ClosedRange<Int64>? in
            func bucket(_ query: String) throws -> Int64? { try RawStatement(db, query).first { $0.integer(0) } }
            guard let oldest = try bucket(Query.oldestBucket), let newest = try bucket(Query.newestBucket) else {
                return nil
            }
            return oldest...max(oldest, newest)
        }
        guard let stored else { return [] }
        let first = max(AircraftPosition.bucket(from), stored.lowerBound)
        let last = min(AircraftPosition.bucket(to), stored.upperBound)
        var aircraft = Set<ICAO24>()
        // Nothing where the two ranges have no bucket in common.
        for bucket in stride(from: first, through: last, by: Int64.Stride(Self.bucketsOfARead)) {
            aircraft.formUnion(
                try await reading { db in
                    var found = Set<ICAO24>()
                    let statement = try Self.between(from, to, RawStatement(db, Query.aircraftBetween))
                    statement.bind(bucket, at: 1)
                    statement.bind(min(bucket + Self.bucketsOfARead - 1, last), at: 2)
                    statement.bind(version.bound, at: 5)
                    try statement.forEachRow { columns in
                        if let address = UInt32(exactly: columns.integer(0)).flatMap({ ICAO24(rawValue: $0) }) {
                            found.insert(address)
                        }
                    }
                    return found
                })
        }
        return aircraft.sorted()
    }

    private static let bucketsOfARead: Int64 = 120

    private static func between(_ from: Instant, _ to: Instant, _ statement: RawStatement) -> RawStatement {
        statement.bind(AircraftPosition.bucket(from), at: 1)
        statement.bind(AircraftPosition.bucket(to), at: 2)
        statement.bind(Int64(from.seconds), at: 3)
        statement.bind(Int64(to.seconds), at: 4)
        return statement
    }

    /// By bucket of three minutes, aircraft, time and source. A source that nobody knows starts after all of its second.
    public func positions(
        after: PositionPlace?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [AircraftPosition] {
        try await reading { db in
            let statement = try RawStatement(db, Query.positionsPage)
            let start = after?.observedAt ?? from
            statement.bind(AircraftPosition.bucket(start), at: 1)
            statement.bind(after.map { Int64($0.icao24.rawValue) } ?? -1, at: 2)
            statement.bind(after.map { Int64($0.observedAt.seconds) } ?? -1, at: 3)
            let number = try after.flatMap { after in
                try SourceRecord.all(db).first { $0.id == after.source }?.number.rawValue
            }
            statement.bind(number.map { Int64($0) } ?? 256, at: 4)
            statement.bind(AircraftPosition.bucket(to), at: 5)
            statement.bind(Int64(from.seconds), at: 6)
            statement.bind(Int64(to.seconds), at: 7)
            statement.bind(version.bound, at: 8)
            statement.bind(Int64(max(limit, 0)), at: 9)
            return try statement.positions()
        }
    }

    /// - Complexity: one look-up for each bucket between the times, held to what is stored.
    public func track(
        of aircraft: ICAO24, from: Instant, to: Instant, asOf version: Version?
    ) async throws(StoreError) -> [AircraftPosition] {
        try await reading { db in
            func bucket(_ query: String) throws -> Int64? { try RawStatement(db, query).first { $0.integer(0) } }
            guard let oldest = try bucket(Query.oldestBucket), let newest = try bucket(Query.newestBucket) else {
                return []
            }
            let first = max(AircraftPosition.bucket(from), oldest)
            let last = min(AircraftPosition.bucket(to), newest)
            guard first <= last else { return [] }
            let statement = try RawStatement(db, Query.trackInBucket)
            var track: [AircraftPosition] = []
            for bucket in first...last {
                statement.bind(bucket, at: 1)
                statement.bind(Int64(aircraft.rawValue), at: 2)
                statement.bind(Int64(from.seconds), at: 3)
                statement.bind(Int64(to.seconds), at: 4)
                statement.bind(version.bound, at: 5)
                track += try statement.positions()
            }
            return track
        }
    }

    public func extent() async throws(StoreError) -> ClosedRange<Instant>? {
        try await reading { db in try LogExtent(db).observed }
    }

    /// A `limit` below 1 gives an empty page.
    public func page(
        after: ObservationKey?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [(row: ObservationRow, details: ObservationDetails)] {
        // A key is never the largest integer: instants end far below.
        let first = max(ObservationKey.first(of: from).rawValue, after.map { $0.rawValue &+ 1 } ?? 0)
        return try await reading { db in
            let statement = try RawStatement(db, Query.observationPage)
            statement.bind(first, at: 1)
            statement.bind(ObservationKey.first(of: to).rawValue, at: 2)
            statement.bind(version.bound, at: 3)
            statement.bind(version.bound, at: 4)
            statement.bind(Int64(max(limit, 0)), at: 5)
            var page: [(row: ObservationRow, details: ObservationDetails)] = []
            try statement.forEachRow { page.append((try ObservationRow($0), ObservationDetails($0))) }
            return page
        }
    }

    /// Closed rows have details too.
    public func details(of keys: [ObservationKey]) async throws(StoreError) -> [ObservationKey: ObservationDetails] {
        try await reading { db in
            let statement = try RawStatement(db, Query.observationByKey)
            var details: [ObservationKey: ObservationDetails] = [:]
            details.reserveCapacity(keys.count)
            for key in keys {
                statement.bind(key.rawValue, at: 1)
                if let found = try statement.first(ObservationDetails.init) { details[key] = found }
            }
            return details
        }
    }

    /// Where two sources gave the same id, the one of the lower number.
    public func observation(
        id: String, asOf version: Version?
    ) async throws(StoreError) -> (row: ObservationRow, details: ObservationDetails)? {
        try await reading { db in
            let byID = try RawStatement(db, Query.observationsByFeatureID)
            try byID.bind(id: id, asOf: version)
            var found: (row: ObservationRow, details: ObservationDetails)?
            try byID.forEachRow { columns in
                let row = try ObservationRow(columns)
                if row.source.rawValue < found?.row.source.rawValue ?? .max {
                    found = (row, ObservationDetails(columns))
                }
            }
            if let found { return found }
            guard let key = ObservationKey(id: id) else { return nil }
            let byKey = try RawStatement(db, Query.observationByKey)
            byKey.bind(key.rawValue, at: 1)
            guard let found = try byKey.first({ (try ObservationRow($0), ObservationDetails($0)) }), found.1.id == nil,
                found.0.since.rawValue <= version.bound, found.0.until.map({ $0.rawValue > version.bound }) ?? true
            else { return nil }
            return found
        }
    }

    /// Where two sources gave the same id, the one of the lower number.
    public func pilotReport(id: String, asOf version: Version?) async throws(StoreError) -> PilotReport? {
        try await reading { db in
            let statement = try RawStatement(db, Query.reportsByID)
            try statement.bind(id: id, asOf: version)
            var found: (source: Int64, report: PilotReport)?
            try statement.forEachRow { columns in
                let source = columns.integer(9)
                if source < found?.source ?? .max { found = (source, try PilotReport(columns)) }
            }
            return found?.report
        }
    }

    /// A page may hold a few more than `limit`: one and the same report from several sources (same time, same id) is
    /// never split between two pages, because the place where a page starts couldn't tell them apart.
    public func pilotReports(
        after: (Instant, String)?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [PilotReport] {
        guard limit > 0 else { return [] }
        let start = max(from, after?.0 ?? from)
        return try await reading { db in
            let statement = try RawStatement(db, Query.reportPage)
            statement.bind(Int64(start.seconds), at: 1)
            statement.bind(Int64(to.seconds), at: 2)
            statement.bind(after.map { Int64($0.0.seconds) } ?? -1, at: 3)
            try statement.bind(after?.1 ?? "", at: 4)
            statement.bind(version.bound, at: 5)
            statement.bind(version.bound, at: 6)
            var page: [PilotReport] = []
            do {
                try statement.forEachRow { columns in
                    let report = try PilotReport(columns)
                    if page.count >= limit, let last = page.last,
                        last.observedAt != report.observedAt || last.id != report.id
                    {
                        throw EndOfPage()
                    }
                    page.append(report)
                }
            } catch is EndOfPage {}
            return page
        }
    }
}

/// Ends the reading of a result early.
private struct EndOfPage: Error {}

extension RawStatement {
    /// All reports of a query on them.
    fileprivate func reports() throws -> [PilotReport] {
        var reports: [PilotReport] = []
        try forEachRow { reports.append(try PilotReport($0)) }
        return reports
    }

    /// An id at a version.
    fileprivate func bind(id: String, asOf version: Version?) throws {
        try bind(id, at: 1)
        for position: Int32 in 2...4 { bind(version.bound, at: position) }
        try bind(id, at: 5)
    }

    /// A range of time, `from` ≤ t < `to`, at a version.
    fileprivate func bind(from: Instant, to: Instant, asOf version: Version) {
        bind(Int64(from.seconds), at: 1)
        bind(Int64(to.seconds), at: 2)
        bind(version.rawValue, at: 3)
        bind(version.rawValue, at: 4)
    }

    /// All rows of a query on observations.
    func rows(capacity: Int = 0) throws -> [ObservationRow] {
        var rows: [ObservationRow] = []
        rows.reserveCapacity(capacity)
        try forEachRow { rows.append(try ObservationRow($0)) }
        return rows
    }
}

extension Version? {
    /// The version that rows are held to; what counts at the largest counts at the head.
    fileprivate var bound: Int64 { self?.rawValue ?? .max }
}

extension LogExtent {
    init(_ db: Database) throws {
        func instant(_ query: String) throws -> Instant? {
            try RawStatement(db, query).first { ObservationKey(rawValue: $0.integer(0)).observedAt }
        }
        self.init()
        if let oldest = try instant(Query.oldestKey), let newest = try instant(Query.newestKey) {
            observed = oldest...max(oldest, newest)
        }
        oldestReportOrArea = try [Query.oldestReport, Query.oldestArea].compactMap { query in
            try RawStatement(db, query).first { Instant(clamping: Int($0.integer(0))) }
        }.min()
    }
}

extension Head {
    init(_ db: Database) throws {
        let stored = try RawStatement(db, Query.head).first { columns in
            columns.text(1).map { Head(version: Version(rawValue: columns.integer(0)), log: $0) }
        }
        guard let head = stored ?? nil else { throw UnreadableRow(table: "head", key: 1) }
        self = head
    }
}

extension SourceRecord {
    static func all(_ db: Database) throws -> [SourceRecord] {
        var sources: [SourceRecord] = []
        try RawStatement(db, Query.sources).forEachRow { sources.append(try SourceRecord($0)) }
        try RawStatement(db, Query.fetchedKinds).forEachRow { columns in
            // Numbers are dense. A kind of a later version is none of ours.
            let index = Int(columns.integer(0))
            guard sources.indices.contains(index), let kind = columns.text(1).flatMap(DataKind.init(rawValue:)) else {
                return
            }
            sources[index].fetchedKinds[kind] = Instant(clamping: Int(columns.integer(2)))
            sources[index].fetchedSince[kind] = Instant(clamping: Int(columns.integer(3)))
        }
        return sources
    }

    private init(_ columns: Columns) throws {
        guard let number = UInt8(exactly: columns.integer(0)), let id = columns.text(1).flatMap({ SourceID($0) }),
            let merge = UInt8(exactly: columns.integer(2)).flatMap(MergeRule.init(rawValue:))
        else { throw UnreadableRow(table: "source", key: columns.integer(0)) }
        self.init(
            number: SourceNumber(rawValue: number), id: id, merge: merge,
            simulated: columns.optionalInteger(3).map { $0 != 0 },
            fetchedAt: columns.optionalInteger(4).map { Instant(clamping: Int($0)) },
            completeSince: columns.optionalInteger(5).map { Instant(clamping: Int($0)) })
    }
}
