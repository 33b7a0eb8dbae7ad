/// Time in steps of ten seconds. For each step, the log records when observations in it last changed. A step ends at
/// its instant, so frames at whole minutes consist of whole steps: (T − history, T] is exactly some steps.
package struct TimeStep: Sendable, Hashable, Comparable {
    /// The step that ends at `number` × 10 s since 1970.
    package let number: Int
    package static let seconds = 10

    package init(number: Int) { self.number = number }

    /// The step that contains an instant.
    package init(_ instant: Instant) { number = (instant.seconds + TimeStep.seconds - 1) / TimeStep.seconds }

    /// The steps that overlap (instant − lookBackSeconds, instant].
    package static func range(upTo instant: Instant, lookBackSeconds: Int) -> ClosedRange<TimeStep> {
        TimeStep(instant.advanced(by: 1 - max(lookBackSeconds, 1)))...TimeStep(instant)
    }

    /// The instants of some steps, the first and last step included.
    package static func instants(_ steps: ClosedRange<TimeStep>) -> ClosedRange<Instant> {
        Instant(
            clamping: (steps.lowerBound.number - 1) * seconds + 1)...Instant(
                clamping: steps.upperBound.number * seconds)
    }

    package static func < (a: TimeStep, b: TimeStep) -> Bool { a.number < b.number }
}

/// A table of rows with a time of observation. There is one for each such table, and not one for each dataset. The raw
/// values are stored.
package enum ObservedTable: UInt8, Sendable, Hashable, CaseIterable {
    case observations = 0
    case reports = 1
    case positions = 2
}

/// The last version that changed any row of one kind observed in one step.
package struct StepVersion: Sendable, Hashable {
    package var kind: ObservedTable
    package var step: TimeStep
    package var version: Version

    package init(kind: ObservedTable, step: TimeStep, version: Version) {
        self.kind = kind
        self.step = step
        self.version = version
    }
}

/// The last version that changed an area, and the area's validity.
package struct AreaVersion: Sendable, Hashable {
    package var collection: IssuedArea.DatasetNumber
    package var validFrom: Instant
    package var validTo: Instant
    package var version: Version

    package init(collection: IssuedArea.DatasetNumber, validFrom: Instant, validTo: Instant, version: Version) {
        self.collection = collection
        self.validFrom = validFrom
        self.validTo = validTo
        self.version = version
    }
}

/// A part of the data that a frame shows. The frame of a layer changes if one of its parts does.
package enum FrameDependency: Sendable, Hashable {
    /// The rows observed in some steps.
    case observed(ObservedTable, ClosedRange<TimeStep>)
    /// The areas valid at an instant.
    case areas(IssuedArea.DatasetNumber, at: Instant)

    /// The rows observed in (instant − lookBackSeconds, instant], and in up to one more step.
    package static func observed(_ kind: ObservedTable, at instant: Instant, lookBackSeconds: Int) -> FrameDependency {
        .observed(kind, TimeStep.range(upTo: instant, lookBackSeconds: lookBackSeconds))
    }
}

/// The changes after a version, by the time of the changed data.
package struct ChangedTimes: Sendable, Hashable {
    package var steps: [StepVersion]
    package var areas: [AreaVersion]
    /// The last version that changed a source's merge rule.
    package var rules: Version

    /// The newest version of all changes.
    package var newest: Version? {
        [steps.lazy.map(\.version).max(), areas.lazy.map(\.version).max(), rules].compactMap { $0 }.max()
    }

    package init(steps: [StepVersion] = [], areas: [AreaVersion] = [], rules: Version = .zero) {
        self.steps = steps
        self.areas = areas
        self.rules = rules
    }
}

/// The time ranges of the data in the log.
package struct LogExtent: Sendable, Hashable {
    /// The times of the oldest and the newest current observation; nil if there is none.
    package var observed: ClosedRange<Instant>?
    /// The start of the oldest current pilot report or issued area; nil if there is none.
    package var oldestReportOrArea: Instant?
    /// The first and last valid time of fields; nil if there are none.
    package var fields: ClosedRange<Instant>?
    /// An instant at or shortly before the oldest aircraft position; nil if there is none.
    package var oldestPosition: Instant?

    /// The start of the oldest data but aircraft positions, which have a retention of their own; nil if there is none.
    package var oldest: Instant? {
        [observed?.lowerBound, oldestReportOrArea, fields?.lowerBound].compactMap { $0 }.min()
    }

    package init(
        observed: ClosedRange<Instant>? = nil, oldestReportOrArea: Instant? = nil, fields: ClosedRange<Instant>? = nil,
        oldestPosition: Instant? = nil
    ) {
        self.observed = observed
        self.oldestReportOrArea = oldestReportOrArea
        self.fields = fields
        self.oldestPosition = oldestPosition
    }
}
