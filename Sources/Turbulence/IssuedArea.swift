public import Geometry

/// An issued area with a validity: a hazard (SIGMET, G-AIRMET), a forecast or nowcast, or an upstream's own turbulence
/// polygon. It isn't an observation, so it doesn't affect the hexagons.
public struct IssuedArea: Sendable, Hashable {
    /// The dataset that serves the area, by the number that the log stores. Each dataset of areas has its own in its
    /// folder.
    public struct DatasetNumber: RawRepresentable, Sendable, Hashable {
        /// The number stored in the log.
        public let rawValue: UInt8

        /// The dataset of a stored number.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    /// The identity of an area: another area with the same identity is a correction of it. Successive issues share the
    /// id but begin at different times. So a frame of the past shows the issue that was valid then.
    package struct Identity: Sendable, Hashable {
        package var collection: DatasetNumber
        package var source: SourceID
        package var id: String
        package var validFrom: Instant

        package init(collection: DatasetNumber, source: SourceID, id: String, validFrom: Instant) {
            self.collection = collection
            self.source = source
            self.id = id
            self.validFrom = validFrom
        }
    }

    /// The kind of an upstream's own turbulence polygons.
    package static let polygonKind = "polygon"
    /// The hazard of low-level wind shear, and its upper limit in feet above the ground.
    ///
    /// Source: NWS directive 10-811, "En Route Forecasts and Advisories": LLWS of G-AIRMETs is within 2,000 ft AGL
    package static let windShear = "LLWS"
    package static let windShearTopFeet = 2_000
    /// An upper bound in feet above mean sea level of the ground at aerodromes: Leadville has 9,934 ft.
    ///
    /// Source: FAA airport data of KLXV, https://www.airnav.com/airport/KLXV
    static let highestAerodromeFeet = 10_000
    /// The dataset that serves the area.
    public var collection: DatasetNumber
    /// Stable from issue to issue. No two areas of one collection and source that are valid at one time have the same
    /// id.
    public var id: String
    /// The source that issued the area or relayed it.
    public var source: SourceID
    /// The product: the id of an area kind in the catalogue.
    public var kind: String
    /// The hazard: `TURB-HI`, `TURB-LO`, `LLWS`, `TURB`, `CONVECTIVE`, …
    public var hazard: String?
    /// The severity of the turbulence; nil if it isn't given.
    public var severity: Severity?
    /// The lower limit in feet; nil if none is given.
    public var altitudeMinFeet: Int?
    /// The upper limit in feet; nil if none is given.
    public var altitudeMaxFeet: Int?
    /// Whether the altitudes are above the ground instead of above mean sea level.
    public var isAboveGround: Bool { hazard == Self.windShear }
    /// The start of validity: the area is valid at `validFrom` ≤ t < `validTo`.
    public var validFrom: Instant
    /// The end of validity, which is the first instant at which the area isn't valid.
    public var validTo: Instant
    /// The issued end of validity, if the effective one is earlier. (An archive's copies are valid from one to the
    /// next.)
    package var statedTo: Instant?
    /// The time of issue; nil if it isn't given.
    public var issuedAt: Instant?
    /// Hours from the issue, for a forecast in steps.
    public var forecastHour: Int?
    /// The history of an upstream's polygon in seconds.
    public var historySeconds: Int?
    /// Whether it is new, amended or corrected, in the product's words.
    public var status: String?
    /// The product's own text.
    public var text: String?
    /// The polygons of the area.
    public var geometry: MultiPolygon

    /// Makes an area.
    public init(
        collection: DatasetNumber, id: String, source: SourceID, kind: String, hazard: String? = nil,
        severity: Severity? = nil, altitudeMinFeet: Int? = nil, altitudeMaxFeet: Int? = nil, validFrom: Instant,
        validTo: Instant, issuedAt: Instant? = nil, forecastHour: Int? = nil, historySeconds: Int? = nil,
        status: String? = nil, text: String? = nil, statedTo: Instant? = nil, geometry: MultiPolygon
    ) {
        self.collection = collection
        self.id = id
        self.source = source
        self.kind = kind
        self.hazard = hazard
        self.severity = severity
        self.altitudeMinFeet = altitudeMinFeet
        self.altitudeMaxFeet = altitudeMaxFeet
        self.validFrom = validFrom
        self.validTo = validTo
        self.statedTo = statedTo
        self.issuedAt = issuedAt
        self.forecastHour = forecastHour
        self.historySeconds = historySeconds
        self.status = status
        self.text = text
        self.geometry = geometry
    }

    package var identity: Identity {
        Identity(collection: collection, source: source, id: id, validFrom: validFrom)
    }

    /// An upper bound of the area in feet above mean sea level; nil if it has no limit. The terrain isn't known here,
    /// so heights above the ground are added to the highest aerodrome's elevation.
    package var reachFeet: Int? { altitudeMaxFeet.map { isAboveGround ? $0 + Self.highestAerodromeFeet : $0 } }

    /// Whether the area is valid at an instant.
    public func isValid(at instant: Instant) -> Bool { validFrom <= instant && instant < validTo }
}
