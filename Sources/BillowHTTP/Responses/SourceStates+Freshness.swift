import BillowEngine
import BillowSync
import Turbulence

extension SourceStates {
    /// The current requests of a source, for freshness; nil for a source that isn't running.
    func requests(of id: SourceID) -> FreshnessSettings.Requests? {
        self[id].map { state in
            FreshnessSettings.Requests(
                kinds: state.feeds, intervalSeconds: state.interval.map { Int($0.components.seconds) },
                slowKinds: state.slowKinds.mapValues { Int($0.components.seconds) })
        }
    }
}
