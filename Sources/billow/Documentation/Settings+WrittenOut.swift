import BillowEngine
import BillowTimeline
import Turbulence

extension Settings {
    /// These settings with all implicit defaults filled in, so that equivalent settings are equal.
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
