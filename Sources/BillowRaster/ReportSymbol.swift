package import Turbulence

/// A pilot report's symbol: a badge in the severity's colour with the usual sign of its intensity, about 19 points
/// wide.
///
/// ```
/// smooth   light   light-moderate   moderate   moderate-severe
///   ○        ∧           ∧_           _∧_         ∧ over _∧_
/// ```
/// The badge of an urgent report is a square on its corner instead of a disc. A report without turbulence is a dot, and
/// one of smooth air has a small badge: most reports are such, and must not hide where it is rough.
///
/// Source: WMO-No. 485, appendix II-4 (turbulence symbols: one hat for moderate, two for severe)
package struct ReportSymbol: Sendable, Hashable {
    package let severity: Severity?
    package let isUrgent: Bool

    package init(severity: Severity?, isUrgent: Bool) {
        self.severity = severity
        self.isUrgent = isUrgent
    }

    package func drawing(_ style: Style) -> Drawing {
        var drawing = Drawing()
        let marks = style.marks
        let middle = Point(x: 0, y: 0)
        guard let severity else {
            drawing.fill([Point.circle(centre: middle, radius: 4)], with: marks.halo)
            drawing.fill([Point.circle(centre: middle, radius: 2.6)], with: marks.ink)
            return drawing
        }
        var fill = style[severity].fill.colour
        fill.alpha = marks.ink.alpha
        // Ink with contrast to the fill: dark on light, light on dark.
        let luminance = 299 * Int(fill.red) + 587 * Int(fill.green) + 114 * Int(fill.blue)
        let isLight = luminance > 110_000
        let sign = StraightColour(
            red: isLight ? 0x14 : 0xFF, green: isLight ? 0x18 : 0xFF, blue: isLight ? 0x1D : 0xFF,
            alpha: marks.ink.alpha)
        guard severity != .smooth || isUrgent else {
            drawing.fill([badge(6.2)], with: marks.halo)
            drawing.fill([badge(5.4)], with: marks.ink)
            drawing.fill([badge(4.6)], with: fill)
            drawing.fill(ring(outside: 2.6, inside: 1.3), with: sign)
            return drawing
        }
        drawing.fill([badge(10.2)], with: marks.halo)
        drawing.fill([badge(9.4)], with: marks.ink)
        drawing.fill([badge(8.2)], with: fill)
        for line in lines(severity) { drawing.stroke(line, with: Stroke(width: 1.7), colour: sign) }
        if severity == .smooth { drawing.fill(ring(outside: 3.9, inside: 2.3), with: sign) }
        return drawing
    }

    private func ring(outside: Double, inside: Double) -> [[Point]] {
        let middle = Point(x: 0, y: 0)
        return [Point.circle(centre: middle, radius: outside), Point.circle(centre: middle, radius: inside).reversed()]
    }

    private func badge(_ radius: Double) -> [Point] {
        guard isUrgent else { return Point.circle(centre: Point(x: 0, y: 0), radius: radius) }
        let reach = radius * 1.28
        return [(0, -reach), (reach, 0), (0, reach), (-reach, 0)].map { Point(x: $0.0, y: $0.1) }
    }

    /// The strokes of a severity's sign, in points from its centre.
    private func lines(_ severity: Severity) -> [[Point]] {
        func line(_ points: [(Double, Double)]) -> [Point] { points.map { Point(x: $0.0, y: $0.1) } }
        return switch severity {
        case .smooth: []
        case .light: [line([(-3.6, 2.6), (0, -3.6), (3.6, 2.6)])]
        case .lightModerate: [line([(-4.4, 2.6), (-1.2, -3.6), (2, 2.6), (5.4, 2.6)])]
        case .moderate: [line([(-5.8, 2.6), (-2.9, 2.6), (0, -3.8), (2.9, 2.6), (5.8, 2.6)])]
        case .moderateSevere:
            [
                line([(-5.8, 4.2), (-2.9, 4.2), (0, -1), (2.9, 4.2), (5.8, 4.2)]),
                line([(-2.9, -0.2), (0, -5.4), (2.9, -0.2)]),
            ]
        }
    }
}
