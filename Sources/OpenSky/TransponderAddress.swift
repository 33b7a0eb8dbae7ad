/// An aircraft's ICAO 24-bit transponder address: six hexadecimal digits, formatted in lower case.
public struct TransponderAddress: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The address as a number, 0…0xFFFFFF.
    public let value: UInt32

    /// Returns nil unless `text` is exactly six hexadecimal digits, in either case.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 6, text.utf8.allSatisfy({ Self.isHexDigit($0) }), let value = UInt32(text, radix: 16)
        else { return nil }
        self.value = value
    }

    /// Returns nil above 24 bits.
    public init?(value: UInt32) {
        guard value <= 0xFF_FFFF else { return nil }
        self.value = value
    }

    /// The address in six lower-case hexadecimal digits.
    public var description: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    public static func < (a: TransponderAddress, b: TransponderAddress) -> Bool { a.value < b.value }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
