internal import Foundation
internal import Geometry
internal import Turbulence

extension PilotReport {
    /// Decodes a row of a query on all columns of pilot reports.
    /// - Throws: `UnreadableRow` for a wrong checksum and for values that the schema forbids.
    init(_ columns: Columns, _ names: SourceNames) throws {
        typealias Column = PilotReportColumn
        guard columns.isWhole(Column.self),
            let place = LonLat(longitude: columns.double(Column.lon), latitude: columns.double(Column.lat)),
            let observedAt = Instant(seconds: Int(columns.integer(Column.observedAt))),
            let id = columns.text(Column.id), let type = columns.text(Column.type),
            let turbulence = columns.text(Column.turbulence), let text = columns.text(Column.text),
            let source = names[columns.integer(Column.source)],
            let groups = try? JSONDecoder().decode([TurbulenceGroupRecord].self, from: Data(turbulence.utf8))
        else {
            throw UnreadableRow(columns, key: Column.number, source: .source, times: [.observedAt]) {
                [Instant(seconds: Int($1))]
            }
        }
        self.init(
            id: id, place: place, observedAt: observedAt, type: type, aircraft: columns.text(Column.aircraft),
            altitudeFeet: columns.optionalInteger(Column.altitude).map { Int($0) }, turbulence: groups.map(\.group),
            text: text, source: source)
    }

    /// The turbulence groups as JSON text for their column.
    func turbulenceJSON() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(turbulence.map(TurbulenceGroupRecord.init)), as: UTF8.self)
    }
}

/// The stored form of a turbulence group. It is separate from the domain type, so that the domain type can change.
private struct TurbulenceGroupRecord: Codable {
    var severity: UInt8?
    var intensity: String?
    var base: Int?
    var top: Int?
    var type: String?
    var frequency: String?

    init(_ group: TurbulenceGroup) {
        severity = group.severity?.rawValue
        intensity = group.intensity
        base = group.baseFeet
        top = group.topFeet
        type = group.type
        frequency = group.frequency
    }

    var group: TurbulenceGroup {
        TurbulenceGroup(
            severity: severity.flatMap(Severity.init(rawValue:)), intensity: intensity, baseFeet: base, topFeet: top,
            type: type, frequency: frequency)
    }
}
