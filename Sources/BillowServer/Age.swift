public import BillowExchange
public import BillowSnapshot
public import BillowTiles
public import Turbulence

/// How old a layer's data is, and whether it is made up: said on every answer, so that an old picture never looks new.
public struct Age: Sendable, Hashable {
    /// The last successful fetch of the quietest of the sources that feed the layer; nil where none is fetched.
    public var dataTime: Instant?
    /// Whether, of any kind of data in the picture, every source has been silent for longer than the setting.
    public var isStale: Bool
    /// Whether any of the data is simulated.
    public var isSimulated: Bool
    /// From when on the log covers the asked history for all of them; nil where that isn't known.
    public var completeSince: Instant?
}

/// The rule by which a layer is stale: by the sources that feed it, and by no others.
public struct AgeRule: Sendable {
    public var staleAfterSeconds: Int
    /// What each configured source is meant to be fetched for; nothing for those that aren't fetched: a folder's files may
    /// be a year apart. A source that isn't named here is stored data, or, where nothing is configured at all, one that
    /// may feed anything if ever it was fetched.
    public var feeds: [SourceID: Set<DataKind>]

    public init(staleAfterSeconds: Int, feeds: [SourceID: Set<DataKind>]) {
        self.staleAfterSeconds = staleAfterSeconds
        self.feeds = feeds
    }

    /// The age of what a filter lets through of some kinds of data, by the publication's time or a later one.
    public func age(of kinds: Set<DataKind>, in snapshot: Snapshot, filter: Filter, at now: Instant? = nil) -> Age {
        let taken = snapshot.sources.filter { filter.sources?.contains($0.id) ?? true }
        let records = Dictionary(taken.map { ($0.id, $0) }) { first, _ in first }
        func feeding(_ kinds: Set<DataKind>) -> [SourceID] {
            if feeds.isEmpty { return taken.filter { $0.fetchedAt != nil }.map(\.id) }
            return feeds.filter { id, fed in
                (filter.sources?.contains(id) ?? true) && !fed.isDisjoint(with: kinds)
            }.map(\.key)
        }
        // A source that the store has never heard of was never fetched.
        let limit = (now ?? snapshot.publication.asOf).advanced(by: -staleAfterSeconds)
        func isStale(_ kind: DataKind) -> Bool {
            let times = feeding([kind]).map { records[$0]?.fetchedAt ?? .distantPast }
            return !times.isEmpty && times.allSatisfy { $0 < limit }
        }
        let fetched = feeding(kinds).map { records[$0] }
        let isWhole = fetched.allSatisfy { $0?.fetchedAt != nil }
        return Age(
            dataTime: isWhole ? fetched.compactMap { $0?.fetchedAt }.min() : nil,
            isStale: kinds.contains(where: isStale),
            isSimulated: taken.contains { source in
                source.simulated && (feeds[source.id].map { !$0.isDisjoint(with: kinds) } ?? true)
            },
            completeSince: isWhole ? fetched.compactMap { $0?.completeSince }.max() : nil)
    }

    /// The age of a picture of some layers.
    public func age(of layers: LayerList, in snapshot: Snapshot, filter: Filter, at now: Instant? = nil) -> Age {
        age(of: Set(layers.layers.map(\.kind)), in: snapshot, filter: filter, at: now)
    }
}

extension ExportCollection {
    /// What its features are made of: what the layer of the same name is, and observations are of themselves.
    public var kinds: Set<DataKind> { [Layer(rawValue: rawValue)?.kind ?? .observations] }
}
