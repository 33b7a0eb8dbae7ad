/// Time in steps of ten seconds, by which the log remembers when what was observed in them last changed. A step ends
/// with its instant, so that pictures at whole minutes see whole steps: (T − history, T] is steps and nothing besides.
package struct TimeStep: Sendable, Hashable, Comparable {
    /// The step that ends at `number` × 10 s since 1970.
    package let number: Int
    package static let seconds = 10

    package init(number: Int) { self.number = number }

    /// The step that an instant lies in.
    package init(_ instant: Instant) { number = (instant.seconds + TimeStep.seconds - 1) / TimeStep.seconds }

    /// The steps that (instant − lookBackSeconds, instant] touches.
    package static func range(upTo instant: Instant, lookBackSeconds: Int) -> ClosedRange<TimeStep> {
        TimeStep(instant.advanced(by: 1 - max(lookBackSeconds, 1)))...TimeStep(instant)
    }

    /// The instants of some steps, both included.
    package static func instants(_ steps: ClosedRange<TimeStep>) -> ClosedRange<Instant> {
        Instant(
            clamping: (steps.lowerBound.number - 1) * seconds + 1)...Instant(
                clamping: steps.upperBound.number * seconds)
    }

    package static func < (a: TimeStep, b: TimeStep) -> Bool { a.number < b.number }
}

/// A kind of row that the log remembers by the time at which it was observed: one for each table of such rows, and not
/// one for each dataset. The raw values are stored.
package enum ObservedKind: UInt8, Sendable, Hashable, CaseIterable {
    case observations = 0
    case reports = 1
    case positions = 2
}

/// The last version that changed anything of one kind observed in one step.
package struct StepVersion: Sendable, Hashable {
    package var kind: ObservedKind
    package var step: TimeStep
    package var version: Version

    package init(kind: ObservedKind, step: TimeStep, version: Version) {
        self.kind = kind
        self.step = step
        self.version = version
    }
}

/// The last version that changed an area, and when that area holds.
package struct AreaVersion: Sendable, Hashable {
    package var collection: IssuedArea.Collection
    package var validFrom: Instant
    package var validTo: Instant
    package var version: Version

    package init(collection: IssuedArea.Collection, validFrom: Instant, validTo: Instant, version: Version) {
        self.collection = collection
        self.validFrom = validFrom
        self.validTo = validTo
        self.version = version
    }
}

/// A part of what is known that a picture shows: the frame of a layer changes when one of its parts does.
package enum FrameDependency: Sendable, Hashable {
    /// What was observed in some steps.
    case observed(ObservedKind, ClosedRange<TimeStep>)
    /// The areas that hold at an instant.
    case areas(IssuedArea.Collection, at: Instant)

    /// What was observed in (instant − lookBackSeconds, instant], and at most a step besides.
    package static func observed(_ kind: ObservedKind, at instant: Instant, lookBackSeconds: Int) -> FrameDependency {
        .observed(kind, TimeStep.range(upTo: instant, lookBackSeconds: lookBackSeconds))
    }
}

/// What changed after a version, by the time that it is about.
package struct ChangedTimes: Sendable, Hashable {
    package var steps: [StepVersion]
    package var areas: [AreaVersion]
    /// The last version that changed a source's rule.
    package var rules: Version

    /// The newest version among them.
    package var newest: Version? {
        [steps.lazy.map(\.version).max(), areas.lazy.map(\.version).max(), rules].compactMap { $0 }.max()
    }

    package init(steps: [StepVersion] = [], areas: [AreaVersion] = [], rules: Version = .zero) {
        self.steps = steps
        self.areas = areas
        self.rules = rules
    }
}

/// What times the log holds.
package struct LogExtent: Sendable, Hashable {
    /// The times of the oldest and the newest observation that count; nil when there is none.
    package var observed: ClosedRange<Instant>?
    /// When the oldest pilot report or issued area that counts begins; nil when there is none.
    package var oldestReportOrArea: Instant?
    /// The first and last instant that fields are about; nil when there is none.
    package var fields: ClosedRange<Instant>?

    /// When the oldest of all begins; nil when the log is empty.
    package var oldest: Instant? {
        [observed?.lowerBound, oldestReportOrArea, fields?.lowerBound].compactMap { $0 }.min()
    }

    package init(
        observed: ClosedRange<Instant>? = nil, oldestReportOrArea: Instant? = nil, fields: ClosedRange<Instant>? = nil
    ) {
        self.observed = observed
        self.oldestReportOrArea = oldestReportOrArea
        self.fields = fields
    }
}
