import Datasets

/// A known field name of a record. It is a schema property of an imported feature, or one of the few members beside the
/// properties.
struct FieldName: Hashable, Sendable {
    /// Its index in a record's row of values.
    let place: Int

    /// The name in messages.
    var name: String { FieldName.all[place].name }

    /// The number of known names.
    static var count: Int { all.count }

    private static let all: [(name: String, aliases: [String])] = {
        var names = beside
        let properties = Schema.hexagons.properties + Schema.pireps.properties
        for property in properties where !names.contains(where: { $0.name == property.name.description }) {
            names.append((property.name.description, property.aliases))
        }
        return names
    }()

    /// Names outside the schemas: identity, place and simulation mark of a feature, and those that only the Aviation
    /// Weather Center's pilot reports have.
    private static let beside: [(name: String, aliases: [String])] =
        ImportedName.outsideSchemas.map { ($0.text, $0.aliases) } + [("rawOb", []), ("obsTime", [])]

    static let id = named("id")
    static let longitude = named("longitude")
    static let latitude = named("latitude")
    static let simulated = named("simulated")
    static let rawOb = named("rawOb")
    static let obsTime = named("obsTime")

    static let h3 = named("h3")
    static let altitude = named("altitude")
    static let altitudeMin = named("altitudeMin")
    static let altitudeMax = named("altitudeMax")
    static let severity = named("severity")
    static let severityName = named("severityName")
    static let severityBasis = named("severityBasis")
    static let edr = named("edr")
    static let observedAt = named("observedAt")
    static let aircraft = named("aircraft")
    static let source = named("source")
    static let category = named("category")
    static let kind = named("kind")
    static let reports = named("reports")
    static let turbulence = named("turbulence")
    static let text = named("text")
    static let type = named("type")

    /// A name that a decoder needs. A schema without it is a programming error, which is detected at first use.
    private static func named(_ name: String) -> FieldName {
        guard let place = all.firstIndex(where: { $0.name == name }) else {
            preconditionFailure("no schema has '\(name)', which an import reads")
        }
        return FieldName(place: place)
    }

    private init(place: Int) { self.place = place }

    private static let byName: [String: FieldName] = {
        var names: [String: FieldName] = [:]
        for (place, field) in all.enumerated() { names[normalised(field.name)] = FieldName(place: place) }
        for (place, field) in all.enumerated() {
            for alias in field.aliases where names[normalised(alias)] == nil {
                names[normalised(alias)] = FieldName(place: place)
            }
        }
        return names
    }()

    /// Parses the name of a property or column: `observedAt`, `observed_at` and `Observed At` are equal.
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

/// The raw values of one record, by name. Null and the empty text count as absent.
struct RecordFields {
    typealias Value = JSONCursor.Value

    private var values = [Value](repeating: .null, count: FieldName.count)
    /// The coordinates of a Point.
    var point: (longitude: Double, latitude: Double)?

    subscript(_ name: FieldName) -> Value { values[name.place] }

    mutating func removeAll() {
        for place in values.indices { values[place] = .null }
        point = nil
    }

    /// Stores a value. If the same name (or an alias) occurs twice, both values must be equal.
    mutating func set(_ name: FieldName, _ value: Value) throws(RefusalReason) {
        if value == .null || value == .text("") { return }
        let before = values[name.place]
        guard before == .null || before == value else { throw .contradiction("\(name.name) is given twice") }
        values[name.place] = value
    }

    /// Whether the record has a simulation mark, as exports of simulated data do.
    var saysSimulated: Bool { self[.simulated] == .bool(true) || self[.simulated] == .text("true") }

    /// A text, or the original text of a number; nil if absent.
    func text(_ name: FieldName) throws(RefusalReason) -> String? {
        switch self[name] {
        case .null: return nil
        case .text(let text), .number(let text): return text
        case .bool(let value): throw .invalid(name.name, "\(value)", "a text")
        case .structure: throw .invalid(name.name, "an array or object", "a text")
        }
    }

    /// A finite number, given as a number or as text; nil if absent.
    func number(_ name: FieldName, _ expected: String) throws(RefusalReason) -> Double? {
        guard let text = try text(name) else { return nil }
        guard RecordFields.looksLikeANumber(text), let value = Double(text), value.isFinite else {
            throw .invalid(name.name, text, expected)
        }
        return value
    }

    /// Excludes `nan`, `inf` and hexadecimal, which Swift's `Double` would accept.
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
