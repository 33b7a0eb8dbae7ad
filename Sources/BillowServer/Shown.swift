import BillowExchange
import BillowSnapshot
import BillowTiles
import Turbulence

/// What an answer shows: at which instant, and how fresh and complete that is. Headers of data answers are made of it alone
/// (`AnswerHeaders`), so that no answer leaves a mark out.
struct Shown: Sendable, Hashable {
    var freshness: Freshness
    /// Of the picture.
    var instant: Instant
    /// Whether the log lacks some of it.
    var isIncomplete: Bool

    init(_ freshness: Freshness, at instant: Instant, isIncomplete: Bool) {
        self.freshness = freshness
        self.instant = instant
        self.isIncomplete = isIncomplete
    }

    init(_ freshness: Freshness, at instant: Instant, lookBack: [DataKind: Int]) {
        self.init(
            freshness, at: instant, isIncomplete: freshness.isIncomplete(at: instant, lookBack: lookBack))
    }
}

extension FreshnessPolicy {
    /// Layers at an instant.
    ///
    /// - Parameter scene: those of them that have a picture of it; all, where nil.
    func shown(_ layers: LayerList, scene: LayerList? = nil, at instant: Instant, filter: Filter, in snapshot: Snapshot)
        -> Shown
    {
        Shown(
            freshness(of: layers, in: snapshot, filter: filter), at: instant,
            lookBack: LayerTime.lookBack(of: scene ?? layers, filter))
    }

    /// What a query for features selects.
    func shown(_ query: FeatureQuery, in snapshot: Snapshot) -> Shown {
        let freshness = freshness(of: query.collection.kinds, in: snapshot, filter: query.filter)
        let range = query.range(upTo: snapshot.publication.asOf)
        let seconds = range.upperBound.seconds - range.lowerBound.seconds
        return Shown(
            freshness, at: query.instant,
            isIncomplete: freshness.isIncomplete(
                at: range.upperBound,
                lookBack: Dictionary(uniqueKeysWithValues: query.collection.kinds.map { ($0, seconds) })))
    }

    /// Turbulence of a history, and the hazards where any source feeds them.
    func turbulenceAndHazards(at instant: Instant, filter: Filter, in snapshot: Snapshot) -> Shown {
        var lookBack: [DataKind: Int] = [.observations: filter.lookBackSeconds]
        if offers(.hazards, in: snapshot, filter: filter) { lookBack[.hazards] = 0 }
        return Shown(
            freshness(of: Set(lookBack.keys), in: snapshot, filter: filter), at: instant, lookBack: lookBack)
    }
}

extension FeatureQuery {
    /// The time that its answer is about. A query without a start asks for whatever is stored, of which nothing is missing.
    func range(upTo now: Instant) -> ClosedRange<Instant> {
        let isPicture = collection.isPicture && !isInterval
        let end = isPicture ? instant : min(to.advanced(by: -1), max(now, from))
        let start: Instant
        switch collection {
        case .turbulence, .hexagons, .polygons: start = end.advanced(by: -filter.lookBackSeconds)
        case .tracks, .observations, .pireps: start = from == .distantPast ? end : from
        case .hazards, .forecast, .traffic: start = isInterval && from != .distantPast ? from : end
        }
        return min(start, end)...end
    }
}
