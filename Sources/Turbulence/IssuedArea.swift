public import Geometry

/// An area that somebody issued, with a validity: a hazard (SIGMET, G-AIRMET), a forecast or nowcast, or an upstream's
/// own turbulence polygon. Not an observation: it never enters the hexagons.
public struct IssuedArea: Sendable, Hashable {
    /// The dataset that serves it, by the number that the log stores. A new dataset of areas may add one.
    public struct Collection: RawRepresentable, Sendable, Hashable {
        /// The number that the log stores.
        public let rawValue: UInt8

        /// The collection of a stored number.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// SIGMETs and G-AIRMETs.
        public static let hazards = Collection(rawValue: 0)
        /// Forecasts and nowcasts.
        public static let forecast = Collection(rawValue: 1)
        /// An upstream's own turbulence polygons.
        public static let polygons = Collection(rawValue: 2)
    }

    /// What an area is told apart by: the same again corrects it. Issues that follow each other share the id and begin
    /// at different times, so that a picture of the past keeps the one that held then.
    package struct Identity: Sendable, Hashable {
        package var collection: Collection
        package var source: SourceID
        package var id: String
        package var validFrom: Instant

        package init(collection: Collection, source: SourceID, id: String, validFrom: Instant) {
            self.collection = collection
            self.source = source
            self.id = id
            self.validFrom = validFrom
        }
    }

    /// The kind of an upstream's own turbulence polygons.
    package static let polygonKind = "polygon"
    /// The hazard of low-level wind shear, and the feet above the ground below which it is.
    ///
    /// Source: NWS directive 10-811, "En Route Forecasts and Advisories": LLWS of G-AIRMETs is within 2,000 ft AGL
    package static let windShear = "LLWS"
    package static let windShearTopFeet = 2_000
    /// Feet above mean sea level that ground is taken to reach at most where aircraft land: Leadville has 9,934 ft.
    ///
    /// Source: FAA airport data, KLXV
    static let highestAerodromeFeet = 10_000
    /// The dataset that serves it.
    public var collection: Collection
    /// Stable from issue to issue; at one time no two areas of its collection and source have the same.
    public var id: String
    /// Who issued it, or passed it on.
    public var source: SourceID
    /// The product: the id of an area kind of the catalogue.
    public var kind: String
    /// What it warns of: `TURB-HI`, `TURB-LO`, `LLWS`, `TURB`, `CONVECTIVE`, …
    public var hazard: String?
    /// How severe the turbulence in it is; nil where that isn't said.
    public var severity: Severity?
    /// Feet; nil where no lower limit was named.
    public var altitudeMinFeet: Int?
    /// Feet; nil where no upper limit was named.
    public var altitudeMaxFeet: Int?
    /// Whether the altitudes are above the ground, and not above mean sea level.
    public var isAboveGround: Bool { hazard == Self.windShear }
    /// It holds at `validFrom` ≤ t < `validTo`.
    public var validFrom: Instant
    /// The first instant at which it holds no more.
    public var validTo: Instant
    /// When it was said to end, where it is taken to hold for less (an archive's copies hold from one to the next).
    package var statedTo: Instant?
    /// When it was issued; nil where that isn't said.
    public var issuedAt: Instant?
    /// Hours from the issue, of a forecast that comes in steps.
    public var forecastHour: Int?
    /// How far an upstream's polygon looks back.
    public var historySeconds: Int?
    /// Whether it is new, amended or corrected, in the product's words.
    public var status: String?
    /// The product's own words.
    public var text: String?
    /// Where it holds.
    public var geometry: MultiPolygon

    /// An area with its validity and what is known of it.
    public init(
        collection: Collection, id: String, source: SourceID, kind: String, hazard: String? = nil,
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

    /// Feet above mean sea level that it may reach; nil for the sky. Where the ground lies isn't known here, so what
    /// is told above it may stand on the highest.
    package var reachFeet: Int? { altitudeMaxFeet.map { isAboveGround ? $0 + Self.highestAerodromeFeet : $0 } }

    /// Whether it holds at an instant.
    public func isValid(at instant: Instant) -> Bool { validFrom <= instant && instant < validTo }
}
