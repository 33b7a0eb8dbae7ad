package import BillowExchange
package import BillowSnapshot
import Datasets
import Turbulence

extension CollectionMembers {
    package init(_ query: FeatureQuery, snapshot: Snapshot, dataStatus: DataStatus) {
        let freshness = dataStatus.freshness
        self.init(
            version: snapshot.publication.version, time: query.instant,
            history: query.collection.selection == .picture
                ? History(rawValue: query.filter.lookBackSeconds) : nil,
            dataTime: freshness.dataTime, stale: freshness.isStale, simulated: freshness.isSimulated,
            completeSince: freshness.completeSince, incomplete: dataStatus.isIncomplete)
    }
}
