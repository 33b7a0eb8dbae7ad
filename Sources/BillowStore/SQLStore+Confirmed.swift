internal import GRDB
package import Turbulence

extension SQLStore {
    package func confirmedTime(retentionSeconds: Int) async throws(StoreError) -> Instant? {
        try await reading { db in
            [try Self.confirmedByTwoWitnesses(db), try Self.filledTime(retentionSeconds, db)].compactMap { $0 }.max()
        }
    }

    /// The most rows that are searched for a second witness. One reporter may have sent thousands of the newest rows.
    private static var maximumRows: Int64 { 10_000 }

    /// The newest time that two independent witnesses confirm: the second newest of their times.
    private static func confirmedByTwoWitnesses(_ db: any SQLConnection) throws -> Instant? {
        var seconds = try newestObservationWitnesses(db)
        seconds += try values(Query.newestReports, db)
        seconds += try values(Query.newestIssues, db)
        seconds += try newestRuns(db)
        seconds += try values(Query.newestBuckets, db).map { $0 * Int64(AircraftPosition.bucketSeconds) }
        return seconds.sorted().dropLast().last.map { Instant(clamping: Int($0)) }
    }

    /// The start times of the two newest stored runs of fields. All levels of a run are one witness. Their valid times
    /// don't count, because they are in the future.
    private static func newestRuns(_ db: any SQLConnection) throws -> [Int64] {
        let statement = try RawStatement(db, Query.newestRuns)
        try statement.bind(maximumRows)
        var runs: [Int64] = []
        do {
            try statement.forEachValue { run in
                guard !runs.contains(run) else { return }
                runs.append(run)
                if runs.count == 2 { throw EndOfPage() }
            }
        } catch is EndOfPage {
        } catch let error as DatabaseError where error.isPageDamage {}
        return runs
    }

    /// The times of the two newest witnesses among observations. All observations of one reporter are one witness.
    private static func newestObservationWitnesses(_ db: any SQLConnection) throws -> [Int64] {
        let statement = try RawStatement(db, Query.newestVoices)
        try statement.bind(maximumRows)
        var voices: [Int64] = []
        var first: Int64?
        do {
            try statement.forEachRow { columns in
                let reporter = columns.integer(ObservationColumn.reporter)
                if reporter != 0, first == reporter { return }
                guard columns.isWhole(ObservationColumn.self) else { return }
                first = reporter
                voices.append(columns.integer(ObservationColumn.key) >> ObservationKey.tagBits)
                if voices.count == 2 { throw EndOfPage() }
            }
        } catch is EndOfPage {
        } catch let error as DatabaseError where error.isPageDamage {}
        return voices
    }

    /// The number of parts into which a retention period is divided for the search.
    private static var parts: Int { 8 }
    /// The most candidate times that may be rejected because a gap precedes them.
    private static var maximumRejectedTimes: Int { 64 }

    /// The time of an observation that is preceded by a whole retention period of others without a gap. At least one
    /// observation must be newer, by an eighth of the retention.
    private static func filledTime(_ retentionSeconds: Int, _ db: any SQLConnection) throws -> Instant? {
        let part = max(1, retentionSeconds / parts)
        let statement = try RawStatement(db, Query.lastKeyBefore)
        func last(before instant: Instant) throws -> Instant? {
            try statement.bind(ObservationKey.first(of: instant).rawValue)
            do { return try statement.value().map { ObservationKey(rawValue: $0).observedAt } } catch let error
                as DatabaseError where error.isPageDamage
            { return nil }
        }
        var newest = try last(before: .distantFuture)
        for _ in 0..<maximumRejectedTimes {
            guard let end = newest else { return nil }
            var jump: Instant??
            for number in 1..<parts where jump == nil {
                let partEnd = end.advanced(by: -part * number)
                let found = try last(before: partEnd)
                if found.map({ $0 < partEnd.advanced(by: -part) }) ?? true { jump = .some(found) }
            }
            guard let jump else { return try last(before: end.advanced(by: 1 - part)) }
            newest = jump
        }
        return nil
    }

    /// The integers in a query's first column, as far as pages are readable.
    private static func values(_ query: String, _ db: any SQLConnection) throws -> [Int64] {
        var values: [Int64] = []
        do { try RawStatement(db, query).forEachValue { values.append($0) } } catch let error as DatabaseError
            where error.isPageDamage
        {}
        return values
    }
}
