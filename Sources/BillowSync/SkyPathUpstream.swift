package import BillowStore
import Datasets
import Geometry
package import SkyPath
package import Turbulence
import UpstreamKit

/// Fetches SkyPath's computed turbulence into the store.
///
/// The corridor, the viewport and the world are fetched separately. The query is divided into pieces that the upstream
/// can answer. With v4 an area is one piece. With v5 it is one piece for each part within the upstream's limit, and the
/// world is one for each base cell.
///
/// Every piece of an area has its own cursor, stored in the same transaction as its data. A piece without a valid
/// cursor is fetched whole, and stored rows that the response lacks are retracted.
///
/// Data that only the viewport requests is stored as transient: it ends with the viewport or the process. Other data
/// never ends that way. The areas and times of complete coverage are stored with the source.
package struct SkyPathUpstream: Upstream {
    /// The version of SkyPath's API to use.
    package enum API: String, Sendable, Hashable, CaseIterable {
        /// Corridor requests if a polygon is set, bulk requests otherwise.
        case v5
        /// The map request with ticks.
        case v4
    }

    package let id: SourceID
    package static let kind = "skypath"
    package var kind: String { Self.kind }
    package let merge = MergeRule.replace
    package let simulated: Bool?
    let client: SkyPathClient
    let api: API
    /// The query to the upstream.
    let wanted: DataQuery
    let store: any Store
    let retentionSeconds: Int
    let progress: SkyPathProgress
    /// The number of rows in one transaction, which limits the waiting time of other writers. Tests make it small.
    var batchSize = 10_000
    /// A monotonic clock that measures the duration of a round. Tests stop it.
    var uptime: @Sendable () -> Duration = { started.duration(to: .now) }

    private static let started = ContinuousClock.now

    /// Observations and cursors further in the future than this are rejected, because a clock is wrong.
    static let futureSeconds = 300
    /// Rows this near to an end of the window are never retracted, because the upstream's clock may differ.
    static let windowMarginSeconds = 180
    /// The seconds after which a partly unreadable response is requested again. It may stay unreadable.
    static let recheckSeconds = 600
    /// The most corridor requests for one area in a round, which should take a minute. Above this, bulk requests are
    /// used.
    static let maximumCorridorCalls = 200
    /// The most corridor requests for one area if bulk requests can't be used.
    static let maximumCalls = 1_000
    /// The share of the upstream's area limit that a piece may use, so that rounding never makes one too large.
    static let areaShare = 0.999
    /// The name of the session among the values of the source.
    static let sessionName = "session"
    /// The name under which earlier versions stored the viewport.
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

    /// The longest history of a request, in seconds.
    var reachSeconds: Int {
        min(wanted.history.seconds, (api == .v4 ? History.sixHours : .fourHours).seconds)
    }

    package var query: DataQuery? { wanted }
    package var types: [QueryType] { QueryType.skyPath }
    package var credential: String? { client.configuration.apiKey.fingerprint }
    package var slowKinds: [FeedKind: Duration] {
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

    /// The area whose rounds fetch types other than turbulence, because one request returns such a type for all areas.
    /// It is the first persistent area.
    private var carrier: DataQuery.Area? {
        let types = wanted.types.subtracting([.turbulence]).filter { !wanted.areas(of: $0).isEmpty }
        guard !types.isEmpty else { return nil }
        let areas = wanted.areas
        return [.corridor, .global, .viewport].first(where: areas.contains)
    }

    package func request(of area: DataQuery.Area) -> SyncRequest? {
        guard wanted.requestsAnything else { return nil }
        var request =
            area == carrier ? SyncRequest(wanted, types: wanted.types.subtracting([.turbulence])) : SyncRequest()
        if let turbulence = SyncRequest.DataRequest(.turbulence, wanted, in: area) { request.parts.insert(turbulence) }
        return request.parts.isEmpty ? nil : request
    }

    package func parts(of area: DataQuery.Area, at now: Instant) -> Set<SourceState.AreaCollection> {
        let due = due(area, at: now)
        var parts = self.parts(of: due.filter { $0 != .turbulence }.flatMap(\.collections))
        if due.contains(.turbulence) {
            parts.formUnion(
                QueryType.turbulence.collections.map {
                    SourceState.AreaCollection(area: area, collection: $0)
                })
        }
        return parts
    }

    package func resetCursors(of area: DataQuery.Area) async throws(SyncError) {
        progress.reset(area)
        guard try await known(in: store) != nil else { return }
        let cursors = try await stored { () async throws(StoreError) in try await store.cursors(of: id) }
        var gone = [String: String?]()
        for name in cursors.keys {
            guard SkyPathCursorKey(name)?.area == area else { continue }
            gone.updateValue(nil, forKey: name)
        }
        let batch = Batch(source: id, cursors: gone)
        _ = try await stored { () async throws(StoreError) in try await store.commit(batch) }
    }

    /// Ends an area's data. Observations of a viewport end with it, unless a persistent area has them too. Those of
    /// other areas stay.
    package func release(_ area: DataQuery.Area, now: Instant) async throws(SyncError) {
        progress.reset(area)
        try await end([area], at: now)
    }

    package func prepareAfterRestart(now: Instant) async throws(SyncError) {
        let wanted = wanted.areas(of: .turbulence)
        try await end([.viewport, .corridor, .global].filter { $0 == .viewport || !wanted.contains($0) }, at: now)
    }

    /// Records that areas are no longer requested. For a viewport it ends the observations that only the viewport
    /// requested, and removes its cursors and coverage.
    func end(_ ended: [DataQuery.Area], at now: Instant) async throws(SyncError) {
        guard try await known(in: store) != nil else { return }
        try await progress.ledger.withLock { () async throws(SyncError) in
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
                for name in cursors.keys where SkyPathCursorKey(name)?.area == .viewport {
                    batch.cursors.updateValue(nil, forKey: name)
                }
                batch.transientEnd = TransientEnd(at: now) { [wanted] in !wanted.isCoveredPersistently($0.cell) }
                batch.completeSince = coverage.completeSince
            }
            _ = try await stored { [batch] () async throws(StoreError) in try await store.commit(batch) }
        }
    }

    /// The signature that a cursor depends on.
    var signature: SkyPathSignature {
        SkyPathSignature(
            api: api, history: wanted.history, category: wanted.category, severities: wanted.severities,
            baseURL: client.configuration.environment.baseURL)
    }
}

extension SkyPathCounts {
    /// The unreadable records, by reason.
    var skippedByReason: [SkipReason: Int] { skipped.counted { .skyPath($0) } }
}
