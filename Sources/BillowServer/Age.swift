public import BillowSnapshot
public import Turbulence

/// How old a layer's data is, and whether it is made up: said on every answer, so that an old picture never looks new.
public struct Age: Sendable, Hashable {
    /// The last successful fetch of the quietest of the sources that feed the layer; nil where none is fetched.
    public var dataTime: Instant?
    /// Whether every source of the layer has been silent for longer than the setting.
    public var isStale: Bool
    /// Whether any of the data is simulated.
    public var isSimulated: Bool
    /// From when on the log covers the asked history for all of them; nil where that isn't known.
    public var completeSince: Instant?
}

/// The rule by which a layer is stale.
public struct AgeRule: Sendable {
    public var staleAfterSeconds: Int
    /// The sources that are meant to be fetched; where there are none, those that ever were.
    public var configured: Set<SourceID>
    /// Those of them that give nothing but where aircraft are: they feed traffic and tracks, and the others don't.
    public var trafficSources: Set<SourceID>

    public init(staleAfterSeconds: Int, configured: Set<SourceID>, trafficSources: Set<SourceID> = []) {
        self.staleAfterSeconds = staleAfterSeconds
        self.configured = configured
        self.trafficSources = trafficSources
    }

    /// The age of what a filter lets through, by the publication's time or a later one.
    ///
    /// - Parameter isTraffic: whether traffic or tracks are shown, and not turbulence or hazards.
    public func age(of snapshot: Snapshot, filter: Filter, at now: Instant? = nil, isTraffic: Bool = false) -> Age {
        func feeds(_ id: SourceID) -> Bool {
            (filter.sources?.contains(id) ?? true)
                && (trafficSources.isEmpty || trafficSources.contains(id) == isTraffic)
        }
        let shown = snapshot.sources.filter { feeds($0.id) }
        let fetched = shown.filter { configured.isEmpty ? $0.fetchedAt != nil : configured.contains($0.id) }
        // A source that the store has never heard of was never fetched.
        let known = Set(snapshot.sources.map(\.id))
        let unheard = configured.filter { feeds($0) && !known.contains($0) }
        let times = fetched.map(\.fetchedAt) + unheard.map { _ in nil }
        let limit = (now ?? snapshot.publication.asOf).advanced(by: -staleAfterSeconds)
        return Age(
            dataTime: times.contains(nil) ? nil : times.compactMap { $0 }.min(),
            isStale: !times.isEmpty && times.allSatisfy { ($0 ?? .distantPast) < limit },
            isSimulated: shown.contains(where: \.simulated),
            completeSince: times.contains(nil) ? nil : fetched.compactMap(\.completeSince).max())
    }
}
