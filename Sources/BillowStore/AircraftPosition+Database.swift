internal import Geometry
internal import Turbulence

extension AircraftPosition {
    /// Seconds of a bucket: positions of one lie together by aircraft.
    static let bucketSeconds = 180

    static func bucket(_ instant: Instant) -> Int64 { Int64(instant.seconds / bucketSeconds) }

    /// Reads a query on positions (see `Query`).
    /// - Throws: `UnreadableRow` for values that the schema forbids.
    init(_ columns: Columns) throws {
        guard let icao24 = UInt32(exactly: columns.integer(0)).flatMap(ICAO24.init(rawValue:)),
            let observedAt = Instant(seconds: Int(columns.integer(1))),
            let source = columns.text(2).flatMap({ SourceID($0) }),
            let place = LonLat(longitude: columns.double(3), latitude: columns.double(4))
        else {
            throw UnreadableRow(
                table: StoredTable.position.rawValue, key: columns.integer(0),
                observedAt: Instant(seconds: Int(columns.integer(1))), source: nil)
        }
        func integer(_ position: Int32) -> Int? { columns.optionalInteger(position).map { Int($0) } }
        func double(_ position: Int32) -> Double? { columns.isNull(position) ? nil : columns.double(position) }
        self.init(
            icao24: icao24, callsign: columns.text(5), place: place, source: source, observedAt: observedAt,
            altitudeFeet: integer(6), geometricAltitudeFeet: integer(7), groundSpeedKnots: double(8),
            headingDegrees: double(9), verticalRateFeetPerMinute: integer(10), isOnGround: columns.integer(11) != 0,
            category: columns.optionalInteger(12).flatMap { UInt8(exactly: $0) })
    }
}

extension RawStatement {
    /// All positions of a query on them that can be read.
    func positions(_ damage: DamageRegister) throws -> [AircraftPosition] {
        try readable(damage, AircraftPosition.init)
    }

    /// Binds a position to `Query.insertPosition`.
    func bind(_ position: AircraftPosition, source: SourceNumber, since: Int64) throws {
        bind(AircraftPosition.bucket(position.observedAt), at: 1)
        bind(Int64(position.icao24.rawValue), at: 2)
        bind(Int64(position.observedAt.seconds), at: 3)
        bind(Int64(source.rawValue), at: 4)
        bind(position.place.longitude, at: 5)
        bind(position.place.latitude, at: 6)
        try bind(position.callsign, at: 7)
        bind(position.altitudeFeet.map { Int64($0) }, at: 8)
        bind(position.geometricAltitudeFeet.map { Int64($0) }, at: 9)
        bind(position.groundSpeedKnots, at: 10)
        bind(position.headingDegrees, at: 11)
        bind(position.verticalRateFeetPerMinute.map { Int64($0) }, at: 12)
        bind(position.isOnGround ? 1 : 0 as Int64, at: 13)
        bind(position.category.map { Int64($0) }, at: 14)
        bind(since, at: 15)
    }
}
