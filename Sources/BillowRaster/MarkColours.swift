/// The colours of everything drawn over the severities: areas, symbols, lines and their labels.
public struct MarkColours: Sendable, Hashable {
    /// The colour of areas that warn of turbulence or wind shear.
    public var hazard: StraightColour
    /// The colour of areas that warn of other hazards.
    public var otherHazard: StraightColour
    /// The colour of forecasts and nowcasts.
    public var forecast: StraightColour
    /// The colour of aircraft.
    public var aircraft: StraightColour
    /// The colour of the tracks behind aircraft.
    public var track: StraightColour
    /// The colour of lines and letters of symbols.
    public var ink: StraightColour
    /// The colour around lines and letters, which makes them readable on any background.
    public var halo: StraightColour

    /// The colours of a style that doesn't set its own.
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

    /// The keys of a style file's `marks`, and the properties that they set.
    static let keys: [(name: String, path: any WritableKeyPath<MarkColours, StraightColour> & Sendable)] = [
        ("hazard", \.hazard), ("otherHazard", \.otherHazard), ("forecast", \.forecast), ("aircraft", \.aircraft),
        ("track", \.track), ("ink", \.ink), ("halo", \.halo),
    ]

    /// Every colour, in the order of the keys.
    package var all: [StraightColour] { MarkColours.keys.map { self[keyPath: $0.path] } }

    /// The same colours at `factor` times their opacity. `factor` is clamped to 0...1; if it is not a number, it is 1.
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

/// Lines or dots over a severity's fill, so that severities can be distinguished in print without colour.
public struct SeverityPattern: Sendable, Hashable {
    /// The kind of the pattern.
    public let kind: Pattern.Kind
    /// The colour of its lines or dots.
    public let paint: Paint
    /// The period in points, one of `spacings`.
    public let spacing: Int
    /// The width of its lines, or the diameter of its dots, in points.
    public let width: Double

    /// The allowed periods in points. They divide a tile, so the pattern continues in the next one.
    public static let spacings = [4, 8, 16, 32]

    /// Returns nil for another spacing, or for a width that isn't above 0 and below the spacing.
    public init?(kind: Pattern.Kind, paint: Paint, spacing: Int, width: Double) {
        guard SeverityPattern.spacings.contains(spacing), width > 0, width < Double(spacing) else { return nil }
        self.kind = kind
        self.paint = paint
        self.spacing = spacing
        self.width = width
    }

    /// The pattern in pixels.
    /// - Parameter scale: pixels per point.
    package func pattern(scale: Int) -> Pattern {
        Pattern(kind, period: spacing * scale, width: width * Double(scale))
    }

    func faded(by factor: Double) -> SeverityPattern {
        SeverityPattern(kind: kind, paint: paint.faded(by: factor), spacing: spacing, width: width) ?? self
    }
}
