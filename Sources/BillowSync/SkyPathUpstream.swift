public import BillowStore
import Foundation
public import Geometry
public import SkyPath
public import Turbulence

/// SkyPath's computed turbulence, brought into the store.
///
/// What is asked is cut into pieces that the upstream can answer: the world by v4 is one, a polygon by v5 is one for each
/// part within the upstream's limit, the world by v5 is one for each coarse cell. Every piece has its own cursor, stored in
/// the same transaction as its data; a piece without a valid one is fetched whole, and then what the store has beyond the
/// answer is retracted.
public struct SkyPathUpstream: Upstream {
    /// Which of SkyPath's calls to use.
    public enum API: String, Sendable, Hashable, CaseIterable {
        /// Corridor calls where a polygon is set, bulk calls otherwise.
        case v5
        /// The map call with ticks.
        case v4
    }

    /// What is wanted of the upstream.
    public struct Query: Sendable, Hashable {
        public var severities: SeveritySet
        public var history: History
        public var category: AircraftCategory
        /// nil is the world.
        public var polygon: AreaRing?

        public init(
            severities: SeveritySet = .all, history: History = .default, category: AircraftCategory = .default,
            polygon: AreaRing? = nil
        ) {
            self.severities = severities
            self.history = history
            self.category = category
            self.polygon = polygon
        }
    }

    public let id: SourceID
    public let kind = "skypath"
    public let merge = MergeRule.replace
    public let simulated: Bool
    private let client: SkyPathClient
    private let api: API
    private let query: Query
    private let store: any Store
    private let retentionSeconds: Int

    /// Observations further ahead than this are refused: a clock is wrong.
    private static let futureSeconds = 300
    /// Rows this near to the end of the history are never retracted: the upstream's clock may be ahead of ours.
    private static let windowMarginSeconds = 180
    /// Rows in one transaction, so that other writers never wait long.
    private static let batchSize = 10_000

    public init(
        id: SourceID, client: SkyPathClient, api: API, query: Query, simulated: Bool, store: any Store,
        retentionSeconds: Int
    ) {
        self.id = id
        self.client = client
        self.api = api
        self.query = query
        self.simulated = simulated
        self.store = store
        self.retentionSeconds = retentionSeconds
    }

    /// The longest history that the calls reach back, in seconds.
    private var reachSeconds: Int {
        min(query.history.seconds, (api == .v4 ? History.sixHours : .fourHours).seconds)
    }

    // MARK: - A round

    public func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome {
        var outcome = SyncOutcome()
        let pieces = self.pieces
        let record = try await stored { () async throws(StoreError) in
            try await store.register(id, merge: merge, simulated: simulated)
        }
        let cursors = try await stored { () async throws(StoreError) in try await store.cursors(of: id) }
        for piece in pieces {
            if Task.isCancelled { throw Self.cancelled }
            let cursor = cursors[piece.name].flatMap(Cursor.init(text:))
            let usable = cursor.flatMap { isUsable($0, at: now) ? $0 : nil }
            do {
                try await fetch(piece, after: usable, now: now, &outcome)
            } catch {
                // A delta that the upstream won't give is asked for whole.
                guard usable != nil, error.kind == .refused else { throw error }
                try await fetch(piece, after: nil, now: now, &outcome)
            }
        }
        try await finish(pieces, cursors: cursors, record: record, now: now)
        return outcome
    }

    /// Notes that all pieces are up to date, and lets go of the cursors of pieces that are asked for no more.
    private func finish(_ pieces: [Piece], cursors: [String: String], record: SourceRecord, now: Instant)
        async throws(SyncError)
    {
        let names = Set(pieces.map(\.name))
        let forgotten = Dictionary(
            uniqueKeysWithValues: cursors.keys.filter { !names.contains($0) }.map { ($0, String?.none) })
        // The log is complete from before, if the fetch before reaches into this one's window.
        let start = now.advanced(by: -reachSeconds)
        let unbroken = record.fetchedAt.map { $0 >= start } ?? false
        let completeSince = unbroken ? min(record.completeSince ?? start, start) : start
        _ = try await stored { () async throws(StoreError) in
            try await store.commit(
                Batch(source: id, cursors: forgotten, fetchedAt: now, completeSince: completeSince))
        }
    }

    // MARK: - Pieces

    /// One call's worth of the query.
    private struct Piece: Sendable {
        enum Area: Sendable {
            case world
            case ring(AreaRing)
            case parent(UInt64, resolution: Int, dense: Int)
        }

        var name: String
        var area: Area

        func covers(_ cell: Cell) -> Bool {
            switch area {
            case .world: true
            case .ring(let ring): ring.contains(H3.center(of: cell))
            case .parent(_, let resolution, let dense):
                Int(cell.dense) / (Cell.slots / Cell.baseCells / (resolution == 0 ? 1 : 7)) == dense
            }
        }
    }

    private var pieces: [Piece] {
        if api == .v4 { return [Piece(name: "map", area: query.polygon.map(Piece.Area.ring) ?? .world)] }
        guard let polygon = query.polygon else {
            return H3.cells(resolution: 0).enumerated().map { dense, parent in
                Piece(name: String(parent, radix: 16), area: .parent(parent, resolution: 0, dense: dense))
            }
        }
        let limit = client.configuration.limits.corridorAreaKm2 ?? .infinity
        return polygon.pieces(maximumAreaKm2: limit).map { Piece(name: Self.name(of: $0), area: .ring($0)) }
    }

    /// The same name for the same ring, in every process.
    private static func name(of ring: AreaRing) -> String {
        let text = ring.places.map { "\($0.longitude),\($0.latitude)" }.joined(separator: ";")
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return "ring-" + String(hash, radix: 16)
    }

    // MARK: - Cursors

    /// Where a piece stands, and for which query that holds.
    private struct Cursor: Codable {
        var query: String
        /// `lastUpdatedAt` (v5) or the tick (v4).
        var value: Int
        /// When it was given, Unix seconds.
        var fetchedAt: Int

        init(query: String, value: Int, fetchedAt: Int) {
            self.query = query
            self.value = value
            self.fetchedAt = fetchedAt
        }

        init?(text: String) {
            // A cursor that can't be read is as good as none: the piece is fetched whole.
            guard let cursor = try? JSONDecoder().decode(Cursor.self, from: Data(text.utf8)) else { return nil }
            self = cursor
        }

        var text: String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            // Three plain members always encode.
            return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
    }

    /// What a cursor depends on: another query needs another full fetch.
    private var signature: String {
        "\(api.rawValue) \(query.history.text)h \(query.category.name) \(query.severities.rawValue) "
            + client.configuration.environment.baseURL
    }

    private func isUsable(_ cursor: Cursor, at now: Instant) -> Bool {
        guard cursor.query == signature else { return false }
        let age = now.seconds - cursor.fetchedAt
        return age >= -Self.futureSeconds && age < reachSeconds
    }

    // MARK: - One piece

    private struct Answer {
        var records: [SkyPathRecord]
        var counts: SkyPathCounts
        /// The next cursor's value; nil where the call has none.
        var cursor: Int?
        /// The upstream's own time of the answer.
        var asOf: Instant
    }

    private func fetch(_ piece: Piece, after cursor: Cursor?, now: Instant, _ outcome: inout SyncOutcome)
        async throws(SyncError)
    {
        let answer = try await ask(piece, after: cursor, now: now)
        count(answer.counts, &outcome)
        let observations = taken(answer.records, of: piece, now: now, &outcome)
        let isWhole = cursor == nil || answer.cursor == nil
        var start = 0
        repeat {
            let end = min(start + Self.batchSize, observations.count)
            let isLast = end == observations.count
            var batch = Batch(source: id, observations: Array(observations[start..<end]))
            if isLast {
                // The cursor lands with the last of the data, never before it.
                // An answer that was partly unreadable may have had what seems to be missing.
                if isWhole, answer.counts.skippedTotal == 0 {
                    batch.retraction = retraction(piece, observations, asOf: answer.asOf)
                }
                if let value = answer.cursor {
                    batch.cursors[piece.name] = Cursor(query: signature, value: value, fetchedAt: now.seconds).text
                }
            }
            let result = try await stored { () async throws(StoreError) in try await store.commit(batch) }
            outcome.accepted += result.accepted
            outcome.duplicates += result.duplicates
            outcome.retracted += result.retracted
            start = end
        } while start < observations.count
    }

    private func ask(_ piece: Piece, after cursor: Cursor?, now: Instant) async throws(SyncError) -> Answer {
        let hours = min(query.history.hours, Double(reachSeconds) / 3_600)
        do throws(SkyPathError) {
            switch (api, piece.area) {
            case (.v5, .ring(let ring)):
                let reply = try await client.corridor(
                    SkyPathCorridorQuery(
                        ring: ring.places, hours: hours, updatedSince: cursor?.value,
                        aircraftCategory: query.category.name))
                return Answer(
                    records: reply.records, counts: reply.counts, cursor: reply.lastUpdatedAt,
                    asOf: reply.lastUpdatedAt.map { min(Instant(clamping: $0), now) } ?? now)
            case (.v5, .parent(let parent, _, _)):
                let reply = try await client.hexagons(SkyPathHexagonsQuery(parent: parent, hours: hours))
                return Answer(records: reply.records, counts: reply.counts, cursor: nil, asOf: now)
            case (.v4, .ring), (.v4, .world), (.v4, .parent), (.v5, .world):
                let ring: [LonLat]? = if case .ring(let ring) = piece.area { ring.places } else { nil }
                let reply = try await client.map(
                    SkyPathMapQuery(
                        cursor.map { .since(tick: $0.value) } ?? .hours(hours), ring: ring,
                        aircraftCategory: query.category.name))
                return Answer(records: reply.records, counts: reply.counts, cursor: reply.tick, asOf: now)
            }
        } catch {
            throw SyncError(error)
        }
    }

    /// What the log takes of an answer.
    private func taken(_ records: [SkyPathRecord], of piece: Piece, now: Instant, _ outcome: inout SyncOutcome)
        -> [Observation]
    {
        let latest = now.advanced(by: Self.futureSeconds)
        let oldest = now.advanced(by: -retentionSeconds)
        var observations: [Observation] = []
        observations.reserveCapacity(records.count)
        for record in records {
            guard let observedAt = Instant(seconds: record.observedAt), observedAt <= latest else {
                outcome.skipped["in the future", default: 0] += 1
                continue
            }
            guard observedAt >= oldest else {
                outcome.skipped["older than retention", default: 0] += 1
                continue
            }
            guard let severity = Severity(rawValue: record.severity),
                let block = AltitudeBlock(thousands: record.altitudeThousands)
            else {
                outcome.skipped["unreadable", default: 0] += 1
                continue
            }
            guard query.severities.contains(severity) else { continue }
            observations.append(
                Observation(
                    cell: record.cell, altitude: AltitudeBand(block),
                    intensity: .reported(severity, edr: record.edr.flatMap { EDR($0) }), observedAt: observedAt,
                    category: query.category, source: id))
        }
        return observations
    }

    /// What a whole answer says by leaving out.
    private func retraction(_ piece: Piece, _ observations: [Observation], asOf: Instant) -> Retraction {
        var standing: [Retraction.Place: Instant] = [:]
        for observation in observations {
            let place = Retraction.Place(
                cell: observation.cell.dense, altitude: observation.altitude, category: observation.category)
            standing[place] = max(standing[place] ?? .distantPast, observation.observedAt)
        }
        let category = query.category
        let severities = query.severities
        return Retraction(
            from: asOf.advanced(by: Self.windowMarginSeconds - reachSeconds),
            to: asOf.advanced(by: -Self.windowMarginSeconds),
            covers: { row in
                guard row.category == category, piece.covers(row.cell) else { return false }
                // A record that the query leaves out can't be missed in its answer.
                guard let severity = row.intensity.severity else { return false }
                return severities.contains(severity)
            }, standing: standing)
    }

    private func count(_ counts: SkyPathCounts, _ outcome: inout SyncOutcome) {
        for (reason, count) in counts.skipped { outcome.skipped[reason.rawValue, default: 0] += count }
        for (what, count) in [
            ("brought to parent cell", counts.broughtToParent), ("severity lowered to 4", counts.clampedSeverity),
            ("EDR dropped", counts.droppedEDR),
        ] where count > 0 { outcome.adjusted[what, default: 0] += count }
    }

    // MARK: - Errors

    private static let cancelled = SyncError(
        kind: .cancelled, code: "cancelled", message: "cancelled", isReachable: true)

    private func stored<Value>(_ body: () async throws(StoreError) -> Value) async throws(SyncError) -> Value {
        do throws(StoreError) { return try await body() } catch {
            if Task.isCancelled { throw Self.cancelled }
            throw SyncError(kind: .store, code: "store", message: error.description, isReachable: true)
        }
    }
}

extension SyncError {
    init(_ error: SkyPathError) {
        let (kind, code, isReachable): (Kind, String, Bool) =
            switch error {
            case .unauthorized: (.session, "unauthorized", true)
            case .locked: (.session, "locked", true)
            case .forbidden: (.refused, "disabled", true)
            case .rateLimited: (.transient, "rate-limited", true)
            case .upgradeRequired: (.refused, "upgrade-required", true)
            case .invalidRequest: (.refused, "query-refused", true)
            case .server: (.transient, "upstream-error", true)
            case .unexpectedStatus: (.transient, "unexpected-status", true)
            case .unreadable: (.transient, "unreadable", true)
            case .tooLarge: (.transient, "too-large", true)
            case .timeout: (.transient, "timeout", false)
            case .unreachable: (.transient, "unreachable", false)
            case .cancelled: (.cancelled, "cancelled", true)
            case .invalidQuery: (.refused, "query-invalid", true)
            case .invalidConfiguration: (.refused, "configuration-invalid", true)
            }
        self.init(
            kind: kind, code: code, message: error.description, isReachable: isReachable,
            retryAfterSeconds: error.retryAfterSeconds)
    }
}
