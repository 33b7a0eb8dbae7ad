public import BillowExchange
public import BillowSnapshot
import BillowSync
public import BillowTiles
public import Turbulence

/// How old a layer's data is, and whether it is made up: said on every answer, so that an old picture never looks new.
public struct Age: Sendable, Hashable {
    /// The last successful fetch of the quietest of the sources that feed the layer; nil where none is fetched.
    public var dataTime: Instant?
    /// Whether, of any kind of data in the picture, every source has been silent for longer than the setting; or none of it
    /// was ever to be had.
    public var isStale: Bool
    /// Whether any of the data is simulated.
    public var isSimulated: Bool
    /// From when on the log covers the asked history for all of them; nil where that isn't known.
    public var completeSince: Instant?

    /// Whether a picture at an instant looks back to before the log is whole: what it doesn't show may have been there.
    func isIncomplete(at instant: Instant, lookBackSeconds: Int) -> Bool {
        guard let completeSince else { return false }
        return instant.advanced(by: -lookBackSeconds) < completeSince
    }
}

/// The rule by which a layer is stale: by the sources that feed it, and by no others.
public struct AgeRule: Sendable {
    /// What a configured source is fetched for.
    public struct Feed: Sendable, Hashable {
        /// Nothing for what isn't fetched: a folder's files may be a year apart.
        public var kinds: Set<DataKind>
        /// Between two fetches by the clock; nil where it is stopped.
        public var intervalSeconds: Int?
        /// A setting of its own.
        public var staleAfterSeconds: Int?
        /// Kinds that are asked for more seldom, and how often.
        var slowKinds: [DataKind: Int] = [:]

        public init(kinds: Set<DataKind>, intervalSeconds: Int? = 60, staleAfterSeconds: Int? = nil) {
            self.kinds = kinds
            self.intervalSeconds = intervalSeconds
            self.staleAfterSeconds = staleAfterSeconds
        }
    }

    /// How long a source may be silent where no setting says so, unless it is asked more seldom than twice in that time.
    public static let patienceSeconds = 300

    /// The setting for all sources that have none of their own.
    private let staleAfterSeconds: Int?
    /// The configured sources. A source that isn't named here is stored data, or, where nothing is configured at all, one
    /// that may feed anything if ever it was fetched.
    private let configured: [SourceID: Feed]
    /// What is asked for, and how often, can change while it runs.
    private var states: SourceStates?

    public init(staleAfterSeconds: Int?, feeds: [SourceID: Feed]) {
        self.staleAfterSeconds = staleAfterSeconds
        configured = feeds
    }

    /// The same rule, by what sources are asked for at the time.
    func following(_ states: SourceStates) -> AgeRule {
        var rule = self
        rule.states = states
        return rule
    }

    /// The configured sources.
    var sources: Set<SourceID> { Set(configured.keys) }

    private func feed(_ id: SourceID) -> Feed? {
        guard var feed = configured[id], let state = states?[id] else { return configured[id] }
        feed.kinds = state.feeds
        feed.intervalSeconds = state.interval.map { Int($0.components.seconds) }
        feed.slowKinds = state.slowKinds.mapValues { Int($0.components.seconds) }
        return feed
    }

    /// How long a source may be silent on a kind of data; nil is on everything.
    private func patienceSeconds(_ feed: Feed?, _ kind: DataKind?) -> Int {
        let patience =
            feed?.staleAfterSeconds ?? staleAfterSeconds ?? max(Self.patienceSeconds, 2 * (feed?.intervalSeconds ?? 0))
        return max(patience, 2 * (kind.flatMap { feed?.slowKinds[$0] } ?? 0))
    }

    /// Whether a source was last fetched, for a kind of data or at all, too long ago; one that never was is.
    func isStale(_ id: SourceID, _ kind: DataKind? = nil, fetchedAt: Instant?, at now: Instant) -> Bool {
        (fetchedAt ?? .distantPast) < now.advanced(by: -patienceSeconds(feed(id), kind))
    }

    /// The age of what a filter lets through of some kinds of data, by the publication's time or a later one.
    public func age(of kinds: Set<DataKind>, in snapshot: Snapshot, filter: Filter, at now: Instant? = nil) -> Age {
        let taken = snapshot.sources.filter { filter.sources?.contains($0.id) ?? true }
        let records = Dictionary(taken.map { ($0.id, $0) }) { first, _ in first }
        let now = now ?? snapshot.publication.asOf
        /// When each source that feeds a kind was fetched for it. One that is stopped, or asked for it no more, goes on to
        /// feed it with what it has: that ages.
        func feeding(_ kind: DataKind) -> [(source: SourceID, fetchedAt: Instant?)] {
            if configured.isEmpty { return taken.filter { $0.fetchedAt != nil }.map { ($0.id, $0.fetchedAt(kind)) } }
            return configured.keys.compactMap { id in
                guard filter.sources?.contains(id) ?? true, let feed = feed(id) else { return nil }
                let record = records[id]
                if feed.intervalSeconds != nil, feed.kinds.contains(kind) { return (id, record?.fetchedAt(kind)) }
                return record?.fetchedKinds[kind].map { (id, $0) }
            }
        }
        /// What a folder's files, imports and what is sent in hold may be of any kind: they feed nothing, and don't age.
        let stored = taken.filter { feed($0.id)?.kinds.isEmpty ?? ($0.fetchedAt == nil) }
        let isStored = !stored.isEmpty
        let fed = kinds.map { kind in (kind: kind, sources: feeding(kind)) }
        let times = fed.flatMap(\.sources)
        let isWhole = times.allSatisfy { $0.fetchedAt != nil }
        return Age(
            dataTime: isWhole ? times.compactMap(\.fetchedAt).min() : nil,
            // What nobody feeds and nobody ever sent isn't known to be empty.
            isStale: times.isEmpty && !isStored
                || fed.contains { kind, sources in
                    !sources.isEmpty
                        && sources.allSatisfy { isStale($0.source, kind, fetchedAt: $0.fetchedAt, at: now) }
                },
            isSimulated: taken.contains { $0.simulated == true },
            completeSince: isWhole
                ? (fed.flatMap { kind, sources in sources.compactMap { records[$0.source]?.completeSince(kind) } }
                    + stored.compactMap(\.completeSince)).max() : nil)
    }

    /// The age of a picture of some layers.
    public func age(of layers: LayerList, in snapshot: Snapshot, filter: Filter, at now: Instant? = nil) -> Age {
        // The name of our own polygons is that of no source that could be old, or simulated.
        let filter = layers.layers.contains(.polygons) ? filter.ofOwnPolygons : filter
        return age(of: Set(layers.layers.map(\.kind)), in: snapshot, filter: filter, at: now)
    }
}

extension ExportCollection {
    /// What its features are made of: what the layer of the same name is, and observations are of themselves.
    public var kinds: Set<DataKind> { [Layer(rawValue: rawValue)?.kind ?? .observations] }
}
