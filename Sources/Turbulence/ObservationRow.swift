public import Geometry

/// The fixed-size part of a stored observation: what a picture needs, without a single string.
public struct ObservationRow: Sendable, Hashable {
    /// Its place in the log.
    public var key: ObservationKey
    /// The cell of the place.
    public var cell: Cell
    /// The levels that it spans.
    public var altitude: AltitudeBand
    /// How rough it was.
    public var intensity: Intensity
    /// When it was observed.
    public var observedAt: Instant
    /// The category that the severity holds for; nil where none was named.
    public var category: AircraftCategory?
    /// The store's number of the source.
    public var source: SourceNumber
    /// How it came about.
    public var kind: ObservationKind
    /// The version since which it counts.
    public var since: Version
    /// The version from which on it counts no more; nil while it counts.
    public var until: Version?

    /// A row as the log stores it.
    @inlinable
    public init(
        key: ObservationKey, cell: Cell, altitude: AltitudeBand, intensity: Intensity, observedAt: Instant,
        category: AircraftCategory?, source: SourceNumber, kind: ObservationKind, since: Version, until: Version? = nil
    ) {
        self.key = key
        self.cell = cell
        self.altitude = altitude
        self.intensity = intensity
        self.observedAt = observedAt
        self.category = category
        self.source = source
        self.kind = kind
        self.since = since
        self.until = until
    }
}

/// An observation's place in the log: its second in the upper bits, so that the log is clustered by time, and a tag
/// made of its content in the lower 30.
public struct ObservationKey: Sendable, Hashable, Comparable {
    /// The number itself.
    public let rawValue: Int64
    @inlinable package static var tagBits: Int64 { 30 }

    /// Wraps a stored number.
    public init(rawValue: Int64) { self.rawValue = rawValue }
    /// The key of an instant, and of a tag that tells rows of one second apart.
    public init(observedAt: Instant, tag: UInt32) {
        rawValue = Int64(observedAt.seconds) << ObservationKey.tagBits | Int64(tag & 0x3FFF_FFFF)
    }

    /// The first key of a second.
    package static func first(of instant: Instant) -> ObservationKey { ObservationKey(observedAt: instant, tag: 0) }

    /// When it was observed.
    public var observedAt: Instant { Instant(clamping: Int(rawValue >> ObservationKey.tagBits)) }

    /// The id of an observation that came without one: `o` and 16 hexadecimal digits.
    public var id: String {
        String(unsafeUninitializedCapacity: 17) { text in
            text[0] = UInt8(ascii: "o")
            for place in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: rawValue >> Int64(4 * (15 - place))) & 15
                text[place + 1] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            }
            return 17
        }
    }

    /// Reads `id` back.
    public init?(id: some StringProtocol) {
        guard id.utf8.count == 17, id.utf8.first == UInt8(ascii: "o"), let value = Int64(id.dropFirst(), radix: 16),
            value >= 0
        else { return nil }
        rawValue = value
    }

    public static func < (a: ObservationKey, b: ObservationKey) -> Bool { a.rawValue < b.rawValue }
}

/// The number by which the store's rows name a source.
public struct SourceNumber: Sendable, Hashable, Comparable {
    /// The number that the log stores.
    public let rawValue: UInt8
    /// Wraps a stored number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static func < (a: SourceNumber, b: SourceNumber) -> Bool { a.rawValue < b.rawValue }
}

/// Our own rising number: dense, in commit order. 0 is the empty store.
public struct Version: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number itself.
    public let rawValue: Int64
    /// Wraps a stored number.
    public init(rawValue: Int64) { self.rawValue = rawValue }
    /// Before the first change.
    public static let zero = Version(rawValue: 0)
    public static func < (a: Version, b: Version) -> Bool { a.rawValue < b.rawValue }
    public var description: String { String(rawValue) }
}

/// What "latest" means: the data of a version, looked at from an instant.
package struct Publication: Sendable, Hashable {
    package let version: Version
    package let asOf: Instant

    package init(version: Version, asOf: Instant) {
        self.version = version
        self.asOf = asOf
    }
}
