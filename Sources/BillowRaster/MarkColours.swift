/// The colours of what is drawn over the severities: areas, symbols, lines and their labels.
public struct MarkColours: Sendable, Hashable {
    /// Areas that warn of turbulence or wind shear.
    public var hazard: StraightColour
    /// Areas that warn of anything else.
    public var otherHazard: StraightColour
    /// Of forecasts and nowcasts.
    public var forecast: StraightColour
    /// Of aircraft.
    public var aircraft: StraightColour
    /// Of the tracks behind aircraft.
    public var track: StraightColour
    /// Lines and letters of symbols.
    public var ink: StraightColour
    /// Around them, so that they can be read on any ground.
    public var halo: StraightColour

    /// What a style has that names none.
    public static func standard(_ theme: Theme) -> MarkColours {
        func rgb(_ value: UInt32) -> StraightColour {
            StraightColour(
                red: UInt8(truncatingIfNeeded: value >> 16), green: UInt8(truncatingIfNeeded: value >> 8),
                blue: UInt8(truncatingIfNeeded: value))
        }
        return switch theme {
        case .light:
            MarkColours(
                hazard: rgb(0x7A1FA2), otherHazard: rgb(0x00695C), forecast: rgb(0x1F4FD8), aircraft: rgb(0x12304F),
                track: rgb(0x2E6DA8), ink: rgb(0x14181D), halo: rgb(0xFFFFFF))
        case .dark:
            MarkColours(
                hazard: rgb(0xE29BFF), otherHazard: rgb(0x63D6C3), forecast: rgb(0x8FB4FF), aircraft: rgb(0xDCEBFA),
                track: rgb(0x86BCEB), ink: rgb(0xF4F6F8), halo: rgb(0x14181D))
        }
    }

    /// The keys of a style file's `marks`, with what they set.
    static let keys: [(name: String, path: any WritableKeyPath<MarkColours, StraightColour> & Sendable)] = [
        ("hazard", \.hazard), ("otherHazard", \.otherHazard), ("forecast", \.forecast), ("aircraft", \.aircraft),
        ("track", \.track), ("ink", \.ink), ("halo", \.halo),
    ]

    /// Every colour, in the order of the keys.
    package var all: [StraightColour] { MarkColours.keys.map { self[keyPath: $0.path] } }

    /// The same colours at `factor` times their opacity, brought to 0...1; 1 where it is not a number.
    func faded(by factor: Double) -> MarkColours {
        let factor = factor.isNaN ? 1 : min(max(factor, 0), 1)
        var faded = self
        for key in MarkColours.keys {
            let alpha = Double(faded[keyPath: key.path].alpha) * factor
            faded[keyPath: key.path].alpha = UInt8(alpha.rounded())
        }
        return faded
    }
}

/// Lines or dots over a severity's fill, so that steps can be told apart in print without colour.
public struct SeverityPattern: Sendable, Hashable {
    /// How its lines run.
    public let kind: Pattern.Kind
    /// The colour of its lines.
    public let paint: Paint
    /// Points after which it repeats: one of `spacings`.
    public let spacing: Int
    /// Of its lines, or across its dots, in points.
    public let width: Double

    /// Points; they divide a tile, so that the pattern runs on into the next.
    public static let spacings = [4, 8, 16, 32]

    /// nil for another spacing, or a width that isn't above 0 and below the spacing.
    public init?(kind: Pattern.Kind, paint: Paint, spacing: Int, width: Double) {
        guard SeverityPattern.spacings.contains(spacing), width > 0, width < Double(spacing) else { return nil }
        self.kind = kind
        self.paint = paint
        self.spacing = spacing
        self.width = width
    }

    /// At a number of pixels a point.
    package func pattern(scale: Int) -> Pattern {
        Pattern(kind, period: spacing * scale, width: width * Double(scale))
    }

    func faded(by factor: Double) -> SeverityPattern {
        SeverityPattern(kind: kind, paint: paint.faded(by: factor), spacing: spacing, width: width) ?? self
    }
}
