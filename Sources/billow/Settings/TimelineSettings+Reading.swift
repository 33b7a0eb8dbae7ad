import BillowEngine
import BillowTimeline
import Turbulence

extension TimelineSettings {
    init(_ section: SettingsReader.Section) {
        self.init()
        let offset = { (text: String) -> Int? in
            if case .offset(let seconds) = TimePoint(text) { seconds } else { nil }
        }
        defaults.startSeconds =
            section.value("start", expected: "an offset from now, such as -PT2H", offset) ?? defaults.startSeconds
        defaults.endSeconds =
            section.value("end", expected: "an offset from now, such as PT0S", offset) ?? defaults.endSeconds
        defaults.limits.intervals =
            section.integer("mostIntervals", in: 1...10_000) ?? defaults.limits.intervals
        defaults.limits.spanSeconds =
            section.duration("longest", from: 1, expected: "above 0, such as P366D") ?? defaults.limits.spanSeconds
        let most = defaults.limits.intervals
        defaults.intervals =
            section.integer("intervals", in: 1...most) ?? min(defaults.intervals, most)
        if defaults.startSeconds >= defaults.endSeconds {
            section.problem("start", "must be before the end")
        } else if defaults.endSeconds - defaults.startSeconds > defaults.limits.spanSeconds {
            section.problem("longest", "must not be shorter than from start to end")
        }
        let update = section.section("update")
        for layer in TimelineSettings.layers {
            let hasChanges = TimelineSettings.layersWithChanges.contains(layer)
            updates[layer] =
                update.value(
                    layer, expected: "an ISO 8601 duration of 1 second or more" + (hasChanges ? ", or changes" : "")
                ) {
                    UpdateRule($0).flatMap { hasChanges || $0 != .changes ? $0 : nil }
                } ?? updates[layer]
        }
        update.finish()
        section.finish()
    }
}
