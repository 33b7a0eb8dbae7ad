public import Geometry

/// The fixed-size part of a stored observation: the values needed for frames, without any string.
public struct ObservationRow: Sendable, Hashable {
    /// The observation's key in the log.
    public var key: ObservationKey
    /// The cell of the place.
    public var cell: Cell
    /// The altitude band.
    public var altitude: AltitudeBand
    /// The intensity.
    public var intensity: Intensity
    /// The time of observation.
    public var observedAt: Instant
    /// The category that the severity applies to; nil if none is given.
    public var category: AircraftCategory?
    /// The source's number in the store.
    public var source: SourceNumber
    /// The origin of the observation.
    public var kind: ObservationKind
    /// The first version in which the row is current.
    public var since: Version
    /// The version that closed the row; nil while it is current.
    public var until: Version?

    /// Makes a row as the log stores it.
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

/// The key of an observation in the log. The upper bits are its second, so that the log is clustered by time. The lower
/// 30 bits are a tag made from its content.
public struct ObservationKey: Sendable, Hashable, Comparable {
    /// The key as a number.
    public let rawValue: Int64
    @inlinable package static var tagBits: Int64 { 30 }

    /// Wraps a stored number.
    public init(rawValue: Int64) { self.rawValue = rawValue }
    /// Makes the key from an instant and a tag, which distinguishes the rows of one second.
    public init(observedAt: Instant, tag: UInt32) {
        rawValue = Int64(observedAt.seconds) << ObservationKey.tagBits | Int64(tag & 0x3FFF_FFFF)
    }

    /// The first key of a second.
    package static func first(of instant: Instant) -> ObservationKey { ObservationKey(observedAt: instant, tag: 0) }

    /// The time of observation.
    public var observedAt: Instant { Instant(clamping: Int(rawValue >> ObservationKey.tagBits)) }

    /// The id of an observation that its reporter gave none: `o` and 16 hexadecimal digits.
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

    /// Parses an `id`.
    public init?(id: some StringProtocol) {
        guard id.utf8.count == 17, id.utf8.first == UInt8(ascii: "o"), let value = Int64(id.dropFirst(), radix: 16),
            value >= 0
        else { return nil }
        rawValue = value
    }

    public static func < (a: ObservationKey, b: ObservationKey) -> Bool { a.rawValue < b.rawValue }
}

/// The number of a source in the store's rows.
public struct SourceNumber: Sendable, Hashable, Comparable {
    /// The number stored in the log.
    public let rawValue: UInt8
    /// Wraps a stored number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static func < (a: SourceNumber, b: SourceNumber) -> Bool { a.rawValue < b.rawValue }
}

/// The log's counter: consecutive, in commit order. 0 is the empty store.
public struct Version: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The version as a number.
    public let rawValue: Int64
    /// Wraps a stored number.
    public init(rawValue: Int64) { self.rawValue = rawValue }
    /// The version before the first change.
    public static let zero = Version(rawValue: 0)
    public static func < (a: Version, b: Version) -> Bool { a.rawValue < b.rawValue }
    public var description: String { String(rawValue) }
}

/// The meaning of "latest": the data of a version, as of an instant.
package struct Publication: Sendable, Hashable {
    package let version: Version
    package let asOf: Instant

    package init(version: Version, asOf: Instant) {
        self.version = version
        self.asOf = asOf
    }
}
