public import Geometry

/// The 24-bit address of an aircraft's transponder.
///
/// Source: ICAO Annex 10 volume III chapter 9
public struct ICAO24: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// 0…2²⁴ − 1.
    public let rawValue: UInt32

    /// nil above 24 bits.
    public init?(rawValue: UInt32) {
        guard rawValue < 1 << 24 else { return nil }
        self.rawValue = rawValue
    }

    /// Six hexadecimal digits of either case; nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 6, text.utf8.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let value = UInt32(text, radix: 16)
        else { return nil }
        rawValue = value
    }

    /// Six lower-case hexadecimal digits.
    public var text: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    public var description: String { text }
    public static func < (a: ICAO24, b: ICAO24) -> Bool { a.rawValue < b.rawValue }
}

/// One aircraft's state at an instant.
public struct AircraftPosition: Sendable, Hashable {
    /// The transponder's address.
    public var icao24: ICAO24
    /// As transmitted, without spaces around it.
    public var callsign: String?
    /// Where it was.
    public var place: LonLat
    /// Who says so.
    public var source: SourceID
    /// When it was there.
    public var observedAt: Instant
    /// Pressure altitude in feet.
    public var altitudeFeet: Int?
    /// Height above the WGS 84 ellipsoid in feet.
    public var geometricAltitudeFeet: Int?
    /// Over the ground, in knots.
    public var groundSpeedKnots: Double?
    /// The true track over ground, degrees clockwise from north, 0 ≤ h < 360.
    public var headingDegrees: Double?
    /// Feet a minute, above zero while climbing.
    public var verticalRateFeetPerMinute: Int?
    /// Whether it stood or rolled.
    public var isOnGround: Bool
    /// The emitter category as its source numbers it.
    public var category: UInt8?

    /// A position with what is known of it.
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
