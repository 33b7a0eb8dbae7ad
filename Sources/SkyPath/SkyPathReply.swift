public import Geometry

/// A complete reply to a call that is not public; see `SkyPathWire.polygonsPath`.
public struct SkyPathReply<Record: Sendable>: Sendable {
    /// The valid records.
    public let records: [Record]
    /// The counts of parsed and skipped records.
    public let counts: SkyPathCounts
    /// Whether the response is marked as simulated. It must not be presented as real then.
    public internal(set) var isSimulated = false
}

/// A turbulence polygon, or an area of a nowcast.
public struct SkyPathArea: Sendable, Hashable {
    /// The polygons of the area.
    public var geometry: MultiPolygon
    /// The severity, 0…4.
    public var severity: Int
    /// The altitudes in thousands of feet.
    public var altitudesThousands: ClosedRange<Int>?
    /// The time when it was computed or issued, in Unix seconds; nil if the response doesn't give it.
    public var updatedAt: Int?
    /// The start of a nowcast's hour, in Unix seconds.
    public var validFrom: Int?
    /// The lead time of a nowcast: 0…24 hours.
    public var forecastHour: Int?
}

/// The position of an aircraft that reports to SkyPath.
///
/// Source: docs/upstreams/skypath.md, "Products that are assumed" (LiveFlight of the iOS SDK)
public struct SkyPathFlight: Sendable, Hashable {
    /// SkyPath's id, made from number, departure and destination.
    public var id: String
    /// The flight number, which may be masked.
    public var number: String?
    /// The position.
    public var place: LonLat
    /// The altitude in feet; nil if none is given.
    public var altitudeFeet: Int?
    /// The heading, 0 ≤ h < 360, clockwise from north.
    public var headingDegrees: Double?
    /// The speed over the ground.
    public var speedMetresPerSecond: Double?
    /// The time of the position in Unix seconds.
    public var observedAt: Int
}

/// A pilot report.
public struct SkyPathPilotReport: Sendable, Hashable {
    /// SkyPath's own id.
    public var id: String
    /// The position.
    public var place: LonLat
    /// The time of the report in Unix seconds.
    public var observedAt: Int
    /// The altitude in feet; nil if none is given.
    public var altitudeFeet: Int?
    /// The severity, 0…4; nil if the report has none, which does not mean smooth air.
    public var severity: Int?
    /// The aircraft's type, as reported.
    public var aircraft: String?
    /// The report's raw text.
    public var text: String
}
