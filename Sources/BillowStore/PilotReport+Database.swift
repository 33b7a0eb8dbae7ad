internal import Foundation
internal import Geometry
internal import Turbulence

extension PilotReport {
    /// Reads a query on pilot reports (see `Query`).
    /// - Throws: `UnreadableRow` for values that the schema forbids.
    init(_ columns: Columns) throws {
        guard let place = LonLat(longitude: columns.double(1), latitude: columns.double(2)),
            let observedAt = Instant(seconds: Int(columns.integer(3))),
            let id = columns.text(0), let type = columns.text(4), let turbulence = columns.text(7),
            let text = columns.text(8), let source = columns.text(10).flatMap({ SourceID($0) }),
            let groups = try? JSONDecoder().decode([TurbulenceGroupRecord].self, from: Data(turbulence.utf8))
        else {
            // The key says where to look.
            throw UnreadableRow(
                table: StoredTable.pilotReport.rawValue, key: columns.integer(11),
                observedAt: Instant(seconds: Int(columns.integer(3))), source: UInt8(exactly: columns.integer(9)))
        }
        self.init(
            id: id, place: place, observedAt: observedAt, type: type, aircraft: columns.text(5),
            altitudeFeet: columns.optionalInteger(6).map { Int($0) }, turbulence: groups.map(\.group), text: text,
            source: source)
    }

    /// The turbulence groups as the JSON text of their column.
    func turbulenceJSON() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(turbulence.map(TurbulenceGroupRecord.init)), as: UTF8.self)
    }
}

/// A turbulence group in its column, apart from the domain's type so that this one may change without the other.
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
