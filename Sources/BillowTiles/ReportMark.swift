import BillowRaster
package import Turbulence

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
    /// The side of a symbol of full size, in points.
    private static let symbolSide = 20.0
    /// The size of a symbol at lower zooms, as a share of the full size.
    private static let smallScale = 0.62

    private init(_ reports: RankedReports, _ index: Int, at place: PicturePosition, zoom: Int) {
        isSmall = zoom < ReportMark.fullSizeZoom
        self.place = place
        severity = reports.severities[index]
        isUrgent = reports.areUrgent[index]
    }

    /// The marks of a region, the highest rank on top, and the labels with their altitudes.
    static func marks(of reports: RankedReports, in region: MapRegion) -> (marks: [ReportMark], labels: LabelSource?) {
        let isLabelled = region.zoom >= firstLabelZoom
        let placed = reports.placed(on: region.world)
        let marks = grid(region.world).copies(of: placed.symbols, in: region).map {
            ReportMark(reports, $0.index, at: PicturePosition($0.at), zoom: region.zoom)
        }
        guard isLabelled else { return (marks, nil) }
        let all = reports.reports
        return (
            marks,
            LabelSource(
                beside: placed.named, placed.anchors, gap: 12, scale: Double(region.scale), size: 10.5
            ) {
                all[$0].altitudeFeet.map(FlightLevelText.of) ?? ""
            }
        )
    }

    /// The reports that are visible in a region, in drawing order: the highest rank last.
    static func shown(_ reports: RankedReports, in region: MapRegion) -> [PilotReport] {
        let symbols = reports.placed(on: region.world).symbols
        return grid(region.world).copies(of: symbols, in: region).map { reports.reports[$0.index] }
    }

    private static func grid(_ world: WorldMap) -> SymbolGrid {
        SymbolGrid(world, points: spacing, reach: reach)
    }

    /// The highest rank of each square of a map, and which of them are labelled.
    fileprivate static func placed(_ reports: [PilotReport], on world: WorldMap) -> RankedReports.Placement {
        let grid = grid(world)
        // The reports come in the order of their rank, so a later one is better.
        let symbols = grid.thinned(reports, place: \.place) { _, _ in true }
        let named = grid.first(
            labelsPerBlock, ofEachBlock: symbols.reversed().filter { reports[$0.index].altitudeFeet != nil })
        let side = world.zoom < fullSizeZoom ? symbolSide * smallScale : symbolSide
        return RankedReports.Placement(
            symbols: symbols, named: named, anchors: LabelAnchors(of: named, on: world),
            obstacles: LabelObstacles(symbols, side: side, on: world))
    }

    func mix(into fingerprint: inout Fingerprint) {
        place.mix(into: &fingerprint)
        fingerprint.mix(UInt64(severity.map { $0.rawValue + 1 } ?? 0) << 2 | (isUrgent ? 2 : 0) | (isSmall ? 1 : 0))
    }

    func paint(_ style: Style, scale: Double, onto canvas: inout Canvas) {
        canvas.draw(
            ReportSymbol(severity: severity, isUrgent: isUrgent).drawing(style), at: place.point,
            scale: isSmall ? scale * Self.smallScale : scale)
    }
}

/// Pilot reports in rising order of their rank. If there is room for only one report, an urgent one is shown, then the
/// more severe, then the newer. So a routine report never hides an urgent or a more severe one.
///
/// All tiles of a frame share them, so they are sorted once and not for each tile.
package struct RankedReports: Sendable {
    /// The reports.
    package let reports: [PilotReport]
    /// Whether each of them is urgent, and its severity: both are found in texts.
    let areUrgent: [Bool]
    let severities: [Severity?]
    private let placements = WorldMapCache<Placement>()

    /// The places of the reports on a map.
    struct Placement: Sendable {
        /// Those that are shown, in rising order of their rank.
        var symbols: [SymbolGrid.PlacedSymbol]
        /// Those that are labelled, the highest rank first.
        var named: [SymbolGrid.PlacedSymbol]
        var anchors: LabelAnchors
        /// Those that are shown: other labels keep off them.
        var obstacles: LabelObstacles
    }

    /// Sorts reports by their rank.
    package init(_ reports: [PilotReport]) {
        let ranked = reports.map { (report: $0, isUrgent: $0.isUrgent, severity: $0.severity) }.sorted { a, b in
            func rank(_ severity: Severity?) -> Int { severity.map { Int($0.rawValue) } ?? -1 }
            return (a.isUrgent ? 1 : 0, rank(a.severity), a.report.observedAt, a.report.id)
                < (b.isUrgent ? 1 : 0, rank(b.severity), b.report.observedAt, b.report.id)
        }
        self.reports = ranked.map(\.report)
        areUrgent = ranked.map(\.isUrgent)
        severities = ranked.map(\.severity)
    }

    func placed(on world: WorldMap) -> Placement {
        placements.value(on: world) { ReportMark.placed(reports, on: $0) }
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
