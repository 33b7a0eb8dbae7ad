public import Turbulence

/// A turbulence polygon as a feature: dissolved from hexagons, or as an upstream issued it.
package struct PolygonFeature: Sendable {
    package var severity: Severity?
    package var historySeconds: Int?
    /// `exact` or `atLeast`; nil for an issued polygon.
    package var mode: String?
    package var altitudeMinFeet: Int?
    package var altitudeMaxFeet: Int?
    /// The number of its cells; nil for an issued polygon.
    package var hexagons: Int?
    package var observedFrom: Instant?
    package var observedTo: Instant?
    package var source: String

    package init(
        severity: Severity?, historySeconds: Int?, mode: String? = nil, altitudeMinFeet: Int?, altitudeMaxFeet: Int?,
        hexagons: Int? = nil, observedFrom: Instant?, observedTo: Instant?, source: String
    ) {
        self.severity = severity
        self.historySeconds = historySeconds
        self.mode = mode
        self.altitudeMinFeet = altitudeMinFeet
        self.altitudeMaxFeet = altitudeMaxFeet
        self.hexagons = hexagons
        self.observedFrom = observedFrom
        self.observedTo = observedTo
        self.source = source
    }

    /// Makes a feature of an issued polygon.
    package init(_ area: IssuedArea) {
        self.init(
            severity: area.severity, historySeconds: area.historySeconds, altitudeMinFeet: area.altitudeMinFeet,
            altitudeMaxFeet: area.altitudeMaxFeet,
            observedFrom: area.historySeconds.map { area.validFrom.advanced(by: -$0) }, observedTo: area.validFrom,
            source: area.source.name)
    }
}

extension Schema where Record == PolygonFeature {
    package static let polygons = Schema([
        Field(.severity, .number { $0.severity }),
        Field(.severityName, .name { $0.severity }),
        Field(
            Property(
                "history", .decimal(4), "The history of the polygon", unit: "h", range: 0...6, filter: "hours"),
            .decimal { feature in feature.historySeconds.map { Double($0) / 3_600 } }),
        Field(
            Property(
                "mode", .text, "exact: cells of this severity; atLeast: of this severity or worse", filter: "mode"),
            .text { $0.mode }),
        Field(
            Property(
                "altitudeMin", .integer, "The lowest requested altitude", role: .lowerAltitude, unit: "ft",
                range: 0...60_000),
            .integer { $0.altitudeMinFeet }),
        Field(
            Property(
                "altitudeMax", .integer, "The highest requested altitude", role: .upperAltitude, unit: "ft",
                range: 0...60_000),
            .integer { $0.altitudeMaxFeet }),
        Field(
            Property("hexagons", .integer, "The number of cells that the polygon is made of", range: 1...3_000_000),
            .integer { $0.hexagons }),
        Field(
            Property("observedFrom", .instant, "The time of its oldest observation", role: .start),
            .instant { $0.observedFrom }),
        Field(
            Property("observedTo", .instant, "The time of its newest observation", role: .end),
            .instant { $0.observedTo }),
        Field(.source, .text { $0.source }),
    ])
}

extension IssuedArea.DatasetNumber {
    /// An upstream's own turbulence polygons.
    public static let polygons = IssuedArea.DatasetNumber(rawValue: 2)
}

extension FeedKind {
    /// Turbulence polygons as a source issued them; Billow's own are made from observations.
    package static let polygons = FeedKind(rawValue: "polygons")
}

extension Dataset {
    /// Hexagons of one severity, or of it and worse, as one area.
    public static let polygons = Dataset(
        id: "polygons", title: "Turbulence polygons", shortTitle: "Polygons",
        summary:
            "Hexagons of one severity, or of a severity and worse, merged into areas; or those that a source issued.",
        kind: .observations, geometry: .polygon, content: .polygons, selection: .picture, drawing: .polygons,
        properties: Schema.polygons.properties + [.resolution], origins: [Origin("skypath", "polygons")],
        areaKinds: [AreaKind(IssuedArea.polygonKind, "Polygon", from: Origin("skypath", "polygons"))], stacking: 25)
}
