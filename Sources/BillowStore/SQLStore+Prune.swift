internal import GRDB
import Turbulence

extension SQLStore {
    package func prune(_ pruning: Pruning) async throws(StoreError) -> PruneResult {
        try await prune(pruning, longest: .milliseconds(100))
    }

    /// Deletes in short transactions. Each transaction records its own deletions: it raises `completeSince`, and gives
    /// new URLs to frames that lose data. So the process may stop after any of them.
    ///
    /// - Parameters:
    ///   - longest: the time after which a transaction ends.
    ///   - committed: called after each transaction with its number, from 1.
    func prune(
        _ pruning: Pruning, longest: Duration, rowsAtOnce: Int = 1_000,
        committed: @Sendable (Int) async throws(StoreError) -> Void = { (_) async throws(StoreError) in }
    ) async throws(StoreError) -> PruneResult {
        let found = try await reading { db in try DeletedRows(db, pruning) }
        var pruned = PruneResult()
        var place: DeletionCursor? = .observations(before: ObservationKey.first(of: pruning.before))
        var transactions = 0
        while let next = place {
            let began = ContinuousClock.now
            let step = try await writing { db in
                var deletion = try Deletion(db, pruning, found, rowsAtOnce: rowsAtOnce)
                return try deletion.run(from: next, longest: longest)
            }
            transactions += 1
            try await committed(transactions)
            pruned.add(step.pruned)
            place = step.next
            guard place != nil else { break }
            // Sleeps for as long as it held the lock, because a writer of another process polls for the lock.
            do { try await Task.sleep(for: ContinuousClock.now - began) } catch {
                throw .failed("the operation was cancelled")
            }
        }
        return pruned
    }
}

extension PruneResult {
    fileprivate mutating func add(_ other: PruneResult) {
        observations += other.observations
        pilotReports += other.pilotReports
        areas += other.areas
        positions += other.positions
        fieldLevels += other.fieldLevels
    }
}

/// The position at which the next deletion transaction starts.
private enum DeletionCursor: Sendable {
    case observations(before: ObservationKey)
    /// The number of reports that are done.
    case reports(Int)
    case areas(Int)
    case fields(Int)
    case earlierForecasts(Int)
    /// The position from a bucket and an aircraft's address on.
    case positions(bucket: Int64, from: Int64)
}

/// The reports, areas and field levels to delete. They are searched before the first transaction, so that no other
/// writer waits.
private struct DeletedRows: Sendable {
    struct Row: Sendable {
        var number: Int64
        var source: Int64
        var time: Int64
    }

    var reports: [Row] = []
    var areas: [Row] = []
    var fields: [Row] = []
    var earlierForecasts: [Row] = []

    init(_ db: any SQLConnection, _ pruning: Pruning) throws {
        for number in try SourceNumber.list(of: pruning.sources, db) {
            reports += try Self.rows(
                Query.prunableReports, PrunableReportColumn.self, number, pruning, before: pruning.before, db)
            areas += try Self.rows(
                Query.prunableAreas, PrunableAreaColumn.self, number, pruning, before: pruning.before, db)
            fields += try Self.rows(
                Query.prunableFieldLevels, PrunableFieldLevelColumn.self, number, pruning,
                before: pruning.fieldsBefore, db)
            // Older forecasts are deleted with the fields.
            earlierForecasts += try Self.rows(
                Query.prunableEarlierForecasts, PrunableFieldLevelColumn.self, number, pruning,
                before: pruning.earlierForecastsBefore, db
            ).filter { $0.time >= Int64(pruning.fieldsBefore.seconds) }
        }
    }

    private static func rows<Column: PrunableColumn>(
        _ query: String, _ columns: Column.Type, _ source: SourceNumber, _ pruning: Pruning, before: Instant,
        _ db: any SQLConnection
    ) throws -> [Row] {
        let statement = try RawStatement(db, query)
        try statement.bind(
            Int64(source.rawValue), Int64(before.seconds), pruning.sparesImports ? 0 : 1 as Int64)
        var rows: [Row] = []
        try statement.forEachRow {
            rows.append(
                Row(
                    number: $0.integer(Column.number), source: Int64(source.rawValue),
                    time: $0.integer(Column.time)))
        }
        return rows
    }
}

/// One deletion transaction.
private struct Deletion {
    private let db: any SQLConnection
    private let pruning: Pruning
    private let found: DeletedRows
    private let rowsAtOnce: Int
    private let sources: Set<Int64>
    private var pruned = PruneResult()
    /// The sources that lost rows, by kind of deletion.
    private var losers: [DeletionKind: Set<Int64>] = [:]

    init(_ db: any SQLConnection, _ pruning: Pruning, _ found: DeletedRows, rowsAtOnce: Int) throws {
        self.db = db
        self.pruning = pruning
        self.found = found
        self.rowsAtOnce = rowsAtOnce
        sources = Set(try SourceNumber.list(of: pruning.sources, db).map { Int64($0.rawValue) })
    }

    /// Deletes until the time limit, then records the deletions.
    mutating func run(from first: DeletionCursor, longest: Duration) throws -> (
        pruned: PruneResult, next: DeletionCursor?
    ) {
        let began = ContinuousClock.now
        var place: DeletionCursor? = first
        repeat {
            switch place {
            case .observations(let end): place = try deleteObservations(before: end)
            case .reports(let done): place = try deleteReports(from: done)
            case .areas(let done): place = try deleteAreas(from: done)
            case .fields(let done): place = try deleteFields(from: done)
            case .earlierForecasts(let done): place = try deleteEarlierForecasts(from: done)
            case .positions(let bucket, let address): place = try deletePositions(in: bucket, from: address)
            case nil: break
            }
        } while place != nil && ContinuousClock.now - began < longest
        try mark()
        return (pruned, place)
    }

    // MARK: Marks

    private func mark() throws {
        guard !losers.isEmpty else { return }
        // Current frames don't use forecasts of earlier runs.
        for (kind, losers) in losers where kind != .earlierForecasts {
            let before = Int64(pruning.before(kind).seconds)
            // A manual deletion may have a reason other than age, so all affected sources count as incomplete.
            for source in pruning.changesPictures ? sources : losers {
                if kind == .rest || pruning.changesPictures {
                    let complete = try RawStatement(db, Query.raiseComplete)
                    try complete.bind(before, source)
                    try complete.run()
                }
                let fetched = try RawStatement(db, Query.raiseFetchedSince)
                try fetched.bind(before, source, kind.rawValue)
                try fetched.run()
                for query in [Query.removeCoveredAreasBefore, Query.raiseCoveredSince] {
                    let covered = try RawStatement(db, query)
                    try covered.bind(before, source, kind.rawValue)
                    try covered.run()
                }
            }
        }
        if pruning.changesPictures {
            let renew = try RawStatement(db, Query.renewHead)
            try renew.bind(Head.newName())
            try renew.run()
        } else {
            _ = try Head.raise(db)
        }
        let version = try Head(db).version
        for kind in losers.keys {
            let note = try RawStatement(db, Query.noteDeletedBefore)
            try note.bind(kind.rawValue, Int64(pruning.before(kind).seconds), version.rawValue)
            try note.run()
        }
    }

    // MARK: Rows

    /// Deletes the last rows before a key in descending order, so that a run of consecutive keys can be deleted whole.
    /// A row whose next key remains becomes void instead: it occupies its key (see `StoreSchema`) and is visible at no
    /// version.
    private mutating func deleteObservations(before end: ObservationKey) throws -> DeletionCursor {
        let statement = try RawStatement(db, Query.prunable)
        try statement.bind(ObservationKey.first(of: pruning.from).rawValue, end.rawValue, Int64(rowsAtOnce))
        var read = 0
        var last = end
        var leaving: [(key: ObservationKey, source: Int64, isVoid: Bool)] = []
        try statement.forEachRow { columns in
            typealias Column = PrunableObservationColumn
            read += 1
            last = ObservationKey(rawValue: columns.integer(Column.key))
            let source = columns.integer(Column.source)
            let isSpared = pruning.sparesImports && columns.integer(Column.imported) != 0
            if sources.contains(source), !isSpared {
                leaving.append((last, source, columns.integer(Column.isVoid) != 0))
            }
        }
        let following = try RawStatement(db, Query.observationByKey)
        let delete = try RawStatement(db, Query.pruneObservation)
        let void = try RawStatement(db, Query.voidObservation)
        var parts: Set<ArchivePart> = []
        for (key, source, isVoid) in leaving {
            try following.bind(key.next.rawValue)
            let isFollowed = try following.hasRow()
            guard !isFollowed || !isVoid else { continue }
            let statement = isFollowed ? void : delete
            try statement.bind(key.rawValue)
            try statement.run()
            if !isVoid {
                pruned.observations += 1
                losers[.rest, default: []].insert(source)
                parts.insert(ArchivePart(key.observedAt))
            }
        }
        try SQLiteStore.noteDeletion(of: parts, db)
        if let oldest = leaving.last?.key.observedAt {
            try deleteSteps(of: .observations, from: oldest, to: leaving.first?.key.observedAt ?? oldest)
        }
        return read == rowsAtOnce ? .observations(before: last) : .reports(0)
    }

    private mutating func deleteReports(from done: Int) throws -> DeletionCursor {
        let rows = found.reports.dropFirst(done).prefix(rowsAtOnce)
        pruned.pilotReports += try delete(rows, Query.pruneReport, .rest)
        if let oldest = rows.map(\.time).min(), let newest = rows.map(\.time).max() {
            try deleteSteps(
                of: .reports, from: Instant(clamping: Int(oldest)), to: Instant(clamping: Int(newest)))
        }
        return done + rows.count < found.reports.count ? .reports(done + rows.count) : .areas(0)
    }

    private mutating func deleteAreas(from done: Int) throws -> DeletionCursor {
        let rows = found.areas.dropFirst(done).prefix(rowsAtOnce)
        pruned.areas += try delete(rows, Query.pruneArea, .rest)
        return done + rows.count < found.areas.count ? .areas(done + rows.count) : placeOfFields
    }

    private var placeOfFields: DeletionCursor { found.fields.isEmpty ? placeOfEarlierForecasts : .fields(0) }
    private var placeOfEarlierForecasts: DeletionCursor {
        found.earlierForecasts.isEmpty ? placeOfPositions : .earlierForecasts(0)
    }
    private var placeOfPositions: DeletionCursor {
        .positions(bucket: AircraftPosition.bucket(pruning.from), from: 0)
    }

    /// The number of levels in a transaction. A level has some hundred times the bytes of any other row.
    private var levelsAtOnce: Int { max(1, rowsAtOnce / 100) }

    private mutating func deleteFields(from done: Int) throws -> DeletionCursor {
        let rows = found.fields.dropFirst(done).prefix(levelsAtOnce)
        pruned.fieldLevels += try delete(rows, Query.pruneFieldLevel, .fields)
        return done + rows.count < found.fields.count ? .fields(done + rows.count) : placeOfEarlierForecasts
    }

    private mutating func deleteEarlierForecasts(from done: Int) throws -> DeletionCursor {
        let rows = found.earlierForecasts.dropFirst(done).prefix(levelsAtOnce)
        pruned.fieldLevels += try delete(rows, Query.pruneFieldLevel, .earlierForecasts)
        return done + rows.count < found.earlierForecasts.count
            ? .earlierForecasts(done + rows.count) : placeOfPositions
    }

    /// Deletes found rows, except those that another process changed since the search.
    private mutating func delete(
        _ rows: ArraySlice<DeletedRows.Row>, _ query: String, _ kind: DeletionKind
    ) throws -> Int {
        let statement = try RawStatement(db, query)
        var deleted = 0
        for row in rows {
            try statement.bind(
                row.number, Int64(pruning.before(kind).seconds), pruning.sparesImports ? 0 : 1 as Int64)
            try statement.run()
            guard db.changesCount > 0 else { continue }
            deleted += 1
            losers[kind, default: []].insert(row.source)
        }
        return deleted
    }

    /// Deletes the positions of some aircraft in one bucket.
    private mutating func deletePositions(in bucket: Int64, from address: Int64) throws -> DeletionCursor? {
        let next = try RawStatement(db, Query.nextBucket)
        try next.bind(bucket)
        guard let bucket = try next.value().map({ (number: $0, from: $0 == bucket ? address : 0) }),
            bucket.number < AircraftPosition.bucket(pruning.positionsBefore)
        else { return nil }
        let following = try RawStatement(db, Query.addressAfter)
        try following.bind(bucket.number, bucket.from, Int64(rowsAtOnce))
        let end = try following.value()
        let statement = try RawStatement(db, Query.pruneBucket)
        for source in sources {
            try statement.bind(bucket.number, bucket.from, end.map { max($0, bucket.from + 1) } ?? .max, source)
            try statement.run()
            guard db.changesCount > 0 else { continue }
            pruned.positions += db.changesCount
            losers[.positions, default: []].insert(source)
        }
        if let end { return .positions(bucket: bucket.number, from: max(end, bucket.from + 1)) }
        let start = Instant(clamping: Int(bucket.number) * AircraftPosition.bucketSeconds)
        try deleteSteps(of: .positions, from: start, to: start.advanced(by: AircraftPosition.bucketSeconds))
        return .positions(bucket: bucket.number + 1, from: 0)
    }

    /// Deletes the change times of deleted rows. Steps with remaining rows stay.
    private func deleteSteps(of kind: ObservedTable, from: Instant, to: Instant) throws {
        let statement = try RawStatement(db, Query.pruneSteps(of: kind))
        try statement.bind(Int64(TimeStep(from).number), Int64(TimeStep(to).number))
        try statement.run()
    }
}

/// A kind of deletion. Positions and fields have their own retention.
enum DeletionKind: Int64, Sendable, CaseIterable {
    case positions = 0
    case rest = 1
    case fields = 2
    /// Forecasts of earlier runs whose valid time is past. Current frames don't show them.
    case earlierForecasts = 3

    /// The kind of deletion that deletes a kind of data.
    init(_ kind: FeedKind) {
        switch kind {
        case .positions: self = .positions
        case .fields: self = .fields
        default: self = .rest
        }
    }

    init(_ data: FrameDependency) {
        switch data {
        case .observed(.positions, _): self = .positions
        case .observed(.observations, _), .observed(.reports, _), .areas: self = .rest
        }
    }
}

extension Pruning {
    /// The instant before which this pruning deletes rows of a kind.
    fileprivate func before(_ kind: DeletionKind) -> Instant {
        switch kind {
        case .positions: positionsBefore
        case .fields: fieldsBefore
        case .earlierForecasts: earlierForecastsBefore
        case .rest: before
        }
    }
}

/// The instant before which rows were deleted, and the version of the last deletion.
struct DeletedBefore {
    var before: Instant
    var version: Version

    init?(_ kind: DeletionKind, _ db: any SQLConnection) throws {
        let statement = try RawStatement(db, Query.deletedBefore)
        try statement.bind(kind.rawValue)
        guard let stored = try statement.first(DeletedBefore.stored) else { return nil }
        self = try stored ?? DeletedBefore(before: .distantFuture, version: Head(db).version)
    }

    private init(before: Instant, version: Version) {
        self.before = before
        self.version = version
    }

    /// nil for a wrong checksum: any row may have been deleted.
    private static func stored(_ columns: Columns) -> DeletedBefore? {
        guard columns.isWhole(DeletionColumn.self) else { return nil }
        return DeletedBefore(
            before: Instant(clamping: Int(columns.integer(DeletionColumn.before))),
            version: Version(rawValue: columns.integer(DeletionColumn.version)))
    }

    /// The version of the last deletion that may have affected some data; nil if there is none.
    static func version(of data: FrameDependency, _ db: any SQLConnection) throws -> Version? {
        guard let deleted = try DeletedBefore(DeletionKind(data), db) else { return nil }
        let first =
            switch data {
            case .observed(_, let steps): TimeStep.instants(steps).lowerBound
            case .areas(_, let instant): instant
            }
        return first < deleted.before ? deleted.version : nil
    }

    /// - Throws: `deleted` if the requested version is older than a deletion in the requested time range.
    static func check(_ kind: DeletionKind, from: Instant, asOf version: Version?, _ db: any SQLConnection) throws {
        guard let version, let deleted = try DeletedBefore(kind, db) else { return }
        if version < deleted.version, from < deleted.before { throw StoreError.deleted(before: deleted.before) }
    }
}

extension SourceNumber {
    fileprivate static func list(of sources: Set<SourceID>?, _ db: any SQLConnection) throws -> [SourceNumber] {
        try SourceRecord.all(db).filter { sources?.contains($0.id) ?? true }.map(\.number)
    }
}
