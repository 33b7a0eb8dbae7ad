internal import GRDB
public import Turbulence

extension SQLiteStore {
    /// Observations in one transaction, so that other writers wait for a moment only.
    private static let pruneRows = 5_000

    public func prune(_ pruning: Pruning) async throws(StoreError) -> Pruned {
        var pruned = Pruned()
        var next = ObservationKey.first(of: pruning.from)
        var oldest: Instant?
        repeat {
            let from = next
            let step = try await writing { db in try Self.pruneObservations(pruning, from: from, db) }
            pruned.observations += step.deleted
            oldest = oldest ?? step.oldest
            guard let key = step.next else { break }
            next = key
        } while !Task.isCancelled
        let rest = try await writing { db in
            let numbers = try Self.numbers(of: pruning.sources, db)
            var rest = Pruned()
            for number in numbers {
                rest.pilotReports += try Self.delete(Query.pruneReports, number, pruning.before, db)
                rest.areas += try Self.delete(Query.pruneAreas, number, pruning.before, db)
            }
            return rest
        }
        pruned.pilotReports = rest.pilotReports
        pruned.areas = rest.areas
        let positions = try await prunePositions(pruning)
        pruned.positions = positions.deleted
        try await forgetSteps(of: .observations, from: oldest, before: pruning.before)
        try await forgetSteps(of: .positions, from: positions.oldest, before: pruning.positionsBefore)
        try await forgetSteps(
            of: .reports, from: pruned.pilotReports > 0 ? .distantPast : nil, before: pruning.before)
        if pruning.changesPictures, !pruned.isNothing {
            try await writing { db in try db.execute(sql: Query.renewHead) }
        }
        return pruned
    }

    /// Deletes whole seconds only (see `Schema`), and of those only the ones with nothing in them that is to stay.
    private static func pruneObservations(_ pruning: Pruning, from: ObservationKey, _ db: Database) throws -> (
        deleted: Int, oldest: Instant?, next: ObservationKey?
    ) {
        let numbers = Set(try numbers(of: pruning.sources, db))
        let end = ObservationKey.first(of: pruning.before).rawValue
        let statement = try RawStatement(db, Query.prunable)
        statement.bind(from.rawValue, at: 1)
        statement.bind(end, at: 2)
        statement.bind(Int64(pruneRows), at: 3)
        var seconds: [(second: Int64, count: Int, goes: Bool)] = []
        var read = 0
        try statement.forEachRow { columns in
            read += 1
            let second = columns.integer(0) >> ObservationKey.tagBits
            let goes = UInt8(exactly: columns.integer(1)).map { numbers.contains(SourceNumber(rawValue: $0)) } ?? false
            if let last = seconds.last, last.second == second {
                seconds[seconds.count - 1] = (second, last.count + 1, last.goes && goes)
            } else {
                seconds.append((second, 1, goes))
            }
        }
        var next: ObservationKey?
        if read == pruneRows, let last = seconds.popLast() {
            // The last second may go on beyond what was read; alone, it is read no further and stays.
            let second = seconds.isEmpty ? last.second + 1 : last.second
            next = ObservationKey(rawValue: second << ObservationKey.tagBits)
        }
        let delete = try RawStatement(db, Query.pruneSeconds)
        var deleted = 0
        for (second, count, goes) in seconds where goes {
            delete.bind(second << ObservationKey.tagBits, at: 1)
            delete.bind((second + 1) << ObservationKey.tagBits, at: 2)
            try delete.run()
            deleted += count
        }
        let oldest = seconds.first(where: \.goes).map { Instant(clamping: Int($0.second)) }
        return (deleted, oldest, next)
    }

    private func prunePositions(_ pruning: Pruning) async throws(StoreError) -> (deleted: Int, oldest: Instant?) {
        var deleted = 0
        var first: Int64?
        var last = AircraftPosition.bucket(pruning.from) - 1
        while !Task.isCancelled {
            let after = last
            let step = try await writing { db -> (bucket: Int64, count: Int)? in
                let next = try RawStatement(db, Query.nextBucket)
                next.bind(after, at: 1)
                guard let bucket = try next.first({ $0.integer(0) }),
                    bucket < AircraftPosition.bucket(pruning.positionsBefore)
                else { return nil }
                var count = 0
                for number in try Self.numbers(of: pruning.sources, db) {
                    let statement = try RawStatement(db, Query.pruneBucket)
                    statement.bind(bucket, at: 1)
                    statement.bind(Int64(number.rawValue), at: 2)
                    try statement.run()
                    count += db.changesCount
                }
                return (bucket, count)
            }
            guard let step else { break }
            if step.count > 0 { first = first ?? step.bucket }
            deleted += step.count
            last = step.bucket
        }
        return (deleted, first.map { Instant(clamping: Int($0) * AircraftPosition.bucketSeconds) })
    }

    /// Lets go of when what is no longer there last changed. Steps with something left in them stay.
    private func forgetSteps(of kind: ObservedKind, from: Instant?, before: Instant) async throws(StoreError) {
        guard let from else { return }
        try await writing { db in
            let statement = try RawStatement(db, Query.pruneSteps(of: kind))
            statement.bind(Int64(TimeStep(from).number), at: 1)
            statement.bind(Int64(TimeStep(before).number), at: 2)
            try statement.run()
        }
    }

    private static func delete(_ query: String, _ source: SourceNumber, _ before: Instant, _ db: Database) throws -> Int
    {
        let statement = try RawStatement(db, query)
        statement.bind(Int64(source.rawValue), at: 1)
        statement.bind(Int64(before.seconds), at: 2)
        try statement.run()
        return db.changesCount
    }

    private static func numbers(of sources: Set<SourceID>?, _ db: Database) throws -> [SourceNumber] {
        try SourceRecord.all(db).filter { sources?.contains($0.id) ?? true }.map(\.number)
    }
}
