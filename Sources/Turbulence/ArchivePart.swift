/// Twenty minutes of what was observed: the archive is read, packed and let go of in such parts. So short that little
/// is read which isn't shown and that several processors share it, and the same for all, so that the frames of a
/// timeline share them.
public struct ArchivePart: Sendable, Hashable, Comparable {
    /// Seconds since 1970 ÷ `seconds`.
    public let number: Int
    /// The length of every part. What is packed is kept by number: another length would need a migration.
    public static let seconds = 1_200

    public init(number: Int) { self.number = number }

    /// The part that an instant lies in.
    public init(_ instant: Instant) { number = instant.seconds / ArchivePart.seconds }

    /// Its first second.
    public var start: Instant { Instant(clamping: number * ArchivePart.seconds) }
    /// The second after its last.
    public var end: Instant { Instant(clamping: (number + 1) * ArchivePart.seconds) }

    /// What is seen of observations in some parts, and at most a step besides.
    public static func seen(_ parts: ClosedRange<ArchivePart>) -> FrameDependency {
        .observed(
            .observations, at: parts.upperBound.end.advanced(by: -1),
            lookBackSeconds: (parts.upperBound.number - parts.lowerBound.number + 1) * seconds)
    }

    /// The steps that its seconds lie in: the first may have seconds of the part before it, too.
    public var steps: ClosedRange<TimeStep> { TimeStep(start)...TimeStep(end.advanced(by: -1)) }

    public static func < (a: ArchivePart, b: ArchivePart) -> Bool { a.number < b.number }
}
