import Geometry
package import Turbulence

/// Writes JSON directly into bytes, without intermediate objects, for exports of millions of features. The caller is
/// responsible for a valid order of values and members.
package struct JSONWriter: Sendable {
    /// The written bytes.
    package var bytes: [UInt8] = []
    private var needsComma = false
    private var day = CachedDateText()

    package init() {}

    // MARK: Structure

    package mutating func openObject() { open("{") }
    package mutating func closeObject() { close("}") }
    package mutating func openArray() { open("[") }
    package mutating func closeArray() { close("]") }

    /// Writes a member's name; its value comes next.
    package mutating func name(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a member's name from `encoded`.
    mutating func name(encoded name: [UInt8]) {
        name.withUnsafeBufferPointer { bytes.append(contentsOf: needsComma ? $0[...] : $0.dropFirst()) }
        needsComma = false
    }

    /// A name with the surrounding punctuation: `,"name":`.
    static func encoded(_ name: StaticString) -> [UInt8] { Array(",\"\(name)\":".utf8) }

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
        var text = text
        text.withUTF8 { utf8 in
            func needsEscape(_ byte: UInt8) -> Bool {
                byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
            }
            if utf8.contains(where: needsEscape) { escape(utf8) } else { bytes.append(contentsOf: utf8) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ utf8: UnsafeBufferPointer<UInt8>) {
        for byte in utf8 {
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
    }

    /// Writes a number with at most `decimals` (0…9) decimals, without trailing zeros. A number that is not finite, or
    /// beyond ±10⁹, becomes null.
    package mutating func value(_ value: Double, decimals: Int) {
        separate()
        if !bytes.appendDecimal(value, decimals: decimals) { append("null") }
    }

    /// A position: longitude and latitude to some decimals.
    mutating func value(_ place: LonLat, decimals: Int) {
        separate()
        bytes.append(backwards: 64) { text in
            text.put(UInt8(ascii: "]"))
            text.put(place.latitude, decimals: decimals)
            text.put(UInt8(ascii: ","))
            text.put(place.longitude, decimals: decimals)
            text.put(UInt8(ascii: "["))
        }
    }

    /// Writes bytes that are a JSON value already.
    package mutating func rawValue(_ json: some Sequence<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    // MARK: Implementation

    /// Appends bytes between values: line ends and record separators.
    mutating func append(_ text: StaticString) { text.withUTF8Buffer { bytes.append(contentsOf: $0) } }

    /// Appends bytes before a value that is the first of its object or array or has a name, so that no comma is
    /// written.
    mutating func begin(_ text: StaticString) {
        append(text)
        needsComma = false
    }

    /// Resets the comma state after bytes from elsewhere, so that no comma is written.
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
        append(backwards: 20) { text in
            text.put(value.magnitude)
            if value < 0 { text.put(UInt8(ascii: "-")) }
        }
    }

    /// Appends a number rounded to at most `decimals` (0…9) decimals, without trailing zeros. Returns false, without
    /// appending, for a number that is not finite or beyond ±10⁹.
    mutating func appendDecimal(_ value: Double, decimals: Int) -> Bool {
        guard abs(value) <= 1e9 else { return false }
        append(backwards: 24) { $0.put(value, decimals: decimals) }
        return true
    }

    /// Appends an instant as ISO 8601, `2026-11-21T02:30:00Z`.
    mutating func append(_ instant: Instant, day: inout CachedDateText) {
        let seconds = instant.seconds % 86_400
        let number = instant.seconds / 86_400
        if number != day.number {
            day.number = number
            day.text = Array(instant.description.utf8.prefix(11))
        }
        append(contentsOf: day.text)
        append(backwards: 9) { text in
            text.put(UInt8(ascii: "Z"))
            text.putTwoDigits(seconds % 60)
            text.put(UInt8(ascii: ":"))
            text.putTwoDigits(seconds / 60 % 60)
            text.put(UInt8(ascii: ":"))
            text.putTwoDigits(seconds / 3_600)
        }
    }

    /// Appends a short text that is written backwards, because a number yields its last digit first.
    ///
    /// - Parameter most: the most bytes of the text.
    @inline(__always)
    fileprivate mutating func append(backwards most: Int, _ write: (inout BackwardText) -> Void) {
        withUnsafeTemporaryAllocation(byteCount: most, alignment: 1) { room in
            var text = BackwardText(room)
            write(&text)
            append(contentsOf: UnsafeRawBufferPointer(rebasing: room[text.start...]))
        }
    }
}

/// A short text that is written backwards, in its own buffer.
private struct BackwardText {
    private let room: UnsafeMutableRawBufferPointer
    private(set) var start: Int

    @inline(__always)
    init(_ room: UnsafeMutableRawBufferPointer) {
        self.room = room
        start = room.count
    }

    @inline(__always)
    mutating func put(_ byte: UInt8) {
        start -= 1
        room[start] = byte
    }

    @inline(__always)
    mutating func put(_ number: some FixedWidthInteger & UnsignedInteger) {
        var rest = number
        repeat {
            put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
    }

    /// Prepends a number within ±10⁹, rounded to at most `decimals` (0…9) decimals, without trailing zeros.
    @inline(__always)
    mutating func put(_ value: Double, decimals: Int) {
        let decimals = min(max(decimals, 0), 9)
        let scale = powersOfTen[decimals]
        let scaled = Int64((value * Double(scale)).rounded())
        let whole = scaled.magnitude / scale
        var fraction = UInt32(truncatingIfNeeded: scaled.magnitude - whole * scale)
        if fraction > 0 {
            var digits = decimals
            while fraction % 10 == 0 {
                fraction /= 10
                digits -= 1
            }
            for _ in 0..<digits {
                put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: fraction % 10))
                fraction /= 10
            }
            put(UInt8(ascii: "."))
        }
        put(UInt32(truncatingIfNeeded: whole))
        if scaled < 0 { put(UInt8(ascii: "-")) }
    }

    @inline(__always)
    mutating func putTwoDigits(_ value: Int) {
        put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
        put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10))
    }
}

/// The date part of the last written instant: a chronological export calls the calendar once per day.
struct CachedDateText: Sendable {
    /// Days since 1970.
    var number = -1
    /// `2026-11-21T`.
    var text: [UInt8] = []
}

private let powersOfTen: [UInt64] = [
    1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
]
