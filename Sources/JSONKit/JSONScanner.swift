/// Reads JSON text once from front to back, without building a tree: a million records take well under a second.
///
/// Strict as RFC 8259 says, except that bytes inside strings are not checked to be UTF-8 (they are repaired where they
/// are shown). Nesting is limited.
package struct JSONScanner {
    package struct Malformed: Error, Hashable {
        package let atByte: Int

        fileprivate init(atByte: Int) { self.atByte = atByte }
    }

    /// One value; arrays and objects are passed over whole.
    package enum Value {
        case null
        case bool(Bool)
        case integer(Int)
        case double(Double)
        /// The bytes between the quotes, and whether any is an escape.
        case string(Range<Int>, escaped: Bool)
        case array
        case object
    }

    private let bytes: [UInt8]
    /// The next byte to be read.
    package private(set) var position = 0
    static let deepest = 64

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    // MARK: Structure

    /// The next byte that is not white space, not consumed; nil at the end.
    package mutating func peek() -> UInt8? {
        while position < bytes.count {
            let byte = bytes[position]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            position += 1
        }
        return nil
    }

    private var malformed: Malformed { Malformed(atByte: position) }

    private mutating func take(_ byte: UInt8) throws(Malformed) {
        guard peek() == byte else { throw malformed }
        position += 1
    }

    /// Goes through an object, which must come next. `member` must consume exactly the member's value.
    package mutating func object(
        _ member: (inout JSONScanner, Key) throws(Malformed) -> Void
    ) throws(Malformed) {
        try take(UInt8(ascii: "{"))
        if peek() == UInt8(ascii: "}") {
            position += 1
            return
        }
        while true {
            guard peek() == UInt8(ascii: "\"") else { throw malformed }
            let (range, escaped) = try string()
            try take(UInt8(ascii: ":"))
            try member(&self, Key(range: range, escaped: escaped))
            switch peek() {
            case UInt8(ascii: ","): position += 1
            case UInt8(ascii: "}"):
                position += 1
                return
            default: throw malformed
            }
        }
    }

    /// Goes through an array, which must come next. `element` must consume exactly one value.
    package mutating func array(_ element: (inout JSONScanner) throws(Malformed) -> Void) throws(Malformed) {
        try take(UInt8(ascii: "["))
        if peek() == UInt8(ascii: "]") {
            position += 1
            return
        }
        while true {
            try element(&self)
            switch peek() {
            case UInt8(ascii: ","): position += 1
            case UInt8(ascii: "]"):
                position += 1
                return
            default: throw malformed
            }
        }
    }

    /// Nothing but white space may follow.
    package mutating func end() throws(Malformed) {
        guard peek() == nil else { throw malformed }
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

    package mutating func value(depth: Int = 0) throws(Malformed) -> Value {
        guard let byte = peek() else { throw malformed }
        switch byte {
        case UInt8(ascii: "\""):
            let (range, escaped) = try string()
            return .string(range, escaped: escaped)
        case UInt8(ascii: "{"):
            guard depth < JSONScanner.deepest else { throw malformed }
            try object { (scanner, _) throws(Malformed) in _ = try scanner.value(depth: depth + 1) }
            return .object
        case UInt8(ascii: "["):
            guard depth < JSONScanner.deepest else { throw malformed }
            try array { (scanner) throws(Malformed) in _ = try scanner.value(depth: depth + 1) }
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
        default: return try number()
        }
    }

    /// Passes over the value that comes next.
    package mutating func skipValue() throws(Malformed) { _ = try value() }

    private mutating func literal(_ text: StaticString) throws(Malformed) {
        for byte in text.description.utf8 {
            guard position < bytes.count, bytes[position] == byte else { throw malformed }
            position += 1
        }
    }

    private mutating func string() throws(Malformed) -> (Range<Int>, escaped: Bool) {
        position += 1
        let start = position
        var escaped = false
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                position += 1
                return (start..<position - 1, escaped)
            }
            guard byte >= 0x20 else { throw malformed }
            if byte == UInt8(ascii: "\\") {
                escaped = true
                try escape()
            } else {
                position += 1
            }
        }
        throw malformed
    }

    private mutating func escape() throws(Malformed) {
        position += 1
        guard position < bytes.count else { throw malformed }
        switch bytes[position] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            position += 1
            for _ in 0..<4 {
                guard position < bytes.count, JSONScanner.hexDigit(bytes[position]) != nil else {
                    throw malformed
                }
                position += 1
            }
        default: throw malformed
        }
    }

    private mutating func digits(_ each: (UInt8) -> Void) throws(Malformed) {
        let start = position
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) {
            each(bytes[position] - 0x30)
            position += 1
        }
        guard position > start else { throw malformed }
    }

    /// Up to 15 digits are exact in a Double, and so is a power of ten up to 10²²: their quotient is rounded once, right.
    private mutating func number() throws(Malformed) -> Value {
        let start = position
        var mantissa = 0
        var count = 0
        var fraction = 0
        let negative = bytes[position] == UInt8(ascii: "-")
        if negative { position += 1 }
        let leading = position < bytes.count ? bytes[position] : 0
        let whole = position
        try digits { digit in
            count += 1
            if count <= 18 { mantissa = mantissa * 10 + Int(digit) }
        }
        guard leading != 0x30 || position == whole + 1 else { throw Malformed(atByte: whole) }
        var simple = true
        var isInteger = true
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try digits { digit in
                count += 1
                fraction += 1
                if count <= 18 { mantissa = mantissa * 10 + Int(digit) }
            }
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            simple = false
            position += 1
            if position < bytes.count,
                bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
            {
                position += 1
            }
            try digits { _ in }
        }
        if isInteger, count <= 18 { return .integer(negative ? -mantissa : mantissa) }
        if simple, count <= 15, fraction < JSONScanner.powersOfTen.count {
            let value = Double(mantissa) / JSONScanner.powersOfTen[fraction]
            return .double(negative ? -value : value)
        }
        // Overflow becomes an infinity, which no range check lets through.
        return .double(Double(String(decoding: bytes[start..<position], as: UTF8.self)) ?? .infinity)
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]

    // MARK: Content of strings

    /// A string's text, with escapes resolved and bad UTF-8 repaired.
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

    /// A string of 1 to 16 hexadecimal digits as a number; nil where it is anything else.
    package func hexadecimal(_ range: Range<Int>) -> UInt64? {
        guard (1...16).contains(range.count) else { return nil }
        var value: UInt64 = 0
        for byte in bytes[range] {
            guard let digit = JSONScanner.hexDigit(byte) else { return nil }
            value = value << 4 | UInt64(digit)
        }
        return value
    }

    /// A string of 1 to 9 decimal digits as a number; nil where it is anything else.
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
    /// A whole number, written as one or as `38.0`; nil for anything else.
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
