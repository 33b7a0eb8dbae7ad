import BillowRaster
import Turbulence

/// A pilot report as drawn: its symbol, and its altitude beside it.
struct ReportMark: Sendable, Hashable {
    let place: PicturePlace
    let severity: Severity?
    let isUrgent: Bool
    let isSmall: Bool
    let label: String?

    /// Points: the side of the square in which one report is shown at low zoom.
    private static let spacing = 22.0
    private static let reach = 90.0
    /// From here on reports have their full size.
    private static let fullSizeZoom = 5
    /// From here on its altitude stands beside it.
    static let firstLabelZoom = 8
    private static let labelsPerBlock = 40

    init(_ report: PilotReport, at place: PicturePlace, zoom: Int, hasLabel: Bool) {
        isSmall = zoom < ReportMark.fullSizeZoom
        self.place = place
        severity = report.severity
        isUrgent = report.type.lowercased().contains("urgent")
        label = hasLabel ? report.altitudeFeet.map(FlightLevelText.of) : nil
    }

    /// The marks of a window, the most severe on top.
    static func marks(of reports: [PilotReport], in region: MapRegion) -> [ReportMark] {
        let found = found(reports, in: region, labels: region.zoom >= firstLabelZoom ? labelsPerBlock : 0)
        return found.sorted { rank($0.item) < rank($1.item) }.map {
            ReportMark($0.item, at: PicturePlace($0.at), zoom: region.zoom, hasLabel: $0.hasLabel)
        }
    }

    static func found(_ reports: [PilotReport], in region: MapRegion, labels: Int) -> [SymbolGrid.Found<PilotReport>] {
        SymbolGrid(region, points: spacing, reach: reach).found(reports, labels: labels, place: \.place) { a, b in
            rank(a) > rank(b)
        }
    }

    /// The more severe, then the newer, then by id.
    private static func rank(_ report: PilotReport) -> (Int, Instant, String) {
        (report.severity.map { Int($0.rawValue) } ?? -1, report.observedAt, report.id)
    }

    func mix(into fingerprint: inout Fingerprint) {
        place.mix(into: &fingerprint)
        fingerprint.mix(UInt64(severity.map { $0.rawValue + 1 } ?? 0) << 2 | (isUrgent ? 2 : 0) | (isSmall ? 1 : 0))
        fingerprint.mix(label ?? "")
    }

    func paint(_ style: Style, scale: Double, onto canvas: inout Canvas, text: LabelPainter) throws(TextError) {
        canvas.draw(
            ReportSymbol(severity: severity, isUrgent: isUrgent).drawing(style), at: place.point,
            scale: isSmall ? scale * 0.62 : scale)
        guard let label else { return }
        let start = Point(x: place.point.x + 12 * scale, y: place.point.y + 4 * scale)
        try text.draw(label, at: start, size: 10.5 * scale, style.marks, on: &canvas)
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
