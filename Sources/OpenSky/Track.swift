public import Foundation

/// The way that an aircraft took: a point wherever it turned, climbed or sank, and every quarter of an hour at least.
public struct Track: Sendable, Hashable {
    /// A place on the way.
    public struct Waypoint: Sendable, Hashable {
        /// When it was there.
        public var time: Date
        /// Degrees, WGS 84. Longitude and latitude are both there or both nil.
        public var longitude: Double?
        /// Degrees.
        public var latitude: Double?
        /// By air pressure.
        public var barometricAltitude: Length?
        /// Degrees clockwise from true north, 0 ..< 360.
        public var trackDegrees: Double?
        /// Whether it was on the ground.
        public var isOnGround: Bool

        /// With what is known of it.
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
    /// Without the spaces that fill it up; nil where it is empty.
    public var callsign: String?
    /// When the track begins.
    public var start: Date
    /// When the track ends.
    public var end: Date
    /// The places on the way, in order.
    public var path: [Waypoint]
    /// What was read, and what was skipped.
    public var counts: RowCounts

    /// With what is known of it.
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
