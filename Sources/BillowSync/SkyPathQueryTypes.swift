import Datasets
import Geometry
import Turbulence

/// The types of data that SkyPath's queries may request, by its own names.
///
/// Source: docs/upstreams/skypath.md, "Areas" (DataQuery of the iOS SDK)
extension QueryType {
    package static let turbulence = QueryType(
        SkyPathUpstream.kind, "turbulence", reach: .history, dependsOnCategory: true)
    /// The upstream's own turbulence polygons.
    package static let polygons = QueryType(
        SkyPathUpstream.kind, "polygons", reach: .eachHistory, isWorldwide: true)
    package static let nowcast = QueryType(SkyPathUpstream.kind, "nowcast", reach: .present)
    /// Live flights.
    package static let flights = QueryType(SkyPathUpstream.kind, "flights", reach: .present)
    package static let pireps = QueryType(SkyPathUpstream.kind, "pireps", reach: .history)

    /// All of them, in the order of a round's requests.
    package static let skyPath: [QueryType] = [.turbulence, .polygons, .nowcast, .flights, .pireps]

    /// The types of a query that names none.
    package static let requestedByDefault: Set<QueryType> = [.turbulence]
}

extension QueryType {
    /// The kind of areas that its records become, and the number of their dataset.
    var areas: (kind: Dataset.AreaKind, number: IssuedArea.DatasetNumber) {
        guard let areas = Catalogue.areas(of: origin) else { preconditionFailure("\(name) becomes no areas") }
        return areas
    }
}

extension DataQuery {
    /// Whether a persistent area includes a cell's turbulence. Upstreams assign a cell to an area by its centre.
    func isCoveredPersistently(_ cell: Cell) -> Bool {
        areas(of: .turbulence).contains { area in
            switch area {
            case .corridor: polygon?.contains(H3.center(of: cell)) ?? false
            case .global: true
            case .viewport, .all: false
            }
        }
    }
}
