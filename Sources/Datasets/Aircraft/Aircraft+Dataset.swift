package import Turbulence

extension Schema where Record == AircraftPosition {
    package static let traffic = Schema([
        Field(.icao24, .text { $0.icao24.text }),
        Field(.callsign, .text { $0.callsign }),
        Field(
            Property(
                "altitude", .integer, "The barometric altitude", role: .altitude, unit: "ft",
                range: -6_600...165_000, filter: "minAltitude"),
            .integer { $0.altitudeFeet }),
        Field(
            Property("geometricAltitude", .integer, "The altitude by satellite", unit: "ft"),
            .integer { $0.geometricAltitudeFeet }),
        Field(
            Property("groundSpeed", .decimal(1), "The speed over ground", unit: "kt", range: 0...2_000),
            .decimal { $0.groundSpeedKnots }),
        Field(
            Property("heading", .decimal(2), "The track over ground from true north", unit: "°", range: 0...360),
            .decimal { $0.headingDegrees }),
        Field(
            Property("verticalRate", .integer, "The rate of climb; negative in a descent", unit: "ft/min"),
            .integer { $0.verticalRateFeetPerMinute }),
        Field(Property("onGround", .flag, "Whether the aircraft is on the ground"), .flag { $0.isOnGround }),
        Field(
            Property("category", .integer, "The emitter category of ADS-B", range: 0...20),
            .integer { $0.category.map(Int.init) }),
        Field(
            Property("observedAt", .instant, "The time of the last position", role: .time, filter: "datetime"),
            .instant { $0.observedAt }),
        Field(.source, .text { $0.source.name }),
    ])
}

/// The track of an aircraft as a feature.
package struct TrackFeature: Sendable {
    /// The last known position.
    package var newest: AircraftPosition
    package var observedFrom: Instant?
    package var observedTo: Instant?
    /// The times of all vertices, line after line; empty if they weren't requested.
    package var times: [Instant]

    package init(newest: AircraftPosition, observedFrom: Instant?, observedTo: Instant?, times: [Instant] = []) {
        self.newest = newest
        self.observedFrom = observedFrom
        self.observedTo = observedTo
        self.times = times
    }
}

extension Schema where Record == TrackFeature {
    package static let tracks = Schema([
        Field(.icao24, .text { $0.newest.icao24.text }),
        Field(.callsign, .text { $0.newest.callsign }),
        Field(
            Property("observedFrom", .instant, "The time of its first vertex", role: .start),
            .instant { $0.observedFrom }),
        Field(Property("observedTo", .instant, "The time of its last vertex", role: .end), .instant { $0.observedTo }),
        Field(
            Property("times", .instants, "The time of every vertex", isInTiles: false),
            .instants { $0.times.isEmpty ? nil : $0.times }),
        Field(.source, .text { $0.newest.source.name }),
    ])
}

extension Dataset {
    /// The length of the track behind an aircraft in seconds.
    package static let trackSeconds = 1_800

    /// Aircraft at their last known positions.
    public static let traffic = Dataset(
        id: "traffic", title: "Traffic", shortTitle: "Aircraft",
        summary: "The last known position of each aircraft, with its heading.",
        kind: .positions, geometry: .point, content: .positions(trackSeconds: 0), selection: .standing,
        timeProperty: "observedAt", updates: .every(seconds: 10), drawing: .aircraft,
        properties: Schema.traffic.properties, origins: aircraft, stacking: 50)

    /// The tracks of aircraft.
    public static let tracks = Dataset(
        id: "tracks", title: "Tracks", shortTitle: "Tracks",
        summary: "The track of every aircraft over a history, with the time of each vertex.",
        kind: .positions, geometry: .line, content: .positions(trackSeconds: trackSeconds), selection: .tracks,
        timeProperty: "observedTo", drawing: .tracks, properties: Schema.tracks.properties, origins: aircraft,
        stacking: 40)

    private static let aircraft = [Origin("skypath", "flights"), Origin("opensky", "states")]
}
