/// Reads JSON from bytes value by value, building nothing that isn't asked for: an import looks at a dozen names of each
/// record and passes over the rest. Strict (RFC 8259), and of limited depth, so that no input exhausts the stack.
struct JSONCursor {
    private let bytes: [UInt8]
    private(set) var position: Int
    private let end: Int
    private var depth = 0

    /// Deeper nesting than any record has a use for.
    static let maximumDepth = 64

    /// `range` lies within `bytes`.
    init(_ bytes: [UInt8], in range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
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
    mutating func peek() -> UInt8? {
        while position < end {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return bytes[position]
            }
        }
        return nil
    }

    mutating func expect(_ character: Unicode.Scalar) throws(RefusalReason) {
        guard peek() == UInt8(ascii: character) else { throw syntax("expected '\(character)'") }
        position += 1
    }

    /// Makes sure that nothing follows.
    mutating func expectEnd() throws(RefusalReason) {
        guard peek() == nil else { throw syntax("something follows the end of the value") }
    }

    /// Opens an object; then `nextKey` until it gives nil.
    mutating func openObject() throws(RefusalReason) { try open("{") }
    /// Opens an array; then `nextElement` until it gives false.
    mutating func openArray() throws(RefusalReason) { try open("[") }

    /// The next key with its colon consumed; nil once the object is closed. `first` starts as true.
    mutating func nextKey(_ first: inout Bool) throws(RefusalReason) -> String? {
        guard try next(&first, closing: "}") else { return nil }
        guard peek() == UInt8(ascii: "\"") else { throw syntax("expected a name") }
        let key = try string()
        try expect(":")
        return key
    }

    /// Whether another element stands at the cursor; false once the array is closed. `first` starts as true.
    mutating func nextElement(_ first: inout Bool) throws(RefusalReason) -> Bool { try next(&first, closing: "]") }

    /// Reads a value; of arrays and objects only where they are.
    mutating func value() throws(RefusalReason) -> Value {
        switch peek() {
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let start = position
            try skip()
            return .structure(start..<position)
        case UInt8(ascii: "n"):
            try word("null")
            return .null
        case UInt8(ascii: "t"):
            try word("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try word("false")
            return .bool(false)
        case nil: throw syntax("a value is missing")
        default:
            let range = try numberRange()
            return .number(String(decoding: bytes[range], as: UTF8.self))
        }
    }

    /// Passes over a value, checking its grammar.
    mutating func skip() throws(RefusalReason) {
        switch peek() {
        case UInt8(ascii: "{"):
            try openObject()
            var first = true
            while try next(&first, closing: "}") {
                guard peek() == UInt8(ascii: "\"") else { throw syntax("expected a name") }
                _ = try stringRange()
                try expect(":")
                try skip()
            }
        case UInt8(ascii: "["):
            try openArray()
            var first = true
            while try next(&first, closing: "]") { try skip() }
        case UInt8(ascii: "\""): _ = try stringRange()
        case UInt8(ascii: "n"), UInt8(ascii: "t"), UInt8(ascii: "f"), nil: _ = try value()
        default: _ = try numberRange()
        }
    }

    // MARK: Inside

    private func syntax(_ what: String) -> RefusalReason { .syntax(what) }

    private mutating func open(_ bracket: Unicode.Scalar) throws(RefusalReason) {
        try expect(bracket)
        depth += 1
        guard depth <= JSONCursor.maximumDepth else { throw .tooDeep }
    }

    private mutating func next(_ first: inout Bool, closing bracket: Unicode.Scalar) throws(RefusalReason) -> Bool {
        if peek() == UInt8(ascii: bracket) {
            position += 1
            depth -= 1
            return false
        }
        if !first { try expect(",") }
        first = false
        return true
    }

    private mutating func word(_ word: StaticString) throws(RefusalReason) {
        let length = word.utf8CodeUnitCount
        let matches = word.withUTF8Buffer {
            position + length <= end && bytes[position..<position + length].elementsEqual($0)
        }
        guard matches else { throw syntax("a word that JSON doesn't know") }
        position += length
    }

    /// RFC 8259 section 6.
    private mutating func numberRange() throws(RefusalReason) -> Range<Int> {
        let start = position
        func byte() -> UInt8 { position < end ? bytes[position] : 0 }
        func isDigit() -> Bool { byte() >= 0x30 && byte() <= 0x39 }
        if byte() == UInt8(ascii: "-") { position += 1 }
        guard isDigit() else {
            position = start
            throw syntax("a word that JSON doesn't know")
        }
        if byte() == UInt8(ascii: "0") { position += 1 } else { while isDigit() { position += 1 } }
        if byte() == UInt8(ascii: ".") {
            position += 1
            guard isDigit() else { throw syntax("a number without digits behind its point") }
            while isDigit() { position += 1 }
        }
        if byte() | 0x20 == UInt8(ascii: "e") {
            position += 1
            if byte() == UInt8(ascii: "+") || byte() == UInt8(ascii: "-") { position += 1 }
            guard isDigit() else { throw syntax("a number without digits in its exponent") }
            while isDigit() { position += 1 }
        }
        return start..<position
    }

    /// The bytes between the quotes, escapes unresolved; whether there are any, and whether all of it is ASCII.
    private mutating func stringRange() throws(RefusalReason) -> (range: Range<Int>, escaped: Bool, ascii: Bool) {
        position += 1
        let start = position
        var escaped = false
        var ascii = true
        while position < end {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position += 1
                return (start..<position - 1, escaped, ascii)
            case UInt8(ascii: "\\"):
                escaped = true
                position += 2
            case 0..<0x20: throw syntax("a control character in a text")
            case 0x80...:
                ascii = false
                position += 1
            default: position += 1
            }
        }
        throw syntax("a text without its closing quote")
    }

    private mutating func string() throws(RefusalReason) -> String {
        let (range, escaped, ascii) = try stringRange()
        guard escaped else {
            if ascii { return String(decoding: bytes[range], as: UTF8.self) }
            guard let text = String(validating: bytes[range], as: UTF8.self) else { throw .notUTF8 }
            return text
        }
        return try unescaped(range)
    }

    private func unescaped(_ range: Range<Int>) throws(RefusalReason) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        var at = range.lowerBound
        while at < range.upperBound {
            let byte = bytes[at]
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                at += 1
                continue
            }
            // stringRange made sure that something follows each backslash.
            let escape = bytes[at + 1]
            at += 2
            switch escape {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(escape)
            case UInt8(ascii: "b"): result.append(0x08)
            case UInt8(ascii: "f"): result.append(0x0C)
            case UInt8(ascii: "n"): result.append(0x0A)
            case UInt8(ascii: "r"): result.append(0x0D)
            case UInt8(ascii: "t"): result.append(0x09)
            case UInt8(ascii: "u"):
                let scalar = try unicodeEscape(&at, range.upperBound)
                result.append(contentsOf: String(Character(scalar)).utf8)
            default: throw syntax("an escape that JSON doesn't know")
            }
        }
        guard let text = String(validating: result, as: UTF8.self) else { throw .notUTF8 }
        return text
    }

    /// The scalar of `\uXXXX`, or of a pair of surrogates so written; `at` stands behind the `u`.
    private func unicodeEscape(_ at: inout Int, _ end: Int) throws(RefusalReason) -> Unicode.Scalar {
        func unit() throws(RefusalReason) -> UInt32 {
            guard at + 4 <= end else { throw syntax("a cut-off \\u escape") }
            var value: UInt32 = 0
            for byte in bytes[at..<at + 4] {
                guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                    throw syntax("a \\u escape without four hexadecimal digits")
                }
                value = value << 4 | UInt32(digit)
            }
            at += 4
            return value
        }
        let first = try unit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, at + 2 <= end, bytes[at] == UInt8(ascii: "\\"), bytes[at + 1] == UInt8(ascii: "u") else {
            throw syntax("half of a surrogate pair")
        }
        at += 2
        let second = try unit()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw syntax("half of a surrogate pair") }
        return scalar
    }
}
