import BillowEngine
import BillowTimeline
import Turbulence

extension Settings {
    /// The same with what counts where nothing is named, so that two settings that mean the same hold the same.
    var writtenOut: Settings {
        var settings = self
        settings.severityTable = SeverityTable(
            Dictionary(uniqueKeysWithValues: AircraftCategory.all.map { ($0, severityTable.thresholds(for: $0)) }))
        for layer in TimelineSettings.layers where timeline.updates[layer] == nil {
            settings.timeline.updates[layer] = .every(seconds: 60)
        }
        return settings
    }
}
