internal import GRDB
package import Turbulence

extension SQLStore {
    package func positions(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError)
        -> [AircraftPosition]
    {
        try await reading { [self] db in
            try DeletedBefore.check(.positions, from: from, asOf: version, db)
            let statement = try RawStatement(db, Query.positionsBetween)
            try statement.bind(
                AircraftPosition.bucket(from), AircraftPosition.bucket(to), Int64(from.seconds), Int64(to.seconds),
                version.bound)
            do { return try statement.positions(register, SourceNames(db)) } catch let error as DatabaseError
                where error.isPageDamage
            {
                var positions: [AircraftPosition] = []
                try positionsAround(error, from: from, to: to, asOf: version, db) { positions.append($0) }
                return positions
            }
        }
    }

    /// Reads positions from a bucket and aircraft on, around unreadable pages, which are recorded. If such a page ends
    /// within an aircraft's bucket, the rest of that aircraft's bucket is skipped.
    private func positionsAround(
        _ damage: DatabaseError, after first: Int64 = 0, from: Instant, to: Instant, asOf version: Version?,
        _ db: any SQLConnection, _ body: (AircraftPosition) throws -> Void
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
        let names = try SourceNames(db)
        try readAround(damage, keys.first...keys.end - 1, of: .position, db) { keys, body in
            let statement = try RawStatement(db, Query.positionsPage)
            try statement.bind(
                PositionKey.bucket(of: keys.lowerBound), PositionKey.aircraft(of: keys.lowerBound), -1 as Int64,
                -1 as Int64, PositionKey.bucket(of: keys.upperBound), Int64(from.seconds), Int64(to.seconds),
                version.bound)
            try statement.forEachReadable(self.register, { try AircraftPosition($0, names) }) { position in
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

    /// Each read covers a quarter of a day, so that no read occupies a connection for long.
    package func aircraft(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> [ICAO24] {
        let stored = try await reading { db in
            try DeletedBefore.check(.positions, from: from, asOf: version, db)
            return try Self.storedBuckets(db)
        }
        guard let stored else { return [] }
        let first = max(AircraftPosition.bucket(from), stored.lowerBound)
        let last = min(AircraftPosition.bucket(to), stored.upperBound)
        var aircraft = Set<ICAO24>()
        // The loop is empty if the requested and stored ranges share no bucket.
        for bucket in stride(from: first, through: last, by: Int64.Stride(Self.bucketsOfARead)) {
            let start = Instant(clamping: Int(bucket) * AircraftPosition.bucketSeconds)
            let end = start.advanced(by: Int(Self.bucketsOfARead) * AircraftPosition.bucketSeconds)
            aircraft.formUnion(
                try await reading { [self] db in
                    let (from, to) = (max(from, start), min(to, end))
                    var found = Set<ICAO24>()
                    let statement = try RawStatement(db, Query.aircraftBetween)
                    // The time range excludes its end.
                    let lastBucket = AircraftPosition.bucket(to.advanced(by: -1))
                    try statement.bind(
                        AircraftPosition.bucket(from), lastBucket, Int64(from.seconds), Int64(to.seconds),
                        version.bound)
                    do {
                        try statement.forEachValue { number in
                            if let address = UInt32(exactly: number).flatMap({ ICAO24(rawValue: $0) }) {
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

    private static var bucketsOfARead: Int64 { 120 }

    /// The first and last bucket of positions; nil if there is none or it is unknown.
    private static func storedBuckets(_ db: any SQLConnection) throws -> ClosedRange<Int64>? {
        if let oldest = try edge(Query.oldestBucket, db), let newest = try edge(Query.newestBucket, db) {
            return oldest...max(oldest, newest)
        }
        return try storedTimes(.positions, db).map {
            AircraftPosition.bucket($0.lowerBound)...AircraftPosition.bucket($0.upperBound)
        }
    }

    /// A page of positions, by bucket of three minutes, aircraft, time and source. With an unknown source, the page
    /// starts after all positions of that aircraft and second.
    package func positions(
        after: PositionCursor?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [AircraftPosition] {
        try await reading { [self] db in
            let statement = try RawStatement(db, Query.positionsPage)
            let start = after?.observedAt ?? from
            try DeletedBefore.check(.positions, from: max(from, start), asOf: version, db)
            let number = try after.flatMap { after in
                try SourceRecord.all(db).first { $0.id == after.source }?.number.rawValue
            }
            try statement.bind(
                AircraftPosition.bucket(start), after.map { Int64($0.icao24.rawValue) } ?? -1,
                after.map { Int64($0.observedAt.seconds) } ?? -1, number.map { Int64($0) } ?? 256,
                AircraftPosition.bucket(to), Int64(from.seconds), Int64(to.seconds), version.bound)
            var page: [AircraftPosition] = []
            guard limit > 0 else { return page }
            func append(_ position: AircraftPosition) throws {
                page.append(position)
                if page.count == limit { throw EndOfPage() }
            }
            do {
                do {
                    let names = try SourceNames(db)
                    try statement.forEachReadable(register, { try AircraftPosition($0, names) }, append)
                } catch let error as DatabaseError where error.isPageDamage {
                    let last = page.last.map(PositionKey.key)
                    let next =
                        last ?? after.map { PositionKey.key(bucket: AircraftPosition.bucket($0.observedAt), $0.icao24) }
                    try positionsAround(
                        error, after: next.map { $0 + 1 } ?? 0, from: from, to: to, asOf: version, db, append)
                }
            } catch is EndOfPage {}
            return page
        }
    }

    /// - Complexity: one index lookup per bucket in the time range, limited to the stored buckets.
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
            let names = try SourceNames(db)
            var track: [AircraftPosition] = []
            for bucket in first...last {
                // The query for one bucket is short, and SQLite interrupts only a running statement.
                if bucket % 100 == 0 { try db.checkCancellation() }
                try statement.bind(
                    bucket, Int64(aircraft.rawValue), Int64(from.seconds), Int64(to.seconds), version.bound)
                // After a corrupt row SQLite may return positions of another aircraft.
                do {
                    track += try statement.positions(register, names).filter { $0.icao24 == aircraft }
                } catch let error as DatabaseError
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
}

/// A sort key of positions: a bucket, and an aircraft within it.
enum PositionKey {
    static let aircraftBits: Int64 = 24
    private static let lastAircraft: Int64 = 1 << aircraftBits - 1

    static func key(bucket: Int64, _ aircraft: ICAO24) -> Int64 { first(of: bucket) + Int64(aircraft.rawValue) }

    static func key(of position: AircraftPosition) -> Int64 {
        key(bucket: AircraftPosition.bucket(position.observedAt), position.icao24)
    }

    /// The first key of a bucket.
    static func first(of bucket: Int64) -> Int64 { bucket << aircraftBits }

    static func bucket(of key: Int64) -> Int64 { key >> aircraftBits }
    static func aircraft(of key: Int64) -> Int64 { key & lastAircraft }

    /// The start time of a key's bucket.
    static func start(of key: Int64) -> Instant {
        Instant(clamping: Int(bucket(of: key)) * AircraftPosition.bucketSeconds)
    }
}
