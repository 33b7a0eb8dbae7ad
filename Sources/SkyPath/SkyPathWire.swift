/// Names and paths in messages: documented ones, and Billow's assumptions for those that are not public.
///
/// Source: docs/upstreams/skypath.md, which says for each name whether it is documented
public struct SkyPathWire: Sendable, Hashable {
    /// The path of the corridor call.
    public var corridorPath = "/observations/v5/corridor"
    /// The path of the bulk call; the parent's id is appended.
    public var hexagonsPath = "/adsb/v5/hexagons/"
    /// The path of the map call.
    public var mapPath = "/v4/map"
    /// The path of turbulence polygons. This path and the three below, and the formats of their responses, are not
    /// public. They are assumptions, and are requested only if that data is configured.
    public var polygonsPath = "/observations/v5/polygons"
    /// The path of the nowcast; an assumption.
    public var nowcastPath = "/nowcasting/v5/polygons"
    /// The path of live flights; an assumption.
    public var flightsPath = "/traffic/v5/flights"
    /// The path of pilot reports; an assumption.
    public var pirepsPath = "/pireps/v5/reports"
    /// The path that opens a session for an account; an assumption.
    public var sessionPath = "/auth/v5/session"
    /// The header with the key.
    public var apiKeyHeader = "x-api-key"
    /// The header with a session's token.
    public var accessTokenHeader = "x-access-token"
    /// A header that marks responses as simulated, with any value except `false`. Billow's simulator sends it.
    public var simulatedHeader = "x-simulated"

    /// The corridor request's ring.
    public var corridor = "corridor"
    /// The corridor request's cursor.
    public var updatedSince = "updatedSince"
    /// The hours of history in the corridor request and the bulk call.
    public var hoursAgo = "hoursAgo"
    /// The aircraft's category.
    public var aircraftCategory = "aircraftCategory"
    /// The lowest level.
    public var minAltitude = "minAlt"
    /// The highest level.
    public var maxAltitude = "maxAlt"

    /// The lowest severity, a query parameter of the bulk call beside `hoursAgo`, `minAltitude` and `maxAltitude`.
    public var minSeverity = "minSev"

    /// The hours of history in the map request.
    public var mapHours = "hours"
    /// The map's cursor, in request and reply.
    public var tick = "skypath_tick"
    /// The list of requested fields in the map request.
    public var fields = "fields"
    /// The turbulence in the map request and reply.
    public var turbulence = "turbulence"
    /// The map request's ring.
    public var geofence = "geofence"
    /// The map request's severities.
    public var severities = "severities"

    /// The cursor of a corridor's reply. This and the records are inside `data`.
    public var lastUpdatedAt = "lastUpdatedAt"
    /// The records of a corridor's reply.
    public var hexagons = "hexagons"
    /// The members of a corridor's record.
    public var corridorRecord = SkyPathRecordNames(
        id: "id", altitude: "alt", severity: "sev", edr: "edr", observedAt: "observedAt")
    /// The members of a map's record.
    public var mapRecord = SkyPathRecordNames(
        id: "hex_id", altitude: "skypath_alt", severity: "sev", edr: "edr", observedAt: "ts")
    /// The arrays of the bulk reply, inside `data`. It has no EDR, but one would be parsed if it were added.
    public var hexagonsArrays = SkyPathRecordNames(
        id: "hexId", altitude: "alt", severity: "sev", edr: "edr", observedAt: "observationTime")

    /// Whether a ring over the antimeridian is sent with longitudes that continue beyond ±180, as by SkyPath's SDK.
    /// Otherwise they are wrapped.
    public var unrollsAntimeridian = true

    /// Makes the names of the reference, and Billow's assumptions.
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

    /// Makes the names of a record's five members.
    public init(id: String, altitude: String, severity: String, edr: String, observedAt: String) {
        self.id = id
        self.altitude = altitude
        self.severity = severity
        self.edr = edr
        self.observedAt = observedAt
    }
}
