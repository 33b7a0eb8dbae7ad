import JSONKit

/// A pull parser for JSON bytes that builds only the needed values. An import reads a dozen names of each record and
/// skips the rest. The grammar is `JSONScanner`'s; here its errors become refusals, and texts are validated strictly.
struct JSONCursor {
    private var scanner: JSONScanner
    private let bytes: [UInt8]

    /// - Precondition: `range` is within `bytes`.
    init(_ bytes: [UInt8], in range: Range<Int>) {
        self.bytes = bytes
        scanner = JSONScanner(bytes, in: range)
    }

    /// A value, parsed as far as a record's field needs it.
    enum Value: Sendable, Hashable {
        case null
        case bool(Bool)
        /// The original text of a valid number of any size.
        case number(String)
        case text(String)
        /// An array or object, as a range of bytes.
        case structure(Range<Int>)
    }

    /// The next significant byte, not consumed; nil at the end.
    mutating func peek() -> UInt8? { scanner.peek() }

    /// Checks that no value follows.
    mutating func expectEnd() throws(RefusalReason) {
        try read { (scanner) throws(JSONScanner.Malformed) in try scanner.expectEnd() }
    }

    /// Opens an object; call `nextKey` until it returns nil.
    mutating func openObject() throws(RefusalReason) {
        try read { (scanner) throws(JSONScanner.Malformed) in try scanner.openObject() }
    }

    /// Opens an array; call `nextElement` until it returns false.
    mutating func openArray() throws(RefusalReason) {
        try read { (scanner) throws(JSONScanner.Malformed) in try scanner.openArray() }
    }

    /// The next key, with its colon consumed; nil after the object's end. `first` starts as true.
    mutating func nextKey(_ first: inout Bool) throws(RefusalReason) -> String? {
        try read { (scanner) throws(JSONScanner.Malformed) in
            guard let key = try scanner.nextKey(&first) else { return nil }
            return try scanner.validText(key.range, escaped: key.escaped)
        }
    }

    /// Whether the array has another element; false after the array's end. `first` starts as true.
    mutating func nextElement(_ first: inout Bool) throws(RefusalReason) -> Bool {
        try read { (scanner) throws(JSONScanner.Malformed) in try scanner.nextElement(&first) }
    }

    /// Parses a value; of an array or object only its range.
    mutating func value() throws(RefusalReason) -> Value {
        let bytes = bytes
        return try read { (scanner) throws(JSONScanner.Malformed) in
            _ = scanner.peek()
            let start = scanner.position
            switch try scanner.value() {
            case .null: return .null
            case .bool(let value): return .bool(value)
            case .integer, .double:
                return .number(String(decoding: bytes[start..<scanner.position], as: UTF8.self))
            case .string(let range, let escaped): return .text(try scanner.validText(range, escaped: escaped))
            case .array, .object: return .structure(start..<scanner.position)
            }
        }
    }

    /// Skips a value and checks its grammar.
    mutating func skip() throws(RefusalReason) {
        try read { (scanner) throws(JSONScanner.Malformed) in try scanner.skipValue() }
    }

    @inline(__always)
    private mutating func read<Result>(
        _ body: (inout JSONScanner) throws(JSONScanner.Malformed) -> Result
    ) throws(RefusalReason) -> Result {
        do throws(JSONScanner.Malformed) { return try body(&scanner) } catch { throw RefusalReason(error) }
    }
}

extension RefusalReason {
    fileprivate init(_ malformed: JSONScanner.Malformed) {
        self =
            switch malformed.reason {
            case .tooDeep: .tooDeep
            case .notUTF8: .notUTF8
            case let reason: .syntax(reason.rawValue)
            }
    }
}
