/// An sRGB colour of 8 bits a channel with *straight* alpha: red, green and blue don't depend on the alpha. Style
/// files, PNG files and palettes use it.
///
/// Straight and premultiplied colours are different types, so that the compiler rejects blending of the wrong kind.
public struct StraightColour: Sendable, Hashable {
    /// The red channel, 0…255.
    public var red: UInt8
    /// The green channel, 0…255.
    public var green: UInt8
    /// The blue channel, 0…255.
    public var blue: UInt8
    /// The alpha channel: 0 is transparent, 255 opaque.
    public var alpha: UInt8

    /// Makes a colour from its channels; opaque by default.
    @inlinable
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Parses `#RRGGBB` (opaque) or `#RRGGBBAA` in upper or lower case; nil for any other text.
    ///
    /// Source: CSS Color Module Level 4, section 5.2, without the short forms
    public init?(_ text: some StringProtocol) {
        let characters = text.utf8
        guard characters.first == UInt8(ascii: "#"), characters.count == 7 || characters.count == 9 else { return nil }
        var value: UInt32 = 0
        for character in characters.dropFirst() {
            guard let digit = StraightColour.hexadecimalDigit(character) else { return nil }
            value = value << 4 | digit
        }
        if characters.count == 7 { value = value << 8 | 0xFF }
        self.init(
            red: UInt8(truncatingIfNeeded: value >> 24), green: UInt8(truncatingIfNeeded: value >> 16),
            blue: UInt8(truncatingIfNeeded: value >> 8), alpha: UInt8(truncatingIfNeeded: value))
    }

    /// Full transparency: all four channels are 0.
    public static let clear = StraightColour(red: 0, green: 0, blue: 0, alpha: 0)

    /// `#RRGGBB` in upper case, without the alpha.
    public var hexadecimal: String {
        "#"
            + [red, green, blue].map { channel in
                let digits = String(channel, radix: 16, uppercase: true)
                return digits.utf8.count == 1 ? "0" + digits : digits
            }.joined()
    }

    /// The mean with another colour, of each channel. Halves are rounded down.
    package func halfway(to other: StraightColour) -> StraightColour {
        func mean(_ one: UInt8, _ other: UInt8) -> UInt8 {
            UInt8(truncatingIfNeeded: (UInt32(one) + UInt32(other)) / 2)
        }
        return StraightColour(
            red: mean(red, other.red), green: mean(green, other.green), blue: mean(blue, other.blue),
            alpha: mean(alpha, other.alpha))
    }

    /// Each channel × alpha ÷ 255, rounded to the nearest (there are no ties: 255 is odd).
    package var premultiplied: PremultipliedColour {
        let alpha = UInt32(self.alpha)
        func scale(_ channel: UInt8) -> UInt8 { UInt8(truncatingIfNeeded: (UInt32(channel) * alpha + 127) / 255) }
        return PremultipliedColour(uncheckedRed: scale(red), green: scale(green), blue: scale(blue), alpha: self.alpha)
    }

    private static func hexadecimalDigit(_ character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(character - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(character - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}

/// An sRGB colour of 8 bits a channel. Red, green and blue are multiplied by the alpha, so they never exceed it.
/// Canvases store and blend such colours.
package struct PremultipliedColour: Sendable, Hashable {
    package let red: UInt8
    package let green: UInt8
    package let blue: UInt8
    package let alpha: UInt8

    /// Returns nil if a channel exceeds the alpha: no straight colour gives such a colour.
    package init?(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8) {
        guard max(red, green, blue) <= alpha else { return nil }
        self.init(uncheckedRed: red, green: green, blue: blue, alpha: alpha)
    }

    /// For results of blending, where no channel exceeds the alpha.
    init(uncheckedRed red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    /// Full transparency: all four channels are 0.
    package static let clear = PremultipliedColour(uncheckedRed: 0, green: 0, blue: 0, alpha: 0)

    /// Composites source-over, rounded to the nearest.
    @inline(__always)
    func over(_ below: PremultipliedColour) -> PremultipliedColour {
        if alpha == 255 { return self }
        let rest = UInt32(255 - alpha)
        func blend(_ above: UInt8, _ below: UInt8) -> UInt8 {
            UInt8(truncatingIfNeeded: UInt32(above) + (UInt32(below) * rest + 127) / 255)
        }
        return PremultipliedColour(
            uncheckedRed: blend(red, below.red), green: blend(green, below.green), blue: blend(blue, below.blue),
            alpha: blend(alpha, below.alpha))
    }

    /// Each channel × 255 ÷ alpha, rounded to the nearest, halves up; `clear` if the alpha is 0. Opaque colours are
    /// exact; precision decreases with the alpha.
    package var straight: StraightColour {
        guard alpha > 0 else { return .clear }
        let alpha = UInt32(self.alpha)
        func divide(_ channel: UInt8) -> UInt8 {
            UInt8(truncatingIfNeeded: min((UInt32(channel) * 255 + alpha / 2) / alpha, 255))
        }
        return StraightColour(red: divide(red), green: divide(green), blue: divide(blue), alpha: self.alpha)
    }
}
