import BillowExchange
package import BillowSnapshot
package import BillowTiles
package import Datasets
package import Geometry
package import Turbulence

/// What an answer shows: at which instant, and how fresh and complete that is. Headers of data answers are made of it
/// alone (`AnswerHeaders`), so that no answer leaves a mark out.
package struct Shown: Sendable, Hashable {
    package var freshness: Freshness
    /// Of the picture.
    package var instant: Instant
    /// Whether the log lacks some of it.
    package var isIncomplete: Bool

    package init(_ freshness: Freshness, at instant: Instant, isIncomplete: Bool) {
        self.freshness = freshness
        self.instant = instant
        self.isIncomplete = isIncomplete
    }

    package init(_ freshness: Freshness, at instant: Instant, lookBack: [DataKind: Int]) {
        self.init(
            freshness, at: instant, isIncomplete: freshness.isIncomplete(at: instant, lookBack: lookBack))
    }
}

extension FreshnessPolicy {
    /// Layers at an instant.
    ///
    /// - Parameters:
    ///   - scene: those of them that have a picture of it; all, where nil.
    ///   - region: where the picture looks.
    package func shown(
        _ layers: LayerList, scene: LayerList? = nil, of region: GeographicRegion = .everywhere, at instant: Instant,
        filter: Filter, in snapshot: Snapshot
    ) -> Shown {
        let freshness = freshness(of: layers.layers, of: region, at: instant, in: snapshot, filter: filter)
        let judged = freshness.judged(layers.layers, scene: (scene ?? layers).layers)
        return Shown(
            freshness, at: instant, lookBack: lookBack(of: judged, at: instant, filter: filter, in: snapshot))
    }

    /// How far back pictures of layers at an instant look, by the kinds of data that they are made of, in seconds.
    package func lookBack(of layers: [Dataset], at instant: Instant, filter: Filter, in snapshot: Snapshot)
        -> [DataKind: Int]
    {
        layers.reduce(into: [:]) { lookBack, layer in
            lookBack.merge(self.lookBack(of: layer, at: instant, filter: filter, in: snapshot), uniquingKeysWith: max)
        }
    }

    private func lookBack(of layer: Dataset, at instant: Instant, filter: Filter, in snapshot: Snapshot)
        -> [DataKind: Int]
    {
        let own = [layer.kind: layer.lookBackSeconds(filter)]
        guard layer == .polygons, filter.prefersIssuedPolygons else { return own }
        let issued = [DataKind.polygons: 0]
        if filter.takesNoReports { return issued }
        // Of an archived instant it isn't known here whose polygons are drawn.
        if snapshot.areas(.polygons, at: instant)?.contains(where: filter.isIssuer) == true { return issued }
        return offers(.polygons, in: snapshot, filter: filter) ? own.merging(issued) { $1 } : own
    }

    /// What a query for features selects.
    package func shown(_ query: FeatureQuery, in snapshot: Snapshot) -> Shown {
        let range = query.range(upTo: snapshot.publication.asOf)
        var lookBack = [query.collection.kind: range.upperBound.seconds - range.lowerBound.seconds]
        if query.collection == .polygons {
            // Ours and the issued ones beside each other, where there are any of these.
            if query.filter.takesNoReports { lookBack = [:] }
            if lookBack.isEmpty || query.takesIssuedPolygons && offers(.polygons, in: snapshot, filter: query.filter) {
                lookBack[.polygons] = 0
            }
        }
        let freshness = freshness(
            of: Set(lookBack.keys), of: query.region, in: snapshot, filter: query.filter)
        return Shown(
            freshness, at: query.instant,
            isIncomplete: freshness.isIncomplete(at: range.upperBound, lookBack: lookBack)
                || query.asksForWhateverIsStored && freshness.hasLost(upTo: range.upperBound))
    }

    /// Turbulence of a history, and the hazards where any source feeds them.
    package func turbulenceAndHazards(
        of region: GeographicRegion = .everywhere, at instant: Instant, filter: Filter, in snapshot: Snapshot
    ) -> Shown {
        var lookBack: [DataKind: Int] = [.observations: filter.lookBackSeconds]
        if offers(.hazards, in: snapshot, filter: filter) { lookBack[.hazards] = 0 }
        return Shown(
            freshness(of: Set(lookBack.keys), of: region, in: snapshot, filter: filter), at: instant, lookBack: lookBack
        )
    }
}

extension FeatureQuery {
    /// Where it looks. An area within a box is asked for as the area.
    package var region: GeographicRegion {
        area.map { .area($0.area) } ?? box.map(GeographicRegion.box) ?? .everywhere
    }

    /// Whether polygons of any issuer are asked for, and not only those that are dissolved here.
    fileprivate var takesIssuedPolygons: Bool { issuers?.contains { $0.name != Filter.ownSource } ?? true }

    /// Whether it has no start. Such a query lacks nothing that was never stored; but what was stored and is lost, it
    /// lacks.
    var asksForWhateverIsStored: Bool {
        guard from == .distantPast else { return false }
        return switch collection.selection {
        case .picture: false
        case .tracks, .observed: true
        case .standing: isInterval
        }
    }

    /// The time that its answer is about; of a query without a start its end alone (`asksForWhateverIsStored`).
    package func range(upTo now: Instant) -> ClosedRange<Instant> {
        let isPicture = collection.isPicture && !isInterval
        let end = isPicture ? instant : min(to.advanced(by: -1), max(now, from))
        let start: Instant
        switch collection.selection {
        case .picture: start = end.advanced(by: -filter.lookBackSeconds)
        case .tracks, .observed: start = from == .distantPast ? end : from
        case .standing: start = isInterval && from != .distantPast ? from : end
        }
        return min(start, end)...end
    }
}
