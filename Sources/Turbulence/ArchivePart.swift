/// Twenty minutes of what was observed: the archive is read, packed and let go of in such parts. So short that little
/// is read which isn't shown and that several processors share it, and the same for all, so that the frames of a
/// timeline share them.
package struct ArchivePart: Sendable, Hashable, Comparable {
    /// Seconds since 1970 ÷ `seconds`.
    package let number: Int
    /// The length of every part. What is packed is kept by number: another length would need a migration.
    package static let seconds = 1_200

    package init(number: Int) { self.number = number }

    /// The part that an instant lies in.
    package init(_ instant: Instant) { number = instant.seconds / ArchivePart.seconds }

    /// Its first second.
    package var start: Instant { Instant(clamping: number * ArchivePart.seconds) }
    /// The second after its last.
    package var end: Instant { Instant(clamping: (number + 1) * ArchivePart.seconds) }

    /// What is seen of observations in some parts, and at most a step besides.
    package static func seen(_ parts: ClosedRange<ArchivePart>) -> FrameDependency {
        .observed(
            .observations, at: parts.upperBound.end.advanced(by: -1),
            lookBackSeconds: (parts.upperBound.number - parts.lowerBound.number + 1) * seconds)
    }

    /// The steps that its seconds lie in: the first may have seconds of the part before it, too.
    package var steps: ClosedRange<TimeStep> { TimeStep(start)...TimeStep(end.advanced(by: -1)) }

    package static func < (a: ArchivePart, b: ArchivePart) -> Bool { a.number < b.number }
}
