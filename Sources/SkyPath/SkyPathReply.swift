public import Geometry

/// An answer of whole records whose call is not public; see `SkyPathWire.polygonsPath`.
public struct SkyPathReply<Record: Sendable>: Sendable {
    /// Those that could be read.
    public let records: [Record]
    /// What was read, and what was skipped.
    public let counts: SkyPathCounts
    /// Whether the answer said that it is made up: it must not pass for real then.
    public internal(set) var isSimulated = false
}

/// A turbulence polygon, or an area of a nowcast.
public struct SkyPathArea: Sendable, Hashable {
    /// Where it holds.
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
    /// Where it was.
    public var place: LonLat
    /// Feet; nil where none was named.
    public var altitudeFeet: Int?
    /// 0 ≤ h < 360, clockwise from north.
    public var headingDegrees: Double?
    /// Over the ground.
    public var speedMetresPerSecond: Double?
    /// Unix seconds.
    public var observedAt: Int
}

/// What a pilot reported.
public struct SkyPathPilotReport: Sendable, Hashable {
    /// SkyPath's own id.
    public var id: String
    /// Where it was.
    public var place: LonLat
    /// Unix seconds.
    public var observedAt: Int
    /// Feet; nil where none was named.
    public var altitudeFeet: Int?
    /// 0…4; nil where it says nothing about turbulence, which is not smooth air.
    public var severity: Int?
    /// The aircraft's type, as given.
    public var aircraft: String?
    /// The report's own words.
    public var text: String
}
