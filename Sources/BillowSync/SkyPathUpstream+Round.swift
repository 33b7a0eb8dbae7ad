import BillowStore
import Datasets
import Geometry
import SkyPath
package import Turbulence
import UpstreamKit

/// Runs a round: the due types, the pieces of turbulence in sequence, and the coverage.
extension SkyPathUpstream {
    /// The start of a round, and the time that has passed since.
    struct Clock {
        let now: Instant
        private let began: Duration
        private let uptime: @Sendable () -> Duration

        init(now: Instant, uptime: @escaping @Sendable () -> Duration) {
            self.now = now
            self.uptime = uptime
            began = uptime()
        }

        /// Rounded down.
        var current: Instant { now.advanced(by: Int((uptime() - began).components.seconds)) }

        /// Rounded up.
        var latest: Instant { current.advanced(by: 1) }
    }

    /// Runs a round of every area in sequence. A failure of one area does not affect the others.
    package func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome {
        var total = SyncOutcome()
        var failure: SyncError?
        total.wasAnswered = false
        for area in areas where request(of: area) != nil {
            do throws(SyncError) {
                let outcome = try await synchronise(area, now: now)
                total.add(outcome)
                total.wasAnswered = total.wasAnswered || outcome.wasAnswered
            } catch {
                total.add(error.outcome)
                failure = failure ?? error
                if error.kind == .cancelled || error.kind == .session { break }
            }
        }
        if let failure { throw failure.after(total) }
        return total
    }

    package func synchronise(_ area: DataQuery.Area, now: Instant) async throws(SyncError) -> SyncOutcome {
        var outcome = SyncOutcome()
        do throws(SyncError) {
            try await resumeSession()
            try await round(area, Clock(now: now, uptime: uptime), &outcome)
        } catch {
            outcome.disabled = resting(at: now).mapValues(\.message)
            throw error.after(outcome)
        }
        outcome.disabled = resting(at: now).mapValues(\.message)
        return outcome
    }

    /// The requested types that are suspended for the account.
    private func resting(at now: Instant) -> [QueryType: (message: String, until: Instant)] {
        progress.disabled(at: now).filter { wanted.types.contains($0.key) }
    }

    /// The types that a round of an area requests. It omits suspended types, and a nowcast that is too young to have a
    /// successor.
    func due(_ area: DataQuery.Area, at now: Instant) -> [QueryType] {
        let types = request(of: area)?.types ?? []
        let resting = resting(at: now)
        return QueryType.skyPath.filter { type in
            types.contains(type) && resting[type] == nil && !(type == .nowcast && hasNowcast(at: now))
        }
    }

    /// Fetches every due type of an area. The failure of one type does not affect the others, unless the upstream is
    /// down or rejects further requests.
    func round(
        _ area: DataQuery.Area, _ clock: Clock, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        let due = due(area, at: clock.now)
        var failure: SyncError?
        var answered = Set<QueryType>()
        var pieces: [SkyPathPiece]?
        types: for type in due {
            if Task.isCancelled { throw .cancelled }
            do throws(SyncError) {
                if type == .turbulence {
                    pieces = try await turbulence(area, clock, &outcome)
                } else {
                    try await fetch(type, now: clock.now, &outcome)
                }
                progress.enable(type)
                answered.insert(type)
            } catch {
                if error.code == .upstream(.disabled) {
                    progress.disable(type, at: clock.now, error.message)
                } else if error.isAboutOneType {
                    failure = failure ?? error.concerning(type)
                } else {
                    failure = error
                    break types
                }
            }
        }
        if answered.isEmpty {
            // If the session can't be stored either, the first failure is reported.
            do throws(SyncError) { try await saveSession() } catch { failure = failure ?? error }
        } else {
            try await finish(area, pieces, answered, isComplete: failure == nil, clock, &outcome)
        }
        outcome.wasAnswered = !answered.isEmpty
        if let failure { throw failure.besides(answered: outcome.wasAnswered) }
        let resting = resting(at: clock.now).values
        if resting.count == wanted.types.count, let first = resting.min(by: { $0.until < $1.until }) {
            throw SyncError(
                kind: .refused, code: .upstream(.disabled), message: first.message,
                isReachable: due.isEmpty ? nil : true,
                retryAfterSeconds: first.until.seconds - clock.now.seconds)
        }
    }

    /// Ends a round in one transaction: the fetch time, the coverage, and the session. It removes the cursors of pieces
    /// that are no longer requested, and the data of the previous viewport.
    ///
    /// The fetch times of a source and of its turbulence are the fetch time of the oldest area. A suspended type does
    /// not hold back the source's fetch time, only its own.
    /// - Parameter pieces: the pieces of the turbulence, all up to date; nil if it wasn't fetched.
    private func finish(
        _ area: DataQuery.Area, _ pieces: [SkyPathPiece]?, _ answered: Set<QueryType>, isComplete: Bool,
        _ clock: Clock, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        if isComplete { progress.note(request(of: area), of: area, at: clock.now) }
        if answered.contains(.turbulence) {
            progress.note(SyncRequest.DataRequest(.turbulence, wanted, in: area), of: area, at: clock.now)
        }
        let result = try await progress.ledger.withLock { () async throws(SyncError) -> BatchResult in
            var kinds = Dictionary(uniqueKeysWithValues: wanted.kinds(of: answered).map { ($0, clock.now) })
            if answered.contains(.turbulence) {
                kinds[.observations] = progress.allFetched(
                    wanted.areas(of: .turbulence).map { ($0, SyncRequest.DataRequest(.turbulence, wanted, in: $0)) })
            }
            let areas = areas.compactMap { area in request(of: area).map { (area, $0) } }
            let record = try await known(in: store)
            var batch = Batch(
                source: id,
                coverage: answered.sorted().compactMap { coverage(of: $0, record, at: clock.now) },
                fetchedAt: isComplete ? progress.allFetched(areas) : nil, fetchedKinds: kinds)
            if let pieces { try await noteCoverage(area, pieces, clock, in: &batch) }
            let session = await changedSession()
            if let session { batch.values.updateValue(session, forKey: Self.sessionName) }
            let result = try await stored { [batch] () async throws(StoreError) in try await store.commit(batch) }
            if let session { progress.storedSession = session }
            return result
        }
        outcome.retracted += result.retracted
    }

    /// Adds the coverage to the end of a round in which all pieces of an area's turbulence are up to date.
    private func noteCoverage(
        _ area: DataQuery.Area, _ pieces: [SkyPathPiece], _ clock: Clock, in batch: inout Batch
    ) async throws(SyncError) {
        let names = Set(pieces.map { SkyPathCursorKey(area, $0.name).text })
        // Earlier coverage continues if the previous round had the same request and its time is inside this window.
        let start = clock.now.advanced(by: -reachSeconds)
        let (cursors, values) = try await stored { () async throws(StoreError) in
            (try await store.cursors(of: id), try await store.values(of: id))
        }
        var coverage = SkyPathCoverage(
            values, record: try await known(in: store), requested: wanted.areas(of: .turbulence))
        let covered = coverage.note(
            area, request: requestText(of: pieces), ring: ring(of: area), at: clock.now, from: start)
        batch.coverage.append(covered)
        batch.values = coverage.changes(to: values)
        for name in cursors.keys where !names.contains(name) {
            // A name without an area was stored by an earlier version.
            let piece = SkyPathCursorKey(name)
            if piece == nil || piece?.area == area { batch.cursors.updateValue(nil, forKey: name) }
        }
        batch.completeSince = coverage.completeSince
        if area == .viewport, !covered.isContinued, let ring = wanted.viewport {
            batch.transientEnd = TransientEnd(at: clock.current) { [wanted] in
                !ring.touches($0.cell) && !wanted.isCoveredPersistently($0.cell)
            }
        }
    }

    /// The coverage of a fetched type; nil for turbulence, whose areas are recorded separately.
    func coverage(
        of type: QueryType, _ record: SourceRecord?, at now: Instant
    ) -> CoverageChange? {
        guard type != .turbulence, let kind = wanted.kinds(of: [type]).first else { return nil }
        let rings =
            wanted.isGlobal(type) ? [nil] : [wanted.polygon, wanted.viewport].compactMap { $0 }.map(Optional.some)
        let last = record?.fetchedKinds[kind]
        // A response with reports includes the preceding history; any other is a snapshot of its time.
        let start = now.advanced(by: -(kind.longestGapSeconds ?? wanted.history.seconds))
        return CoverageChange(
            kind: kind, part: type.name, rings: rings, since: kind.longestGapSeconds == nil ? start : now,
            at: now, isContinued: last.map { $0 >= start } ?? false, lastFetch: last)
    }

    /// Fetches the turbulence of an area.
    /// - Returns: its pieces, all up to date.
    func turbulence(
        _ area: DataQuery.Area, _ clock: Clock, _ outcome: inout SyncOutcome
    ) async throws(SyncError) -> [SkyPathPiece] {
        let pieces = try self.pieces(of: area)
        let cursors =
            try await known(in: store) == nil
            ? [:] : try await stored { () async throws(StoreError) in try await store.cursors(of: id) }
        let head = try await stored { () async throws(StoreError) in try await store.head() }.version
        var use = RecordCounts()
        var filter = bulkFilter(pieces)
        for piece in pieces {
            if Task.isCancelled { throw .cancelled }
            let cursor = cursors[SkyPathCursorKey(area, piece.name).text].flatMap(SkyPathCursor.init(text:)).flatMap {
                $0.isUsable(for: signature, at: clock.now, reachSeconds: reachSeconds) ? $0 : nil
            }
            do {
                try await fetch(piece, of: area, after: cursor, &filter, clock, &use, &outcome)
            } catch {
                // If the upstream rejects the delta, the piece is fetched whole.
                guard cursor != nil, error.isAboutTheQuery else { throw error }
                try await fetch(piece, of: area, after: nil, &filter, clock, &use, &outcome)
            }
        }
        if let answered = filter {
            if answered.isEmpty {
                // No rough air anywhere may be a fault, so a request for all severities checks whether the upstream has
                // any data.
                filter = nil
                for piece in pieces { try await fetch(piece, of: area, after: nil, &filter, clock, &use, &outcome) }
            } else {
                try await supersede(answered, of: area, asOf: head, clock, &outcome)
            }
        }
        try use.check()
        return pieces
    }
}
