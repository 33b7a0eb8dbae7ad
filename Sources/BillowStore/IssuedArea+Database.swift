internal import Foundation
internal import Geometry
internal import Turbulence

/// An area as it stands in the log, with its row's number.
struct StoredArea {
    var number: Int64
    var area: IssuedArea
    var isImported: Bool

    /// Reads a query on areas (see `Query`).
    /// - Throws: `UnreadableRow` for values that the schema forbids.
    init(_ columns: Columns) throws {
        number = columns.integer(0)
        guard let collection = UInt8(exactly: columns.integer(1)).flatMap(IssuedArea.Collection.init(rawValue:)),
            let id = columns.text(2), let source = columns.text(3).flatMap({ SourceID($0) }),
            let kind = columns.text(4), let validFrom = Instant(seconds: Int(columns.integer(9))),
            let validTo = Instant(seconds: Int(columns.integer(10))),
            let geometry = columns.text(16).flatMap(MultiPolygon.init(coordinates:))
        else { throw UnreadableRow(area: columns) }
        var severity: Severity?
        if let value = columns.optionalInteger(6) {
            severity = UInt8(exactly: value).flatMap(Severity.init(rawValue:))
            guard severity != nil else { throw UnreadableRow(area: columns) }
        }
        func integer(_ position: Int32) -> Int? { columns.optionalInteger(position).map { Int($0) } }
        area = IssuedArea(
            collection: collection, id: id, source: source, kind: kind, hazard: columns.text(5), severity: severity,
            altitudeMinFeet: integer(7), altitudeMaxFeet: integer(8), validFrom: validFrom, validTo: validTo,
            issuedAt: integer(11).flatMap { Instant(seconds: $0) }, forecastHour: integer(12),
            historySeconds: integer(13), status: columns.text(14), text: columns.text(15),
            statedTo: integer(18).flatMap { Instant(seconds: $0) }, geometry: geometry)
        isImported = columns.integer(17) != 0
    }
}

extension UnreadableRow {
    fileprivate init(area columns: Columns) {
        self.init(
            table: StoredTable.area.rawValue, key: columns.integer(0),
            observedAt: Instant(seconds: Int(columns.integer(10))), source: nil)
    }
}

extension RawStatement {
    /// All areas of a query on them that can be read.
    func areas(_ damage: DamageRegister) throws -> [IssuedArea] {
        try readable(damage) { try StoredArea($0).area }
    }

    /// Binds an area to `Query.insertArea`.
    func bind(_ area: IssuedArea, source: SourceNumber, since: Int64, imported: Bool) throws {
        bind(Int64(area.collection.rawValue), at: 1)
        try bind(area.id, at: 2)
        bind(Int64(source.rawValue), at: 3)
        try bind(area.kind, at: 4)
        try bind(area.hazard, at: 5)
        bind(area.severity.map { Int64($0.rawValue) }, at: 6)
        bind(area.altitudeMinFeet.map { Int64($0) }, at: 7)
        bind(area.altitudeMaxFeet.map { Int64($0) }, at: 8)
        bind(Int64(area.validFrom.seconds), at: 9)
        bind(Int64(area.validTo.seconds), at: 10)
        bind(area.issuedAt.map { Int64($0.seconds) }, at: 11)
        bind(area.forecastHour.map { Int64($0) }, at: 12)
        bind(area.historySeconds.map { Int64($0) }, at: 13)
        try bind(area.status, at: 14)
        try bind(area.text, at: 15)
        try bind(try area.geometry.coordinatesJSON(), at: 16)
        bind(since, at: 17)
        bind(imported ? 1 : 0 as Int64, at: 18)
        bind(area.statedTo.map { Int64($0.seconds) }, at: 19)
    }
}

extension MultiPolygon {
    /// Reads the coordinates of a GeoJSON MultiPolygon; nil for anything else.
    fileprivate init?(coordinates text: String) {
        guard let coordinates = try? JSONDecoder().decode([[[[Double]]]].self, from: Data(text.utf8)) else {
            return nil
        }
        var polygons: [[[LonLat]]] = []
        for polygon in coordinates {
            var rings: [[LonLat]] = []
            for ring in polygon {
                var places: [LonLat] = []
                places.reserveCapacity(ring.count)
                for pair in ring {
                    guard pair.count == 2, let place = LonLat(longitude: pair[0], latitude: pair[1]) else { return nil }
                    places.append(place)
                }
                rings.append(places)
            }
            polygons.append(rings)
        }
        self.init(polygons: polygons)
    }

    fileprivate func coordinatesJSON() throws -> String {
        let coordinates = polygons.map { $0.map { $0.map { [$0.longitude, $0.latitude] } } }
        return String(decoding: try JSONEncoder().encode(coordinates), as: UTF8.self)
    }
}
