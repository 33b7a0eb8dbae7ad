import BillowServer
import BillowTimeline
import Turbulence

extension TimelineSettings {
    init(_ section: SettingsReader.Section, _ reader: SettingsReader) {
        self.init()
        let offset = { (text: String) -> Int? in
            if case .offset(let seconds) = TimePoint(text) { seconds } else { nil }
        }
        defaults.startSeconds =
            section.value("start", expected: "an offset from now, such as -PT2H", offset) ?? defaults.startSeconds
        defaults.endSeconds =
            section.value("end", expected: "an offset from now, such as PT0S", offset) ?? defaults.endSeconds
        defaults.limits.intervals =
            section.value("mostIntervals", expected: "a whole number from 1 to 10000") {
                Int($0).flatMap { (1...10_000).contains($0) ? $0 : nil }
            } ?? defaults.limits.intervals
        defaults.limits.spanSeconds =
            section.value("longest", expected: "an ISO 8601 duration above 0, such as P366D") {
                ISODuration.seconds($0).flatMap { $0 > 0 ? $0 : nil }
            } ?? defaults.limits.spanSeconds
        let most = defaults.limits.intervals
        defaults.intervals =
            section.value("intervals", expected: "a whole number from 1 to \(most)") {
                Int($0).flatMap { (1...most).contains($0) ? $0 : nil }
            } ?? min(defaults.intervals, most)
        if defaults.startSeconds >= defaults.endSeconds {
            reader.problem(section.path(of: "start"), "must be before the end")
        } else if defaults.endSeconds - defaults.startSeconds > defaults.limits.spanSeconds {
            reader.problem(section.path(of: "longest"), "must not be shorter than from start to end")
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
