import Turbulence

/// A source's requests and their interval: everything that the scheduling rules need to know about its upstream.
struct SyncPlan: Sendable, Hashable {
    /// nil for a source without a query.
    var query: DataQuery?
    var update: UpdateFrequency
    /// The time between two scheduled rounds, never shorter than the upstream permits; nil without a schedule.
    var interval: Duration?
    /// The areas that are fetched separately, in the order of their rounds.
    var areas: [DataQuery.Area]
    /// The request of each area's rounds; an area without one is not fetched.
    var requests: [DataQuery.Area: SyncRequest]
    var collections: [String]
    var feeds: Set<FeedKind>
    var slowKinds: [FeedKind: Duration]
    /// Whether requests to the upstream carry an access key.
    var hasKey: Bool
    /// The shortest time between the starts of a round and of the next one that an event causes; nil without events.
    var eventSpacing: Duration?

    /// Whether rounds of an area are scheduled.
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
        eventSpacing = upstream.events?.spacing
        let pairs = upstream.areas.compactMap { area in upstream.request(of: area).map { (area, $0) } }
        requests = Dictionary(uniqueKeysWithValues: pairs)
        if upstream.query?.requestsAnything != false, let interval = update.interval(lengths) {
            self.interval = max(interval, upstream.shortestInterval)
        }
    }
}
