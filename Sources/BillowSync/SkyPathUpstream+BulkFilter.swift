import BillowStore
import Geometry
import SkyPath
import Turbulence
import UpstreamKit

/// Bulk requests that exclude mild turbulence.
extension SkyPathUpstream {
    /// The responses to bulk requests with a minimum severity, the mildest of the query: most of a full response is
    /// smooth air. They are complete, so a missing value has become milder or has ended.
    struct BulkFilter {
        var minimum: Severity
        /// The newest time at each place.
        var standing: [Retraction.ValueKey: Instant] = [:]
        /// The base cells with a completely readable response.
        var baseCells: Set<Int> = []
        var isEmpty = true

        mutating func merge(_ intake: SkyPathIntake, of piece: SkyPathPiece, isReadable: Bool) {
            standing.merge(intake.standing, uniquingKeysWith: max)
            isEmpty = isEmpty && intake.newest == nil
            if isReadable, case .baseCell(_, let number) = piece.area { baseCells.insert(number) }
        }
    }

    /// nil if all severities must be requested: the request supports no minimum, or its deltas would hide the end of
    /// rough air.
    func bulkFilter(_ pieces: [SkyPathPiece]) -> BulkFilter? {
        guard let mildest = Severity.allCases.first(where: wanted.severities.contains), mildest > .smooth,
            pieces.allSatisfy({ if case .baseCell = $0.area { true } else { false } })
        else { return nil }
        return BulkFilter(minimum: mildest)
    }

    /// Supersedes values that filtered responses no longer contain. It takes effect from this round on, so that earlier
    /// frames stay unchanged. If a response has an older record than the store, the store's later rows are retracted,
    /// as after a complete response.
    func supersede(
        _ answered: BulkFilter, of area: DataQuery.Area, asOf head: Version, _ clock: Clock,
        _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        // Older rows may have left the upstream's window.
        let start = clock.latest.advanced(by: Self.windowMarginSeconds - reachSeconds)
        let end = clock.now.advanced(by: -Self.windowMarginSeconds)
        let rows = try await stored { () async throws(StoreError) in
            try await store.rows(from: start, to: .distantFuture)
        }
        guard let source = rows.sources.first(where: { $0.id == id })?.number else { return }
        let (category, ring) = (wanted.category, ring(of: area))
        var newest: [Retraction.ValueKey: ObservationRow] = [:]
        for row in rows.rows where row.source == source && row.category == category {
            let place = Retraction.ValueKey(cell: row.cell.dense, altitude: row.altitude, category: category)
            if newest[place].map({ $0.observedAt < row.observedAt }) ?? true { newest[place] = row }
        }
        let missing = newest.filter { place, row in
            row.kind.isShown && row.since <= head && row.intensity.severity.map { $0 >= answered.minimum } ?? false
                && answered.standing[place] == nil
                && answered.baseCells.contains(Int(row.cell.dense) / Cell.slotsPerBaseCell)
                && ring?.contains(H3.center(of: row.cell)) ?? true
        }
        let observations = missing.values.sorted { $0.key < $1.key }.map { row in
            Observation(
                cell: row.cell, altitude: row.altitude, intensity: .reported(.smooth, edr: nil),
                observedAt: max(clock.now, row.observedAt.advanced(by: 1)), category: category, source: id,
                kind: .superseding)
        }
        let standing = answered.standing
        let retraction = Retraction(
            from: start, to: clock.latest.advanced(by: Self.futureSeconds),
            covers: { row in
                row.category == category && row.since <= head && (!row.kind.isShown || row.observedAt <= end)
                    && standing[Retraction.ValueKey(cell: row.cell.dense, altitude: row.altitude, category: category)]
                        != nil
            }, standing: standing)
        try await write(
            observations, retraction, fetched: standing, cursor: [:], isTransient: area == .viewport, &outcome)
    }

    /// The request of some pieces as text, equal for equal requests in every process.
    func requestText(of pieces: [SkyPathPiece]) -> String {
        signature.text + " " + SkyPathPiece.stableHash(Set(pieces.map(\.name)).sorted().joined(separator: ";"))
    }
}
