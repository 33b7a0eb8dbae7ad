/// Parses JSON text in a single pass without building a tree: a million records take well under a second.
///
/// All of Billow parses JSON by this grammar. It is strict by RFC 8259, with a limit of depth, so that no input
/// exhausts the stack. The contents of strings are validated only when they are read. `text` repairs invalid UTF-8 and
/// lone surrogates, `validText` rejects them.
package struct JSONScanner {
    /// The position and kind of a syntax error.
    package struct Malformed: Error, Hashable {
        package let atByte: Int
        package let reason: Reason

        fileprivate init(atByte: Int, _ reason: Reason) {
            self.atByte = atByte
            self.reason = reason
        }
    }

    /// The kind of a syntax error.
    package enum Reason: String, Sendable, Hashable {
        case expectedName = "expected a name"
        case expectedColon = "expected ':'"
        case expectedObject = "expected '{'"
        case expectedArray = "expected '['"
        case expectedCommaOrBrace = "expected ',' or '}'"
        case expectedCommaOrBracket = "expected ',' or ']'"
        case missingValue = "a value is missing"
        case unknownWord = "an unknown word"
        case leadingZero = "a number with a leading zero"
        case missingFraction = "a number without digits after its point"
        case missingExponent = "a number without digits in its exponent"
        case controlCharacter = "a control character in a text"
        case unterminatedText = "a text without its closing quote"
        case unknownEscape = "an unknown escape"
        case badHexadecimal = "a \\u escape without four hexadecimal digits"
        case halfSurrogate = "half of a surrogate pair"
        case notUTF8 = "a text that is not UTF-8"
        case trailing = "there is text after the end of the value"
        case tooDeep = "nested too deeply"
    }

    /// A value; arrays and objects are skipped.
    package enum Value {
        case null
        case bool(Bool)
        case integer(Int)
        case double(Double)
        /// The bytes between the quotes, and whether they contain an escape.
        case string(Range<Int>, escaped: Bool)
        case array
        case object
    }

    private let bytes: [UInt8]
    private let end: Int
    /// The index of the next byte.
    package private(set) var position: Int
    /// The number of open arrays and objects.
    private var depth = 0

    /// The maximum depth; no response or record needs more.
    package static let maximumDepth = 64

    /// Makes a scanner of all bytes.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = 0
        end = bytes.count
    }

    /// Makes a scanner of a part of the bytes.
    /// - Precondition: the range lies within the bytes.
    package init(_ bytes: [UInt8], in range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count)
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    // MARK: Structure

    /// The next byte that is not white space, without consuming it; nil at the end.
    package mutating func peek() -> UInt8? {
        while position < end {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            position += 1
        }
        return nil
    }

    private func malformed(_ reason: Reason) -> Malformed { Malformed(atByte: position, reason) }

    /// Opens an object. Then call `nextKey` until it returns nil.
    package mutating func openObject() throws(Malformed) { try open(UInt8(ascii: "{"), .expectedObject) }

    /// Opens an array. Then call `nextElement` until it returns false.
    package mutating func openArray() throws(Malformed) { try open(UInt8(ascii: "["), .expectedArray) }

    private mutating func open(_ bracket: UInt8, _ reason: Reason) throws(Malformed) {
        guard peek() == bracket else { throw malformed(reason) }
        guard depth < JSONScanner.maximumDepth else { throw malformed(.tooDeep) }
        depth += 1
        position += 1
    }

    /// The next member's name, with its colon consumed; nil once the object is closed. `isFirst` starts as true.
    package mutating func nextKey(_ isFirst: inout Bool) throws(Malformed) -> Key? {
        guard try next(&isFirst, closing: UInt8(ascii: "}"), .expectedCommaOrBrace) else { return nil }
        guard peek() == UInt8(ascii: "\"") else { throw malformed(.expectedName) }
        let (range, escaped) = try string()
        guard peek() == UInt8(ascii: ":") else { throw malformed(.expectedColon) }
        position += 1
        return Key(range: range, escaped: escaped)
    }

    /// Whether there is another element; false once the array is closed. `isFirst` starts as true.
    package mutating func nextElement(_ isFirst: inout Bool) throws(Malformed) -> Bool {
        try next(&isFirst, closing: UInt8(ascii: "]"), .expectedCommaOrBracket)
    }

    /// Whether an item comes before the closing bracket. A comma must be followed by one; if it is missing, parsing it
    /// fails.
    @inline(__always)
    private mutating func next(
        _ isFirst: inout Bool, closing bracket: UInt8, _ reason: Reason
    ) throws(Malformed) -> Bool {
        let byte = peek()
        if byte == bracket {
            position += 1
            depth -= 1
            return false
        }
        if isFirst {
            isFirst = false
            return true
        }
        guard byte == UInt8(ascii: ",") else { throw malformed(reason) }
        position += 1
        return true
    }

    /// Iterates over an object, which must be the next value. `member` must consume exactly the member's value.
    package mutating func object(
        _ member: (inout JSONScanner, Key) throws(Malformed) -> Void
    ) throws(Malformed) {
        try openObject()
        var isFirst = true
        while let key = try nextKey(&isFirst) { try member(&self, key) }
    }

    /// Iterates over an array, which must be the next value. `element` must consume exactly one value.
    package mutating func array(_ element: (inout JSONScanner) throws(Malformed) -> Void) throws(Malformed) {
        try openArray()
        var isFirst = true
        while try nextElement(&isFirst) { try element(&self) }
    }

    /// Requires that only white space remains.
    package mutating func expectEnd() throws(Malformed) {
        guard peek() == nil else { throw malformed(.trailing) }
    }

    /// A member's name.
    package struct Key {
        package let range: Range<Int>
        package let escaped: Bool

        fileprivate init(range: Range<Int>, escaped: Bool) {
            self.range = range
            self.escaped = escaped
        }
    }

    package func matches(_ key: Key, _ name: [UInt8]) -> Bool {
        if key.escaped { return text(key.range, escaped: true).utf8.elementsEqual(name) }
        guard key.range.count == name.count else { return false }
        var at = key.range.lowerBound
        for byte in name {
            guard bytes[at] == byte else { return false }
            at += 1
        }
        return true
    }

    // MARK: Values

    /// Parses the next value; arrays and objects are skipped.
    package mutating func value() throws(Malformed) -> Value {
        guard let byte = peek() else { throw malformed(.missingValue) }
        switch byte {
        case UInt8(ascii: "\""):
            let (range, escaped) = try string()
            return .string(range, escaped: escaped)
        case UInt8(ascii: "{"):
            try openObject()
            var isFirst = true
            while try nextKey(&isFirst) != nil { _ = try value() }
            return .object
        case UInt8(ascii: "["):
            try openArray()
            var isFirst = true
            while try nextElement(&isFirst) { _ = try value() }
            return .array
        case UInt8(ascii: "t"):
            try literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw malformed(.unknownWord)
        }
    }

    /// Skips the next value.
    package mutating func skipValue() throws(Malformed) { _ = try value() }

    private mutating func literal(_ text: StaticString) throws(Malformed) {
        let start = position
        for byte in text.description.utf8 {
            guard position < end, bytes[position] == byte else { throw Malformed(atByte: start, .unknownWord) }
            position += 1
        }
    }

    private mutating func string() throws(Malformed) -> (Range<Int>, escaped: Bool) {
        position += 1
        let start = position
        var escaped = false
        while position < end {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                return (start..<position - 1, escaped)
            }
            guard byte >= 0x20 else { throw malformed(.controlCharacter) }
            if byte == UInt8(ascii: "\\") {
                escaped = true
                try escape()
            } else {
                position += 1
            }
        }
        throw malformed(.unterminatedText)
    }

    private mutating func escape() throws(Malformed) {
        position += 1
        guard position < end else { throw malformed(.unterminatedText) }
        switch bytes[position] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            position += 1
            for _ in 0..<4 {
                guard position < end, JSONScanner.hexDigit(bytes[position]) != nil else {
                    throw malformed(.badHexadecimal)
                }
                position += 1
            }
        default: throw malformed(.unknownEscape)
        }
    }

    private mutating func digits(_ reason: Reason, _ each: (UInt8) -> Void) throws(Malformed) {
        let start = position
        while position < end, (0x30...0x39).contains(bytes[position]) {
            each(bytes[position] - 0x30)
            position += 1
        }
        guard position > start else { throw malformed(reason) }
    }

    /// Up to 15 digits are exact in a Double, and so is a power of ten up to 10²². Their quotient is rounded correctly,
    /// in one step.
    private mutating func number() throws(Malformed) -> Value {
        let start = position
        var mantissa = 0
        var count = 0
        var fraction = 0
        let negative = bytes[position] == UInt8(ascii: "-")
        if negative { position += 1 }
        let leading = position < end ? bytes[position] : 0
        let whole = position
        try digits(.unknownWord) { digit in
            count += 1
            if count <= 18 { mantissa = mantissa * 10 + Int(digit) }
        }
        guard leading != 0x30 || position == whole + 1 else { throw Malformed(atByte: whole, .leadingZero) }
        var simple = true
        var isInteger = true
        if position < end, bytes[position] == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try digits(.missingFraction) { digit in
                count += 1
                fraction += 1
                if count <= 18 { mantissa = mantissa * 10 + Int(digit) }
            }
        }
        if position < end, bytes[position] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            simple = false
            position += 1
            if position < end,
                bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
            {
                position += 1
            }
            try digits(.missingExponent) { _ in }
        }
        if isInteger, count <= 18 { return .integer(negative ? -mantissa : mantissa) }
        if simple, count <= 15, fraction < JSONScanner.powersOfTen.count {
            let value = Double(mantissa) / JSONScanner.powersOfTen[fraction]
            return .double(negative ? -value : value)
        }
        // Overflow gives infinity, which every range check rejects.
        return .double(Double(String(decoding: bytes[start..<position], as: UTF8.self)) ?? .infinity)
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]

    // MARK: Content of strings

    /// A string's text, with escapes resolved and invalid UTF-8 repaired.
    package func text(_ range: Range<Int>, escaped: Bool) -> String {
        guard escaped else { return String(decoding: bytes[range], as: UTF8.self) }
        var units: [UInt16] = []
        var at = range.lowerBound
        var plain = at
        while at < range.upperBound {
            guard bytes[at] == UInt8(ascii: "\\"), at + 1 < range.upperBound else {
                at += 1
                continue
            }
            units += Array(String(decoding: bytes[plain..<at], as: UTF8.self).utf16)
            switch bytes[at + 1] {
            case UInt8(ascii: "b"): units.append(8)
            case UInt8(ascii: "f"): units.append(12)
            case UInt8(ascii: "n"): units.append(10)
            case UInt8(ascii: "r"): units.append(13)
            case UInt8(ascii: "t"): units.append(9)
            case UInt8(ascii: "u"):
                var unit: UInt16 = 0
                for digit in bytes[min(at + 2, range.upperBound)..<min(at + 6, range.upperBound)] {
                    unit = unit << 4 | UInt16(JSONScanner.hexDigit(digit) ?? 0)
                }
                units.append(unit)
                at += 4
            case let byte: units.append(UInt16(byte))
            }
            at += 2
            plain = at
        }
        if plain < range.upperBound {
            units += Array(String(decoding: bytes[plain..<range.upperBound], as: UTF8.self).utf16)
        }
        return String(decoding: units, as: UTF16.self)
    }

    /// A string's text, with escapes resolved. Throws for invalid UTF-8 or a lone surrogate.
    package func validText(_ range: Range<Int>, escaped: Bool) throws(Malformed) -> String {
        guard escaped else {
            guard let text = String(validUTF8: bytes[range]) else {
                throw Malformed(atByte: range.lowerBound, .notUTF8)
            }
            return text
        }
        var at = range.lowerBound
        var isHalf = false
        while at < range.upperBound {
            let isEscape = bytes[at] == UInt8(ascii: "\\")
            let unit = isEscape && bytes[at + 1] == UInt8(ascii: "u") ? hexadecimal(at + 2..<at + 6) ?? 0 : 0
            // A low surrogate must follow a high one, and only there.
            guard isHalf == (0xDC00...0xDFFF).contains(unit) else { throw Malformed(atByte: at, .halfSurrogate) }
            isHalf = (0xD800...0xDBFF).contains(unit)
            at += isEscape ? (bytes[at + 1] == UInt8(ascii: "u") ? 6 : 2) : 1
        }
        guard !isHalf else { throw Malformed(atByte: range.upperBound, .halfSurrogate) }
        guard String(validUTF8: bytes[range]) != nil else {
            throw Malformed(atByte: range.lowerBound, .notUTF8)
        }
        return text(range, escaped: true)
    }

    /// A string of 1 to 16 hexadecimal digits as a number; nil for any other string.
    package func hexadecimal(_ range: Range<Int>) -> UInt64? {
        guard (1...16).contains(range.count) else { return nil }
        var value: UInt64 = 0
        for byte in bytes[range] {
            guard let digit = JSONScanner.hexDigit(byte) else { return nil }
            value = value << 4 | UInt64(digit)
        }
        return value
    }

    /// A string of 1 to 9 decimal digits as a number; nil for any other string.
    package func decimal(_ range: Range<Int>) -> Int? {
        guard (1...9).contains(range.count) else { return nil }
        var value = 0
        for byte in bytes[range] {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        return value
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension JSONScanner.Value {
    /// A whole number, written as `38` or `38.0`; nil for any other value.
    package var integer: Int? {
        switch self {
        case .integer(let value): value
        case .double(let value): Int(exactly: value)
        default: nil
        }
    }

    package var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }
}
