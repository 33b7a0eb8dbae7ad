import Turbulence

/// What is asked of a source, and how often: all that the rounds' rules need to know of its upstream.
struct SyncPlan: Sendable, Hashable {
    /// The query; nil where there is nothing to choose.
    var query: DataQuery?
    var update: UpdateFrequency
    /// Between two rounds by the clock, never shorter than the upstream allows; nil where none are made.
    var interval: Duration?
    /// The areas that are fetched apart, in the order of their rounds.
    var areas: [DataQuery.Area]
    /// The request of each area's rounds; an area without one is not asked for.
    var requests: [DataQuery.Area: SyncRequest]
    var collections: [String]
    var feeds: Set<DataKind>
    var slowKinds: [DataKind: Duration]
    /// Whether the upstream is asked with a key of ours.
    var hasKey: Bool

    /// Whether rounds of an area are made by the clock.
    func isActive(_ area: DataQuery.Area) -> Bool { interval != nil && requests[area] != nil }
}

extension SyncPlan {
    /// The plan of an upstream.
    init(_ upstream: any Upstream, update: UpdateFrequency, lengths: UpdateLengths) {
        query = upstream.query
        self.update = update
        areas = upstream.areas
        collections = upstream.collections
        feeds = upstream.feeds
        slowKinds = upstream.slowKinds
        hasKey = upstream.credential != nil
        let asked = upstream.areas.compactMap { area in upstream.request(of: area).map { (area, $0) } }
        requests = Dictionary(uniqueKeysWithValues: asked)
        if upstream.query?.asksForAnything != false, let interval = update.interval(lengths) {
            self.interval = max(interval, upstream.shortestInterval)
        }
    }
}
