/// Parses integers in plain ASCII digits, without sign, padding or exponent.
package enum PlainInteger {
    /// Whether a text is a number in plain digits that is too long for `parse`.
    package static func hasTooManyDigits(_ text: some StringProtocol) -> Bool {
        text.utf8.count > 18 && text.utf8.first != 0x30 && text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
    }

    /// Parses 0 or a number without leading zeros, of at most 18 digits.
    package static func parse(_ text: some StringProtocol) -> Int? {
        let digits = text.utf8
        guard (1...18).contains(digits.count), digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        guard digits.count == 1 || digits.first != 0x30 else { return nil }
        return Int(text)
    }
}
