internal import Geometry
internal import Turbulence

extension ObservationRow {
    /// Reads the first eleven columns of a query on observations (see `Query`).
    /// - Throws: `UnreadableRow` for values that the schema forbids.
    init(_ columns: Columns) throws {
        let key = columns.integer(0)
        guard let cell = Cell(h3: UInt64(bitPattern: columns.integer(1))),
            let lowest = AltitudeBlock(thousands: Int(columns.integer(2) / 1_000)),
            let highest = AltitudeBlock(thousands: Int(columns.integer(3) / 1_000)),
            let altitude = AltitudeBand(lowest: lowest, highest: highest),
            let intensity = Intensity(columns, severity: 4, edr: 5),
            let source = UInt8(exactly: columns.integer(7)),
            let kind = UInt8(exactly: columns.integer(8)).flatMap(ObservationKind.init(rawValue:)),
            let observedAt = Instant(seconds: Int(key >> ObservationKey.tagBits))
        else { throw UnreadableRow(observation: columns) }
        var category: AircraftCategory?
        if let number = columns.optionalInteger(6) {
            category = AircraftCategory(number: Int(number))
            guard category != nil else { throw UnreadableRow(observation: columns) }
        }
        self.init(
            key: ObservationKey(rawValue: key), cell: cell, altitude: altitude, intensity: intensity,
            observedAt: observedAt, category: category, source: SourceNumber(rawValue: source), kind: kind,
            since: Version(rawValue: columns.integer(9)),
            until: columns.optionalInteger(10).map(Version.init(rawValue:)))
    }

    /// Whether an observation without id would be this row: everything that makes up its content is the same.
    func isSameContent(as observation: Observation, source: SourceNumber) -> Bool {
        intensity == observation.intensity && isSamePlace(as: observation, source: source)
    }

    /// Whether an observation is about the same place, second and category, by the same source.
    func isSamePlace(as observation: Observation, source: SourceNumber) -> Bool {
        cell == observation.cell && altitude == observation.altitude && observedAt == observation.observedAt
            && category == observation.category && self.source == source
    }
}

extension UnreadableRow {
    fileprivate init(observation columns: Columns) {
        let key = columns.integer(0)
        self.init(
            table: StoredTable.observation.rawValue, key: key,
            observedAt: Instant(seconds: Int(key >> ObservationKey.tagBits)), source: UInt8(exactly: columns.integer(7))
        )
    }
}

extension ObservationDetails {
    /// Reads the two columns after an observation's row.
    init(_ columns: Columns) { self.init(id: columns.text(11), aircraft: columns.text(12)) }
}

extension Intensity {
    /// nil where a value is out of range or both are NULL.
    fileprivate init?(_ columns: Columns, severity: Int32, edr: Int32) {
        var reported: Severity?
        if let value = columns.optionalInteger(severity) {
            guard let known = UInt8(exactly: value).flatMap(Severity.init(rawValue:)) else { return nil }
            reported = known
        }
        var measured: EDR?
        if let value = columns.optionalInteger(edr) {
            guard let known = EDR(tenThousandths: Int(value)) else { return nil }
            measured = known
        }
        self.init(severity: reported, edr: measured)
    }
}
