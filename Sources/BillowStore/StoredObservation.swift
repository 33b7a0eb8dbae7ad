internal import GRDB
internal import Geometry
internal import Turbulence

/// How an observation came, as far as that decides how long it stays.
struct Origin {
    var isImported: Bool
    var isTransient: Bool

    /// Takes over what a corrected row was: imported if either is, transient only if both are.
    mutating func inherit(_ corrected: Origin) {
        isImported = isImported || corrected.isImported
        isTransient = isTransient && corrected.isTransient
    }
}

/// A stored observation with all its columns.
struct StoredObservation {
    var row: ObservationRow
    /// With its public id: none where it is made of the key.
    var details: ObservationDetails
    var origin: Origin
    /// 0 for none.
    var reporter: Int64

    init(_ columns: Columns) throws {
        row = try ObservationRow(columns)
        details = ObservationDetails(columns)
        origin = Origin(
            isImported: columns.integer(ObservationColumn.imported) != 0,
            isTransient: columns.integer(ObservationColumn.transient) != 0)
        reporter = columns.integer(ObservationColumn.reporter)
    }

    /// Whether an observation with this row's id says the same.
    func isSame(as observation: Observation, _ source: SourceNumber) -> Bool {
        row.isSameContent(as: observation, source: source) && row.kind == observation.kind
            && details.aircraft == observation.aircraft
    }
}

extension ObservationRow {
    /// Whether a computed value is known by this row: it is the same, or the same severity without the EDR.
    func isKnown(_ other: Intensity) -> Bool {
        intensity == other || intensity.edr != nil && other.edr == nil && intensity.severity == other.severity
    }
}

extension ObservationKey {
    private static let tags: Int64 = 1 << tagBits

    /// The next key of the same second, round at its end.
    var next: ObservationKey {
        let second = rawValue & ~(ObservationKey.tags - 1)
        return ObservationKey(rawValue: second | (rawValue + 1) & (ObservationKey.tags - 1))
    }
}
