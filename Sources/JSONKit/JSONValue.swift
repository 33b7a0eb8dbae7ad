/// Any JSON value, for input written by people: each member can be checked separately and named in errors.
package enum JSONValue: Sendable, Hashable, Codable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // An attempt fails only if the value is of another kind; the last one's error is reported.
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }

    /// A member of an object; nil if it is missing.
    package subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    package var number: Double? { if case .number(let value) = self { value } else { nil } }
    package var string: String? { if case .string(let value) = self { value } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    /// The number if it is an exact Int.
    package var integer: Int? { number.flatMap { Int(exactly: $0) } }

    /// JSON text for messages, shortened to about 60 characters; the contents of objects are left out.
    package var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): Int(exactly: value).map { "\($0)" } ?? "\(value)"
        case .string(let value): "\"\(value.count > 58 ? value.prefix(57) + "…" : value)\""
        case .array(let values): "[\(Self.listed(values))]"
        case .object(let members): members.isEmpty ? "{}" : "{…}"
        }
    }

    /// As many values as fit; nested arrays are shown without their contents.
    private static func listed(_ values: [JSONValue]) -> String {
        var text = ""
        for (index, value) in values.enumerated() {
            let next = (index == 0 ? "" : ", ") + (value.array.map { $0.isEmpty ? "[]" : "[…]" } ?? value.text)
            guard text.count + next.count <= 58 else { return text + (index == 0 ? "…" : ", …") }
            text += next
        }
        return text
    }
}
