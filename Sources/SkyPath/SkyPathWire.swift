/// Names and paths on the wire: documented ones, and Billow's assumptions where nothing is public.
///
/// Source: docs/upstreams/skypath.md, which says for each name whether it is documented
public struct SkyPathWire: Sendable, Hashable {
    public var corridorPath = "/observations/v5/corridor"
    /// The parent's id follows.
    public var hexagonsPath = "/adsb/v5/hexagons/"
    public var mapPath = "/v4/map"
    /// Turbulence polygons. This path and the three below, and the shapes of their answers, are not public: they are
    /// assumptions, asked only for who asks for that data.
    public var polygonsPath = "/observations/v5/polygons"
    public var nowcastPath = "/nowcasting/v5/polygons"
    public var flightsPath = "/traffic/v5/flights"
    public var pirepsPath = "/pireps/v5/reports"
    /// Opens a session, for who has an account; an assumption too.
    public var sessionPath = "/auth/v5/session"
    public var apiKeyHeader = "x-api-key"
    public var accessTokenHeader = "x-access-token"
    /// A header of answers that are made up, whatever its value, unless `false`. Billow's simulator sends it.
    public var simulatedHeader = "x-simulated"

    /// Members of the corridor request.
    public var corridor = "corridor"
    public var updatedSince = "updatedSince"
    public var hoursAgo = "hoursAgo"
    public var aircraftCategory = "aircraftCategory"
    public var minAltitude = "minAlt"
    public var maxAltitude = "maxAlt"

    /// A query parameter of the bulk call, beside `hoursAgo`, `minAltitude` and `maxAltitude`.
    public var minSeverity = "minSev"

    /// Members of the map request, and `tick` and `turbulence` of its reply.
    public var mapHours = "hours"
    public var tick = "skypath_tick"
    public var fields = "fields"
    public var turbulence = "turbulence"
    public var geofence = "geofence"
    public var severities = "severities"

    /// Members of a corridor's reply, all inside `data`.
    public var lastUpdatedAt = "lastUpdatedAt"
    public var hexagons = "hexagons"
    public var corridorRecord = SkyPathRecordNames(
        id: "id", altitude: "alt", severity: "sev", edr: "edr", observedAt: "observedAt")
    public var mapRecord = SkyPathRecordNames(
        id: "hex_id", altitude: "skypath_alt", severity: "sev", edr: "edr", observedAt: "ts")
    /// Arrays of the bulk reply, inside `data`. It has no EDR; one would be read where it came.
    public var hexagonsArrays = SkyPathRecordNames(
        id: "hexId", altitude: "alt", severity: "sev", edr: "edr", observedAt: "observationTime")

    /// How a ring over the antimeridian is sent: longitudes that run on past ±180 (as SkyPath's SDK does), or wrapped.
    public var unrollsAntimeridian = true

    public init() {}
}

/// The member names of a record.
public struct SkyPathRecordNames: Sendable, Hashable {
    public var id: String
    public var altitude: String
    public var severity: String
    public var edr: String
    public var observedAt: String

    public init(id: String, altitude: String, severity: String, edr: String, observedAt: String) {
        self.id = id
        self.altitude = altitude
        self.severity = severity
        self.edr = edr
        self.observedAt = observedAt
    }
}
