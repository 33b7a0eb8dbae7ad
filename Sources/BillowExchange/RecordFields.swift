/// The names that mean something in a record. The raw value is the place in a record's row of values.
enum FieldName: Int, CaseIterable {
    case h3, longitude, latitude, altitude, altitudeMin, altitudeMax, severity, severityName, severityBasis, edr,
        observedAt,
        id, aircraft, source, category, kind, reports, simulated
    // A pilot report as Billow exports it.
    case turbulence, text, type
    // A pilot report as the Aviation Weather Center sends it.
    case rawOb, obsTime

    /// As messages write it.
    var name: String { String(describing: self) }

    private static let byName: [String: FieldName] = {
        var names: [String: FieldName] = [:]
        for field in allCases { names[field.name.lowercased()] = field }
        let aliases: [String: FieldName] = [
            "h3index": .h3, "lon": .longitude, "lng": .longitude, "lat": .latitude, "altitudeft": .altitude,
            "altitudefeet": .altitude, "altitudeminft": .altitudeMin, "altitudemaxft": .altitudeMax,
        ]
        return names.merging(aliases) { first, _ in first }
    }()

    /// Reads a property's or column's name: `observedAt`, `observed_at` and `Observed At` are the same.
    init?(_ text: some StringProtocol) {
        guard let match = FieldName.byName[FieldName.normalised(text)] else { return nil }
        self = match
    }

    private static func normalised(_ text: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: " "): continue
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): bytes.append(byte | 0x20)
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The values of one record by name, before they mean anything. Null and the empty text are the same as absence.
struct RecordFields {
    typealias Value = JSONCursor.Value

    private var values = [Value](repeating: .null, count: FieldName.allCases.count)
    /// Where a Point is.
    var point: (longitude: Double, latitude: Double)?

    subscript(_ name: FieldName) -> Value { values[name.rawValue] }

    mutating func removeAll() {
        for place in values.indices { values[place] = .null }
        point = nil
    }

    /// Keeps a value; the same name twice (or an alias beside it) must say the same.
    mutating func set(_ name: FieldName, _ value: Value) throws(RefusalReason) {
        if value == .null || value == .text("") { return }
        let before = values[name.rawValue]
        guard before == .null || before == value else { throw .contradiction("\(name.name) is given twice") }
        values[name.rawValue] = value
    }

    /// Whether the record says that it is made up, as exports of simulated data do.
    var saysSimulated: Bool { self[.simulated] == .bool(true) || self[.simulated] == .text("true") }

    /// A text, or a number as it was written; nil where absent.
    func text(_ name: FieldName) throws(RefusalReason) -> String? {
        switch self[name] {
        case .null: return nil
        case .text(let text), .number(let text): return text
        case .bool(let value): throw .invalid(name.name, "\(value)", "a text")
        case .structure: throw .invalid(name.name, "an array or object", "a text")
        }
    }

    /// A finite number, given as a number or as a text that is one; nil where absent.
    func number(_ name: FieldName, _ expected: String) throws(RefusalReason) -> Double? {
        guard let text = try text(name) else { return nil }
        guard RecordFields.looksLikeANumber(text), let value = Double(text), value.isFinite else {
            throw .invalid(name.name, text, expected)
        }
        return value
    }

    /// Swift's `Double` also reads `nan`, `inf` and hexadecimal; a file that says those means something else.
    static func looksLikeANumber(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"),
                UInt8(ascii: "e"), UInt8(ascii: "E"):
                true
            default: false
            }
        }
    }
}
