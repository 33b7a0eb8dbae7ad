import BillowExchange
package import BillowSnapshot
package import Datasets
package import Geometry
package import Turbulence

/// What features are asked for: the same for a page of items, for an export and for the command line.
package struct FeatureQuery: Sendable {
    package var collection: Dataset
    /// The instant of the picture, for hexagons.
    package var instant: Instant
    package var filter: Filter
    /// Whether records given for another category than the filter's are left out of observations.
    package var categoryIsAsked: Bool
    /// Observed at `from` ≤ t < `to`, for observations and pilot reports; seen or holding then, for aircraft and areas
    /// where an interval is asked for.
    package var from: Instant
    package var to: Instant
    /// Whether the history of a picture is an interval of the query's own, and not one of those that are made ready.
    package var hasOwnHistory = false
    /// Whether aircraft and areas of an interval are asked for, and not those of the instant.
    package var isInterval = false
    package var box: BoundingBox?
    /// An area that what is asked for must share a point with, beside the box.
    package var area: AreaIndex?
    /// A route along which features are ordered.
    package var route: AlongRoute?
    /// Of polygons: whose issued ones are wanted, where those dissolved here are asked for by the name of their source;
    /// nil where the filter says.
    package var issuers: Set<SourceID>?
    /// Whether fields are given as areas by severity in place of cells.
    package var isContoured = false
    /// How polygons and such areas are made.
    package var shape = PolygonShape()
    /// Whether hexagons are aggregated; false gives every standing record.
    package var aggregate: Bool
    /// Whether aircraft are where they would be by now, by speed and track; false leaves them where they were received.
    package var deadReckoning: Bool

    /// All that a collection has at an instant; for observations and pilot reports all that is stored.
    package init(_ collection: Dataset, at instant: Instant, filter: Filter = Filter()) {
        self.collection = collection
        self.instant = instant
        self.filter = filter
        categoryIsAsked = false
        from = .distantPast
        to = .distantFuture
        aggregate = true
        deadReckoning = false
    }

    /// The cells that it asks for.
    package var cells: CellArea { area.map { CellArea($0) } ?? box.map { CellArea($0) } ?? .everywhere }

    /// Whether it asks for what is at a place.
    package func contains(_ place: LonLat) -> Bool { box?.contains(place) ?? true && area?.contains(place) ?? true }

    /// Whether it asks for what covers an area.
    func touches(_ other: MultiPolygon) -> Bool {
        (box.map(other.intersects) ?? true) && (area?.intersects(other.polygons) ?? true)
    }

    /// What a record stands for, where the query wants it.
    package func severity(of observation: Observation, table: SeverityTable) -> (
        severity: Severity, basis: SeverityBasis
    )? {
        guard filter.altitudes.overlaps(observation.altitude), filter.sources?.contains(observation.source) ?? true,
            observation.kind.isShown, filter.kinds?.contains(observation.kind) ?? true
        else { return nil }
        let isForCategory = observation.category == nil || observation.category == filter.category || !categoryIsAsked
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
