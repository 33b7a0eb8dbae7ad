import BillowStore
import Geometry
import SkyPath
import Turbulence
import UpstreamKit

/// Fetches a piece and writes the response.
extension SkyPathUpstream {
    private struct PieceResult {
        var records: [SkyPathRecord]
        var counts: SkyPathCounts
        var isSimulated: Bool
        /// The next cursor's value; nil without one.
        var cursor: Int?
        /// The update time that the upstream states; nil if it states none.
        var updatedAt: Instant?
    }

    /// Fetches a piece and writes the result: a delta if there is a cursor, else the whole piece.
    func fetch(
        _ piece: SkyPathPiece, of area: DataQuery.Area, after cursor: SkyPathCursor?, _ filter: inout BulkFilter?,
        _ clock: Clock, _ use: inout RecordCounts, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        // Rows after this version may be newer than the response, so it must not retract them.
        let head = try await stored { () async throws(StoreError) in try await store.head() }.version
        let answer = try await request(piece, after: cursor, minimum: filter?.minimum ?? .smooth)
        try await register(
            in: store, answerIsSimulated: answer.isSimulated, from: client.configuration.environment.baseURL)
        count(answer.counts, &outcome)
        use.add(used: answer.records.count, unusable: answer.counts.skippedByReason)
        let ring = ring(of: area)
        // A base cell is larger than the area that it is requested for.
        var skipped: [SkipReason: Int] = [:]
        let intake = SkyPathIntake(
            answer.records,
            SkyPathIntake.Rules(
                source: id, category: wanted.category, severities: wanted.severities, area: ring,
                oldest: clock.now.advanced(by: -retentionSeconds),
                latest: clock.latest.advanced(by: Self.futureSeconds)), skipped: &skipped)
        if ring != nil, case .baseCell = piece.area { skipped[.outsideTheArea] = nil }
        outcome.skipped.merge(skipped, uniquingKeysWith: +)
        let isFiltered = filter != nil
        filter?.merge(intake, of: piece, isReadable: answer.counts.skippedTotal == 0)
        let retraction =
            cursor == nil && !isFiltered ? retraction(piece, ring, answer, intake, asOf: head, clock) : nil
        var next = answer.cursor.map { SkyPathCursor(value: $0, fetchedAt: clock.now, query: signature.text) }
        next?.recheckAt = cursor?.recheckAt
        let isReadable = answer.counts.skippedTotal == 0
        if !isReadable { next?.recheckAt = cursor == nil ? clock.now.advanced(by: Self.recheckSeconds) : clock.now }
        // A cursor in the future would hide all changes, so the piece is fetched whole next time.
        if let updatedAt = answer.updatedAt, updatedAt > clock.latest.advanced(by: Self.futureSeconds) { next = nil }
        let name = SkyPathCursorKey(area, piece.name).text
        try await write(
            intake.observations, retraction, fetched: intake.standing, cursor: next.map { [name: $0.text] } ?? [:],
            isTransient: area == .viewport, &outcome)
        if isReadable, let recheckAt = cursor?.recheckAt, recheckAt <= clock.now {
            try await fetch(piece, of: area, after: nil, &filter, clock, &use, &outcome)
        }
    }

    /// Writes in batches. The cursor is stored with the last batch, never before it.
    func write(
        _ observations: [Observation], _ retraction: Retraction?, fetched: [Retraction.ValueKey: Instant],
        cursor: [String: String?], isTransient: Bool, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        var start = 0
        repeat {
            let end = min(start + batchSize, observations.count)
            var batch = Batch(
                source: id, observations: Array(observations[start..<end]), isTransient: isTransient)
            if end == observations.count {
                batch.retraction = retraction
                batch.fetchedPlaces = fetched
                batch.cursors = cursor
            }
            let result = try await stored { [batch] () async throws(StoreError) in try await store.commit(batch) }
            outcome.accepted += result.accepted
            outcome.duplicates += result.duplicates
            outcome.retracted += result.retracted
            start = end
        } while start < observations.count
    }

    private func request(
        _ piece: SkyPathPiece, after cursor: SkyPathCursor?, minimum: Severity
    ) async throws(SyncError) -> PieceResult {
        let hours = Double(reachSeconds) / 3_600
        do throws(UpstreamError) {
            switch (api, piece.area) {
            case (.v5, .ring(let ring)):
                let reply = try await client.corridor(
                    SkyPathCorridorQuery(
                        ring: ring.places, hours: hours, updatedSince: cursor?.value,
                        aircraftCategory: wanted.category.name))
                return PieceResult(
                    records: reply.records, counts: reply.counts, isSimulated: reply.isSimulated,
                    cursor: reply.lastUpdatedAt, updatedAt: reply.lastUpdatedAt.map { Instant(clamping: $0) })
            case (.v5, .baseCell(let parent, _)):
                let reply = try await client.hexagons(
                    SkyPathHexagonsQuery(
                        parent: parent, hours: hours, minSeverity: Int(minimum.rawValue)))
                return PieceResult(records: reply.records, counts: reply.counts, isSimulated: reply.isSimulated)
            case (.v4, _), (.v5, .world):
                let ring: [LonLat]? = if case .ring(let ring) = piece.area { ring.places } else { nil }
                let reply = try await client.map(
                    SkyPathMapQuery(
                        cursor.map { .since(tick: $0.value) } ?? .hours(hours), ring: ring,
                        aircraftCategory: wanted.category.name))
                return PieceResult(
                    records: reply.records, counts: reply.counts, isSimulated: reply.isSimulated, cursor: reply.tick)
            }
        } catch {
            throw SyncError(error)
        }
    }

    /// The retraction that follows from values missing in a complete response; nil if there is none.
    private func retraction(
        _ piece: SkyPathPiece, _ ring: AreaRing?, _ answer: PieceResult, _ intake: SkyPathIntake, asOf head: Version,
        _ clock: Clock
    ) -> Retraction? {
        // In a partly unreadable response, missing values may be unreadable ones. An upstream without any data is more
        // likely broken. In both cases the earlier data ages normally.
        guard answer.counts.skippedTotal == 0, !answer.records.isEmpty else { return nil }
        // The upstream's window may have begun later than ours, or ended earlier.
        let upstreamNow = max(clock.latest, intake.newest ?? clock.latest, answer.updatedAt ?? clock.latest)
        let start = upstreamNow.advanced(by: Self.windowMarginSeconds - reachSeconds)
        let end = min(clock.now, answer.updatedAt ?? clock.now).advanced(by: -Self.windowMarginSeconds)
        let category = wanted.category
        let standing = intake.standing
        return Retraction(
            from: start, to: end,
            covers: { row in
                // A superseding row at a place that the response lacks hides no value of the response, so it stays.
                (row.kind.isShown || standing[Retraction.ValueKey(of: row)] != nil) && row.category == category
                    && row.since <= head && row.intensity.severity != nil && piece.covers(row.cell)
                    && ring?.contains(H3.center(of: row.cell)) ?? true
            }, standing: standing)
    }

    /// Adds the client's counts to a round's outcome.
    func count(_ counts: SkyPathCounts, _ outcome: inout SyncOutcome) {
        outcome.skipped.merge(counts.skippedByReason, uniquingKeysWith: +)
        for (what, count) in [
            (Adjustment.broughtToParent, counts.broughtToParent), (.loweredSeverity, counts.clampedSeverity),
            (.droppedEDR, counts.droppedEDR),
        ] where count > 0 { outcome.adjusted[what, default: 0] += count }
    }
}
