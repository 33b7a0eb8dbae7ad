package import Turbulence

/// Writes JSON straight into bytes: what an export of millions of features needs, with no object in between.
/// The caller sees to it that values and members stand where they can.
package struct JSONWriter: Sendable {
    /// What has been written.
    package var bytes: [UInt8] = []
    private var needsComma = false
    private var day = DayText()

    package init() {}

    // MARK: Structure

    package mutating func openObject() { open("{") }
    package mutating func closeObject() { close("}") }
    package mutating func openArray() { open("[") }
    package mutating func closeArray() { close("]") }

    /// A member's name; its value comes next.
    package mutating func name(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: Values

    package mutating func null() { raw("null") }
    package mutating func value(_ value: Bool) { raw(value ? "true" : "false") }

    package mutating func value(_ value: Int64) {
        separate()
        bytes.appendDecimal(value)
    }

    /// An instant as ISO 8601 with a zone.
    package mutating func value(_ instant: Instant) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(instant, day: &day)
        bytes.append(UInt8(ascii: "\""))
    }

    /// A text, escaped as RFC 8259 section 7 requires and no further.
    package mutating func value(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        func needsEscape(_ byte: UInt8) -> Bool {
            byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
        }
        guard text.utf8.contains(where: needsEscape) else {
            bytes.append(contentsOf: text.utf8)
            bytes.append(UInt8(ascii: "\""))
            return
        }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x0A: append("\\n")
            case 0x0D: append("\\r")
            case 0x09: append("\\t")
            case 0..<0x20:
                append("\\u00")
                bytes.append(hexDigit(byte >> 4))
                bytes.append(hexDigit(byte & 15))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// A number with at most `decimals` (0…9) decimals, without trailing zeros. What is not finite, or beyond ±10⁹, is
    /// null.
    package mutating func value(_ value: Double, decimals: Int) {
        separate()
        if !bytes.appendDecimal(value, decimals: decimals) { append("null") }
    }

    /// Bytes that are a JSON value already.
    package mutating func rawValue(_ json: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    // MARK: Inside

    /// Bytes between values: line ends and record separators.
    mutating func append(_ text: StaticString) { text.withUTF8Buffer { bytes.append(contentsOf: $0) } }

    /// Starts anew after bytes of another kind, so that no comma is written.
    mutating func restart() { needsComma = false }

    private mutating func raw(_ text: StaticString) {
        separate()
        append(text)
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ bracket: StaticString) {
        raw(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: StaticString) {
        append(bracket)
        needsComma = true
    }

    private func hexDigit(_ value: UInt8) -> UInt8 { value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) }
}

extension [UInt8] {
    /// Appends the digits of an integer.
    mutating func appendDecimal(_ value: Int64) {
        var rest = value.magnitude
        if value < 0 { append(UInt8(ascii: "-")) }
        let start = count
        repeat {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        self[start...].reverse()
    }

    /// Appends a number rounded to at most `decimals` (0…9) decimals, trailing zeros left out; false, and nothing
    /// appended, for what is not finite or beyond ±10⁹.
    mutating func appendDecimal(_ value: Double, decimals: Int) -> Bool {
        guard abs(value) <= 1e9 else { return false }
        let decimals = Swift.min(Swift.max(decimals, 0), 9)
        let scale = powersOfTen[decimals]
        let scaled = Int64((value * Double(scale)).rounded())
        if scaled < 0 { append(UInt8(ascii: "-")) }
        let whole = scaled.magnitude / scale
        var fraction = scaled.magnitude - whole * scale
        appendDecimal(Int64(whole))
        guard fraction > 0 else { return true }
        var digits = decimals
        while fraction % 10 == 0 {
            fraction /= 10
            digits -= 1
        }
        append(UInt8(ascii: "."))
        append(contentsOf: repeatElement(UInt8(ascii: "0"), count: digits))
        var place = count
        while fraction > 0 {
            place -= 1
            self[place] += UInt8(truncatingIfNeeded: fraction % 10)
            fraction /= 10
        }
        return true
    }

    /// Appends an instant as ISO 8601, `2026-11-21T02:30:00Z`.
    mutating func append(_ instant: Instant, day: inout DayText) {
        let seconds = instant.seconds % 86_400
        let number = instant.seconds / 86_400
        if number != day.number {
            day.number = number
            day.text = Array(instant.description.utf8.prefix(11))
        }
        append(contentsOf: day.text)
        appendTwoDigits(seconds / 3_600)
        append(UInt8(ascii: ":"))
        appendTwoDigits(seconds / 60 % 60)
        append(UInt8(ascii: ":"))
        appendTwoDigits(seconds % 60)
        append(UInt8(ascii: "Z"))
    }

    private mutating func appendTwoDigits(_ value: Int) {
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10))
        append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
    }
}

/// The date part of the last instant written: an export in the order of time asks the calendar once a day.
struct DayText: Sendable {
    /// Days since 1970.
    var number = -1
    /// `2026-11-21T`.
    var text: [UInt8] = []
}

private let powersOfTen: [UInt64] = [
    1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
]
