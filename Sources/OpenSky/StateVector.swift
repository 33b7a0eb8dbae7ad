public import Foundation

/// The state of an aircraft at an instant. Values that the response lacks are nil.
public struct StateVector: Sendable, Hashable {
    /// The transponder's address.
    public var address: TransponderAddress
    /// The call sign without padding; nil if it is empty.
    public var callsign: String?
    /// The country of the address block.
    public var originCountry: String?
    /// The time when the position was received.
    public var positionTime: Date?
    /// The time of the last received message.
    public var lastContact: Date
    /// The longitude in degrees, WGS 84. Longitude and latitude are both given or both nil.
    public var longitude: Double?
    /// The latitude in degrees; nil if the position is unknown.
    public var latitude: Double?
    /// The pressure altitude.
    public var barometricAltitude: Length?
    /// The height above the ellipsoid.
    public var geometricAltitude: Length?
    /// Whether the position was sent from the ground.
    public var isOnGround: Bool
    /// The speed over the ground.
    public var groundSpeed: Speed?
    /// The track in degrees clockwise from true north, 0 ..< 360.
    public var trackDegrees: Double?
    /// The vertical rate, positive while climbing.
    public var verticalRate: Speed?
    /// The serial numbers of the receivers; only if receivers were requested.
    public var sensors: [Int]?
    /// The squawk code: four octal digits.
    public var squawk: String?
    /// Whether the special purpose indicator is set.
    public var isSpecialPurpose: Bool
    /// The source of the position.
    public var positionSource: PositionSource
    /// The category; only if it was requested.
    public var category: EmitterCategory?

    /// Makes a state vector.
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

/// The source of a position. Undocumented numbers are preserved.
public struct PositionSource: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number in responses.
    public var rawValue: Int

    /// Makes a value from any number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Sent by the aircraft (ADS-B).
    public static let adsb = PositionSource(rawValue: 0)
    /// From a radar's message.
    public static let asterix = PositionSource(rawValue: 1)
    /// From the times of reception at several receivers.
    public static let multilateration = PositionSource(rawValue: 2)
    /// Sent by FLARM.
    public static let flarm = PositionSource(rawValue: 3)

    private static let names = ["ADS-B", "ASTERIX", "MLAT", "FLARM"]

    public var description: String {
        Self.names.indices.contains(rawValue) ? Self.names[rawValue] : "unknown (\(rawValue))"
    }
}

/// The category of an aircraft, vehicle or obstacle, as transmitted. Undocumented numbers are preserved.
public struct EmitterCategory: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number in responses.
    public var rawValue: Int

    /// Makes a value from any number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    private static let names = [
        "no information", "no ADS-B category", "light", "small", "large", "high vortex large", "heavy",
        "high performance", "rotorcraft", "glider", "lighter than air", "parachutist", "ultralight", "reserved",
        "unmanned", "space", "emergency vehicle", "service vehicle", "point obstacle", "cluster obstacle",
        "line obstacle",
    ]

    /// Whether it is informative: two of the numbers mean that the category is unknown.
    public var isInformation: Bool { rawValue > 1 }

    /// Source: docs/upstreams/opensky.md, "State vectors"
    public var description: String {
        Self.names.indices.contains(rawValue) ? Self.names[rawValue] : "unknown (\(rawValue))"
    }
}

/// The state vectors of an instant.
public struct StateVectors: Sendable, Hashable {
    /// The time of the vectors; each describes the second before it.
    public var time: Date
    /// The valid vectors.
    public var vectors: [StateVector]
    /// The counts of parsed and skipped rows.
    public var counts: RowCounts
    /// Whether the response is marked as simulated, as by Billow's simulator.
    public var isSimulated = false

    /// Makes the state vectors of an instant.
    public init(time: Date, vectors: [StateVector], counts: RowCounts = RowCounts()) {
        self.time = time
        self.vectors = vectors
        self.counts = counts
    }
}

/// The counts of a response's rows. An invalid row or value doesn't affect others.
public struct RowCounts: Sendable, Hashable {
    /// Why a row was skipped.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// It isn't a row.
        case unreadable
        /// The address isn't six hexadecimal digits.
        case address
        /// The time is missing.
        case time
    }

    /// The number of rows in the response.
    public var read = 0
    /// The skipped rows by reason.
    public var skipped: [Reason: Int] = [:]
    /// The number of values that became nil, because their type was wrong or they were out of range. Values of skipped
    /// rows aren't counted.
    public var droppedValues = 0

    /// Makes counts of zero.
    public init() {}

    mutating func skip(_ reason: Reason) { skipped[reason, default: 0] += 1 }
}
