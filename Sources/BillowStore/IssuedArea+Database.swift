internal import Foundation
internal import Geometry
internal import Turbulence

/// A stored area, with its row's number.
struct StoredArea {
    var number: Int64
    var area: IssuedArea
    var isImported: Bool

    /// Decodes a row of a query on all columns of areas.
    /// - Throws: `UnreadableRow` for a wrong checksum and for values that the schema forbids.
    init(_ columns: Columns, _ names: SourceNames) throws {
        typealias Column = AreaColumn
        number = columns.integer(Column.number)
        let collection = UInt8(exactly: columns.integer(Column.collection))
        guard columns.isWhole(Column.self),
            let collection = collection.flatMap(IssuedArea.DatasetNumber.init(rawValue:)),
            let id = columns.text(Column.id), let source = names[columns.integer(Column.source)],
            let kind = columns.text(Column.kind),
            let validFrom = Instant(seconds: Int(columns.integer(Column.validFrom))),
            let validTo = Instant(seconds: Int(columns.integer(Column.validTo))),
            let geometry = columns.text(Column.geometry).flatMap(MultiPolygon.init(coordinates:))
        else { throw UnreadableRow(area: columns) }
        var severity: Severity?
        if let value = columns.optionalInteger(Column.severity) {
            severity = UInt8(exactly: value).flatMap(Severity.init(rawValue:))
            guard severity != nil else { throw UnreadableRow(area: columns) }
        }
        func integer(_ column: Column) -> Int? { columns.optionalInteger(column).map { Int($0) } }
        area = IssuedArea(
            collection: collection, id: id, source: source, kind: kind, hazard: columns.text(Column.hazard),
            severity: severity, altitudeMinFeet: integer(.altitudeMin), altitudeMaxFeet: integer(.altitudeMax),
            validFrom: validFrom, validTo: validTo, issuedAt: integer(.issuedAt).flatMap { Instant(seconds: $0) },
            forecastHour: integer(.forecastHour), historySeconds: integer(.history),
            status: columns.text(Column.status), text: columns.text(Column.text),
            statedTo: integer(.statedTo).flatMap { Instant(seconds: $0) }, geometry: geometry)
        isImported = columns.integer(Column.imported) != 0
    }
}

extension UnreadableRow {
    fileprivate init(area columns: Columns) {
        self.init(columns, key: AreaColumn.number, source: .source, times: [.validFrom, .validTo]) {
            [Instant(seconds: Int($1))]
        }
    }
}

extension RawStatement {
    /// Decodes all areas in the result of a query, and skips unreadable ones.
    func areas(_ damage: DamageRegister, _ names: SourceNames) throws -> [IssuedArea] {
        try readable(damage) { try StoredArea($0, names).area }
    }

    /// Binds an area to `Query.insertArea`.
    func bind(_ area: IssuedArea, source: SourceNumber, since: Int64, imported: Bool) throws {
        typealias Column = AreaColumn
        bind(Int64(area.collection.rawValue), Column.collection)
        try bind(area.id, Column.id)
        bind(Int64(source.rawValue), Column.source)
        try bind(area.kind, Column.kind)
        try bind(area.hazard, Column.hazard)
        bind(area.severity.map { Int64($0.rawValue) }, Column.severity)
        bind(area.altitudeMinFeet.map { Int64($0) }, Column.altitudeMin)
        bind(area.altitudeMaxFeet.map { Int64($0) }, Column.altitudeMax)
        bind(Int64(area.validFrom.seconds), Column.validFrom)
        bind(Int64(area.validTo.seconds), Column.validTo)
        bind(area.issuedAt.map { Int64($0.seconds) }, Column.issuedAt)
        bind(area.forecastHour.map { Int64($0) }, Column.forecastHour)
        bind(area.historySeconds.map { Int64($0) }, Column.history)
        try bind(area.status, Column.status)
        try bind(area.text, Column.text)
        try bind(try area.geometry.coordinatesJSON(), Column.geometry)
        bind(since, Column.since)
        bind(imported, Column.imported)
        bind(area.statedTo.map { Int64($0.seconds) }, Column.statedTo)
    }
}

extension MultiPolygon {
    /// Parses the coordinates of a GeoJSON MultiPolygon; nil for anything else.
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
