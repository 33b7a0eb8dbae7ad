import BillowExchange
package import BillowFields
package import BillowSnapshot
package import BillowTiles
package import Datasets
package import Geometry
package import Turbulence

/// The status of the data in a response: its instant, freshness and completeness. The headers of data responses
/// (`ResponseHeaders`) derive from it alone, so that no response omits a mark.
package struct DataStatus: Sendable, Hashable {
    package var freshness: Freshness
    /// The instant of the frame.
    package var instant: Instant
    /// Whether the log lacks some of the data.
    package var isIncomplete: Bool
    /// The turbulence field in the response; nil if it shows none.
    package var field: FieldIdentity?
    /// When the shown version was published; nil if that is unknown.
    package var publishedAt: Instant?

    package init(_ freshness: Freshness, at instant: Instant, isIncomplete: Bool, in snapshot: Snapshot) {
        self.freshness = freshness
        self.instant = instant
        self.isIncomplete = isIncomplete
        publishedAt = snapshot.publication.asOf
    }

    package init(_ freshness: Freshness, at instant: Instant, lookBack: [FeedKind: Int], in snapshot: Snapshot) {
        self.init(
            freshness, at: instant, isIncomplete: freshness.isIncomplete(at: instant, lookBack: lookBack), in: snapshot)
    }
}

extension DataStatus {
    /// Records that the response shows a superseded version. It lacks the changes since then. It is unknown whether it
    /// had all data of its own time.
    package mutating func markSuperseded() {
        isIncomplete = true
        freshness.dataTime = nil
        publishedAt = nil
    }

    /// Records the shown field, and whether the filter's altitudes lack data.
    fileprivate mutating func note(fieldAt instant: Instant, _ filter: Filter, in snapshot: Snapshot) {
        if snapshot.lacksField(at: instant, filter) {
            isIncomplete = true
        } else {
            field = snapshot.field(at: instant, filter)?.identity
        }
    }
}

extension FreshnessPolicy {
    /// Describes layers at an instant.
    ///
    /// - Parameters:
    ///   - scene: the layers with a frame at the instant; nil for all.
    ///   - region: the region of the frame.
    package func dataStatus(
        _ layers: LayerList, scene: LayerList? = nil, of region: GeographicRegion = .everywhere, at instant: Instant,
        filter: Filter, in snapshot: Snapshot
    ) -> DataStatus {
        let freshness = freshness(of: layers.layers, of: region, at: instant, in: snapshot, filter: filter)
        let judged = freshness.layersForFreshness(layers.layers, scene: (scene ?? layers).layers)
        var dataStatus = DataStatus(
            freshness, at: instant, lookBack: lookBack(of: judged, at: instant, filter: filter, in: snapshot),
            in: snapshot)
        if judged.contains(where: { $0.content == .field }) { dataStatus.note(fieldAt: instant, filter, in: snapshot) }
        return dataStatus
    }

    /// The seconds that frames of some layers look back at an instant, by kind of data.
    package func lookBack(of layers: [Dataset], at instant: Instant, filter: Filter, in snapshot: Snapshot)
        -> [FeedKind: Int]
    {
        layers.reduce(into: [:]) { lookBack, layer in
            lookBack.merge(self.lookBack(of: layer, at: instant, filter: filter, in: snapshot), uniquingKeysWith: max)
        }
    }

    private func lookBack(of layer: Dataset, at instant: Instant, filter: Filter, in snapshot: Snapshot)
        -> [FeedKind: Int]
    {
        let own = [layer.kind: layer.lookBackSeconds(filter)]
        guard layer.isPolygons, filter.prefersIssuedPolygons else { return own }
        let issued = [FeedKind.polygons: 0]
        if filter.excludesReports { return issued }
        // For an archived instant, the issuer of the drawn polygons is unknown here.
        if snapshot.areas(.polygons, at: instant)?.contains(where: filter.isIssuer) == true { return issued }
        return offers(.polygons, in: snapshot, filter: filter) ? own.merging(issued) { $1 } : own
    }

    /// Describes the result of a query for features.
    package func dataStatus(_ query: FeatureQuery, in snapshot: Snapshot) -> DataStatus {
        let range = query.range(upTo: snapshot.publication.asOf)
        var lookBack = [query.collection.kind: range.upperBound.seconds - range.lowerBound.seconds]
        if query.collection.isPolygons {
            // Billow's own polygons appear beside issued ones, if there are any.
            if query.filter.excludesReports { lookBack = [:] }
            if lookBack.isEmpty || query.takesIssuedPolygons && offers(.polygons, in: snapshot, filter: query.filter) {
                lookBack[.polygons] = 0
            }
        }
        let freshness = freshness(
            of: Set(lookBack.keys), of: query.region, in: snapshot, filter: query.filter)
        var dataStatus = DataStatus(
            freshness, at: query.instant,
            isIncomplete: freshness.isIncomplete(at: range.upperBound, lookBack: lookBack)
                || query.isUnboundedInTime && freshness.hasLost(upTo: range.upperBound), in: snapshot)
        if query.collection.content == .field { dataStatus.note(fieldAt: query.instant, query.filter, in: snapshot) }
        return dataStatus
    }

    /// Turbulence of a history, and the warnings that any source feeds.
    package func turbulenceAndWarnings(
        of region: GeographicRegion = .everywhere, at instant: Instant, filter: Filter, in snapshot: Snapshot
    ) -> DataStatus {
        var lookBack: [FeedKind: Int] = [.observations: filter.lookBackSeconds]
        for kind in Catalogue.warnings.map(\.kind) where offers(kind, in: snapshot, filter: filter) {
            lookBack[kind] = 0
        }
        return DataStatus(
            freshness(of: Set(lookBack.keys), of: region, in: snapshot, filter: filter), at: instant,
            lookBack: lookBack,
            in: snapshot)
    }
}

extension FeatureQuery {
    /// The queried region. If there is an area within a box, the area counts.
    package var region: GeographicRegion {
        area.map { .area($0.area) } ?? box.map(GeographicRegion.box) ?? .everywhere
    }

    /// Whether polygons of any issuer are selected, not only Billow's own.
    fileprivate var takesIssuedPolygons: Bool { issuers?.contains { $0.name != Filter.ownSource } ?? true }

    /// Whether the query has no start. Such a query is complete even without data that was never stored, but not
    /// without lost data.
    var isUnboundedInTime: Bool {
        guard from == .distantPast else { return false }
        return switch collection.selection {
        case .picture: false
        case .tracks, .observed: true
        case .standing: isInterval
        }
    }

    /// The time range of the query; for a query without a start only its end (`isUnboundedInTime`).
    package func range(upTo now: Instant) -> ClosedRange<Instant> {
        let isPicture = collection.isPicture && !isInterval
        let end = isPicture ? instant : min(to.advanced(by: -1), max(now, from))
        let start: Instant
        switch collection.selection {
        // A field has a single instant.
        case .picture: start = collection.content == .field ? end : end.advanced(by: -filter.lookBackSeconds)
        case .tracks, .observed: start = from == .distantPast ? end : from
        case .standing: start = isInterval && from != .distantPast ? from : end
        }
        return min(start, end)...end
    }
}
