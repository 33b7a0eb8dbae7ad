internal import Geometry
internal import Turbulence

extension AircraftPosition {
    /// The length of a bucket in seconds. Positions of one bucket are stored together by aircraft.
    static let bucketSeconds = 180

    static func bucket(_ instant: Instant) -> Int64 { Int64(instant.seconds / bucketSeconds) }

    /// Decodes a row of a query on all columns of positions.
    /// - Throws: `UnreadableRow` for a wrong checksum and for values that the schema forbids.
    init(_ columns: Columns, _ names: SourceNames) throws {
        typealias Column = PositionColumn
        guard columns.isWhole(Column.self),
            let icao24 = UInt32(exactly: columns.integer(Column.icao24)).flatMap(ICAO24.init(rawValue:)),
            let observedAt = Instant(seconds: Int(columns.integer(Column.observedAt))),
            let source = names[columns.integer(Column.source)],
            let place = LonLat(longitude: columns.double(Column.lon), latitude: columns.double(Column.lat))
        else { throw UnreadableRow(position: columns) }
        func integer(_ column: Column) -> Int? { columns.optionalInteger(column).map { Int($0) } }
        func double(_ column: Column) -> Double? { columns.isNull(column) ? nil : columns.double(column) }
        self.init(
            icao24: icao24, callsign: columns.text(Column.callsign), place: place, source: source,
            observedAt: observedAt, altitudeFeet: integer(.altitude),
            geometricAltitudeFeet: integer(.geometricAltitude),
            groundSpeedKnots: double(.groundSpeed), headingDegrees: double(.heading),
            verticalRateFeetPerMinute: integer(.verticalRate), isOnGround: columns.integer(Column.onGround) != 0,
            category: columns.optionalInteger(Column.category).flatMap { UInt8(exactly: $0) })
    }
}

extension UnreadableRow {
    /// An unreadable position. The bucket gives the time to within three minutes, and either the bucket or the time is
    /// right.
    fileprivate init(position columns: Columns) {
        self.init(columns, key: PositionColumn.sum, source: .source, times: [.bucket, .observedAt]) { column, value in
            guard column == .bucket else { return [Instant(seconds: Int(value))] }
            let (start, isTooLarge) = Int(value).multipliedReportingOverflow(by: AircraftPosition.bucketSeconds)
            guard !isTooLarge, let start = Instant(seconds: start) else { return [] }
            return [start, start.advanced(by: AircraftPosition.bucketSeconds)]
        }
    }
}

extension RawStatement {
    /// Decodes all positions in the result of a query, and skips unreadable ones.
    func positions(_ damage: DamageRegister, _ names: SourceNames) throws -> [AircraftPosition] {
        try readable(damage) { try AircraftPosition($0, names) }
    }

    /// Binds a position to `Query.insertPosition`.
    func bind(_ position: AircraftPosition, source: SourceNumber, since: Int64) throws {
        typealias Column = PositionColumn
        bind(AircraftPosition.bucket(position.observedAt), Column.bucket)
        bind(Int64(position.icao24.rawValue), Column.icao24)
        bind(Int64(position.observedAt.seconds), Column.observedAt)
        bind(Int64(source.rawValue), Column.source)
        bind(position.place.longitude, Column.lon)
        bind(position.place.latitude, Column.lat)
        try bind(position.callsign, Column.callsign)
        bind(position.altitudeFeet.map { Int64($0) }, Column.altitude)
        bind(position.geometricAltitudeFeet.map { Int64($0) }, Column.geometricAltitude)
        bind(position.groundSpeedKnots, Column.groundSpeed)
        bind(position.headingDegrees, Column.heading)
        bind(position.verticalRateFeetPerMinute.map { Int64($0) }, Column.verticalRate)
        bind(position.isOnGround, Column.onGround)
        bind(position.category.map { Int64($0) }, Column.category)
        bind(since, Column.since)
    }
}
