/// Writes JSON straight into bytes: what an export of millions of features needs, with no object in between.
/// The caller sees to it that values and members stand where they can.
public struct JSONWriter: Sendable {
    /// What has been written.
    public var bytes: [UInt8] = []
    private var needsComma = false

    public init() {}

    // MARK: Structure

    public mutating func openObject() { open("{") }
    public mutating func closeObject() { close("}") }
    public mutating func openArray() { open("[") }
    public mutating func closeArray() { close("]") }

    /// A member's name; its value comes next.
    public mutating func name(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: Values

    public mutating func null() { raw("null") }
    public mutating func value(_ value: Bool) { raw(value ? "true" : "false") }

    public mutating func value(_ value: some BinaryInteger) {
        separate()
        bytes.appendDecimal(Int64(clamping: value))
    }

    /// A text, escaped as RFC 8259 section 7 requires and no further.
    public mutating func value(_ text: some StringProtocol) {
        separate()
        bytes.append(UInt8(ascii: "\""))
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
        needsComma = true
    }

    /// A number with at most `decimals` (0…9) decimals, without trailing zeros. What is not finite, or beyond ±10⁹, is null.
    public mutating func value(_ value: Double, decimals: Int) {
        separate()
        if !bytes.appendDecimal(value, decimals: decimals) { append("null") }
    }

    /// Bytes that are a JSON value already.
    public mutating func rawValue(_ json: some Sequence<UInt8>) {
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
        var scale: Int64 = 1
        for _ in 0..<Swift.min(Swift.max(decimals, 0), 9) { scale *= 10 }
        let scaled = Int64((value * Double(scale)).rounded())
        let (whole, fraction) = scaled.magnitude.quotientAndRemainder(dividingBy: scale.magnitude)
        if scaled < 0 { append(UInt8(ascii: "-")) }
        appendDecimal(Int64(whole))
        guard fraction > 0 else { return true }
        append(UInt8(ascii: "."))
        var rest = fraction
        var divisor = scale.magnitude / 10
        while rest > 0 {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / divisor))
            rest %= divisor
            divisor /= 10
        }
        return true
    }
}
