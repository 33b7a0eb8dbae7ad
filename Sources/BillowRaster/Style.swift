public import Turbulence

/// A colour and its opacity.
public struct Paint: Sendable, Hashable {
    /// The colour as drawn: alpha = opacity × 255 rounded to the nearest, halves up (0.8 → 204, 0.6 → 153).
    public let colour: StraightColour
    /// 0 to 1, as in the style file.
    public let opacity: Double

    /// Returns nil unless the opacity is 0 to 1. The colour's own alpha is not used.
    public init?(_ colour: StraightColour, opacity: Double) {
        guard opacity >= 0, opacity <= 1 else { return nil }
        self.opacity = opacity
        var colour = colour
        colour.alpha = UInt8((opacity * 255).rounded())
        self.colour = colour
    }

    /// This paint at `factor` times its opacity, rounded to four decimals. `factor` is clamped to 0...1; if it is not a
    /// number, it is 1.
    func faded(by factor: Double) -> Paint {
        let factor = factor.isNaN ? 1 : min(max(factor, 0), 1)
        return factor == 1 ? self : Paint(colour, opacity: (opacity * factor * 10_000).rounded() / 10_000) ?? self
    }
}

/// How one severity is drawn.
public struct SeverityPaint: Sendable, Hashable {
    /// The fill of the cell, inside its border if it has one.
    public let fill: Paint
    /// A band along the edge inside the cell. It replaces the fill there.
    public let border: Paint?
    /// The pattern over the fill.
    public let pattern: SeverityPattern?

    /// Makes the paint of a severity.
    public init(fill: Paint, border: Paint? = nil, pattern: SeverityPattern? = nil) {
        self.fill = fill
        self.border = border
        self.pattern = pattern
    }
}

/// The brightness of the base map that a style is made for, and of a legend's card.
public enum Theme: String, Sendable, Hashable, CaseIterable, Codable {
    /// For a light map.
    case light
    /// For a dark map.
    case dark
}

/// The colours of a picture, read from `Styles/{id}.json` (format: `Styles/README.md`).
///
/// Styles are parts of the keys of caches, so a copy is one reference.
public struct Style: Sendable, Hashable {
    private let parts: HashedValue<Parts>

    private struct Parts: Sendable, Hashable {
        var id: String
        var title: String
        var description: String
        var theme: Theme
        var paints: [SeverityPaint]
        var marks: MarkColours
        var field: FieldPaint
    }

    /// Lower-case letters, digits and hyphens: the file's name without `.json`.
    public var id: String { parts.content.id }
    /// The name shown to users.
    public var title: String { parts.content.title }
    /// A sentence about the style.
    public var description: String { parts.content.description }
    /// The theme of the base maps that it is made for.
    public var theme: Theme { parts.content.theme }
    /// By the severity's raw value.
    private var paints: [SeverityPaint] { parts.content.paints }
    /// The colours of the layers over the severities.
    public var marks: MarkColours { parts.content.marks }
    /// The paint of turbulence fields.
    package var field: FieldPaint { parts.content.field }

    /// Returns nil unless `paints` has one for each severity, smooth first.
    ///
    /// - Parameters:
    ///   - marks: nil selects the theme's standard colours.
    ///   - id: the name in URLs.
    ///   - title: a heading.
    ///   - description: a sentence.
    ///   - theme: the theme of base maps that it is made for.
    ///   - paints: one for each severity, smooth first.
    public init?(
        id: String, title: String, description: String, theme: Theme, paints: [SeverityPaint], marks: MarkColours? = nil
    ) {
        self.init(
            id: id, title: title, description: description, theme: theme, paints: paints, marks: marks, field: .standard
        )
    }

    package init?(
        id: String, title: String, description: String, theme: Theme, paints: [SeverityPaint], marks: MarkColours?,
        field: FieldPaint
    ) {
        guard paints.count == Severity.allCases.count else { return nil }
        self.init(
            id: id, title: title, description: description, theme: theme, checked: paints,
            marks: marks ?? .standard(theme), field: field)
    }

    private init(
        id: String, title: String, description: String, theme: Theme, checked paints: [SeverityPaint],
        marks: MarkColours, field: FieldPaint
    ) {
        parts = HashedValue(
            Parts(
                id: id, title: title, description: description, theme: theme, paints: paints, marks: marks,
                field: field))
    }

    /// How a severity is drawn.
    public subscript(severity: Severity) -> SeverityPaint { paints[Int(severity.rawValue)] }

    /// The colours of fills and borders.
    package var fills: [StraightColour] { paints.flatMap { [$0.fill.colour, $0.border?.colour].compactMap { $0 } } }

    /// Whether any severity has a pattern.
    package var hasPatterns: Bool { paints.contains { $0.pattern != nil } }

    /// The same severities for base maps of a theme. If that is another theme, its standard marks are used.
    package func made(for theme: Theme) -> Style {
        guard theme != self.theme else { return self }
        return Style(
            id: id, title: title, description: description, theme: theme, checked: paints, marks: .standard(theme),
            field: field)
    }

    /// The same colours at `factor` times their opacity: the `opacity` parameter of pictures. Values outside 0...1 are
    /// clamped.
    package func faded(by factor: Double) -> Style {
        guard factor < 1 else { return self }
        return Style(
            id: id, title: title, description: description, theme: theme,
            checked: paints.map {
                SeverityPaint(
                    fill: $0.fill.faded(by: factor), border: $0.border?.faded(by: factor),
                    pattern: $0.pattern?.faded(by: factor))
            }, marks: marks.faded(by: factor), field: field.faded(by: factor))
    }
}
