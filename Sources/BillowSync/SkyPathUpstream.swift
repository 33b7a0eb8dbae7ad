package import BillowStore
import Geometry
package import SkyPath
package import Turbulence
import UpstreamKit

/// SkyPath's computed turbulence, brought into the store.
///
/// The corridor, the viewport and the world are fetched apart. What is asked is cut into pieces that the upstream can
/// answer: an area by v4 is one, by v5 one for each part within the upstream's limit, the world by v5 is one for each
/// coarse cell. Every piece of an area has its own cursor, stored in the same transaction as its data; a piece
/// without a valid one is fetched whole, and then what the store has beyond the answer is retracted. What only the
/// viewport asked for is stored as transient: it ends with the viewport or the process, from then on, and nothing else
/// does. Which areas were complete from when to when is stored with the source.
package struct SkyPathUpstream: Upstream {
    /// Which of SkyPath's calls to use.
    package enum API: String, Sendable, Hashable, CaseIterable {
        /// Corridor calls where a polygon is set, bulk calls otherwise.
        case v5
        /// The map call with ticks.
        case v4
    }

    package let id: SourceID
    package let kind = "skypath"
    package let merge = MergeRule.replace
    package let simulated: Bool?
    let client: SkyPathClient
    private let api: API
    /// What is wanted of the upstream.
    let wanted: DataQuery
    let store: any Store
    let retentionSeconds: Int
    let progress: SkyPathProgress
    /// Rows in one transaction, so that other writers never wait long. Tests make it small.
    var batchSize = 10_000
    /// A clock that nobody sets, for how long a round takes. Tests stop it.
    var uptime: @Sendable () -> Duration = { started.duration(to: .now) }

    private static let started = ContinuousClock.now

    /// Observations further ahead than this are refused: a clock is wrong. So is a cursor.
    static let futureSeconds = 300
    /// Rows this near to an end of the window are never retracted: the upstream's clock may differ from ours.
    private static let windowMarginSeconds = 180
    /// A whole answer that was partly unreadable is asked for again after this: it may well stay so.
    private static let recheckSeconds = 600
    /// Corridor calls for one area. More can't be made in the minute that a round should take: then bulk calls are
    /// made.
    private static let mostCorridorCalls = 200
    /// Corridor calls for one area where bulk calls can't be made.
    private static let mostCalls = 1_000
    /// Pieces are this much smaller than the upstream's limit, so that no rounding makes one too large.
    private static let areaShare = 0.999
    /// The name of the open session among the values of the source.
    private static let sessionName = "session"
    /// The name by which earlier versions kept the viewport.
    private static let oldViewportName = "viewport"

    package init(
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

    package var query: DataQuery? { wanted }
    package var types: [DataQuery.DataType] { DataQuery.DataType.allCases }
    package var credential: String? { client.configuration.apiKey.fingerprint }
    package var slowKinds: [DataKind: Duration] {
        wanted.types.contains(.nowcast) ? [.forecasts: .seconds(Self.nowcastSeconds)] : [:]
    }

    package func liftSuspensions() { progress.enableAll() }

    package func problem(with query: DataQuery) -> (member: String, text: String)? {
        Self.problem(with: query, api: api, limits: client.configuration.limits)
    }

    package func with(query: DataQuery) -> any Upstream {
        var upstream = SkyPathUpstream(
            id: id, client: client, api: api, query: query, simulated: simulated, store: store,
            retentionSeconds: retentionSeconds, progress: progress)
        upstream.batchSize = batchSize
        upstream.uptime = uptime
        return upstream
    }

    // MARK: - Areas

    package var areas: [DataQuery.Area] { [.corridor, .viewport, .global] }

    /// The area whose rounds bring what is no turbulence: each such type comes whole in one call, wherever it is
    /// wanted. The first that lasts.
    private var carrier: DataQuery.Area? {
        let types = wanted.types.subtracting([.turbulence]).filter { !wanted.areas(of: $0).isEmpty }
        guard !types.isEmpty else { return nil }
        let areas = wanted.areas
        return [.corridor, .global, .viewport].first(where: areas.contains)
    }

    package func request(of area: DataQuery.Area) -> SyncRequest? {
        guard wanted.asksForAnything else { return nil }
        var request =
            area == carrier ? SyncRequest(wanted, types: wanted.types.subtracting([.turbulence])) : SyncRequest()
        if let turbulence = SyncRequest.Part(turbulenceOf: wanted, in: area) { request.parts.insert(turbulence) }
        return request.parts.isEmpty ? nil : request
    }

    package func parts(of area: DataQuery.Area, at now: Instant) -> Set<SourceState.Part> {
        let due = due(area, at: now)
        var parts = self.parts(of: due.filter { $0 != .turbulence }.flatMap(\.collections))
        if due.contains(.turbulence) {
            parts.formUnion(
                DataQuery.DataType.turbulence.collections.map { SourceState.Part(area: area, collection: $0) })
        }
        return parts
    }

    package func resetCursors(of area: DataQuery.Area) async throws(SyncError) {
        progress.reset(area)
        guard try await known(in: store) != nil else { return }
        let cursors = try await stored { () async throws(StoreError) in try await store.cursors(of: id) }
        var gone = [String: String?]()
        for name in cursors.keys {
            guard SkyPathPieceName(name)?.area == area else { continue }
            gone.updateValue(nil, forKey: name)
        }
        let batch = Batch(source: id, cursors: gone)
        _ = try await stored { () async throws(StoreError) in try await store.commit(batch) }
    }

    /// A viewport's observations end with it, unless an area that lasts has them too. Those of other areas stay.
    package func release(_ area: DataQuery.Area, now: Instant) async throws(SyncError) {
        progress.reset(area)
        try await end([area], at: now)
    }

    package func prepareAfterRestart(now: Instant) async throws(SyncError) {
        let wanted = wanted.areas(of: .turbulence)
        try await end([.viewport, .corridor, .global].filter { $0 == .viewport || !wanted.contains($0) }, at: now)
    }

    /// Notes that areas are asked for no more. Of a viewport, ends the observations that only it asked for, with all
    /// that is known of how far it was fetched.
    private func end(_ ended: [DataQuery.Area], at now: Instant) async throws(SyncError) {
        guard try await known(in: store) != nil else { return }
        try await progress.ledger.alone { () async throws(SyncError) in
            let (cursors, values) = try await stored { () async throws(StoreError) in
                (try await store.cursors(of: id), try await store.values(of: id))
            }
            let areas = wanted.areas(of: .turbulence).filter { !ended.contains($0) }
            var coverage = SkyPathCoverage(values, record: try await known(in: store), requested: areas)
            var batch = Batch(source: id, coverage: ended.map { coverage.end(of: $0, at: now) })
            if ended.contains(.viewport) {
                coverage.remove(.viewport)
                batch.values = coverage.changes(to: values)
                if values[Self.oldViewportName] != nil {
                    batch.values.updateValue(nil, forKey: Self.oldViewportName)
                }
                for name in cursors.keys where SkyPathPieceName(name)?.area == .viewport {
                    batch.cursors.updateValue(nil, forKey: name)
                }
                batch.transientEnd = TransientEnd(at: now) { [wanted] in !wanted.isLasting($0.cell) }
                batch.completeSince = coverage.completeSince
            }
            _ = try await stored { [batch] () async throws(StoreError) in try await store.commit(batch) }
        }
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

    /// A round of every area, one after the other. One that fails costs the others nothing.
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

    /// The types that are asked for and that the account may not have for the time being.
    private func resting(at now: Instant) -> [DataQuery.DataType: (message: String, until: Instant)] {
        progress.disabled(at: now).filter { wanted.types.contains($0.key) }
    }

    /// The types that a round of an area asks for: those that don't rest, but for a nowcast so young that there is no
    /// other yet.
    private func due(_ area: DataQuery.Area, at now: Instant) -> [DataQuery.DataType] {
        let types = request(of: area)?.types ?? []
        let resting = resting(at: now)
        return DataQuery.DataType.allCases.filter { type in
            types.contains(type) && resting[type] == nil && !(type == .nowcast && hasNowcast(at: now))
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
        guard let sessionMark, !progress.hasResumed else { return }
        try await progress.ledger.alone { () async throws(SyncError) in
            guard !progress.hasResumed, try await known(in: store) != nil else { return }
            let values = try await stored { () async throws(StoreError) in try await store.values(of: id) }
            defer { progress.hasResumed = true }
            guard let kept = values[Self.sessionName], kept.hasPrefix(sessionMark + " ") else { return }
            progress.keptSession = kept
            guard let session = SkyPathSession(text: kept.dropFirst(sessionMark.count + 1)) else { return }
            await client.resume(session)
        }
    }

    /// The session as it is to be stored; nil where the stored one is the same, or no account has one. The value is nil
    /// where the session has ended.
    private func changedSession() async -> String?? {
        guard let sessionMark else { return nil }
        let session = await client.session.map { sessionMark + " " + $0.text }
        return session == progress.keptSession ? nil : .some(session)
    }

    /// Stores the session of a round that brought nothing else.
    private func keepSession() async throws(SyncError) {
        try await progress.ledger.alone { () async throws(SyncError) in
            guard let session = await changedSession(), try await known(in: store) != nil else { return }
            let batch = Batch(source: id, values: [Self.sessionName: session])
            _ = try await stored { () async throws(StoreError) in try await store.commit(batch) }
            progress.keptSession = session
        }
    }

    /// Every type that is due in an area. What goes wrong with one costs the others nothing, unless it is the
    /// upstream that is down or has enough of us.
    private func round(
        _ area: DataQuery.Area, _ clock: Clock, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        let due = due(area, at: clock.now)
        var failure: SyncError?
        var answered = Set<DataQuery.DataType>()
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
                    failure = failure ?? error.about(type)
                } else {
                    failure = error
                    break types
                }
            }
        }
        if answered.isEmpty {
            // That the session can't be kept either is no news beside a failure.
            do throws(SyncError) { try await keepSession() } catch { failure = failure ?? error }
        } else {
            try await finish(area, pieces, answered, isComplete: failure == nil, clock, &outcome)
        }
        outcome.wasAnswered = !answered.isEmpty
        if let failure { throw failure }
        let resting = resting(at: clock.now).values
        if resting.count == wanted.types.count, let first = resting.min(by: { $0.until < $1.until }) {
            throw SyncError(
                kind: .refused, code: .upstream(.disabled), message: first.message,
                isReachable: due.isEmpty ? nil : true,
                retryAfterSeconds: first.until.seconds - clock.now.seconds)
        }
    }

    /// Ends a round in one transaction: when data was fetched, how far it reaches, the cursors of pieces that are asked
    /// for no more, the data of the viewport before, and the session.
    ///
    /// A source is as new as the area that has waited longest, and so is its turbulence. A type that the account may
    /// not have rests alone: the source is as new as its others, that type's data isn't.
    /// - Parameter pieces: the pieces of the turbulence, all of them up to date; nil where none was fetched.
    private func finish(
        _ area: DataQuery.Area, _ pieces: [SkyPathPiece]?, _ answered: Set<DataQuery.DataType>, isComplete: Bool,
        _ clock: Clock, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        if isComplete { progress.note(request(of: area), of: area, at: clock.now) }
        if answered.contains(.turbulence) {
            progress.note(SyncRequest.Part(turbulenceOf: wanted, in: area), of: area, at: clock.now)
        }
        let result = try await progress.ledger.alone { () async throws(SyncError) -> BatchResult in
            var kinds = Dictionary(uniqueKeysWithValues: wanted.kinds(of: answered).map { ($0, clock.now) })
            if answered.contains(.turbulence) {
                kinds[.observations] = progress.allFetched(
                    wanted.areas(of: .turbulence).map { ($0, SyncRequest.Part(turbulenceOf: wanted, in: $0)) })
            }
            let areas = areas.compactMap { area in request(of: area).map { (area, $0) } }
            let record = try await known(in: store)
            var batch = Batch(
                source: id,
                coverage: answered.sorted().compactMap { coverage(of: $0, record, at: clock.now) },
                fetchedAt: isComplete ? progress.allFetched(areas) : nil, fetchedKinds: kinds)
            if let pieces { try await settle(area, pieces, clock, in: &batch) }
            let session = await changedSession()
            if let session { batch.values.updateValue(session, forKey: Self.sessionName) }
            let result = try await stored { [batch] () async throws(StoreError) in try await store.commit(batch) }
            if let session { progress.keptSession = session }
            return result
        }
        outcome.retracted += result.retracted
    }

    /// Adds to the end of a round that all pieces of an area's turbulence are up to date.
    private func settle(
        _ area: DataQuery.Area, _ pieces: [SkyPathPiece], _ clock: Clock, in batch: inout Batch
    ) async throws(SyncError) {
        let names = Set(pieces.map { SkyPathPieceName(area, $0.name).text })
        // The log is complete from before, if the round before asked for the same and reaches into this one's window.
        let start = clock.now.advanced(by: -reachSeconds)
        let (cursors, values) = try await stored { () async throws(StoreError) in
            (try await store.cursors(of: id), try await store.values(of: id))
        }
        var coverage = SkyPathCoverage(
            values, record: try await known(in: store), requested: wanted.areas(of: .turbulence))
        let covered = coverage.note(
            area, asked: asked(pieces), ring: ring(of: area), at: clock.now, from: start)
        batch.coverage.append(covered)
        batch.values = coverage.changes(to: values)
        for name in cursors.keys where !names.contains(name) {
            // A name without an area is that of an earlier version.
            let piece = SkyPathPieceName(name)
            if piece == nil || piece?.area == area { batch.cursors.updateValue(nil, forKey: name) }
        }
        batch.completeSince = coverage.completeSince
        if area == .viewport, !covered.isContinued, let ring = wanted.viewport {
            batch.transientEnd = TransientEnd(at: clock.current) { [wanted] in
                !ring.touches($0.cell) && !wanted.isLasting($0.cell)
            }
        }
    }

    /// Where the log is complete for a type that was fetched; nil for turbulence, each of whose areas is noted apart,
    /// and for polygons, which tell nothing of what is observed.
    private func coverage(
        of type: DataQuery.DataType, _ record: SourceRecord?, at now: Instant
    ) -> CoverageChange? {
        guard type != .turbulence, type != .polygons, let kind = wanted.kinds(of: [type]).first else { return nil }
        let rings =
            wanted.isGlobal(type) ? [nil] : [wanted.polygon, wanted.viewport].compactMap { $0 }.map(Optional.some)
        let last = record?.fetchedKinds[kind]
        // An answer of reports has those of the history before it; any other is a picture of its time.
        let start = now.advanced(by: -(kind.longestGapSeconds ?? wanted.history.seconds))
        return CoverageChange(
            kind: kind, part: type.rawValue, rings: rings, since: kind.longestGapSeconds == nil ? start : now,
            isContinued: last.map { $0 >= start } ?? false, lastFetch: last)
    }

    /// Fetches the turbulence of an area.
    /// - Returns: its pieces, all of them up to date.
    private func turbulence(
        _ area: DataQuery.Area, _ clock: Clock, _ outcome: inout SyncOutcome
    ) async throws(SyncError) -> [SkyPathPiece] {
        let pieces = try self.pieces(of: area)
        let cursors =
            try await known(in: store) == nil
            ? [:] : try await stored { () async throws(StoreError) in try await store.cursors(of: id) }
        let head = try await stored { () async throws(StoreError) in try await store.head() }.version
        var use = RecordTally()
        var filter = bulkFilter(pieces)
        for piece in pieces {
            if Task.isCancelled { throw .cancelled }
            let cursor = cursors[SkyPathPieceName(area, piece.name).text].flatMap(SkyPathCursor.init(text:)).flatMap {
                $0.isUsable(for: signature, at: clock.now, reachSeconds: reachSeconds) ? $0 : nil
            }
            do {
                try await fetch(piece, of: area, after: cursor, &filter, clock, &use, &outcome)
            } catch {
                // A delta that the upstream won't give is asked for whole.
                guard cursor != nil, error.isAboutTheQuery else { throw error }
                try await fetch(piece, of: area, after: nil, &filter, clock, &use, &outcome)
            }
        }
        if let answered = filter {
            if answered.isEmpty {
                // Nothing that rough anywhere is as likely a fault: what the upstream has at all tells.
                filter = nil
                for piece in pieces { try await fetch(piece, of: area, after: nil, &filter, clock, &use, &outcome) }
            } else {
                try await supersede(answered, of: area, asOf: head, clock, &outcome)
            }
        }
        try use.check()
        return pieces
    }

    // MARK: - Bulk calls that leave out mild air

    /// What bulk calls gave that were asked for no milder severity than the query's mildest: most of an answer is
    /// smooth air. They are whole, so what is missing in them has become milder, or is gone.
    private struct BulkFilter {
        var minimum: Severity
        /// The newest time at each place.
        var standing: [Retraction.Place: Instant] = [:]
        /// The base cells whose answers were read to the last record.
        var baseCells: Set<Int> = []
        var isEmpty = true

        mutating func take(_ intake: SkyPathIntake, of piece: SkyPathPiece, isReadable: Bool) {
            standing.merge(intake.standing, uniquingKeysWith: max)
            isEmpty = isEmpty && intake.newest == nil
            if isReadable, case .baseCell(_, let number) = piece.area { baseCells.insert(number) }
        }
    }

    /// nil where everything is asked for: by calls that can't leave out, or whose deltas would hide what ends rough
    /// air.
    private func bulkFilter(_ pieces: [SkyPathPiece]) -> BulkFilter? {
        guard let mildest = Severity.allCases.first(where: wanted.severities.contains), mildest > .smooth,
            pieces.allSatisfy({ if case .baseCell = $0.area { true } else { false } })
        else { return nil }
        return BulkFilter(minimum: mildest)
    }

    /// Ends what filtered answers no longer have: from this round on, so that pictures of before stay as they were.
    /// Where an answer has an older record than the store, what came after it is withdrawn, as after any whole answer.
    private func supersede(
        _ answered: BulkFilter, of area: DataQuery.Area, asOf head: Version, _ clock: Clock,
        _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        // What is older has perhaps left the upstream's window.
        let start = clock.latest.advanced(by: Self.windowMarginSeconds - reachSeconds)
        let end = clock.now.advanced(by: -Self.windowMarginSeconds)
        let rows = try await stored { () async throws(StoreError) in
            try await store.rows(from: start, to: .distantFuture)
        }
        guard let source = rows.sources.first(where: { $0.id == id })?.number else { return }
        let (category, ring) = (wanted.category, ring(of: area))
        var newest: [Retraction.Place: ObservationRow] = [:]
        for row in rows.rows where row.source == source && row.category == category {
            let place = Retraction.Place(cell: row.cell.dense, altitude: row.altitude, category: category)
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
                    && standing[Retraction.Place(cell: row.cell.dense, altitude: row.altitude, category: category)]
                        != nil
            }, standing: standing)
        try await write(
            observations, retraction, fetched: standing, cursor: [:], isTransient: area == .viewport, &outcome)
    }

    /// What some pieces are asked for; the same for the same, in every process.
    private func asked(_ pieces: [SkyPathPiece]) -> String {
        signature.text + " " + SkyPathPiece.stableHash(Set(pieces.map(\.name)).sorted().joined(separator: ";"))
    }

    // MARK: - Pieces

    /// Why SkyPath can't be asked a query by an API: the member of the query that is to blame, and a sentence about it;
    /// nil where it can.
    package static func problem(with query: DataQuery, api: API, limits: SkyPathLimits) -> (
        member: String, text: String
    )? {
        guard api == .v5, query.types.contains(.turbulence) else { return nil }
        if query.isGlobal(.turbulence), query.category != .default {
            return (
                "category",
                "SkyPath's bulk call knows category \(AircraftCategory.default.name) only, not "
                    + "\(query.category.name): set a polygon, or api v4"
            )
        }
        for (member, ring) in [("polygon", query.polygon), ("viewport", query.viewport)] {
            guard let ring, corridorCalls(ring, limits) > Double(mostCalls), query.category != .default else {
                continue
            }
            return (
                member,
                "the polygon of \(Int(min(ring.areaKm2, 1e9))) km2 would take more than \(mostCalls) calls of the "
                    + "upstream's limit, and bulk calls know category \(AircraftCategory.default.name) only: make it "
                    + "smaller, or use api v4"
            )
        }
        return nil
    }

    private static func pieceAreaKm2(_ limits: SkyPathLimits) -> Double {
        (limits.corridorAreaKm2 ?? .infinity) * areaShare
    }

    /// About how many corridor calls an area takes.
    private static func corridorCalls(_ ring: AreaRing, _ limits: SkyPathLimits) -> Double {
        ring.areaKm2 / pieceAreaKm2(limits)
    }

    /// The calls that have an area's turbulence. An area that would take more corridor calls than a round has time
    /// for is fetched by the bulk calls of the base cells that it touches: a few calls, but each of them whole every
    /// time.
    private func pieces(of area: DataQuery.Area) throws(SyncError) -> [SkyPathPiece] {
        let limits = client.configuration.limits
        if let problem = Self.problem(with: wanted, api: api, limits: limits) {
            throw SyncError(kind: .refused, code: .upstream(.queryInvalid), message: problem.text, isReachable: nil)
        }
        guard let ring = ring(of: area) else { return api == .v4 ? SkyPathPiece.map(nil) : SkyPathPiece.baseCells }
        if api == .v4 { return SkyPathPiece.map(ring) }
        if Self.corridorCalls(ring, limits) > Double(Self.mostCorridorCalls), wanted.category == .default {
            return SkyPathPiece.baseCells(touching: ring)
        }
        let pieces = SkyPathPiece.corridors(ring, maximumAreaKm2: Self.pieceAreaKm2(limits))
        var names = Set<String>()
        return pieces.filter { names.insert($0.name).inserted }
    }

    /// nil for the world.
    private func ring(of area: DataQuery.Area) -> AreaRing? {
        switch area {
        case .corridor: wanted.polygon
        case .viewport: wanted.viewport
        case .global, .all: nil
        }
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
        _ piece: SkyPathPiece, of area: DataQuery.Area, after cursor: SkyPathCursor?, _ filter: inout BulkFilter?,
        _ clock: Clock, _ use: inout RecordTally, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        // What comes after this may be newer than the answer, which then says nothing about it.
        let head = try await stored { () async throws(StoreError) in try await store.head() }.version
        let answer = try await ask(piece, after: cursor, minimum: filter?.minimum ?? .smooth)
        try await register(
            in: store, answerIsSimulated: answer.isSimulated, from: client.configuration.environment.baseURL)
        count(answer.counts, &outcome)
        use.add(used: answer.records.count, unusable: answer.counts.skippedByReason)
        let ring = ring(of: area)
        // A base cell reaches beyond the area that it is asked for.
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
        filter?.take(intake, of: piece, isReadable: answer.counts.skippedTotal == 0)
        let retraction =
            cursor == nil && !isFiltered ? retraction(piece, ring, answer, intake, asOf: head, clock) : nil
        var next = answer.cursor.map { SkyPathCursor(value: $0, fetchedAt: clock.now, query: signature.text) }
        next?.recheckAt = cursor?.recheckAt
        let isReadable = answer.counts.skippedTotal == 0
        if !isReadable { next?.recheckAt = cursor == nil ? clock.now.advanced(by: Self.recheckSeconds) : clock.now }
        // From a cursor in the future on, nothing would ever change: better whole again.
        if let updatedAt = answer.updatedAt, updatedAt > clock.latest.advanced(by: Self.futureSeconds) { next = nil }
        let name = SkyPathPieceName(area, piece.name).text
        try await write(
            intake.observations, retraction, fetched: intake.standing, cursor: next.map { [name: $0.text] } ?? [:],
            isTransient: area == .viewport, &outcome)
        if isReadable, let recheckAt = cursor?.recheckAt, recheckAt <= clock.now {
            try await fetch(piece, of: area, after: nil, &filter, clock, &use, &outcome)
        }
    }

    /// In batches. The cursor lands with the last of the data, never before it.
    private func write(
        _ observations: [Observation], _ retraction: Retraction?, fetched: [Retraction.Place: Instant],
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

    private func ask(
        _ piece: SkyPathPiece, after cursor: SkyPathCursor?, minimum: Severity
    ) async throws(SyncError) -> Answer {
        let hours = Double(reachSeconds) / 3_600
        do throws(UpstreamError) {
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
                let reply = try await client.hexagons(
                    SkyPathHexagonsQuery(
                        parent: parent, hours: hours, minSeverity: Int(minimum.rawValue)))
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

    /// What a whole answer says by leaving out; nil where that is nothing.
    private func retraction(
        _ piece: SkyPathPiece, _ ring: AreaRing?, _ answer: Answer, _ intake: SkyPathIntake, asOf head: Version,
        _ clock: Clock
    ) -> Retraction? {
        // An answer that was partly unreadable may have had what seems to be missing, and an upstream that has nothing
        // at all is more likely to be broken than the air to be unobserved: what it had ages by itself.
        guard answer.counts.skippedTotal == 0, !answer.records.isEmpty else { return nil }
        // The window of the upstream may have begun later than ours and ended earlier.
        let upstreamNow = max(clock.latest, intake.newest ?? clock.latest, answer.updatedAt ?? clock.latest)
        let start = upstreamNow.advanced(by: Self.windowMarginSeconds - reachSeconds)
        let end = min(clock.now, answer.updatedAt ?? clock.now).advanced(by: -Self.windowMarginSeconds)
        let category = wanted.category
        let standing = intake.standing
        return Retraction(
            from: start, to: end,
            covers: { row in
                // A superseding row of a place that the answer doesn't have hides nothing that the answer has.
                (row.kind.isShown || standing[Retraction.Place(of: row)] != nil) && row.category == category
                    && row.since <= head && row.intensity.severity != nil && piece.covers(row.cell)
                    && ring?.contains(H3.center(of: row.cell)) ?? true
            }, standing: standing)
    }

    func count(_ counts: SkyPathCounts, _ outcome: inout SyncOutcome) {
        outcome.skipped.merge(counts.skippedByReason, uniquingKeysWith: +)
        for (what, count) in [
            (Adjustment.broughtToParent, counts.broughtToParent), (.loweredSeverity, counts.clampedSeverity),
            (.droppedEDR, counts.droppedEDR),
        ] where count > 0 { outcome.adjusted[what, default: 0] += count }
    }
}

extension SkyPathCounts {
    /// Records that could not be read.
    var skippedByReason: [SkipReason: Int] { skipped.counted { .skyPath($0) } }
}
