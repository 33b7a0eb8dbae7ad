import JSONKit

/// Reads JSON from bytes value by value and builds only what is needed: an import looks at a dozen names of each record
/// and passes over the rest. The grammar is `JSONScanner`'s; here its faults become refusals, and texts are strict.
struct JSONCursor {
    private var scanner: JSONScanner
    private let bytes: [UInt8]

    /// - Precondition: `range` lies within `bytes`.
    init(_ bytes: [UInt8], in range: Range<Int>) {
        self.bytes = bytes
        scanner = JSONScanner(bytes, in: range)
    }

    /// One value as far as a record's field needs it.
    enum Value: Sendable, Hashable {
        case null
        case bool(Bool)
        /// As written, grammatical, of any size.
        case number(String)
        case text(String)
        /// An array or object, by the place of its bytes.
        case structure(Range<Int>)
    }

    /// The next significant byte, not consumed; nil at the end.
    mutating func peek() -> UInt8? { scanner.peek() }

    /// Makes sure that nothing follows.
    mutating func expectEnd() throws(RefusalReason) {
        try read { (scanner) throws(JSONScanner.Malformed) in try scanner.expectEnd() }
    }

    /// Opens an object; then `nextKey` until it gives nil.
    mutating func openObject() throws(RefusalReason) {
        try read { (scanner) throws(JSONScanner.Malformed) in try scanner.openObject() }
    }

    /// Opens an array; then `nextElement` until it gives false.
    mutating func openArray() throws(RefusalReason) {
        try read { (scanner) throws(JSONScanner.Malformed) in try scanner.openArray() }
    }

    /// The next key with its colon consumed; nil once the object is closed. `first` starts as true.
    mutating func nextKey(_ first: inout Bool) throws(RefusalReason) -> String? {
        try read { (scanner) throws(JSONScanner.Malformed) in
            guard let key = try scanner.nextKey(&first) else { return nil }
            return try scanner.validText(key.range, escaped: key.escaped)
        }
    }

    /// Whether another element stands at the cursor; false once the array is closed. `first` starts as true.
    mutating func nextElement(_ first: inout Bool) throws(RefusalReason) -> Bool {
        try read { (scanner) throws(JSONScanner.Malformed) in try scanner.nextElement(&first) }
    }

    /// Reads a value; of arrays and objects only where they are.
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

    /// Passes over a value, checking its grammar.
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
