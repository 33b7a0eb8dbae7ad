/// Names and paths on the wire: documented ones, and Billow's assumptions where nothing is public.
///
/// Source: docs/upstreams/skypath.md, which says for each name whether it is documented
public struct SkyPathWire: Sendable, Hashable {
    /// Where a corridor is asked for.
    public var corridorPath = "/observations/v5/corridor"
    /// The parent's id follows.
    public var hexagonsPath = "/adsb/v5/hexagons/"
    /// Where the map is asked for.
    public var mapPath = "/v4/map"
    /// Turbulence polygons. This path and the three below, and the shapes of their answers, are not public: they are
    /// assumptions, asked only for who asks for that data.
    public var polygonsPath = "/observations/v5/polygons"
    /// Where the nowcast is asked for; an assumption.
    public var nowcastPath = "/nowcasting/v5/polygons"
    /// Where live flights are asked for; an assumption.
    public var flightsPath = "/traffic/v5/flights"
    /// Where pilot reports are asked for; an assumption.
    public var pirepsPath = "/pireps/v5/reports"
    /// Opens a session, for who has an account; an assumption too.
    public var sessionPath = "/auth/v5/session"
    /// The header with the key.
    public var apiKeyHeader = "x-api-key"
    /// The header with a session's token.
    public var accessTokenHeader = "x-access-token"
    /// A header of answers that are made up, whatever its value, unless `false`. Billow's simulator sends it.
    public var simulatedHeader = "x-simulated"

    /// Members of the corridor request.
    public var corridor = "corridor"
    /// The corridor request's cursor.
    public var updatedSince = "updatedSince"
    /// How far back, of the corridor request and the bulk call.
    public var hoursAgo = "hoursAgo"
    /// The aircraft's category.
    public var aircraftCategory = "aircraftCategory"
    /// The lowest level.
    public var minAltitude = "minAlt"
    /// The highest level.
    public var maxAltitude = "maxAlt"

    /// A query parameter of the bulk call, beside `hoursAgo`, `minAltitude` and `maxAltitude`.
    public var minSeverity = "minSev"

    /// Members of the map request, and `tick` and `turbulence` of its reply.
    public var mapHours = "hours"
    /// The map's cursor, in request and reply.
    public var tick = "skypath_tick"
    /// What the map request wants.
    public var fields = "fields"
    /// The turbulence of the map request and reply.
    public var turbulence = "turbulence"
    /// The map request's ring.
    public var geofence = "geofence"
    /// The map request's severities.
    public var severities = "severities"

    /// Members of a corridor's reply, all inside `data`.
    public var lastUpdatedAt = "lastUpdatedAt"
    /// The records of a corridor's reply.
    public var hexagons = "hexagons"
    /// Members of a corridor's record.
    public var corridorRecord = SkyPathRecordNames(
        id: "id", altitude: "alt", severity: "sev", edr: "edr", observedAt: "observedAt")
    /// Members of a map's record.
    public var mapRecord = SkyPathRecordNames(
        id: "hex_id", altitude: "skypath_alt", severity: "sev", edr: "edr", observedAt: "ts")
    /// Arrays of the bulk reply, inside `data`. It has no EDR; one would be read where it came.
    public var hexagonsArrays = SkyPathRecordNames(
        id: "hexId", altitude: "alt", severity: "sev", edr: "edr", observedAt: "observationTime")

    /// How a ring over the antimeridian is sent: longitudes that run on past ±180 (as SkyPath's SDK does), or wrapped.
    public var unrollsAntimeridian = true

    /// The names of the reference, and Billow's assumptions.
    public init() {}
}

/// The member names of a record.
public struct SkyPathRecordNames: Sendable, Hashable {
    /// The cell.
    public var id: String
    /// The level.
    public var altitude: String
    /// The severity.
    public var severity: String
    /// The EDR.
    public var edr: String
    /// The time.
    public var observedAt: String

    /// The names of a record's five members.
    public init(id: String, altitude: String, severity: String, edr: String, observedAt: String) {
        self.id = id
        self.altitude = altitude
        self.severity = severity
        self.edr = edr
        self.observedAt = observedAt
    }
}
