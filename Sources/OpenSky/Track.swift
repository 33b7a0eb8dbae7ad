public import Foundation

/// The track of an aircraft. It has a point wherever the aircraft turned, climbed or descended, and at least one every
/// quarter of an hour.
public struct Track: Sendable, Hashable {
    /// A point of the track.
    public struct Waypoint: Sendable, Hashable {
        /// The time of the point.
        public var time: Date
        /// The longitude in degrees, WGS 84. Longitude and latitude are both given or both nil.
        public var longitude: Double?
        /// The latitude in degrees.
        public var latitude: Double?
        /// The pressure altitude.
        public var barometricAltitude: Length?
        /// The track in degrees clockwise from true north, 0 ..< 360.
        public var trackDegrees: Double?
        /// Whether the aircraft was on the ground.
        public var isOnGround: Bool

        /// Makes a point.
        public init(
            time: Date, longitude: Double? = nil, latitude: Double? = nil, barometricAltitude: Length? = nil,
            trackDegrees: Double? = nil, isOnGround: Bool = false
        ) {
            self.time = time
            self.longitude = longitude
            self.latitude = latitude
            self.barometricAltitude = barometricAltitude
            self.trackDegrees = trackDegrees
            self.isOnGround = isOnGround
        }
    }

    /// The transponder's address.
    public var address: TransponderAddress
    /// The call sign without padding; nil if it is empty.
    public var callsign: String?
    /// The start of the track.
    public var start: Date
    /// The end of the track.
    public var end: Date
    /// The points in order.
    public var path: [Waypoint]
    /// The counts of parsed and skipped rows.
    public var counts: RowCounts

    /// Makes a track.
    public init(
        address: TransponderAddress, callsign: String? = nil, start: Date, end: Date, path: [Waypoint],
        counts: RowCounts = RowCounts()
    ) {
        self.address = address
        self.callsign = callsign
        self.start = start
        self.end = end
        self.path = path
        self.counts = counts
    }
}
