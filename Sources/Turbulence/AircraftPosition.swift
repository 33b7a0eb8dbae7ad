public import Geometry

/// The 24-bit address of an aircraft's transponder.
///
/// Source: ICAO Annex 10 volume III chapter 9
public struct ICAO24: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The address as a number, 0…2²⁴ − 1.
    public let rawValue: UInt32

    /// Returns nil above 24 bits.
    public init?(rawValue: UInt32) {
        guard rawValue < 1 << 24 else { return nil }
        self.rawValue = rawValue
    }

    /// Parses six hexadecimal digits in either case; nil for any other text.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 6, text.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let value = UInt32(text, radix: 16)
        else { return nil }
        rawValue = value
    }

    /// The address in six lower-case hexadecimal digits.
    public var text: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    public var description: String { text }
    public static func < (a: ICAO24, b: ICAO24) -> Bool { a.rawValue < b.rawValue }
}

/// The state of an aircraft at an instant.
public struct AircraftPosition: Sendable, Hashable {
    /// The transponder's address.
    public var icao24: ICAO24
    /// The call sign as transmitted, without surrounding spaces.
    public var callsign: String?
    /// The position.
    public var place: LonLat
    /// The source that reported it.
    public var source: SourceID
    /// The time of the position.
    public var observedAt: Instant
    /// The pressure altitude in feet.
    public var altitudeFeet: Int?
    /// The height above the WGS 84 ellipsoid in feet.
    public var geometricAltitudeFeet: Int?
    /// The speed over the ground in knots.
    public var groundSpeedKnots: Double?
    /// The true track over ground, degrees clockwise from north, 0 ≤ h < 360.
    public var headingDegrees: Double?
    /// The vertical rate in feet per minute, above zero while climbing.
    public var verticalRateFeetPerMinute: Int?
    /// Whether the aircraft stood or rolled on the ground.
    public var isOnGround: Bool
    /// The emitter category by the source's numbers.
    public var category: UInt8?

    /// Makes a position.
    public init(
        icao24: ICAO24, callsign: String? = nil, place: LonLat, source: SourceID, observedAt: Instant,
        altitudeFeet: Int? = nil, geometricAltitudeFeet: Int? = nil, groundSpeedKnots: Double? = nil,
        headingDegrees: Double? = nil, verticalRateFeetPerMinute: Int? = nil, isOnGround: Bool = false,
        category: UInt8? = nil
    ) {
        self.icao24 = icao24
        self.callsign = callsign
        self.place = place
        self.source = source
        self.observedAt = observedAt
        self.altitudeFeet = altitudeFeet
        self.geometricAltitudeFeet = geometricAltitudeFeet
        self.groundSpeedKnots = groundSpeedKnots
        self.headingDegrees = headingDegrees
        self.verticalRateFeetPerMinute = verticalRateFeetPerMinute
        self.isOnGround = isOnGround
        self.category = category
    }
}
