public import Geometry

/// An answer of whole records whose call is not public; see `SkyPathWire.polygonsPath`.
public struct SkyPathReply<Record: Sendable>: Sendable {
    public let records: [Record]
    public let counts: SkyPathCounts
    /// Whether the answer said that it is made up: it must not pass for real then.
    public internal(set) var isSimulated = false
}

/// A turbulence polygon, or an area of a nowcast.
public struct SkyPathArea: Sendable, Hashable {
    public var geometry: MultiPolygon
    /// 0…4.
    public var severity: Int
    /// Thousands of feet.
    public var altitudesThousands: ClosedRange<Int>?
    /// Unix seconds, when it was computed or issued; nil where the answer doesn't say.
    public var updatedAt: Int?
    /// Of a nowcast: Unix seconds, when the hour begins that it is for.
    public var validFrom: Int?
    /// Of a nowcast: 0…24 hours ahead.
    public var forecastHour: Int?
}

/// Where an aircraft was that reports to SkyPath.
///
/// Source: docs/upstreams/skypath.md, "Products that are assumed" (LiveFlight of the iOS SDK)
public struct SkyPathFlight: Sendable, Hashable {
    /// Made by SkyPath from number, departure and destination.
    public var id: String
    /// The flight number, which may be masked.
    public var number: String?
    public var place: LonLat
    public var altitudeFeet: Int?
    /// 0 ≤ h < 360, clockwise from north.
    public var headingDegrees: Double?
    public var speedMetresPerSecond: Double?
    /// Unix seconds.
    public var observedAt: Int
}

/// What a pilot reported.
public struct SkyPathPilotReport: Sendable, Hashable {
    public var id: String
    public var place: LonLat
    /// Unix seconds.
    public var observedAt: Int
    public var altitudeFeet: Int?
    /// 0…4; nil where it says nothing about turbulence, which is not smooth air.
    public var severity: Int?
    public var aircraft: String?
    public var text: String
}
