package import Turbulence

/// The versions of the live frames: for each part of a frame, the last version that changed it. Immutable, and part
/// of a snapshot.
package struct FrameVersions: Sendable {
    /// The version of everything, for frames of a superseded version; otherwise nil.
    private let fixed: Version?
    /// The last version that changed everything: a source's merge rule, or a deletion. Frames of older versions can't
    /// be drawn any more.
    package private(set) var rules = Version.zero
    /// The first step with known changes.
    private var first: TimeStep
    /// Kind → hour → a version for each step.
    private var hours: [ObservedTable: [Int: [Version]]] = [:]
    private var areas: [AreaVersion] = []

    private static let stepsInHour = 3_600 / TimeStep.seconds

    /// Makes versions without any change since `from`.
    package init(from: Instant) {
        first = TimeStep(from)
        fixed = nil
    }

    /// Makes versions that are all the same.
    package init(fixed version: Version) {
        first = TimeStep(.distantPast)
        fixed = version
    }

    /// The last version that changed a part of a frame; nil if the part includes times before the known ones.
    /// - Complexity: O(steps), or O(areas known)
    package func version(of data: FrameDependency) -> Version? {
        if let fixed { return fixed }
        switch data {
        case .observed(let kind, let steps): return steps.lowerBound < first ? nil : version(of: kind, in: steps)
        case .areas(let collection, let instant):
            guard TimeStep(instant) >= first else { return nil }
            return areas.lazy.filter {
                $0.collection == collection && $0.validFrom <= instant && instant < $0.validTo
            }.map(\.version).max().map { max($0, rules) } ?? rules
        }
    }

    private func version(of kind: ObservedTable, in steps: ClosedRange<TimeStep>) -> Version {
        var newest = rules
        guard let hours = hours[kind] else { return newest }
        let (from, to) = (steps.lowerBound.number, steps.upperBound.number)
        for hour in from / Self.stepsInHour...to / Self.stepsInHour {
            guard let versions = hours[hour] else { continue }
            let low = max(from - hour * Self.stepsInHour, 0)
            let high = min(to - hour * Self.stepsInHour, Self.stepsInHour - 1)
            for version in versions[low...high] where version > newest { newest = version }
        }
        return newest
    }

    /// Applies changes. A version above `head` includes changes that aren't known yet, so it counts as the head.
    package mutating func update(_ changed: ChangedTimes, upTo head: Version) {
        rules = max(rules, min(changed.rules, head))
        for change in changed.steps where change.step >= first {
            let (hour, step) = change.step.number.quotientAndRemainder(dividingBy: Self.stepsInHour)
            hours[change.kind, default: [:]][
                hour, default: [Version](repeating: .zero, count: Self.stepsInHour)][step] = min(change.version, head)
        }
        for var area in changed.areas {
            area.version = min(area.version, head)
            areas.append(area)
        }
    }

    /// Removes versions that no frame from `instant` on needs.
    package mutating func drop(before instant: Instant) {
        first = max(first, TimeStep(instant))
        for kind in hours.keys {
            hours[kind] = hours[kind]?.filter { ($0.key + 1) * Self.stepsInHour > first.number }
        }
        areas.removeAll { $0.validTo <= instant }
    }
}
