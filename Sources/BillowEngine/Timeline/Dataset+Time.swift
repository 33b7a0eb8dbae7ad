package import BillowSnapshot
package import BillowTiles
package import Datasets
import Turbulence

/// The data that frames of a dataset need.
extension Dataset {
    /// The seconds that a frame looks back for aircraft; 0 for a dataset without aircraft. An aircraft is dropped this
    /// long after its last position.
    package func positionsSeconds(trafficDropSeconds: Int) -> Int {
        if case .positions(let trackSeconds) = content { max(trackSeconds + 60, trafficDropSeconds) } else { 0 }
    }

    /// The seconds that a frame looks back. Aircraft and areas are taken from the last fetch, so that no earlier fetch
    /// is needed.
    func lookBackSeconds(_ filter: Filter) -> Int {
        switch content {
        case .history, .polygons: filter.lookBackSeconds
        case .positions(let trackSeconds): trackSeconds
        case .areas, .field: 0
        }
    }

    /// The data that a frame at an instant shows. Aircraft are dropped a number of seconds after their last position.
    func seen(at instant: Instant, filter: Filter, trafficDropSeconds: Int) -> [FrameDependency] {
        switch content {
        case .history(let kind):
            // Features of observations have trends, which look back further.
            [
                .observed(
                    kind, at: instant,
                    lookBackSeconds: filter.lookBackSeconds + (kind == .observations ? Frame.trendSeconds : 0))
            ]
        case .positions:
            [
                .observed(
                    .positions, at: instant,
                    lookBackSeconds: positionsSeconds(trafficDropSeconds: trafficDropSeconds))
            ]
        case .areas(let collection): [.areas(collection, at: instant)]
        // The snapshot has the versions of all fields.
        case .field: []
        case .polygons:
            // Without issued polygons, Billow's own are drawn.
            [.observed(.observations, at: instant, lookBackSeconds: filter.lookBackSeconds)]
                + (filter.prefersIssuedPolygons ? [.areas(.polygons, at: instant)] : [])
        }
    }
}

extension LayerList {
    /// The history of observations that layers show; 0 if they show none.
    package func historySeconds(_ filter: Filter) -> Int {
        let hasHistory = layers.contains { layer in
            switch layer.content {
            case .history, .polygons: true
            case .positions, .areas, .field: false
            }
        }
        return hasHistory ? filter.lookBackSeconds : 0
    }
}
