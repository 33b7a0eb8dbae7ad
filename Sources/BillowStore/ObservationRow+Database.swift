internal import Geometry
internal import Turbulence

extension ObservationRow {
    /// Decodes a row of a query on all columns of observations.
    /// - Throws: `UnreadableRow` for a wrong checksum and for values that the schema forbids.
    init(_ columns: Columns) throws {
        var sum = RowSum()
        // The checksum needs every column, and each is read once.
        let key = columns.integer(.key, &sum)
        let cellBits = columns.integer(.cell, &sum)
        let lowestFeet = columns.integer(.altitudeMin, &sum)
        let highestFeet = columns.integer(.altitudeMax, &sum)
        let severity = columns.optionalInteger(.severity, &sum)
        let edr = columns.optionalInteger(.edr, &sum)
        let categoryNumber = columns.optionalInteger(.category, &sum)
        let sourceNumber = columns.integer(.source, &sum)
        let kindNumber = columns.integer(.kind, &sum)
        let since = columns.integer(.since, &sum)
        let until = columns.optionalInteger(.until, &sum)
        columns.sumText(.externalId, &sum)
        columns.sumText(.aircraft, &sum)
        _ = columns.integer(.imported, &sum)
        _ = columns.integer(.transient, &sum)
        _ = columns.integer(.reporter, &sum)
        _ = columns.integer(.idTaken, &sum)
        guard columns.isRight(sum, ObservationColumn.sum), let cell = Cell(h3: UInt64(bitPattern: cellBits)),
            let lowest = AltitudeBlock(thousands: Int(lowestFeet / 1_000)),
            let highest = AltitudeBlock(thousands: Int(highestFeet / 1_000)),
            let altitude = AltitudeBand(lowest: lowest, highest: highest),
            let intensity = Intensity(storedSeverity: severity, edr: edr), let source = UInt8(exactly: sourceNumber),
            let kind = UInt8(exactly: kindNumber).flatMap(ObservationKind.init(rawValue:)),
            let observedAt = Instant(seconds: Int(key >> ObservationKey.tagBits))
        else { throw UnreadableRow(observation: columns) }
        var category: AircraftCategory?
        if let categoryNumber {
            category = AircraftCategory(number: Int(categoryNumber))
            guard category != nil else { throw UnreadableRow(observation: columns) }
        }
        self.init(
            key: ObservationKey(rawValue: key), cell: cell, altitude: altitude, intensity: intensity,
            observedAt: observedAt, category: category, source: SourceNumber(rawValue: source), kind: kind,
            since: Version(rawValue: since), until: until.map(Version.init(rawValue:)))
    }

    /// Whether this row has the same content as an observation without id.
    func isSameContent(as observation: Observation, source: SourceNumber) -> Bool {
        intensity == observation.intensity && isSamePlace(as: observation, source: source)
    }

    /// Whether the source, place, second and category of an observation equal the row's.
    func isSamePlace(as observation: Observation, source: SourceNumber) -> Bool {
        cell == observation.cell && altitude == observation.altitude && observedAt == observation.observedAt
            && category == observation.category && self.source == source
    }
}

extension UnreadableRow {
    fileprivate init(observation columns: Columns) {
        self.init(columns, key: ObservationColumn.key, source: .source, times: [.key]) { _, key in
            [Instant(seconds: Int(key >> ObservationKey.tagBits))]
        }
    }
}

extension ObservationDetails {
    /// An unreadable row of a query on all columns of observations.
    init(_ columns: Columns) {
        let isTaken = columns.integer(ObservationColumn.idTaken) != 0
        self.init(
            id: isTaken ? nil : columns.text(ObservationColumn.externalId),
            aircraft: columns.text(ObservationColumn.aircraft))
    }
}

extension Intensity {
    /// nil where a value is out of range or both are NULL.
    fileprivate init?(storedSeverity severity: Int64?, edr: Int64?) {
        var reported: Severity?
        if let severity {
            guard let known = UInt8(exactly: severity).flatMap(Severity.init(rawValue:)) else { return nil }
            reported = known
        }
        var measured: EDR?
        if let edr {
            guard let known = EDR(tenThousandths: Int(edr)) else { return nil }
            measured = known
        }
        self.init(severity: reported, edr: measured)
    }
}
