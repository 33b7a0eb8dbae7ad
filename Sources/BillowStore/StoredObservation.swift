internal import GRDB
internal import Geometry
internal import Turbulence

/// The properties of an observation's origin that decide how long it is retained.
struct Origin {
    var isImported: Bool
    var isTransient: Bool

    /// Inherits from a corrected row: imported if either is, transient only if both are.
    mutating func inherit(_ corrected: Origin) {
        isImported = isImported || corrected.isImported
        isTransient = isTransient && corrected.isTransient
    }
}

/// A stored observation with all its columns.
struct StoredObservation {
    var row: ObservationRow
    /// The details with the public id; nil if the id is derived from the key.
    var details: ObservationDetails
    var origin: Origin
    /// The reporter's number; 0 if there is none.
    var reporter: Int64

    init(row: ObservationRow, details: ObservationDetails, origin: Origin, reporter: Int64) {
        self.row = row
        self.details = details
        self.origin = origin
        self.reporter = reporter
    }

    init(_ columns: Columns) throws {
        row = try ObservationRow(columns)
        details = ObservationDetails(columns)
        origin = Origin(
            isImported: columns.integer(ObservationColumn.imported) != 0,
            isTransient: columns.integer(ObservationColumn.transient) != 0)
        reporter = columns.integer(ObservationColumn.reporter)
    }

    /// Whether an observation with this row's id has the same content.
    func isSame(as observation: Observation, _ source: SourceNumber) -> Bool {
        row.isSameContent(as: observation, source: source) && row.kind == observation.kind
            && details.aircraft == observation.aircraft
    }
}

extension ObservationRow {
    /// Whether a computed value adds nothing to this row: it is the same, or the same severity without the EDR.
    func isKnown(_ other: Intensity) -> Bool {
        intensity == other || intensity.edr != nil && other.edr == nil && intensity.severity == other.severity
    }
}

extension ObservationKey {
    private static let tags: Int64 = 1 << tagBits

    /// The next key of the same second; wraps around at its end.
    var next: ObservationKey {
        let second = rawValue & ~(ObservationKey.tags - 1)
        return ObservationKey(rawValue: second | (rawValue + 1) & (ObservationKey.tags - 1))
    }
}
