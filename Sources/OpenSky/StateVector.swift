public import Foundation

/// What was known of an aircraft at an instant. What the answer leaves out is nil.
public struct StateVector: Sendable, Hashable {
    /// The transponder's address.
    public var address: TransponderAddress
    /// Without the spaces that fill it up; nil where it is empty.
    public var callsign: String?
    /// By the block that the address belongs to.
    public var originCountry: String?
    /// When the position was received.
    public var positionTime: Date?
    /// When anything was received.
    public var lastContact: Date
    /// Degrees, WGS 84. Longitude and latitude are both there or both nil.
    public var longitude: Double?
    /// Degrees; nil where no position is known.
    public var latitude: Double?
    /// By pressure.
    public var barometricAltitude: Length?
    /// Above the ellipsoid.
    public var geometricAltitude: Length?
    /// Whether the position was sent from the ground.
    public var isOnGround: Bool
    /// Over the ground.
    public var groundSpeed: Speed?
    /// Degrees clockwise from true north, 0 ..< 360.
    public var trackDegrees: Double?
    /// Positive: climbing.
    public var verticalRate: Speed?
    /// Serial numbers of the receivers; only where receivers were asked for.
    public var sensors: [Int]?
    /// Four octal digits.
    public var squawk: String?
    /// Special purpose indicator.
    public var isSpecialPurpose: Bool
    /// How the position was found.
    public var positionSource: PositionSource
    /// Only where it was asked for.
    public var category: EmitterCategory?

    /// A vector with what is known of it.
    public init(
        address: TransponderAddress, callsign: String? = nil, originCountry: String? = nil, positionTime: Date? = nil,
        lastContact: Date, longitude: Double? = nil, latitude: Double? = nil, barometricAltitude: Length? = nil,
        geometricAltitude: Length? = nil, isOnGround: Bool = false, groundSpeed: Speed? = nil,
        trackDegrees: Double? = nil, verticalRate: Speed? = nil, sensors: [Int]? = nil, squawk: String? = nil,
        isSpecialPurpose: Bool = false, positionSource: PositionSource = .adsb, category: EmitterCategory? = nil
    ) {
        self.address = address
        self.callsign = callsign
        self.originCountry = originCountry
        self.positionTime = positionTime
        self.lastContact = lastContact
        self.longitude = longitude
        self.latitude = latitude
        self.barometricAltitude = barometricAltitude
        self.geometricAltitude = geometricAltitude
        self.isOnGround = isOnGround
        self.groundSpeed = groundSpeed
        self.trackDegrees = trackDegrees
        self.verticalRate = verticalRate
        self.sensors = sensors
        self.squawk = squawk
        self.isSpecialPurpose = isSpecialPurpose
        self.positionSource = positionSource
        self.category = category
    }
}

/// Where a position comes from. Numbers that aren't documented are kept.
public struct PositionSource: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number on the wire.
    public var rawValue: Int

    /// Takes any number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Sent by the aircraft.
    public static let adsb = PositionSource(rawValue: 0)
    /// By a radar's message.
    public static let asterix = PositionSource(rawValue: 1)
    /// By when several receivers heard it.
    public static let multilateration = PositionSource(rawValue: 2)
    /// Sent by FLARM.
    public static let flarm = PositionSource(rawValue: 3)

    private static let names = ["ADS-B", "ASTERIX", "MLAT", "FLARM"]

    public var description: String {
        Self.names.indices.contains(rawValue) ? Self.names[rawValue] : "unknown (\(rawValue))"
    }
}

/// What kind of aircraft (or vehicle, or obstacle) says that it is. Numbers that aren't documented are kept.
public struct EmitterCategory: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number on the wire.
    public var rawValue: Int

    /// Takes any number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    private static let names = [
        "no information", "no ADS-B category", "light", "small", "large", "high vortex large", "heavy",
        "high performance", "rotorcraft", "glider", "lighter than air", "parachutist", "ultralight", "reserved",
        "unmanned", "space", "emergency vehicle", "service vehicle", "point obstacle", "cluster obstacle",
        "line obstacle",
    ]

    /// Whether it tells anything: two of the numbers say that nothing is known.
    public var isInformation: Bool { rawValue > 1 }

    /// Source: docs/upstreams/opensky.md, "State vectors"
    public var description: String {
        Self.names.indices.contains(rawValue) ? Self.names[rawValue] : "unknown (\(rawValue))"
    }
}

/// The state vectors of an instant.
public struct StateVectors: Sendable, Hashable {
    /// Each vector describes the second before it.
    public var time: Date
    /// Those that could be read.
    public var vectors: [StateVector]
    /// What was read, and what was skipped.
    public var counts: RowCounts
    /// Whether the answer said that it is made up; Billow's simulator does.
    public var isSimulated = false

    /// The vectors of a time, and what was skipped beside them.
    public init(time: Date, vectors: [StateVector], counts: RowCounts = RowCounts()) {
        self.time = time
        self.vectors = vectors
        self.counts = counts
    }
}

/// What became of the rows of an answer. A row that can't be read costs only itself, a value only itself.
public struct RowCounts: Sendable, Hashable {
    /// Why a row was skipped.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// Not a row at all.
        case unreadable
        /// No address of six hexadecimal digits.
        case address
        /// No time.
        case time
    }

    /// Rows of the answer.
    public var read = 0
    /// Skipped rows by reason.
    public var skipped: [Reason: Int] = [:]
    /// Values of rows that were taken, which were of another type or out of range, and so are nil.
    public var droppedValues = 0

    /// Nothing read yet.
    public init() {}

    mutating func skip(_ reason: Reason) { skipped[reason, default: 0] += 1 }
}
