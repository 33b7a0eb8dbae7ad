package import BillowSnapshot
package import BillowTiles
package import Datasets
import Turbulence

/// What a picture of a dataset needs of the log.
extension Dataset {
    /// How far back before an instant it looks for aircraft, where they are dropped so many seconds after they were
    /// seen last; 0 for what shows no aircraft.
    package func positionsSeconds(trafficDropSeconds: Int) -> Int {
        if case .positions(let trackSeconds) = content { max(trackSeconds + 60, trafficDropSeconds) } else { 0 }
    }

    /// How far back before an instant its picture looks, in seconds. Aircraft and areas are as they were fetched last:
    /// no earlier fetch is needed to show them.
    func lookBackSeconds(_ filter: Filter) -> Int {
        switch content {
        case .history, .polygons: filter.lookBackSeconds
        case .positions(let trackSeconds): trackSeconds
        case .areas, .field: 0
        }
    }

    /// What its picture at an instant shows, where aircraft are dropped so many seconds after they were seen last.
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
            // Where nobody issued any, ours are drawn.
            [.observed(.observations, at: instant, lookBackSeconds: filter.lookBackSeconds)]
                + (filter.prefersIssuedPolygons ? [.areas(.polygons, at: instant)] : [])
        }
    }
}

extension LayerList {
    /// The history that layers show of what was observed; 0 where they show none.
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
