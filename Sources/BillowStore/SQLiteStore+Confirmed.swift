internal import GRDB
package import Turbulence

extension SQLiteStore {
    package func confirmedTime(retentionSeconds: Int) async throws(StoreError) -> Instant? {
        try await reading { db in
            [try Self.agreedTime(db), try Self.filledTime(retentionSeconds, db)].compactMap { $0 }.max()
        }
    }

    /// Rows that are searched for a second voice: one reporter may have sent the newest thousands.
    private static let mostRows: Int64 = 10_000

    /// The newest time that two voices say has come: the time of the older one of the two that say the newest.
    private static func agreedTime(_ db: Database) throws -> Instant? {
        var seconds = try observationVoices(db)
        seconds += try values(Query.newestReports, db)
        seconds += try values(Query.newestIssues, db)
        seconds += try newestRuns(db)
        seconds += try values(Query.newestBuckets, db).map { $0 * Int64(AircraftPosition.bucketSeconds) }
        return seconds.sorted().dropLast().last.map { Instant(clamping: Int($0)) }
    }

    /// When the two runs of fields began that were stored last. All levels of a run are one voice; the instants that
    /// they are about lie ahead.
    private static func newestRuns(_ db: Database) throws -> [Int64] {
        let statement = try RawStatement(db, Query.newestRuns)
        try statement.bind(mostRows)
        var runs: [Int64] = []
        do {
            try statement.forEachRow { columns in
                let run = columns.integer(0)
                guard !runs.contains(run) else { return }
                runs.append(run)
                if runs.count == 2 { throw EndOfPage() }
            }
        } catch is EndOfPage {
        } catch let error as DatabaseError where error.isPageDamage {}
        return runs
    }

    /// What the two newest voices among observations say. A reporter's are one voice.
    private static func observationVoices(_ db: Database) throws -> [Int64] {
        let statement = try RawStatement(db, Query.newestVoices)
        try statement.bind(mostRows)
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

    /// In how many parts a retention is searched.
    private static let parts = 8
    /// How often a time is passed over that no other observations lead up to.
    private static let mostJumps = 64

    /// The time of an observation that a whole retention of others leads up to, and one an eighth of it newer follows.
    private static func filledTime(_ retentionSeconds: Int, _ db: Database) throws -> Instant? {
        let part = max(1, retentionSeconds / parts)
        let statement = try RawStatement(db, Query.lastKeyBefore)
        func last(before instant: Instant) throws -> Instant? {
            try statement.bind(ObservationKey.first(of: instant).rawValue)
            do { return try statement.first { ObservationKey(rawValue: $0.integer(0)).observedAt } } catch let error
                as DatabaseError where error.isPageDamage
            { return nil }
        }
        var newest = try last(before: .distantFuture)
        for _ in 0..<mostJumps {
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

    /// The whole numbers of a query's first column; as far as pages can be read.
    private static func values(_ query: String, _ db: Database) throws -> [Int64] {
        var values: [Int64] = []
        do { try RawStatement(db, query).forEachRow { values.append($0.integer(0)) } } catch let error as DatabaseError
            where error.isPageDamage
        {}
        return values
    }
}
