import BillowRaster
import Turbulence

/// A pilot report as drawn.
struct ReportMark: Sendable, Hashable {
    let place: PicturePosition
    let severity: Severity?
    let isUrgent: Bool
    let isSmall: Bool

    /// The side of the square in which one report is shown at low zoom, in points.
    private static let spacing = 22.0
    private static let reach = 14.0
    /// The lowest zoom at which reports have their full size.
    private static let fullSizeZoom = 5
    /// The lowest zoom at which reports are labelled with their altitude.
    static let firstLabelZoom = 8
    private static let labelsPerBlock = 40

    init(_ report: PilotReport, at place: PicturePosition, zoom: Int) {
        isSmall = zoom < ReportMark.fullSizeZoom
        self.place = place
        severity = report.severity
        isUrgent = report.isUrgent
    }

    /// The marks of a region, the highest rank on top, and the labels with their altitudes.
    static func marks(of reports: [PilotReport], in region: MapRegion) -> (marks: [ReportMark], labels: LabelSource?) {
        let grid = SymbolGrid(region, points: spacing, reach: reach)
        let isLabelled = region.zoom >= firstLabelZoom
        let symbols = thinned(reports, grid, everywhere: isLabelled)
        let marks = grid.copies(of: symbols).sorted { rank(reports[$0.index]) < rank(reports[$1.index]) }.map {
            ReportMark(reports[$0.index], at: PicturePosition($0.at), zoom: region.zoom)
        }
        guard isLabelled else { return (marks, nil) }
        let named = symbols.filter { reports[$0.index].altitudeFeet != nil }.sorted {
            rank(reports[$0.index]) > rank(reports[$1.index])
        }
        return (
            marks,
            LabelSource(
                besideSymbols: grid.first(labelsPerBlock, ofEachBlock: named), gap: 12, scale: Double(region.scale),
                size: 10.5
            ) { reports[$0].altitudeFeet.map(FlightLevelText.of) ?? "" }
        )
    }

    /// The reports that are visible in a region, in drawing order: the highest rank last.
    static func shown(_ reports: [PilotReport], in region: MapRegion) -> [PilotReport] {
        let grid = SymbolGrid(region, points: spacing, reach: reach)
        return grid.copies(of: thinned(reports, grid, everywhere: false)).map { reports[$0.index] }
            .sorted { rank($0) < rank($1) }
    }

    private static func thinned(_ reports: [PilotReport], _ grid: SymbolGrid, everywhere: Bool) -> [SymbolGrid
        .PlacedSymbol]
    {
        grid.thinned(reports, everywhere: everywhere, place: \.place) { rank($0) > rank($1) }
    }

    /// The rank of a report. If there is room for only one report, an urgent one is shown, then the more severe, then
    /// the newer. So a routine report never hides an urgent or a more severe one.
    private static func rank(_ report: PilotReport) -> Rank {
        Rank(
            urgency: report.isUrgent ? 1 : 0, severity: report.severity.map { Int($0.rawValue) } ?? -1,
            observedAt: report.observedAt, id: report.id)
    }

    private struct Rank: Comparable {
        var urgency: Int
        var severity: Int
        var observedAt: Instant
        var id: String

        static func < (a: Rank, b: Rank) -> Bool {
            (a.urgency, a.severity, a.observedAt, a.id) < (b.urgency, b.severity, b.observedAt, b.id)
        }
    }

    func mix(into fingerprint: inout Fingerprint) {
        place.mix(into: &fingerprint)
        fingerprint.mix(UInt64(severity.map { $0.rawValue + 1 } ?? 0) << 2 | (isUrgent ? 2 : 0) | (isSmall ? 1 : 0))
    }

    func paint(_ style: Style, scale: Double, onto canvas: inout Canvas) {
        canvas.draw(
            ReportSymbol(severity: severity, isUrgent: isUrgent).drawing(style), at: place.point,
            scale: isSmall ? scale * 0.62 : scale)
    }
}

/// Formats altitudes as pilots write them.
package enum FlightLevelText {
    /// `FL380` from 18,000 feet up, otherwise `9,000 ft`; rounded to hundreds of feet.
    package static func of(_ feet: Int) -> String {
        let hundreds = (feet + 50) / 100
        if hundreds >= 180 { return "FL\(hundreds)" }
        let (thousands, rest) = (hundreds / 10, hundreds % 10)
        return thousands > 0 ? "\(thousands),\(rest)00 ft" : "\(rest * 100) ft"
    }

    /// An altitude band, such as `FL250–450`, `below FL180` or `above FL300`; nil if neither end is known.
    package static func band(_ minimum: Int?, _ maximum: Int?) -> String? {
        switch (minimum, maximum) {
        case (nil, nil): nil
        case (let low?, nil): "above \(of(low))"
        case (nil, let high?): "below \(of(high))"
        case (let low?, let high?): low <= 0 ? "below \(of(high))" : "\(of(low))–\(of(high))"
        }
    }
}
