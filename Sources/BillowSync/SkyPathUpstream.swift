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
    let api: API
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
    static let windowMarginSeconds = 180
    /// A whole answer that was partly unreadable is asked for again after this: it may well stay so.
    static let recheckSeconds = 600
    /// Corridor calls for one area. More can't be made in the minute that a round should take: then bulk calls are
    /// made.
    static let mostCorridorCalls = 200
    /// Corridor calls for one area where bulk calls can't be made.
    static let mostCalls = 1_000
    /// Pieces are this much smaller than the upstream's limit, so that no rounding makes one too large.
    static let areaShare = 0.999
    /// The name of the open session among the values of the source.
    static let sessionName = "session"
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

    init(
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
    var reachSeconds: Int {
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
    func end(_ ended: [DataQuery.Area], at now: Instant) async throws(SyncError) {
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
    var signature: SkyPathSignature {
        SkyPathSignature(
            api: api, history: wanted.history, category: wanted.category, severities: wanted.severities,
            baseURL: client.configuration.environment.baseURL)
    }
}

extension SkyPathCounts {
    /// Records that could not be read.
    var skippedByReason: [SkipReason: Int] { skipped.counted { .skyPath($0) } }
}
