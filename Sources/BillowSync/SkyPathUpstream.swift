public import BillowStore
import Geometry
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

    public let id: SourceID
    public let kind = "skypath"
    public let merge = MergeRule.replace
    public let simulated: Bool?
    let client: SkyPathClient
    private let api: API
    /// What is wanted of the upstream.
    let wanted: DataQuery
    let store: any Store
    let retentionSeconds: Int
    let progress: SkyPathProgress
    /// Rows in one transaction, so that other writers never wait long. Tests make it small.
    var batchSize = 10_000

    /// Observations further ahead than this are refused: a clock is wrong. So is a cursor.
    static let futureSeconds = 300
    /// Rows this near to an end of the window are never retracted: the upstream's clock may differ from ours.
    private static let windowMarginSeconds = 180
    /// A whole answer that was partly unreadable is asked for again after this: it may well stay so.
    private static let recheckSeconds = 600
    /// Calls in one round. More can't be made in the minute that a round should take.
    private static let maximumPieces = 1_000
    /// Pieces are this much smaller than the upstream's limit, so that no rounding makes one too large.
    private static let areaShare = 0.999
    /// The name, among the cursors, of the query that the last complete round was for.
    private static let roundName = "query"
    /// The name, among the cursors, of the viewport whose data is stored.
    private static let viewportName = "viewport"
    /// Stands there from the first data of another viewport on until that of the one before is gone.
    private static let changing = "changing"
    /// The name, among the cursors, of the session that is open.
    private static let sessionName = "session"
    /// What stands among the cursors and is none.
    private static let lasting = [viewportName, sessionName]

    public init(
        id: SourceID, client: SkyPathClient, api: API, query: DataQuery, simulated: Bool?, store: any Store,
        retentionSeconds: Int
    ) {
        self.init(
            id: id, client: client, api: api, query: query, simulated: simulated, store: store,
            retentionSeconds: retentionSeconds, progress: SkyPathProgress())
    }

    private init(
        id: SourceID, client: SkyPathClient, api: API, query: DataQuery, simulated: Bool?, store: any Store,
        retentionSeconds: Int, progress: SkyPathProgress
    ) {
        self.id = id
        self.client = client
        self.api = api
        wanted = query
        self.simulated = simulated
        self.store = store
        self.retentionSeconds = retentionSeconds
        self.progress = progress
    }

    /// The longest history that the calls reach back, in seconds.
    private var reachSeconds: Int {
        min(wanted.history.seconds, (api == .v4 ? History.sixHours : .fourHours).seconds)
    }

    public var query: DataQuery? { wanted }
    public var types: [DataQuery.DataType] { DataQuery.DataType.allCases }
    public var credential: String? { client.configuration.apiKey.fingerprint }
    public var slowKinds: [DataKind: Duration] {
        wanted.types.contains(.nowcast) ? [.forecasts: .seconds(Self.nowcastSeconds)] : [:]
    }

    public func collections(at now: Instant) -> [String] { due(at: now).flatMap(\.collections) }

    public func retry() { progress.enableAll() }

    public func resume(now: Instant) async throws(SyncError) {
        guard try await known(in: store) != nil else { return }
        let cursors = try await stored { () async throws(StoreError) in try await store.cursors(of: id) }
        var outcome = SyncOutcome()
        try await replaceViewport(cursors[Self.viewportName], now: now, &outcome)
    }

    public func asking(_ query: DataQuery) -> any Upstream {
        var upstream = SkyPathUpstream(
            id: id, client: client, api: api, query: query, simulated: simulated, store: store,
            retentionSeconds: retentionSeconds, progress: progress.asking())
        upstream.batchSize = batchSize
        return upstream
    }

    public func forget() async throws(SyncError) {
        progress.forget()
        guard try await known(in: store) != nil else { return }
        let cursors = try await stored { () async throws(StoreError) in try await store.cursors(of: id) }
        var gone = [String: String?]()
        for name in cursors.keys where !Self.lasting.contains(name) { gone.updateValue(nil, forKey: name) }
        let batch = Batch(source: id, cursors: gone)
        _ = try await stored { () async throws(StoreError) in try await store.commit(batch) }
    }

    /// What a cursor depends on.
    private var signature: SkyPathSignature {
        SkyPathSignature(
            api: api, history: wanted.history, category: wanted.category, severities: wanted.severities,
            baseURL: client.configuration.environment.baseURL)
    }

    // MARK: - A round

    /// When a round began, and how late it may have become since.
    private struct Clock {
        let now: Instant
        private let began = ContinuousClock.now

        init(now: Instant) { self.now = now }

        /// Rounded up.
        var latest: Instant { now.advanced(by: Int(began.duration(to: .now).components.seconds) + 1) }
    }

    public func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome {
        var outcome = SyncOutcome()
        do throws(SyncError) {
            try await resumeSession()
            do throws(SyncError) { try await round(Clock(now: now), &outcome) } catch {
                // That the session can't be kept either is no news beside this.
                try? await keepSession()
                throw error
            }
            try await keepSession()
        } catch {
            var error = error
            outcome.disabled = resting(at: now).mapValues(\.message)
            error.outcome = outcome
            throw error
        }
        outcome.disabled = resting(at: now).mapValues(\.message)
        return outcome
    }

    /// The types that are asked for and that the account may not have for the time being.
    private func resting(at now: Instant) -> [DataQuery.DataType: (message: String, until: Instant)] {
        progress.disabled(at: now).filter { wanted.types.contains($0.key) }
    }

    /// The types that a round asks for: those that don't rest, but for a nowcast so young that there is no other yet.
    private func due(at now: Instant) -> [DataQuery.DataType] {
        let resting = resting(at: now)
        return DataQuery.DataType.allCases.filter { type in
            wanted.types.contains(type) && resting[type] == nil && !(type == .nowcast && hasNowcast(at: now))
        }
    }

    /// What a session is good for.
    private var sessionMark: String? {
        let configuration = client.configuration
        return configuration.account.map { account in
            SkyPathPiece.stableHash(
                [
                    configuration.environment.baseURL, configuration.apiKey.fingerprint, account.company, account.user,
                ].joined(separator: "\n"))
        }
    }

    /// After a restart the session that is kept goes on until it ends.
    private func resumeSession() async throws(SyncError) {
        guard let sessionMark, !progress.hasResumed, try await known(in: store) != nil else { return }
        let cursors = try await stored { () async throws(StoreError) in try await store.cursors(of: id) }
        progress.hasResumed = true
        guard let kept = cursors[Self.sessionName], kept.hasPrefix(sessionMark + " ") else { return }
        progress.keptSession = kept
        guard let session = SkyPathSession(text: kept.dropFirst(sessionMark.count + 1)) else { return }
        await client.resume(session)
    }

    private func keepSession() async throws(SyncError) {
        guard let sessionMark, try await known(in: store) != nil else { return }
        let session = await client.session.map { sessionMark + " " + $0.text }
        guard session != progress.keptSession else { return }
        let batch = Batch(source: id, cursors: [Self.sessionName: session])
        _ = try await stored { () async throws(StoreError) in try await store.commit(batch) }
        progress.keptSession = session
    }

    /// Every type that is due. What goes wrong with one costs the others nothing, unless it is the upstream that is down or has
    /// enough of us.
    private func round(_ clock: Clock, _ outcome: inout SyncOutcome) async throws(SyncError) {
        let record = try await known(in: store)
        let due = due(at: clock.now)
        var failure: SyncError?
        var answered = Set<DataQuery.DataType>()
        types: for type in due {
            if Task.isCancelled { throw .cancelled }
            do throws(SyncError) {
                if type == .turbulence {
                    try await turbulence(clock, record, &outcome)
                } else {
                    try await fetch(type, now: clock.now, &outcome)
                }
                progress.enable(type)
                answered.insert(type)
            } catch {
                if error.code == "disabled" {
                    progress.disable(type, at: clock.now, error.message)
                } else if error.isAboutOneType {
                    failure = failure ?? error.about(type)
                } else {
                    failure = error
                    break types
                }
            }
        }
        // A type that the account may not have rests alone: the source is as new as its others, that type's data isn't.
        let fetched = wanted.kinds(of: answered)
        if !answered.isEmpty {
            let batch = Batch(
                source: id, fetchedAt: failure == nil ? clock.now : nil,
                fetchedKinds: Dictionary(uniqueKeysWithValues: fetched.map { ($0, clock.now) }))
            _ = try await stored { () async throws(StoreError) in try await store.commit(batch) }
        }
        outcome.wasAnswered = !answered.isEmpty
        if let failure { throw failure }
        let resting = resting(at: clock.now).values
        if resting.count == wanted.types.count, let first = resting.min(by: { $0.until < $1.until }) {
            throw SyncError(
                kind: .refused, code: "disabled", message: first.message, isReachable: due.isEmpty ? nil : true,
                retryAfterSeconds: first.until.seconds - clock.now.seconds)
        }
    }

    private func turbulence(_ clock: Clock, _ record: SourceRecord?, _ outcome: inout SyncOutcome)
        async throws(SyncError)
    {
        let pieces = try self.pieces()
        let cursors =
            record == nil ? [:] : try await stored { () async throws(StoreError) in try await store.cursors(of: id) }
        var use = RecordUse()
        // Beside the data, so that wherever the round ends the store knows that it has some of another viewport.
        let marks: [String: String?] =
            cursors[Self.viewportName] == viewportMark ? [:] : [Self.viewportName: Self.changing]
        for piece in pieces {
            if Task.isCancelled { throw .cancelled }
            let cursor = cursors[piece.name].flatMap(SkyPathCursor.init(text:)).flatMap {
                $0.isUsable(for: signature, at: clock.now, reachSeconds: reachSeconds) ? $0 : nil
            }
            do {
                try await fetch(piece, after: cursor, marks, clock, &use, &outcome)
            } catch {
                // A delta that the upstream won't give is asked for whole.
                guard cursor != nil, error.isAboutTheQuery else { throw error }
                try await fetch(piece, after: nil, marks, clock, &use, &outcome)
            }
        }
        try use.check()
        try await replaceViewport(cursors[Self.viewportName], now: clock.now, &outcome)
        try await finish(pieces, cursors: cursors, record: record, now: clock.now)
    }

    /// Notes that all pieces are up to date, and lets go of the cursors of pieces that are asked for no more.
    private func finish(_ pieces: [SkyPathPiece], cursors: [String: String], record: SourceRecord?, now: Instant)
        async throws(SyncError)
    {
        let names = Set(pieces.map(\.name))
        var changed = [String: String?]()
        for name in cursors.keys where !names.contains(name) && !Self.lasting.contains(name) {
            changed.updateValue(nil, forKey: name)
        }
        let asked = signature.text + " " + SkyPathPiece.stableHash(names.sorted().joined(separator: ";"))
        changed.updateValue(asked, forKey: Self.roundName)
        // The log is complete from before, if the round before asked for the same and reaches into this one's window.
        let start = now.advanced(by: -reachSeconds)
        let isUnbroken =
            cursors[Self.roundName] == asked && record?.fetchedAt(.observations).map { $0 >= start } ?? false
        let batch = Batch(
            source: id, cursors: changed,
            completeSince: isUnbroken ? min(record?.completeSince ?? start, start) : start)
        _ = try await stored { () async throws(StoreError) in try await store.commit(batch) }
    }

    private var viewportMark: String? { wanted.viewport.map { SkyPathPiece.stableHash($0.text) } }

    /// Where the viewport is another than the one that was stored for, what lies in no part of the query any more goes: a
    /// viewport's data is that of what somebody looks at. After a restart there is none.
    private func replaceViewport(_ old: String?, now: Instant, _ outcome: inout SyncOutcome) async throws(SyncError) {
        guard old != viewportMark else { return }
        var batch = Batch(source: id, cursors: [Self.viewportName: viewportMark])
        if old != nil, !wanted.global {
            let wanted = wanted
            batch.retraction = Retraction(
                from: now.advanced(by: -History.sixHours.seconds), to: now.advanced(by: Self.futureSeconds),
                covers: { wanted.area(of: $0.cell) == nil }, standing: [:])
        }
        let result = try await stored { [batch] () async throws(StoreError) in try await store.commit(batch) }
        outcome.retracted += result.retracted
    }

    // MARK: - Pieces

    /// Why SkyPath can't be asked a query by an API: the member of the query that is to blame, and a sentence about it; nil
    /// where it can.
    public static func problem(with query: DataQuery, api: API, limits: SkyPathLimits) -> (
        member: String, text: String
    )? {
        guard api == .v5 else { return nil }
        if query.global, query.category != .default {
            return (
                "category",
                "SkyPath's bulk call knows category \(AircraftCategory.default.name) only, not "
                    + "\(query.category.name): set a polygon and global: false, or api v4"
            )
        }
        for (member, ring) in [("polygon", query.polygon), ("viewport", query.viewport)] {
            guard let ring, ring.areaKm2 / pieceAreaKm2(limits) > Double(maximumPieces) else { continue }
            return (
                member,
                "the polygon of \(Int(min(ring.areaKm2, 1e9))) km2 would take more than \(maximumPieces) calls of the "
                    + "upstream's limit: make it smaller, or use api v4"
            )
        }
        return nil
    }

    private static func pieceAreaKm2(_ limits: SkyPathLimits) -> Double {
        (limits.corridorAreaKm2 ?? .infinity) * areaShare
    }

    private func pieces() throws(SyncError) -> [SkyPathPiece] {
        let limits = client.configuration.limits
        if let problem = Self.problem(with: wanted, api: api, limits: limits) {
            throw SyncError(kind: .refused, code: "query-invalid", message: problem.text, isReachable: nil)
        }
        let rings = [wanted.polygon, wanted.viewport].compactMap { $0 }
        if api == .v4 { return wanted.global ? SkyPathPiece.map(nil) : rings.flatMap(SkyPathPiece.map) }
        var pieces: [SkyPathPiece] = []
        for ring in rings { pieces += SkyPathPiece.corridors(ring, maximumAreaKm2: Self.pieceAreaKm2(limits)) }
        if wanted.global { pieces += SkyPathPiece.baseCells }
        var names = Set<String>()
        return pieces.filter { names.insert($0.name).inserted }
    }

    // MARK: - One piece

    private struct Answer {
        var records: [SkyPathRecord]
        var counts: SkyPathCounts
        var isSimulated: Bool
        /// The next cursor's value; nil where there is none.
        var cursor: Int?
        /// The upstream's own word on how new the answer is; nil where it says nothing.
        var updatedAt: Instant?
    }

    private func fetch(
        _ piece: SkyPathPiece, after cursor: SkyPathCursor?, _ marks: [String: String?], _ clock: Clock,
        _ use: inout RecordUse, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        let answer = try await ask(piece, after: cursor)
        try await register(
            in: store, answerIsSimulated: answer.isSimulated, from: client.configuration.environment.baseURL)
        count(answer.counts, &outcome)
        use.add(used: answer.records.count, unusable: answer.counts.skippedByReason)
        let intake = SkyPathIntake(
            answer.records,
            SkyPathIntake.Rules(
                source: id, category: wanted.category, severities: wanted.severities,
                areas: wanted.global ? nil : [wanted.polygon, wanted.viewport].compactMap { $0 },
                oldest: clock.now.advanced(by: -retentionSeconds),
                latest: clock.latest.advanced(by: Self.futureSeconds)), skipped: &outcome.skipped)
        let retraction = retraction(piece, answer, intake, isWhole: cursor == nil, clock)
        var next = answer.cursor.map { SkyPathCursor(value: $0, fetchedAt: clock.now, query: signature.text) }
        next?.recheckAt = cursor?.recheckAt
        let isReadable = answer.counts.skippedTotal == 0
        if !isReadable { next?.recheckAt = cursor == nil ? clock.now.advanced(by: Self.recheckSeconds) : clock.now }
        // From a cursor in the future on, nothing would ever change: better whole again.
        if let updatedAt = answer.updatedAt, updatedAt > clock.latest.advanced(by: Self.futureSeconds) { next = nil }
        try await write(
            intake.observations, retraction, cursor: next.map { [piece.name: $0.text] } ?? [:], marks, &outcome)
        if isReadable, let recheckAt = cursor?.recheckAt, recheckAt <= clock.now {
            try await fetch(piece, after: nil, marks, clock, &use, &outcome)
        }
    }

    /// In batches. The cursor lands with the last of the data, never before it; marks land with the first.
    private func write(
        _ observations: [Observation], _ retraction: Retraction?, cursor: [String: String?], _ marks: [String: String?],
        _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        var start = 0
        repeat {
            let end = min(start + batchSize, observations.count)
            var batch = Batch(source: id, observations: Array(observations[start..<end]), cursors: marks)
            if end == observations.count {
                batch.retraction = retraction
                batch.cursors.merge(cursor) { $1 }
            }
            let result = try await stored { [batch] () async throws(StoreError) in try await store.commit(batch) }
            outcome.accepted += result.accepted
            outcome.duplicates += result.duplicates
            outcome.retracted += result.retracted
            start = end
        } while start < observations.count
    }

    private func ask(_ piece: SkyPathPiece, after cursor: SkyPathCursor?) async throws(SyncError) -> Answer {
        let hours = Double(reachSeconds) / 3_600
        do throws(SkyPathError) {
            switch (api, piece.area) {
            case (.v5, .ring(let ring)):
                let reply = try await client.corridor(
                    SkyPathCorridorQuery(
                        ring: ring.places, hours: hours, updatedSince: cursor?.value,
                        aircraftCategory: wanted.category.name))
                return Answer(
                    records: reply.records, counts: reply.counts, isSimulated: reply.isSimulated,
                    cursor: reply.lastUpdatedAt, updatedAt: reply.lastUpdatedAt.map { Instant(clamping: $0) })
            case (.v5, .baseCell(let parent, _)):
                let reply = try await client.hexagons(SkyPathHexagonsQuery(parent: parent, hours: hours))
                return Answer(records: reply.records, counts: reply.counts, isSimulated: reply.isSimulated)
            case (.v4, _), (.v5, .world):
                let ring: [LonLat]? = if case .ring(let ring) = piece.area { ring.places } else { nil }
                let reply = try await client.map(
                    SkyPathMapQuery(
                        cursor.map { .since(tick: $0.value) } ?? .hours(hours), ring: ring,
                        aircraftCategory: wanted.category.name))
                return Answer(
                    records: reply.records, counts: reply.counts, isSimulated: reply.isSimulated, cursor: reply.tick)
            }
        } catch {
            throw SyncError(error)
        }
    }

    /// What an answer says by leaving out, and by a newest value that isn't wanted; nil where that is nothing.
    private func retraction(
        _ piece: SkyPathPiece, _ answer: Answer, _ intake: SkyPathIntake, isWhole: Bool, _ clock: Clock
    ) -> Retraction? {
        // An answer that was partly unreadable may have had what seems to be missing, and an upstream that has nothing
        // at all is more likely to be broken than the air to be unobserved: what it had ages by itself.
        let isComplete = isWhole && answer.counts.skippedTotal == 0 && !answer.records.isEmpty
        guard isComplete || !intake.ended.isEmpty else { return nil }
        // The window of the upstream may have begun later than ours and ended earlier.
        let upstreamNow = max(clock.latest, intake.newest ?? clock.latest, answer.updatedAt ?? clock.latest)
        let start = upstreamNow.advanced(by: Self.windowMarginSeconds - reachSeconds)
        let end = min(clock.now, answer.updatedAt ?? clock.now).advanced(by: -Self.windowMarginSeconds)
        let category = wanted.category
        let severities = wanted.severities
        let ended = intake.ended
        return Retraction(
            from: min(start, clock.now.advanced(by: -History.sixHours.seconds)),
            to: max(end, ended.values.max() ?? end),
            covers: { row in
                guard row.category == category else { return false }
                let place = Retraction.Place(cell: row.cell.dense, altitude: row.altitude, category: category)
                if let ended = ended[place], row.observedAt <= ended { return true }
                guard isComplete, row.observedAt >= start, row.observedAt <= end else { return false }
                // A record that the query leaves out can't be missed in its answer.
                guard let severity = row.intensity.severity, severities.contains(severity) else { return false }
                return piece.covers(row.cell)
            }, standing: intake.standing)
    }

    func count(_ counts: SkyPathCounts, _ outcome: inout SyncOutcome) {
        outcome.skipped.merge(counts.skippedByReason, uniquingKeysWith: +)
        for (what, count) in [
            ("brought to parent cell", counts.broughtToParent), ("severity lowered to 4", counts.clampedSeverity),
            ("EDR dropped", counts.droppedEDR),
        ] where count > 0 { outcome.adjusted[what, default: 0] += count }
    }
}

extension SkyPathCounts {
    /// Records that could not be read.
    var skippedByReason: [String: Int] {
        Dictionary(uniqueKeysWithValues: skipped.map { ($0.key.rawValue, $0.value) })
    }
}
