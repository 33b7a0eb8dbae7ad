extension StringProtocol {
    /// The text with all characters escaped that affect a terminal or a log, such as `\u{1B}`. These are control
    /// characters, line ends, and marks of writing direction. So untrusted text can neither control a terminal nor
    /// forge lines of a log.
    ///
    /// Source: Unicode 16 chapter 23.1 (control codes), UAX #9 section 2 (explicit directional formatting)
    package var printable: String {
        guard unicodeScalars.contains(where: Self.steers) else { return String(self) }
        var text = ""
        for scalar in unicodeScalars {
            if Self.steers(scalar) {
                text += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func steers(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0x2028...0x2029, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
