package import BillowFields
package import Turbulence

/// The value of a turbulence field at a place, as a feature: of one field at a level, or between two fields and levels
/// along a flight.
package struct FieldSampleFeature: Sendable {
    /// The field; of a value between two fields, the one before.
    package var identity: FieldIdentity?
    package var source: SourceID?
    /// The field after; nil where the value is of one field.
    package var next: FieldIdentity?
    /// The H3 index of the cell that the sample stands for; nil for a position.
    package var cell: String?
    /// The level in feet; nil for the whole column of air.
    package var feet: Int?
    /// In ten-thousandths of m^(2/3)/s; nil where the field has no value.
    package var tenThousandths: Int?
    package var severity: Severity?
    /// Why there is no value along a flight.
    package var gap: String?

    package init(
        identity: FieldIdentity? = nil, source: SourceID? = nil, next: FieldIdentity? = nil, cell: String? = nil,
        feet: Int? = nil, tenThousandths: Int? = nil, severity: Severity? = nil, gap: String? = nil
    ) {
        self.identity = identity
        self.source = source
        self.next = next
        self.cell = cell
        self.feet = feet
        self.tenThousandths = tenThousandths
        self.severity = severity
        self.gap = gap
    }
}

extension Schema where Record == FieldSampleFeature {
    /// The properties of `gtg` at a position, and along a route.
    package static let fieldSamples = Schema([
        Field(.fieldCell, .text { $0.cell }),
        Field(
            Property(
                "altitude", .integer, "The level; absent for the whole column", role: .altitude, unit: "ft",
                range: 0...65_000),
            .integer { $0.feet }),
        Field(
            Property(
                "edr", .decimal(4), "The cube root of the eddy dissipation rate", unit: "m^(2/3) s^-1",
                range: 0...2.54), .decimal { $0.tenThousandths.map { Double($0) / 10_000 } }),
        Field(.severity, .number { $0.severity }),
        Field(.severityName, .name { $0.severity }),
        Field(
            Property("unknown", .text, "Along a route, why there is no value: time, outside, level or missing"),
            .text { $0.gap }),
        Field(.fieldProduct, .text { $0.identity?.product.name }),
        Field(.fieldRun, .instant { $0.identity?.run }),
        Field(.fieldLead, .integer { $0.identity?.lead }),
        Field(.fieldValidTime, .instant { $0.identity?.validTime }),
        Field(
            Property("nextProduct", .text, "Between two fields: the product of the later field"),
            .text { $0.next?.product.name }),
        Field(Property("nextRun", .instant, "The run of the later field"), .instant { $0.next?.run }),
        Field(
            Property("nextLead", .integer, "The lead time of the later field", unit: "s", range: 0...604_800),
            .integer { $0.next?.lead }),
        Field(Property("nextValidTime", .instant, "Its valid time"), .instant { $0.next?.validTime }),
        Field(.source, .text { $0.source?.name }),
    ])
}

extension Property {
    /// The cell of a field's feature.
    static let fieldCell = Property("h3", .text, "The H3 cell; absent for a contour and a position")
    /// The product of a field.
    static let fieldProduct = Property(
        "product", .text,
        FieldProduct.allCases.map { "\($0.name), the \($0.title.lowercased())" }.joined(separator: ", or "),
        filter: "product")
    /// The run of a field.
    static let fieldRun = Property("run", .instant, "The time when the computation began", filter: "run")
    /// The lead time of a field.
    static let fieldLead = Property(
        "lead", .integer, "The valid time minus the time of the run", unit: "s", range: 0...604_800)
    /// The valid time of a field.
    static let fieldValidTime = Property(
        "validTime", .instant, "The time for which the field is computed", role: .time, filter: "datetime")
}
