package import Datasets
/// How an issued area is drawn, by its kind. Kinds differ in line and pattern, not only in colour.
///
/// | | outline | pattern |
/// | --- | --- | --- |
/// | SIGMET | solid | rising lines |
/// | G-AIRMET and other advisories | long dashes | falling lines |
/// | forecast, nowcast | short dashes | upright lines |
///
/// A pattern's lines are twice as far apart if an area is a step ahead of its issue, or ends within half an hour.
package struct AreaAppearance: Sendable, Hashable {
    package typealias Kind = AreaSign

    package enum Subject: UInt8, Sendable, Hashable, CaseIterable {
        case turbulence = 0
        case other = 1
    }

    package let kind: Kind
    package let subject: Subject
    package let isFaint: Bool

    package init(kind: Kind, subject: Subject, isFaint: Bool) {
        self.kind = kind
        self.subject = subject
        self.isFaint = isFaint
    }

    package func colour(_ marks: MarkColours) -> StraightColour {
        switch (kind, subject) {
        case (.forecast, _): marks.forecast
        case (_, .turbulence): marks.hazard
        case (_, .other): marks.otherHazard
        }
    }

    /// The tint of the whole area: its colour at 20/255 of the opacity.
    package func ground(_ marks: MarkColours) -> StraightColour {
        var ground = colour(marks)
        ground.alpha = UInt8(Int(ground.alpha) * 20 / 255)
        return ground
    }

    /// - Parameter scale: pixels per point.
    package func stroke(scale: Double) -> Stroke {
        switch kind {
        case .warning: Stroke(width: 2.2 * scale)
        case .advisory: Stroke(width: 1.8 * scale, dash: Stroke.Dash(on: 9 * scale, off: 5 * scale))
        case .forecast: Stroke(width: 1.6 * scale, dash: Stroke.Dash(on: 4 * scale, off: 3.5 * scale))
        }
    }

    package func pattern(scale: Int) -> Pattern {
        let kind: Pattern.Kind =
            switch self.kind {
            case .warning: .hatch
            case .advisory: .backHatch
            case .forecast: .vertical
            }
        return Pattern(kind, period: (isFaint ? 32 : 16) * scale, width: 1.1 * Double(scale))
    }

    /// A sample of the area for legends, 22 × 15 points.
    func swatch(_ style: Style) -> Drawing {
        let (right, bottom) = (11.0, 7.5)
        let corners = [(-right, -bottom), (right, -bottom), (right, bottom), (-right, bottom)].map {
            Point(x: $0.0, y: $0.1)
        }
        var drawing = Drawing()
        let colour = colour(style.marks)
        drawing.fill([corners], with: ground(style.marks))
        for way in stride(from: -24.0, through: 24, by: isFaint ? 10 : 5) {
            guard let line = AreaAppearance.swatchLine(kind, at: way, right: right, bottom: bottom) else { continue }
            drawing.stroke(line, with: Stroke(width: 1.1), colour: colour)
        }
        drawing.stroke(corners, isClosed: true, with: stroke(scale: 1), colour: colour)
        return drawing
    }

    /// A line of the kind's pattern across a swatch, clipped to it; nil if the line lies outside.
    static func swatchLine(_ kind: Kind, at way: Double, right: Double, bottom: Double) -> [Point]? {
        let line: [Point]
        switch kind {
        case .warning:
            line = [
                Point(x: max(-right, way - bottom), y: min(bottom, way + right)),
                Point(x: min(right, way + bottom), y: max(-bottom, way - right)),
            ]
        case .advisory:
            line = [
                Point(x: max(-right, way - bottom), y: max(-bottom, -right - way)),
                Point(x: min(right, way + bottom), y: min(bottom, right - way)),
            ]
        case .forecast: line = [Point(x: way, y: -bottom), Point(x: way, y: bottom)]
        }
        return line[0].x < line[1].x || kind == .forecast && abs(way) < right ? line : nil
    }
}
