import BillowEngine
import BillowSnapshot
import BillowStore
import Logging

extension Settings {
    /// Creates a publisher of a store's snapshots, and a source of their frames, for a command that serves no clients.
    ///
    /// - Parameter liveSeconds: the length of the live window.
    func published(
        _ store: any SQLStore, _ logger: Logger, liveSeconds: Int = SnapshotPublisher.liveSeconds
    ) -> (SnapshotPublisher, FrameSource) {
        let publisher = SnapshotPublisher(
            store: store,
            lifetimes: DataLifetimes(
                retentionSeconds: retentionSeconds, traffic: trafficRetentionSeconds, fields: fieldRetentionSeconds,
                trafficDropSeconds: trafficDropSeconds),
            severityTable: severityTable, liveSeconds: liveSeconds, now: SystemClock.now, logger: logger)
        let frames = FrameSource(publisher: publisher, store: store, polygonHistories: polygons, logger: logger)
        return (publisher, frames)
    }
}
