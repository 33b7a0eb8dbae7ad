package import BillowFields
package import Turbulence

/// The values of a turbulence field within an H3 cell, as a feature.
package struct FieldFeature: Sendable {
    /// Which field it is.
    package var identity: FieldIdentity
    package var source: SourceID
    /// The cell's H3 index; of resolution 0…5.
    package var cell: String
    package var resolution: Int
    /// The largest EDR of the grid's points in the cell, and their mean, in m^(2/3)/s.
    package var largestEDR: Double
    package var meanEDR: Double
    /// By the largest EDR.
    package var severity: Severity
    /// Points of the grid with a value in the cell.
    package var points: Int
    /// The lowest and the highest level that it is the maximum of, in feet; nil for the whole column of air.
    package var levels: ClosedRange<Int>?

    package init(
        identity: FieldIdentity, source: SourceID, cell: String, resolution: Int, largestEDR: Double, meanEDR: Double,
        severity: Severity, points: Int, levels: ClosedRange<Int>?
    ) {
        self.identity = identity
        self.source = source
        self.cell = cell
        self.resolution = resolution
        self.largestEDR = largestEDR
        self.meanEDR = meanEDR
        self.severity = severity
        self.points = points
        self.levels = levels
    }
}

extension Schema where Record == FieldFeature {
    /// Of a cell of a field.
    package static let gtg = Schema([
        Field(Property("h3", .text, "The H3 cell"), .text { $0.cell }),
        Field(
            Property(
                "edr", .decimal(2), "The largest eddy dissipation rate in the cell, its cube root",
                unit: "m^(2/3) s^-1", range: 0...2.54), .decimal { $0.largestEDR }),
        Field(
            Property(
                "meanEdr", .decimal(4), "The mean of the cell's values", unit: "m^(2/3) s^-1", range: 0...2.54),
            .decimal { $0.meanEDR }),
        Field(.severity, .integer { Int($0.severity.rawValue) }),
        Field(.severityName, .text { $0.severity.name }),
        Field(
            Property(
                "altitudeMin", .integer, "The lowest level that is shown; absent of the whole column", unit: "ft",
                range: 0...65_000, filter: "maxAltitude"), .integer { $0.levels?.lowerBound }),
        Field(
            Property(
                "altitudeMax", .integer, "The highest level that is shown; absent of the whole column", unit: "ft",
                range: 0...65_000, filter: "minAltitude"), .integer { $0.levels?.upperBound }),
        Field(
            Property("product", .text, "gtgn, the nowcast, or gtg, the forecast", filter: "product"),
            .text { $0.identity.product.name }),
        Field(
            Property("run", .instant, "When the computation began", filter: "run"), .instant { $0.identity.run }),
        Field(
            Property("lead", .integer, "How long after the run it is about", unit: "s", range: 0...604_800),
            .integer { $0.identity.lead }),
        Field(
            Property("validTime", .instant, "The time that it is about", filter: "datetime"),
            .instant { $0.identity.validTime }),
        Field(
            Property("points", .integer, "The grid's points in the cell that have a value", range: 1...10_000_000),
            .integer { $0.points }),
        Field(.source, .text { $0.source.name }),
    ])
}

extension Dataset {
    /// NOAA's turbulence field: GTGN up to now, GTG ahead.
    package static let gtg = Dataset(
        id: "gtg", title: "Turbulence guidance (GTG)", shortTitle: "GTG",
        summary: "NOAA's computed turbulence: the nowcast GTGN up to now, the forecast GTG ahead.",
        kind: .fields, geometry: .polygon, content: .field, selection: .picture, timeProperty: "validTime",
        updates: .changes, drawing: .field, properties: Schema.gtg.properties + [.resolution],
        origins: [Origin("noaa-gtg", "gtgn"), Origin("noaa-gtg", "gtg"), .file], stacking: -1,
        // Source: docs/upstreams/noaa.md
        attribution: "Turbulence guidance: NOAA/NWS; not a substitute for SIGMETs")
}
