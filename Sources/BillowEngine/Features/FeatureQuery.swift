import BillowExchange
package import BillowSnapshot
package import Datasets
package import Geometry
package import Turbulence

/// A query for features, shared by pages of items, exports and the command line.
package struct FeatureQuery: Sendable {
    package var collection: Dataset
    /// The instant of the frame, for hexagons.
    package var instant: Instant
    package var filter: Filter
    /// Whether observations of a category other than the filter's are excluded.
    package var hasRequestedCategory: Bool
    /// The time range `from` ≤ t < `to`. It selects the observation times of observations and pilot reports. For
    /// intervals of aircraft and areas it selects positions and validity.
    package var from: Instant
    package var to: Instant
    /// Whether the history is the query's own interval, not one of the precomputed histories.
    package var hasOwnHistory = false
    /// Whether there can be no features at its time.
    package var hasNothing = false
    /// Whether the query selects aircraft and areas of an interval, instead of those at the instant.
    package var isInterval = false
    package var box: BoundingBox?
    /// An area that features must intersect, in addition to the box.
    package var area: AreaIndex?
    /// The route along which features are ordered.
    package var route: RouteOrder?
    /// For polygons: the sources of the selected polygons. Billow's own source name selects those that Billow
    /// dissolves. nil leaves the selection to the filter.
    package var issuers: Set<SourceID>?
    /// Whether the features are for a server that mirrors this one. It needs what pictures are made of: superseding
    /// observations, which are not shown, and areas under ids that are unique over all sources and times.
    package var isForMirror = false
    /// Whether fields are returned as areas by severity instead of cells.
    package var isContoured = false
    /// The tolerance and smoothing of polygons and field areas.
    package var shape = PolygonShape()
    /// Whether hexagons are aggregated; false returns every standing observation.
    package var aggregate: Bool
    /// Whether aircraft positions are extrapolated to now by speed and track; false returns the received positions.
    package var deadReckoning: Bool

    /// Selects all features of a collection at an instant; for observations and pilot reports all stored ones.
    package init(_ collection: Dataset, at instant: Instant, filter: Filter = Filter()) {
        self.collection = collection
        self.instant = instant
        self.filter = filter
        hasRequestedCategory = false
        from = .distantPast
        to = .distantFuture
        aggregate = true
        deadReckoning = false
    }

    /// The selected cells: of a dataset of points by their centres, of any other by their outlines.
    package var cells: CellArea {
        if collection.geometry == .point { return CellArea(centresIn: box, area) }
        return area.map { CellArea($0) } ?? box.map { CellArea($0) } ?? .everywhere
    }

    /// Whether a place is selected.
    package func contains(_ place: LonLat) -> Bool { box?.contains(place) ?? true && area?.contains(place) ?? true }

    /// Whether an area intersects the selected one.
    func touches(_ other: MultiPolygon) -> Bool {
        (box.map(other.intersects) ?? true) && (area?.intersects(other.polygons) ?? true)
    }

    /// The severity of an observation, if the query selects it.
    package func severity(of observation: Observation, table: SeverityTable) -> (
        severity: Severity, basis: SeverityBasis
    )? {
        guard filter.altitudes.overlaps(observation.altitude), filter.sources?.contains(observation.source) ?? true,
            observation.kind.isShown || isForMirror, filter.kinds?.contains(observation.kind) ?? true
        else { return nil }
        let isForCategory =
            observation.category == nil || observation.category == filter.category || !hasRequestedCategory
        let found: (Severity, SeverityBasis)
        if let given = observation.intensity.severity, isForCategory {
            found = (given, .reported)
        } else if let edr = observation.intensity.edr {
            found = (table.thresholds(for: filter.category).severity(of: edr), .edr)
        } else {
            return nil
        }
        return filter.severities.contains(found.0) ? found : nil
    }
}
