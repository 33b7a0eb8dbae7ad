public import Foundation

/// The way that an aircraft took: a point wherever it turned, climbed or sank, and every quarter of an hour at least.
public struct Track: Sendable, Hashable {
    public struct Waypoint: Sendable, Hashable {
        public var time: Date
        /// Degrees, WGS 84. Longitude and latitude are both there or both nil.
        public var longitude: Double?
        public var latitude: Double?
        public var barometricAltitude: Length?
        /// Degrees clockwise from true north, 0 ..< 360.
        public var trackDegrees: Double?
        public var isOnGround: Bool

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

    public var address: TransponderAddress
    /// Without the spaces that fill it up; nil where it is empty.
    public var callsign: String?
    public var start: Date
    public var end: Date
    public var path: [Waypoint]
    public var counts: RowCounts

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
