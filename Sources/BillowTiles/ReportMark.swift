public import BillowRaster
public import Turbulence

/// A pilot report as drawn: a badge in the severity's colour with the usual sign of its intensity.
///
/// ```
/// smooth   light   light-moderate   moderate   moderate-severe
///   ○        ∧           ∧.            _∧_         ∧ over _∧_
/// ```
/// An urgent report's badge is a square on its corner in place of a disc. One that says nothing of turbulence is a dot.
///
/// Source: WMO-No. 485, appendix II-4 (turbulence symbols: one hat for moderate, two for severe)
struct ReportMark: Sendable, Hashable {
    let place: PicturePlace
    let severity: Severity?
    let isUrgent: Bool
    let label: String?

    /// Points: the side of the square in which one report is shown at low zoom.
    private static let spacing = 22.0
    private static let reach = 90.0
    /// From here on its altitude stands beside it.
    static let firstLabelZoom = 8
    private static let labelsPerBlock = 40

    init(_ report: PilotReport, at place: PicturePlace, hasLabel: Bool) {
        self.place = place
        severity = report.severity
        isUrgent = report.type.lowercased().contains("urgent")
        label = hasLabel ? report.altitudeFeet.map(FlightLevelText.of) : nil
    }

    /// The marks of a window, the most severe on top.
    static func marks(of reports: [PilotReport], in region: MapRegion) -> [ReportMark] {
        let grid = SymbolGrid(region, points: spacing, reach: reach)
        let found = grid.found(
            reports, labels: region.zoom >= firstLabelZoom ? labelsPerBlock : 0, place: \.place
        ) { a, b in rank(a) > rank(b) }
        return found.sorted { rank($0.item) < rank($1.item) }.map {
            ReportMark($0.item, at: PicturePlace($0.at), hasLabel: $0.hasLabel)
        }
    }

    /// The more severe, then the newer, then by id.
    private static func rank(_ report: PilotReport) -> (Int, Instant, String) {
        (report.severity.map { Int($0.rawValue) } ?? -1, report.observedAt, report.id)
    }

    func mix(into fingerprint: inout Fingerprint) {
        place.mix(into: &fingerprint)
        fingerprint.mix(UInt64(severity.map { $0.rawValue + 1 } ?? 0) << 1 | (isUrgent ? 1 : 0))
        fingerprint.mix(label ?? "")
    }

    func paint(_ style: Style, scale: Double, onto canvas: inout Canvas, text: LabelPainter) throws(TextError) {
        ReportSymbol(severity: severity, isUrgent: isUrgent).paint(
            at: place.point, style, scale: scale, onto: &canvas)
        guard let label else { return }
        let start = Point(x: place.point.x + 12 * scale, y: place.point.y + 4 * scale)
        try text.draw(label, at: start, size: 10.5 * scale, style.marks, on: &canvas)
    }
}

/// The badge of a pilot report, also for legends.
public struct ReportSymbol: Sendable, Hashable {
    public let severity: Severity?
    public let isUrgent: Bool

    public init(severity: Severity?, isUrgent: Bool) {
        self.severity = severity
        self.isUrgent = isUrgent
    }

    /// - Parameter scale: pixels a point; a badge is about 19 points wide.
    public func paint(at centre: Point, _ style: Style, scale: Double, onto canvas: inout Canvas) {
        let marks = style.marks
        guard let severity else {
            canvas.fill([Point.circle(centre: centre, radius: 4 * scale)], with: marks.halo)
            canvas.fill([Point.circle(centre: centre, radius: 2.6 * scale)], with: marks.ink)
            return
        }
        var fill = style[severity].fill.colour
        fill.alpha = marks.ink.alpha
        // Ink that is seen on the fill: dark on light, light on dark.
        let luminance = 299 * Int(fill.red) + 587 * Int(fill.green) + 114 * Int(fill.blue)
        let isLight = luminance > 110_000
        let sign = StraightColour(
            red: isLight ? 0x14 : 0xFF, green: isLight ? 0x18 : 0xFF, blue: isLight ? 0x1D : 0xFF,
            alpha: marks.ink.alpha)
        canvas.fill([badge(centre, 10.2 * scale)], with: marks.halo)
        canvas.fill([badge(centre, 9.4 * scale)], with: marks.ink)
        canvas.fill([badge(centre, 8.2 * scale)], with: fill)
        let stroke = Stroke(width: 1.7 * scale)
        for line in lines(severity) {
            let points = line.map { Point(x: centre.x + $0.x * scale, y: centre.y + $0.y * scale) }
            canvas.stroke(points, with: stroke, colour: sign)
        }
        if severity == .smooth {
            let ring = [3.9, 2.3].map { Point.circle(centre: centre, radius: $0 * scale) }
            canvas.fill([ring[0], ring[1].reversed()], with: sign)
        }
    }

    private func badge(_ centre: Point, _ radius: Double) -> [Point] {
        guard isUrgent else { return Point.circle(centre: centre, radius: radius) }
        let reach = radius * 1.28
        return [(0, -reach), (reach, 0), (0, reach), (-reach, 0)].map { Point(x: centre.x + $0.0, y: centre.y + $0.1) }
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

/// Altitudes as pilots write them.
enum FlightLevelText {
    /// `FL380` from 18,000 feet on, else `9,000 ft`; rounded to hundreds.
    static func of(_ feet: Int) -> String {
        let hundreds = (feet + 50) / 100
        if hundreds >= 180 { return "FL\(hundreds)" }
        let (thousands, rest) = (hundreds / 10, hundreds % 10)
        return thousands > 0 ? "\(thousands),\(rest)00 ft" : "\(rest * 100) ft"
    }

    /// A band: `FL250–450`, `below FL180`, `above FL300`; nil where neither end is known.
    static func band(_ minimum: Int?, _ maximum: Int?) -> String? {
        switch (minimum, maximum) {
        case (nil, nil): nil
        case (let low?, nil): "above \(of(low))"
        case (nil, let high?): "below \(of(high))"
        case (let low?, let high?): low <= 0 ? "below \(of(high))" : "\(of(low))–\(of(high))"
        }
    }
}
