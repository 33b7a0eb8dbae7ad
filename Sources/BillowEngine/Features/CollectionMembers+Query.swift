package import BillowExchange
package import BillowSnapshot
import Turbulence

extension ExportCollection {
    /// Whether it is shown as it stands at an instant, unless an interval is asked for.
    package var isPicture: Bool {
        switch self {
        case .turbulence, .hexagons, .polygons, .hazards, .forecast, .traffic, .tracks: true
        case .observations, .pireps: false
        }
    }
}

extension CollectionMembers {
    package init(_ query: FeatureQuery, snapshot: Snapshot, shown: Shown) {
        let freshness = shown.freshness
        self.init(
            version: snapshot.publication.version, time: query.instant,
            history: query.collection.isHexagons || query.collection == .polygons
                ? History(rawValue: query.filter.lookBackSeconds) : nil,
            dataTime: freshness.dataTime, stale: freshness.isStale, simulated: freshness.isSimulated,
            completeSince: freshness.completeSince, incomplete: shown.isIncomplete)
    }
}
