internal import GRDB
internal import Geometry
internal import Synchronization
import Datasets
package import Turbulence

extension SQLiteStore {
    package func head() async throws(StoreError) -> Head { try await reading(Head.init) }

    package func sources() async throws(StoreError) -> [SourceRecord] {
        try await reading { [register] db in register.marking(try SourceRecord.allWithAreas(db)) }
    }

    package func state() async throws(StoreError) -> LogState {
        try await reading { [register] db in
            LogState(
                head: try Head(db), sources: register.marking(try SourceRecord.allWithAreas(db)),
                extent: try LogExtent(db))
        }
    }

    package func cursors(of source: SourceID) async throws(StoreError) -> [String: String] {
        try await pairs(Query.cursors, of: source)
    }

    package func values(of source: SourceID) async throws(StoreError) -> [String: String] {
        try await pairs(Query.sourceValues, of: source)
    }

    private func pairs(_ query: String, of source: SourceID) async throws(StoreError) -> [String: String] {
        try await reading { db in
            guard let number = try SourceRecord.all(db).first(where: { $0.id == source })?.number else {
                throw StoreError.unknownSource(source)
            }
            let statement = try RawStatement(db, query)
            statement.bind(Int64(number.rawValue), at: 1)
            var pairs: [String: String] = [:]
            try statement.forEachRow { columns in
                if let name = columns.text(0), let value = columns.text(1) { pairs[name] = value }
            }
            return pairs
        }
    }

    /// - Complexity: by what changed, not by what is stored.
    /// - Throws: `corrupt` also where an index can't be read; what is stored can be read anew then.
    package func changes(since version: Version) async throws(StoreError) -> Changes {
        try await reading { [register] db in
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
            var changes = try Changes(
                head: Head(db), sources: [], extent: LogExtent(db), opened: opened(Query.openedSince).rows(register),
                closed: closed(Query.closedSince).rows(register),
                openedReports: opened(Query.reportsOpenedSince).reports(register),
                closedReports: closed(Query.reportsClosedSince).reports(register),
                openedAreas: opened(Query.areasOpenedSince).areas(register),
                closedAreas: closed(Query.areasClosedSince).areas(register),
                positions: opened(Query.positionsSince).positions(register))
            // After the rows: what of them can't be read marks the sources.
            changes.sources = register.marking(try SourceRecord.allWithAreas(db))
            return changes
        }
    }

    /// A part of the archive is read while somebody waits: counting its rows first would take a tenth of that.
    private static let uncountedSeconds = 3_600
    /// Room asked for without knowing: some 5 MB.
    private static let mostExpected = 65_536

    package func rows(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> Rows {
        try await reading { db in
            try DeletedBefore.check(.rest, from: from, asOf: version, db)
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
                do { capacity = try count.first { Int($0.integer(0)) } ?? 0 } catch let error as DatabaseError
                    where error.isPageDamage
                { capacity = 0 }
            }
            let rows = try self.observations(first, end, asOf: version, capacity: capacity, db)
            if isShort {
                self.shortWindow.store(min(rows.count + rows.count / 8, Self.mostExpected), ordering: .relaxed)
            }
            // After the rows: what of them can't be read marks the sources.
            return try Rows(head: Head(db), sources: self.register.marking(SourceRecord.all(db)), rows: rows)
        }
    }

    /// The rows with `first` ≤ key < `end` that count at a version (nil: the head), around pages that can't be read.
    func observations(
        _ first: Int64, _ end: Int64, asOf version: Version?, capacity: Int = 0, _ db: Database
    ) throws -> [ObservationRow] {
        func statement(_ keys: ClosedRange<Int64>) throws -> RawStatement {
            let statement = try RawStatement(db, version == nil ? Query.openRows : Query.rowsAsOf)
            statement.bind(keys.lowerBound, at: 1)
            statement.bind(keys.upperBound &+ 1, at: 2)
            if let version {
                statement.bind(version.rawValue, at: 3)
                statement.bind(version.rawValue, at: 4)
            }
            return statement
        }
        guard first < end else { return [] }
        let keys = first...end - 1
        let damage: DatabaseError
        do { return try statement(keys).rows(register, capacity: capacity) } catch let error as DatabaseError
            where error.isPageDamage
        { damage = error }
        var rows: [ObservationRow] = []
        try readAround(damage, keys, db) { keys, body in
            try statement(keys).forEachReadable(self.register, ObservationRow.init) { try body($0.key.rawValue, $0) }
        } body: { _, row in
            rows.append(row)
        }
        return rows
    }

    /// Observations in a range of keys, around pages that can't be read, which are noted.
    func readAround<Value>(
        _ damage: DatabaseError, _ keys: ClosedRange<Int64>, _ db: Database, _ scan: @escaping DamagedRange.Scan<Value>,
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

    /// Rows of a table in a range of keys, around pages that can't be read, which are noted.
    ///
    /// - Parameter times: what a gap is about.
    private func readAround<Value>(
        _ damage: DatabaseError, _ keys: ClosedRange<Int64>, of table: StoredTable, _ db: Database,
        _ scan: @escaping DamagedRange.Scan<Value>, times: (ClosedRange<Int64>) -> ClosedRange<Instant>,
        body: (Int64, Value) throws -> Void
    ) throws {
        var range = DamagedRange(check: db.checkCancellation)
        defer { register.add(looks: range.looks) }
        var hasGap = false
        func note(_ gap: ClosedRange<Int64>) {
            hasGap = true
            let span = times(gap)
            register.note(gap: gap, of: table, from: span.lowerBound, to: span.upperBound, damage.description)
        }
        try range.read(keys, scan, gap: note, body)
        // An index names a row that the table doesn't have, or a row has another's key: nobody knows what is missing.
        if !hasGap { note(keys) }
    }

    /// Between when something of a kind was observed that is stored, to within a step, whichever of its pages can't be
    /// read; nil where nothing is, or where that isn't known either.
    static func storedTimes(_ kind: ObservedKind, _ db: Database) throws -> ClosedRange<Instant>? {
        let statement = try RawStatement(db, Query.changedExtent)
        statement.bind(Int64(kind.rawValue), at: 1)
        do {
            return try statement.first { columns in
                let steps = [0, 1].compactMap { columns.optionalInteger($0).map { TimeStep(number: Int($0)) } }
                guard let first = steps.first, let last = steps.last else { return nil }
                return TimeStep.instants(first...max(first, last))
            } ?? nil
        } catch let error as DatabaseError where error.isPageDamage { return nil }
    }

    package func pilotReports(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError)
        -> [PilotReport]
    {
        try await reading { [self] db in
            try DeletedBefore.check(.rest, from: from, asOf: version, db)
            let version = try version ?? Head(db).version
            do {
                let statement = try RawStatement(db, Query.reportsAsOf)
                statement.bind(from: from, to: to, asOf: version)
                return try statement.reports(register)
            } catch let error as DatabaseError where error.isPageDamage {
                return try reportsAround(error, from: from, to: to, asOf: version, db)
            }
        }
    }

    /// Rows of a table with numbers, read in their order because an index or a page of the table is damaged.
    private func byNumber<Value>(
        _ query: String, _ newest: String, _ table: StoredTable, _ from: Instant, _ to: Instant,
        asOf version: Version, _ damage: DatabaseError, _ db: Database, _ decode: @escaping (Columns) throws -> Value
    ) throws -> [Value] {
        let last = try Self.edge(newest, db) ?? Self.mostNumbers
        // What is missing is no newer than the newest that was ever stored. Of areas nobody knows until when they hold.
        let stored = table == .pilotReport ? try Self.storedTimes(.reports, db) : nil
        let start = max(from, stored?.lowerBound ?? from)
        let times = start...max(start, min(to, stored?.upperBound ?? to))
        var values: [Value] = []
        try readAround(damage, 1...max(1, last), of: table, db) { keys, body in
            let statement = try RawStatement(db, query)
            statement.bind(from: from, to: to, asOf: version)
            statement.bind(keys.lowerBound, at: 5)
            statement.bind(keys.upperBound, at: 6)
            // The number stands last.
            try statement.forEachReadable(self.register, { ($0.integer($0.count - 1), try decode($0)) }) {
                try body($0, $1)
            }
        } times: { _ in
            times
        } body: { _, value in
            values.append(value)
        }
        return values
    }

    /// More rows than a table of reports or areas ever has, where its last page can't be read.
    private static let mostNumbers: Int64 = 1 << 24

    package func areas(
        _ collection: IssuedArea.Collection?, from: Instant, to: Instant, asOf version: Version?
    ) async throws(StoreError) -> [IssuedArea] {
        let areas = try await reading { [self] db in
            try DeletedBefore.check(.rest, from: from, asOf: version, db)
            let version = try version ?? Head(db).version
            do {
                let statement = try RawStatement(db, Query.areasAsOf)
                statement.bind(from: from, to: to, asOf: version)
                return try statement.areas(register)
            } catch let error as DatabaseError where error.isPageDamage {
                return try byNumber(
                    Query.areasByNumber, Query.newestAreaNumber, .area, from, to, asOf: version, error, db
                ) { try StoredArea($0).area }
            }
        }
        return areas.filter { collection == nil || $0.collection == collection }
            .sorted { ($0.id, $0.source, $0.validFrom) < ($1.id, $1.source, $1.validFrom) }
    }

    package func areaChanges(
        of collection: IssuedArea.Collection, in range: ClosedRange<Instant>, asOf version: Version
    )
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

    package func positions(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError)
        -> [AircraftPosition]
    {
        try await reading { [self] db in
            try DeletedBefore.check(.positions, from: from, asOf: version, db)
            let statement = try Self.between(from, to, RawStatement(db, Query.positionsBetween))
            statement.bind(version.bound, at: 5)
            do { return try statement.positions(register) } catch let error as DatabaseError where error.isPageDamage {
                var positions: [AircraftPosition] = []
                try positionsAround(error, from: from, to: to, asOf: version, db) { positions.append($0) }
                return positions
            }
        }
    }

    /// Positions from an aircraft's in a bucket on, around pages that can't be read, which are noted. Where such a page
    /// ends within an aircraft's three minutes, the rest of these is skipped with it.
    private func positionsAround(
        _ damage: DatabaseError, after first: Int64 = 0, from: Instant, to: Instant, asOf version: Version?,
        _ db: Database, _ body: (AircraftPosition) throws -> Void
    ) throws {
        guard let stored = try Self.storedBuckets(db) else { return }
        let buckets = (
            first: max(AircraftPosition.bucket(from), stored.lowerBound),
            last: min(AircraftPosition.bucket(to), stored.upperBound)
        )
        let keys = (
            first: max(first, PositionKey.first(of: buckets.first)), end: PositionKey.first(of: buckets.last + 1)
        )
        guard keys.first < keys.end else { return }
        try readAround(damage, keys.first...keys.end - 1, of: .position, db) { keys, body in
            let statement = try RawStatement(db, Query.positionsPage)
            statement.bind(PositionKey.bucket(of: keys.lowerBound), at: 1)
            statement.bind(PositionKey.aircraft(of: keys.lowerBound), at: 2)
            statement.bind(-1 as Int64, at: 3)
            statement.bind(-1 as Int64, at: 4)
            statement.bind(PositionKey.bucket(of: keys.upperBound), at: 5)
            statement.bind(Int64(from.seconds), at: 6)
            statement.bind(Int64(to.seconds), at: 7)
            statement.bind(version.bound, at: 8)
            try statement.forEachReadable(self.register, AircraftPosition.init) { position in
                try body(PositionKey.key(of: position), position)
            }
        } times: { gap in
            PositionKey.start(
                of: gap.lowerBound)...PositionKey.start(of: gap.upperBound)
                .advanced(by: AircraftPosition.bucketSeconds)
        } body: { _, position in
            try body(position)
        }
    }

    /// A quarter of a day to a read, so that none holds a reader for long, however much is stored.
    package func aircraft(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> [ICAO24] {
        let stored = try await reading { db in
            try DeletedBefore.check(.positions, from: from, asOf: version, db)
            return try Self.storedBuckets(db)
        }
        guard let stored else { return [] }
        let first = max(AircraftPosition.bucket(from), stored.lowerBound)
        let last = min(AircraftPosition.bucket(to), stored.upperBound)
        var aircraft = Set<ICAO24>()
        // Nothing where the two ranges have no bucket in common.
        for bucket in stride(from: first, through: last, by: Int64.Stride(Self.bucketsOfARead)) {
            let start = Instant(clamping: Int(bucket) * AircraftPosition.bucketSeconds)
            let end = start.advanced(by: Int(Self.bucketsOfARead) * AircraftPosition.bucketSeconds)
            aircraft.formUnion(
                try await reading { [self] db in
                    let (from, to) = (max(from, start), min(to, end))
                    var found = Set<ICAO24>()
                    let statement = try Self.between(from, to, RawStatement(db, Query.aircraftBetween))
                    // The end is not part of the time.
                    statement.bind(AircraftPosition.bucket(to.advanced(by: -1)), at: 2)
                    statement.bind(version.bound, at: 5)
                    do {
                        try statement.forEachRow { columns in
                            if let address = UInt32(exactly: columns.integer(0)).flatMap({ ICAO24(rawValue: $0) }) {
                                found.insert(address)
                            }
                        }
                    } catch let error as DatabaseError where error.isPageDamage {
                        try positionsAround(error, from: from, to: to, asOf: version, db) { found.insert($0.icao24) }
                    }
                    return found
                })
        }
        return aircraft.sorted()
    }

    private static let bucketsOfARead: Int64 = 120

    /// The first and last bucket of positions; nil where there is none, or nothing tells.
    private static func storedBuckets(_ db: Database) throws -> ClosedRange<Int64>? {
        if let oldest = try edge(Query.oldestBucket, db), let newest = try edge(Query.newestBucket, db) {
            return oldest...max(oldest, newest)
        }
        return try storedTimes(.positions, db).map {
            AircraftPosition.bucket($0.lowerBound)...AircraftPosition.bucket($0.upperBound)
        }
    }

    /// The first or last value of an index; nil where there is none or its page can't be read.
    fileprivate static func edge(_ query: String, _ db: Database) throws -> Int64? {
        do { return try RawStatement(db, query).first { $0.integer(0) } } catch let error as DatabaseError
            where error.isPageDamage
        { return nil }
    }

    private static func between(_ from: Instant, _ to: Instant, _ statement: RawStatement) -> RawStatement {
        statement.bind(AircraftPosition.bucket(from), at: 1)
        statement.bind(AircraftPosition.bucket(to), at: 2)
        statement.bind(Int64(from.seconds), at: 3)
        statement.bind(Int64(to.seconds), at: 4)
        return statement
    }

    /// By bucket of three minutes, aircraft, time and source. A source that nobody knows starts after all of its
    /// second.
    package func positions(
        after: PositionPlace?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [AircraftPosition] {
        try await reading { [self] db in
            let statement = try RawStatement(db, Query.positionsPage)
            let start = after?.observedAt ?? from
            try DeletedBefore.check(.positions, from: max(from, start), asOf: version, db)
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
            var page: [AircraftPosition] = []
            guard limit > 0 else { return page }
            func take(_ position: AircraftPosition) throws {
                page.append(position)
                if page.count == limit { throw EndOfPage() }
            }
            do {
                do { try statement.forEachReadable(register, AircraftPosition.init, take) } catch let error
                    as DatabaseError
                    where error.isPageDamage
                {
                    let last = page.last.map(PositionKey.key)
                    let next =
                        last ?? after.map { PositionKey.key(bucket: AircraftPosition.bucket($0.observedAt), $0.icao24) }
                    try positionsAround(
                        error, after: next.map { $0 + 1 } ?? 0, from: from, to: to, asOf: version, db, take)
                }
            } catch is EndOfPage {}
            return page
        }
    }

    /// - Complexity: one look-up for each bucket between the times, held to what is stored.
    package func track(
        of aircraft: ICAO24, from: Instant, to: Instant, asOf version: Version?
    ) async throws(StoreError) -> [AircraftPosition] {
        try await reading { [register] db in
            try DeletedBefore.check(.positions, from: from, asOf: version, db)
            guard let stored = try Self.storedBuckets(db) else { return [] }
            let first = max(AircraftPosition.bucket(from), stored.lowerBound)
            let last = min(AircraftPosition.bucket(to), stored.upperBound)
            guard first <= last else { return [] }
            let statement = try RawStatement(db, Query.trackInBucket)
            var track: [AircraftPosition] = []
            for bucket in first...last {
                // A look at each bucket is short, and SQLite interrupts only what runs.
                if bucket % 100 == 0 { try db.checkCancellation() }
                statement.bind(bucket, at: 1)
                statement.bind(Int64(aircraft.rawValue), at: 2)
                statement.bind(Int64(from.seconds), at: 3)
                statement.bind(Int64(to.seconds), at: 4)
                statement.bind(version.bound, at: 5)
                do { track += try statement.positions(register) } catch let error as DatabaseError
                    where error.isPageDamage
                {
                    let start = Instant(clamping: Int(bucket) * AircraftPosition.bucketSeconds)
                    register.note(
                        gap: bucket...bucket, of: .position, from: start,
                        to: start.advanced(by: AircraftPosition.bucketSeconds), error.description)
                }
            }
            return track
        }
    }

    package func extent() async throws(StoreError) -> ClosedRange<Instant>? {
        try await reading { db in try LogExtent(db).observed }
    }

    /// A `limit` below 1 gives an empty page. Rows that can't be read count for no page.
    package func page(
        after: ObservationKey?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [(row: ObservationRow, details: ObservationDetails)] {
        typealias Item = (row: ObservationRow, details: ObservationDetails)
        // A key is never the largest integer: instants end far below.
        let first = max(ObservationKey.first(of: from).rawValue, after.map { $0.rawValue &+ 1 } ?? 0)
        let end = ObservationKey.first(of: to).rawValue
        guard limit > 0, first < end else { return [] }
        return try await reading { [self] db in
            try DeletedBefore.check(.rest, from: ObservationKey(rawValue: first).observedAt, asOf: version, db)
            func scan(_ keys: ClosedRange<Int64>, _ body: (Int64, Item) throws -> Void) throws {
                let statement = try RawStatement(db, Query.observationPage)
                statement.bind(keys.lowerBound, at: 1)
                statement.bind(keys.upperBound &+ 1, at: 2)
                statement.bind(version.bound, at: 3)
                statement.bind(version.bound, at: 4)
                try statement.forEachReadable(
                    register, { (try ObservationRow($0), ObservationDetails($0)) }
                ) { try body($0.0.key.rawValue, $0) }
            }
            var page: [Item] = []
            var next = first
            func take(_ key: Int64, _ item: Item) throws {
                page.append(item)
                next = key + 1
                if page.count == limit { throw EndOfPage() }
            }
            do {
                do { try scan(next...end - 1, take) } catch let error as DatabaseError where error.isPageDamage {
                    guard next < end else { return page }
                    try readAround(error, next...end - 1, db, scan, body: take)
                }
            } catch is EndOfPage {}
            return page
        }
    }

    /// Closed rows have details too.
    package func details(of keys: [ObservationKey]) async throws(StoreError) -> [ObservationKey: ObservationDetails] {
        try await reading { db in
            let statement = try RawStatement(db, Query.observationByKey)
            var details: [ObservationKey: ObservationDetails] = [:]
            details.reserveCapacity(keys.count)
            for key in keys {
                statement.bind(key.rawValue, at: 1)
                do {
                    if let found = try statement.first(ObservationDetails.init) { details[key] = found }
                } catch let error as DatabaseError where error.isPageDamage {
                    // The row was read before; who can't read it now shows it without its details.
                    continue
                }
            }
            return details
        }
    }

    /// Where two sources gave the same id, the one of the lower number.
    package func observation(
        id: String, asOf version: Version?
    ) async throws(StoreError) -> (row: ObservationRow, details: ObservationDetails)? {
        try await reading { [register] db in
            let byID = try RawStatement(db, Query.observationsByFeatureID)
            try byID.bind(id: id, asOf: version)
            /// What isn't there may have been deleted.
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
            byKey.bind(key.rawValue, at: 1)
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

    /// Where two sources gave the same id, the one of the lower number.
    package func pilotReport(id: String, asOf version: Version?) async throws(StoreError) -> PilotReport? {
        try await reading { [register] db in
            let statement = try RawStatement(db, Query.reportsByID)
            try statement.bind(id: id, asOf: version)
            var found: (source: Int64, report: PilotReport)?
            try statement.forEachReadable(register, { ($0.integer(9), try PilotReport($0)) }) { source, report in
                if source < found?.source ?? .max { found = (source, report) }
            }
            if found == nil { try DeletedBefore.check(.rest, from: .distantPast, asOf: version, db) }
            return found?.report
        }
    }

    /// A page may hold a few more than `limit`: one and the same report from several sources (same time, same id) is
    /// never split between two pages, because the place where a page starts couldn't tell them apart.
    package func pilotReports(
        after: (Instant, String)?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [PilotReport] {
        guard limit > 0 else { return [] }
        let start = max(from, after?.0 ?? from)
        return try await reading { [self] db in
            try DeletedBefore.check(.rest, from: start, asOf: version, db)
            let statement = try RawStatement(db, Query.reportPage)
            statement.bind(Int64(start.seconds), at: 1)
            statement.bind(Int64(to.seconds), at: 2)
            statement.bind(after.map { Int64($0.0.seconds) } ?? -1, at: 3)
            try statement.bind(after?.1 ?? "", at: 4)
            statement.bind(version.bound, at: 5)
            statement.bind(version.bound, at: 6)
            var page: [PilotReport] = []
            func take(_ report: PilotReport) throws {
                if page.count >= limit, let last = page.last,
                    last.observedAt != report.observedAt || last.id != report.id
                {
                    throw EndOfPage()
                }
                page.append(report)
            }
            do {
                do { try statement.forEachReadable(register, PilotReport.init, take) } catch let error as DatabaseError
                    where error.isPageDamage
                {
                    page = []
                    let reports = try reportsAround(error, from: start, to: to, asOf: version, db)
                    for report in reports where after.map({ $0 < (report.observedAt, report.id) }) ?? true {
                        try take(report)
                    }
                }
            } catch is EndOfPage {}
            return page
        }
    }

    /// Pilot reports, read by their numbers because an index or a page of the table is damaged; in their order.
    private func reportsAround(
        _ damage: DatabaseError, from: Instant, to: Instant, asOf version: Version?, _ db: Database
    ) throws -> [PilotReport] {
        let reports = try byNumber(
            Query.reportsByNumber, Query.newestReportNumber, .pilotReport, from, to,
            asOf: version ?? Head(db).version, damage, db, PilotReport.init)
        return reports.sorted { ($0.observedAt, $0.id, $0.source) < ($1.observedAt, $1.id, $1.source) }
    }
}

/// Ends the reading of a result early.
struct EndOfPage: Error {}

/// A place in the order of positions: a bucket, and an aircraft within it.
enum PositionKey {
    static let aircraftBits: Int64 = 24
    private static let lastAircraft: Int64 = 1 << aircraftBits - 1

    static func key(bucket: Int64, _ aircraft: ICAO24) -> Int64 { first(of: bucket) + Int64(aircraft.rawValue) }

    static func key(of position: AircraftPosition) -> Int64 {
        key(bucket: AircraftPosition.bucket(position.observedAt), position.icao24)
    }

    /// The first of a bucket.
    static func first(of bucket: Int64) -> Int64 { bucket << aircraftBits }

    static func bucket(of key: Int64) -> Int64 { key >> aircraftBits }
    static func aircraft(of key: Int64) -> Int64 { key & lastAircraft }

    /// When a key's bucket begins.
    static func start(of key: Int64) -> Instant {
        Instant(clamping: Int(bucket(of: key)) * AircraftPosition.bucketSeconds)
    }
}

extension RawStatement {
    /// All reports of a query on them that can be read.
    fileprivate func reports(_ damage: DamageRegister) throws -> [PilotReport] {
        try readable(damage, PilotReport.init)
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

    /// All rows of a query on observations that can be read.
    func rows(_ damage: DamageRegister, capacity: Int = 0) throws -> [ObservationRow] {
        try readable(damage, capacity: capacity, ObservationRow.init)
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
        for deletion in [DeletionKind.positions, .rest] {
            guard let deleted = try DeletedBefore(deletion, db) else { continue }
            let span = Instant.distantPast...max(.distantPast, deleted.before.advanced(by: -1))
            for kind in Catalogue.kinds where (kind == .positions) == (deletion == .positions) {
                for index in sources.indices { sources[index].noteLost(kind, span) }
            }
        }
        return sources
    }

    /// With the areas that they are and were asked for, which no writer needs.
    static func allWithAreas(_ db: Database) throws -> [SourceRecord] {
        var sources = try all(db)
        try RawStatement(db, Query.coveredAreas).forEachRow { columns in
            let index = Int(columns.integer(1))
            guard sources.indices.contains(index), let kind = columns.text(2).flatMap(DataKind.init(rawValue:)) else {
                return
            }
            var ring: AreaRing?
            if !columns.isNull(3) {
                guard let stored = AreaRing(stored: columns.bytes(3)) else {
                    throw UnreadableRow(table: "coveredArea", key: columns.integer(0))
                }
                ring = stored
            }
            sources[index].coveredAreas.append(
                CoveredArea(
                    kind: kind, ring: ring, since: Instant(clamping: Int(columns.integer(4))),
                    until: columns.optionalInteger(5).map { Instant(clamping: Int($0)) }))
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

extension AreaRing {
    /// As the store keeps it: the coordinates, 64 bits each, little-endian.
    var stored: [UInt8] {
        var bytes: [UInt8] = []
        for coordinate in coordinates {
            withUnsafeBytes(of: coordinate.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    /// Reads `stored` back.
    init?(stored bytes: [UInt8]) {
        guard bytes.count % 8 == 0 else { return nil }
        self.init(
            coordinates: bytes.withUnsafeBytes { raw in
                stride(from: 0, to: raw.count, by: 8).map { start in
                    let bits = raw.loadUnaligned(fromByteOffset: start, as: UInt64.self)
                    return Double(bitPattern: UInt64(littleEndian: bits))
                }
            })
    }
}
