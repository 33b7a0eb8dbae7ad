package import BillowFields
package import Turbulence

/// The values of a turbulence field in an H3 cell, or in the area of a severity, as a feature.
package struct FieldFeature: Sendable {
    /// The identity of the field.
    package var identity: FieldIdentity
    package var source: SourceID
    /// The cell's H3 index of resolution 0…5; nil for an area.
    package var cell: String?
    /// `exact` or `atLeast` for an area.
    package var mode: String?
    /// The number of an area's cells.
    package var hexagons: Int?
    /// The maximum and the mean EDR of its grid points, in m^(2/3)/s.
    package var largestEDR: Double
    package var meanEDR: Double
    /// The severity of the maximum EDR of each cell.
    package var severity: Severity
    /// The number of its grid points with a value.
    package var points: Int
    /// The lowest and the highest level of the maximum, in feet; nil for the whole column of air.
    package var levels: ClosedRange<Int>?

    package init(
        identity: FieldIdentity, source: SourceID, cell: String? = nil, mode: String? = nil, hexagons: Int? = nil,
        largestEDR: Double, meanEDR: Double, severity: Severity, points: Int, levels: ClosedRange<Int>?
    ) {
        self.identity = identity
        self.source = source
        self.cell = cell
        self.mode = mode
        self.hexagons = hexagons
        self.largestEDR = largestEDR
        self.meanEDR = meanEDR
        self.severity = severity
        self.points = points
        self.levels = levels
    }

    /// The feature's id: the cell, or an area's severity.
    package var id: String { cell ?? Self.contourPrefix + "\(severity.rawValue)" }

    /// The prefix of areas' ids.
    package static let contourPrefix = "contour-"
}

extension Schema where Record == FieldFeature {
    /// The properties of a cell or an area of a field.
    package static let gtg = Schema([
        Field(.fieldCell, .text { $0.cell }),
        Field(
            Property(
                "edr", .decimal(2), "The largest cube root of the eddy dissipation rate in the cell or contour",
                unit: "m^(2/3) s^-1", range: 0...2.54), .decimal { $0.largestEDR }),
        Field(
            Property(
                "meanEdr", .decimal(4), "The mean of the values in the cell or contour", unit: "m^(2/3) s^-1",
                range: 0...2.54),
            .decimal { $0.meanEDR }),
        Field(.severity, .integer { Int($0.severity.rawValue) }),
        Field(.severityName, .text { $0.severity.name }),
        Field(
            Property(
                "altitudeMin", .integer, "The lowest level that is shown; absent for the whole column",
                role: .lowerAltitude, unit: "ft", range: 0...65_000, filter: "maxAltitude"),
            .integer { $0.levels?.lowerBound }),
        Field(
            Property(
                "altitudeMax", .integer, "The highest level that is shown; absent for the whole column",
                role: .upperAltitude, unit: "ft", range: 0...65_000, filter: "minAltitude"),
            .integer { $0.levels?.upperBound }),
        Field(.fieldProduct, .text { $0.identity.product.name }),
        Field(.fieldRun, .instant { $0.identity.run }),
        Field(.fieldLead, .integer { $0.identity.lead }),
        Field(.fieldValidTime, .instant { $0.identity.validTime }),
        Field(
            Property(
                "points", .integer, "The number of grid points with a value in the cell or contour",
                range: 1...20_000_000),
            .integer { $0.points }),
        Field(
            Property(
                "mode", .text, "For a contour, exact: cells of this severity only; atLeast: of this severity or worse",
                filter: "mode"), .text { $0.mode }),
        Field(
            Property("hexagons", .integer, "The number of cells that a contour is made of", range: 1...3_000_000),
            .integer { $0.hexagons }),
        Field(.source, .text { $0.source.name }),
    ])
}

extension Dataset {
    /// NOAA's turbulence field: GTGN up to now, GTG ahead.
    package static let gtg = Dataset(
        id: "gtg", title: "Turbulence guidance (GTG)", shortTitle: "GTG",
        summary: "Computed turbulence: NOAA's nowcast GTGN up to now and its forecast GTG ahead, or imported grids.",
        kind: .fields, geometry: .polygon, content: .field, selection: .picture, timeProperty: "validTime",
        updates: .changes, drawing: .field, properties: Schema.gtg.properties + [.resolution],
        sampleProperties: Schema.fieldSamples.properties,
        origins: [Origin("noaa-gtg", "gtgn"), Origin("noaa-gtg", "gtg"), .file], stacking: -1,
        // Source: docs/upstreams/noaa.md
        attribution: "Turbulence guidance: NOAA/NWS, or the centre in a source's name; not a substitute for SIGMETs")
}
