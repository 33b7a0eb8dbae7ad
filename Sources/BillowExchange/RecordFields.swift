import Datasets

/// A name that means something in a record: a property of what an import reads, as the datasets' schemas name it, or
/// one of the few members beside the properties.
struct FieldName: Hashable, Sendable {
    /// The place in a record's row of values.
    let place: Int

    /// As messages write it.
    var name: String { FieldName.all[place].name }

    /// How many there are.
    static var count: Int { all.count }

    private static let all: [(name: String, aliases: [String])] = {
        var names = beside
        let properties = Schema.hexagons.properties + Schema.pireps.properties
        for property in properties where !names.contains(where: { $0.name == property.name.description }) {
            names.append((property.name.description, property.aliases))
        }
        return names
    }()

    /// What no schema has: identity, place and mark of a feature, and what only a pilot report of the Aviation Weather
    /// Center has.
    private static let beside: [(name: String, aliases: [String])] = [
        ("id", []), ("longitude", ["lon", "lng"]), ("latitude", ["lat"]), ("simulated", []), ("rawOb", []),
        ("obsTime", []),
    ]

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

    /// One that a decoder asks for. A schema that loses the name is a fault of ours, found when it is first used.
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

    private var values = [Value](repeating: .null, count: FieldName.count)
    /// Where a Point is.
    var point: (longitude: Double, latitude: Double)?

    subscript(_ name: FieldName) -> Value { values[name.place] }

    mutating func removeAll() {
        for place in values.indices { values[place] = .null }
        point = nil
    }

    /// Keeps a value; the same name twice (or an alias beside it) must say the same.
    mutating func set(_ name: FieldName, _ value: Value) throws(RefusalReason) {
        if value == .null || value == .text("") { return }
        let before = values[name.place]
        guard before == .null || before == value else { throw .contradiction("\(name.name) is given twice") }
        values[name.place] = value
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
