extension JSONScanner {
    /// The value that comes next as a tree: for answers of thousands of records, not millions. A name that repeats counts
    /// as it comes last.
    package mutating func tree(depth: Int = 0) throws(Malformed) -> JSONValue {
        switch peek() {
        case UInt8(ascii: "{") where depth < JSONScanner.deepest:
            var members: [String: JSONValue] = [:]
            try object { (scanner, key) throws(Malformed) in
                members[scanner.text(key.range, escaped: key.escaped)] = try scanner.tree(depth: depth + 1)
            }
            return .object(members)
        case UInt8(ascii: "[") where depth < JSONScanner.deepest:
            var elements: [JSONValue] = []
            try array { (scanner) throws(Malformed) in elements.append(try scanner.tree(depth: depth + 1)) }
            return .array(elements)
        default:
            switch try value(depth: depth) {
            case .bool(let value): return .bool(value)
            case .integer(let value): return .number(Double(value))
            case .double(let value): return .number(value)
            case .string(let range, let escaped): return .string(text(range, escaped: escaped))
            // Arrays and objects come here only where they are too deep, which `value` refuses.
            case .null, .array, .object: return .null
            }
        }
    }
}
