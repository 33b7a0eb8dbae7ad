package import Datasets
import Turbulence

/// A type of data that a query may request from an upstream, with the rules by which it is requested.
///
/// The types of a kind of source stand with that source, by the upstream's own names. Each is an origin of the
/// catalogue. All else handles them by these rules.
package struct QueryType: Sendable {
    /// How far back a request reaches.
    package enum Reach: Sendable, Hashable {
        /// It has the present state only.
        case present
        /// It has the query's history, which includes any shorter one.
        case history
        /// Its data is computed for each history separately.
        case eachHistory
    }

    /// The upstream's service and its name for the type.
    package let origin: Dataset.Origin
    let reach: Reach
    /// Whether a query for the world requests it for the world even where the query has a polygon.
    let isWorldwide: Bool
    /// Whether its values depend on the query's aircraft category.
    let dependsOnCategory: Bool

    init(
        _ service: String, _ name: String, reach: Reach, isWorldwide: Bool = false, dependsOnCategory: Bool = false
    ) {
        origin = Dataset.Origin(service, name)
        self.reach = reach
        self.isWorldwide = isWorldwide
        self.dependsOnCategory = dependsOnCategory
    }

    /// The upstream's own name, which sessions and queries use too.
    package var name: String { origin.type }

    /// The collections that it feeds.
    package var collections: [String] { datasets.map(\.id) }

    var datasets: [Dataset] { Catalogue.datasets(of: origin) }
}

extension QueryType: Hashable, Comparable {
    package static func == (a: QueryType, b: QueryType) -> Bool { a.origin == b.origin }
    package func hash(into hasher: inout Hasher) { hasher.combine(origin) }
    package static func < (a: QueryType, b: QueryType) -> Bool { a.name < b.name }
}
