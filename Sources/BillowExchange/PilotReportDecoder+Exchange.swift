import AviationFormats
import Geometry
import Turbulence

/// Decodes a pilot report in the format of Billow's own exports.
struct ExportedPilotReportDecoder {
    let values: ObservationDecoder

    /// - Parameter bytes: the buffer that the ranges in `fields` refer to.
    func report(_ fields: RecordFields, featureID: RecordFields.Value, bytes: [UInt8]) throws(RefusalReason)
        -> PilotReport
    {
        guard let text = try fields.text(.text) else { throw .missing("text") }
        guard let place = try values.point(fields) else { throw .missing("longitude") }
        let observedAt = try values.observedAt(fields)
        var id = try values.shortText(fields, .id)
        if id == nil, case .text(let given) = featureID { id = given }
        guard let id, !id.isEmpty else { throw .missing("id") }
        let altitude = try fields.number(.altitude, ExportedPilotReportDecoder.feet)
        return PilotReport(
            id: id, place: place, observedAt: observedAt, type: try values.shortText(fields, .type) ?? "PIREP",
            aircraft: try values.shortText(fields, .aircraft),
            altitudeFeet: try altitude.map { value throws(RefusalReason) in try height("altitude", value) },
            turbulence: try groups(fields[.turbulence], bytes), text: text, source: try values.source(fields))
    }

    private static let feet = "feet from 0 to 100000"

    private func height(_ name: String, _ value: Double) throws(RefusalReason) -> Int {
        guard value >= 0, value <= 100_000 else {
            throw .invalid(name, "\(value)", ExportedPilotReportDecoder.feet)
        }
        return Int(value)
    }

    /// Decodes the groups from JSON, which is embedded in GeoJSON and a text in CSV.
    private func groups(_ value: RecordFields.Value, _ bytes: [UInt8]) throws(RefusalReason) -> [TurbulenceGroup] {
        var cursor: JSONCursor
        switch value {
        case .null: return []
        case .structure(let range): cursor = JSONCursor(bytes, in: range)
        case .text(let text):
            let bytes = Array(text.utf8)
            cursor = JSONCursor(bytes, in: bytes.indices)
        case .bool, .number: throw .invalid("turbulence", "another type", "an array of groups")
        }
        var groups: [TurbulenceGroup] = []
        var first = true
        try cursor.openArray()
        while try cursor.nextElement(&first) { groups.append(try group(&cursor)) }
        try cursor.expectEnd()
        return groups
    }

    private func group(_ cursor: inout JSONCursor) throws(RefusalReason) -> TurbulenceGroup {
        var group = TurbulenceGroup(
            severity: nil, intensity: nil, baseFeet: nil, topFeet: nil, type: nil, frequency: nil)
        var first = true
        try cursor.openObject()
        while let key = try cursor.nextKey(&first) {
            switch (key, try cursor.value()) {
            case ("intensity", .text(let word)):
                group.intensity = word
                group.severity = TurbulenceIntensity(rawValue: word).step
                    .flatMap { Severity(rawValue: UInt8(clamping: $0)) }
            case ("base", .number(let text)): group.baseFeet = try height("base", Double(text) ?? -1)
            case ("top", .number(let text)): group.topFeet = try height("top", Double(text) ?? -1)
            case ("type", .text(let word)): group.type = word
            case ("frequency", .text(let word)): group.frequency = word
            default: break
            }
        }
        return group
    }
}
