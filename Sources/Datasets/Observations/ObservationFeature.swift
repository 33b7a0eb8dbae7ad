import Geometry
package import Turbulence

/// An observation as a feature, or the hexagon whose severity it decides.
package struct ObservationFeature: Sendable {
    package var observation: Observation
    /// The feature's id. An observation has its own id or the one of its key in the log; a hexagon has its cell.
    package var id: String
    /// The current severity, by `basis`.
    package var severity: Severity
    package var basis: SeverityBasis
    /// The number of standing observations in a hexagon, 1 or more; nil for an observation.
    package var reports: Int?
    package var trend: Trend?

    package init(
        _ observation: Observation, id: String, severity: Severity, basis: SeverityBasis, reports: Int? = nil,
        trend: Trend? = nil
    ) {
        self.observation = observation
        self.id = id
        self.severity = severity
        self.basis = basis
        self.reports = reports
        self.trend = trend
    }
}

/// The change of a hexagon's severity in 30 minutes.
package enum Trend: String, Sendable, Hashable {
    case worse, better

    /// Returns nil if the severity is unchanged, or if there was none before.
    package init?(from before: Severity?, to now: Severity) {
        guard let before, before != now else { return nil }
        self = now > before ? .worse : .better
    }
}

extension Schema where Record == ObservationFeature {
    /// The properties of an observation.
    package static let observations = Schema([
        Field(
            Property("h3", .text, "The H3 cell of resolution 5", aliases: ["h3Index"]),
            .text { $0.observation.cell.h3String }),
        Field(
            Property(
                "altitude", .integer, "The lower edge of the lowest block of 1,000 feet", role: .altitude, unit: "ft",
                range: 0...60_000, filter: "minAltitude", aliases: ["altitudeFt", "altitudeFeet"]),
            .integer { $0.observation.altitude.lowest.feet }),
        Field(
            Property(
                "altitudeMin", .integer, "The lower edge of the lowest block", role: .lowerAltitude, unit: "ft",
                range: 0...60_000,
                filter: "maxAltitude",
                aliases: ["altitudeMinFt"]), .integer { $0.observation.altitude.lowest.feet }),
        Field(
            Property(
                "altitudeMax", .integer, "The lower edge of the highest block", role: .upperAltitude, unit: "ft",
                range: 0...60_000,
                filter: "minAltitude",
                aliases: ["altitudeMaxFt"]), .integer { $0.observation.altitude.highest.feet }),
        Field(.severity, .integer { Int($0.severity.rawValue) }),
        Field(.severityName, .text { $0.severity.name }),
        Field(
            Property("severityBasis", .text, "Whether the severity was reported or derived from the EDR"),
            .text { $0.basis.rawValue }),
        Field(
            Property(
                "edr", .decimal(4), "The cube root of the eddy dissipation rate", unit: "m^(2/3) s^-1", range: 0...1),
            .decimal { $0.observation.intensity.edr?.value }),
        Field(
            Property("observedAt", .instant, "The time of the observation", role: .time, filter: "datetime"),
            .instant { $0.observation.observedAt }),
        Field(.source, .text { $0.observation.source.name }),
        Field(
            Property("kind", .text, "The kind of report: in-situ or pilot-report", filter: "kind"),
            .text { $0.observation.kind.name }),
        Field(
            Property("category", .text, "The aircraft category that the severity was given for", filter: "category"),
            .text { $0.observation.category?.name }),
        Field(Property("aircraft", .text, "The reporting aircraft or its type"), .text { $0.observation.aircraft }),
    ])

    /// The properties of a hexagon.
    package static let hexagons = Schema(
        observations.fields + [
            Field(
                Property(
                    "reports", .integer, "The number of standing observations in the hexagon", range: 1...1_000_000),
                .integer { $0.reports ?? 1 }),
            Field(
                Property("trend", .text, "worse or better than 30 minutes before; absent if it is unchanged"),
                .text { $0.trend?.rawValue }),
        ])
}

/// A cell that is coarser than those of observations: at low zooms, vector tiles have such cells in place of hexagons.
package struct CoarseCell: Sendable {
    package var severity: Severity
    package var resolution: Int

    package init(severity: Severity, resolution: Int) {
        self.severity = severity
        self.resolution = resolution
    }
}

extension Schema where Record == CoarseCell {
    /// The properties of a coarse cell.
    package static let coarseCells = Schema([
        Field(.severity, .integer { Int($0.severity.rawValue) }),
        Field(.severityName, .text { $0.severity.name }),
        Field(.resolution, .integer { $0.resolution }),
    ])
}

extension Property {
    static let severity = Property(
        "severity", .integer, "From 0, smooth, to 4, moderate to severe", role: .severity, range: 0...4,
        filter: "severity")
    static let severityName = Property("severityName", .text, "The name of the severity", role: .title(rank: 3))
    static let source = Property("source", .text, "The source, by its name in the settings", filter: "source")
    static let callsign = Property("callsign", .text, "The flight's call sign", role: .title(rank: 1))
    static let icao24 = Property(
        "icao24", .text, "The aircraft's 24-bit address, six hexadecimal digits", role: .title(rank: 4))
    /// A property of cells at low zooms.
    package static let resolution = Property(
        "resolution", .integer, "The H3 resolution of the drawn cells", range: 0...15, isOfTilesOnly: true)
}

extension Dataset {
    /// All observations of the log.
    public static let observations = Dataset(
        id: "observations", title: "Turbulence observations", shortTitle: "Observations",
        summary: "All observations of the log, standing or not.",
        kind: .observations, geometry: .point, content: .history(.observations), selection: .observed,
        timeProperty: "observedAt", drawing: nil, properties: Schema.observations.properties)

    /// The most severe standing observation of each cell.
    public static let hexagons = Dataset(
        id: "hexagons", title: "Turbulence hexagons", shortTitle: "Hexagons",
        summary: "The most severe standing observation of every H3 cell at an instant, over a history.",
        kind: .observations, geometry: .polygon, content: .history(.observations), selection: .picture,
        timeProperty: "observedAt", drawing: .cells(borderedFromZoom: 0),
        properties: Schema.hexagons.properties + [.resolution], stacking: 30, isShownAtFirst: true)

    /// Hexagons at high zooms, polygons at low ones.
    public static let turbulence = Dataset(
        id: "turbulence", title: "Turbulence", shortTitle: "Turbulence",
        summary: "Polygons up to zoom 5 and hexagons from zoom 6 on; its features are those of hexagons.",
        kind: .observations, geometry: .polygon, content: .history(.observations), selection: .picture,
        drawing: .cells(borderedFromZoom: firstHexagonZoom),
        properties: Schema.hexagons.properties + [.resolution],
        origins: [Origin("skypath", "turbulence"), .aircraftReports, .file],
        stacking: 30, parts: ["hexagons", "polygons"],
        isShownAtFirst: true)
}
