/// Twenty minutes of observations: the unit in which the archive is read, packed and evicted. Parts are so short that
/// few rows are read unnecessarily, and several processors share the work. All parts have the same length, so that the
/// frames of a timeline share them.
package struct ArchivePart: Sendable, Hashable, Comparable {
    /// The part's number: seconds since 1970 ÷ `seconds`.
    package let number: Int
    /// The length of every part. Packed parts are stored by number, so another length would need a migration.
    package static let seconds = 1_200

    package init(number: Int) { self.number = number }

    /// The part that contains an instant.
    package init(_ instant: Instant) { number = instant.seconds / ArchivePart.seconds }

    /// The first second of the part.
    package var start: Instant { Instant(clamping: number * ArchivePart.seconds) }
    /// The second after the last of the part.
    package var end: Instant { Instant(clamping: (number + 1) * ArchivePart.seconds) }

    /// The dependency of a frame on the observations in some parts; it may include up to one more step.
    package static func seen(_ parts: ClosedRange<ArchivePart>) -> FrameDependency {
        .observed(
            .observations, at: parts.upperBound.end.advanced(by: -1),
            lookBackSeconds: (parts.upperBound.number - parts.lowerBound.number + 1) * seconds)
    }

    /// The steps that contain seconds of the part. The first step may also contain seconds of the part before.
    package var steps: ClosedRange<TimeStep> { TimeStep(start)...TimeStep(end.advanced(by: -1)) }

    package static func < (a: ArchivePart, b: ArchivePart) -> Bool { a.number < b.number }
}
