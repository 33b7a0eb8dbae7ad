internal import GRDB
import Turbulence

extension SQLiteStore {
    /// Observations in one transaction, so that other writers wait for a moment only.
    private static let pruneRows = 5_000

    public func prune(_ pruning: Pruning) async throws(StoreError) -> Pruned {
        var pruned = Pruned()
        var end = ObservationKey.first(of: pruning.before)
        var oldest: Instant?
        repeat {
            let before = end
            let step = try await writing { db in try Self.pruneObservations(pruning, before: before, db) }
            pruned.observations += step.deleted
            oldest = step.oldest ?? oldest
            guard let key = step.next else { break }
            end = key
        } while !Task.isCancelled
        let rest = try await writing { db in
            let numbers = try Self.numbers(of: pruning.sources, db)
            var rest = Pruned()
            for number in numbers {
                rest.pilotReports += try Self.delete(Query.pruneReports, number, pruning, db)
                rest.areas += try Self.delete(Query.pruneAreas, number, pruning, db)
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
            try await writing { db in
                for number in try Self.numbers(of: pruning.sources, db) {
                    for query in [Query.raiseComplete, Query.raiseFetchedSince] {
                        let statement = try RawStatement(db, query)
                        statement.bind(Int64(pruning.before.seconds), at: 1)
                        statement.bind(Int64(number.rawValue), at: 2)
                        try statement.run()
                    }
                }
                try db.execute(sql: Query.renewHead)
            }
        }
        return pruned
    }

    /// The last rows before a key, the last one first, so that rows which follow each other key by key go all. A row before
    /// one that stays holds its key (see `Schema`), and counts at no version.
    private static func pruneObservations(_ pruning: Pruning, before end: ObservationKey, _ db: Database) throws -> (
        deleted: Int, oldest: Instant?, next: ObservationKey?
    ) {
        let numbers = Set(try numbers(of: pruning.sources, db).map { Int64($0.rawValue) })
        let statement = try RawStatement(db, Query.prunable)
        statement.bind(ObservationKey.first(of: pruning.from).rawValue, at: 1)
        statement.bind(end.rawValue, at: 2)
        statement.bind(Int64(pruneRows), at: 3)
        var read = 0
        var last = end
        var leaving: [(key: ObservationKey, isVoid: Bool)] = []
        var parts: Set<ArchivePart> = []
        try statement.forEachRow { columns in
            read += 1
            last = ObservationKey(rawValue: columns.integer(0))
            let isSpared = pruning.sparesImports && columns.integer(2) != 0
            if numbers.contains(columns.integer(1)), !isSpared { leaving.append((last, columns.integer(3) != 0)) }
        }
        let following = try RawStatement(db, Query.observationByKey)
        let delete = try RawStatement(db, Query.pruneObservation)
        let void = try RawStatement(db, Query.voidObservation)
        var deleted = 0
        for (key, isVoid) in leaving {
            following.bind(key.next.rawValue, at: 1)
            let isFollowed = try following.first { _ in true } ?? false
            guard !isFollowed || !isVoid else { continue }
            let statement = isFollowed ? void : delete
            statement.bind(key.rawValue, at: 1)
            try statement.run()
            if !isVoid {
                deleted += 1
                parts.insert(ArchivePart(key.observedAt))
            }
        }
        try noteDeletion(of: parts, db)
        return (deleted, leaving.last?.key.observedAt, read == pruneRows ? last : nil)
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

    private static func delete(_ query: String, _ source: SourceNumber, _ pruning: Pruning, _ db: Database) throws
        -> Int
    {
        let statement = try RawStatement(db, query)
        statement.bind(Int64(source.rawValue), at: 1)
        statement.bind(Int64(pruning.before.seconds), at: 2)
        statement.bind(pruning.sparesImports ? 0 : 1 as Int64, at: 3)
        try statement.run()
        return db.changesCount
    }

    private static func numbers(of sources: Set<SourceID>?, _ db: Database) throws -> [SourceNumber] {
        try SourceRecord.all(db).filter { sources?.contains($0.id) ?? true }.map(\.number)
    }
}
