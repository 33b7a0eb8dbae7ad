extension JSONScanner {
    /// Parses the next value as a tree, for responses of thousands of records, not millions. Of a repeated name, the
    /// last value counts.
    package mutating func tree() throws(Malformed) -> JSONValue {
        switch peek() {
        case UInt8(ascii: "{"):
            var members: [String: JSONValue] = [:]
            try object { (scanner, key) throws(Malformed) in
                members[scanner.text(key.range, escaped: key.escaped)] = try scanner.tree()
            }
            return .object(members)
        case UInt8(ascii: "["):
            var elements: [JSONValue] = []
            try array { (scanner) throws(Malformed) in elements.append(try scanner.tree()) }
            return .array(elements)
        default:
            switch try value() {
            case .bool(let value): return .bool(value)
            case .integer(let value): return .number(Double(value))
            case .double(let value): return .number(value)
            case .string(let range, let escaped): return .string(text(range, escaped: escaped))
            // Arrays and objects were parsed above.
            case .null, .array, .object: return .null
            }
        }
    }
}
