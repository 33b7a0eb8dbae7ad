public import BillowRaster
import Foundation

/// What stands on a map picture besides the map: a time in the north-west corner, a legend in the south-west, a bar of
/// distances in the south-east.
public struct MapFurniture: Sendable {
    public var legend: Legend?
    /// One line.
    public var timeStamp: String?
    public var showsScaleBar: Bool

    public init(legend: Legend? = nil, timeStamp: String? = nil, showsScaleBar: Bool = false) {
        self.legend = legend
        self.timeStamp = timeStamp
        self.showsScaleBar = showsScaleBar
    }

    /// Points from the picture's edges.
    private static let margin = 10.0
    private static let textSize = 13.0
    private static let padding = 7.0
    private static let longestBar = 150.0

    /// Mixes in all that decides how it looks, besides the window.
    public func mix(into fingerprint: inout Fingerprint, style: Style) {
        fingerprint.mix(timeStamp ?? "")
        fingerprint.mix((showsScaleBar ? 2 : 0) | (style.theme == .dark ? 1 : 0) as UInt64)
        guard let legend else { return }
        for text in [legend.title, legend.layer, legend.style] + legend.notes + legend.entries.map(\.label) {
            fingerprint.mix(text)
        }
        style.mixAll(into: &fingerprint)
    }

    public func paint(_ region: MapRegion, style: Style, onto canvas: inout Canvas) throws {
        guard legend != nil || timeStamp != nil || showsScaleBar else { return }
        let fonts = try LegendRenderer()
        let margin = Int(MapFurniture.margin) * region.scale
        if let legend {
            let card = try fonts.canvas(legend, options: try LegendOptions(scale: region.scale, theme: style.theme))
            canvas.lay(card, x: margin, y: canvas.height - card.height - margin)
        }
        let plate = Plate(theme: style.theme, scale: Double(region.scale))
        if let timeStamp { try plate.paint(timeStamp, left: Double(margin), top: Double(margin), onto: &canvas) }
        if showsScaleBar { try plate.paint(ScaleBar(region), right: Double(canvas.width - margin), onto: &canvas) }
    }

    /// A bar of a round number of nautical miles.
    ///
    /// Source: the international nautical mile of 1,852 m
    struct ScaleBar {
        let nauticalMiles: Double
        let pixels: Double

        init(_ region: MapRegion) {
            let milesPerPixel = region.metresPerPixel / 1_852
            let longest = milesPerPixel * MapFurniture.longestBar * Double(region.scale)
            let power = pow(10, log10(longest).rounded(.down))
            let steps = [5.0, 2, 1].map { $0 * power }
            nauticalMiles = steps.first { $0 <= longest } ?? power
            pixels = nauticalMiles / milesPerPixel
        }

        var text: String {
            let number =
                nauticalMiles >= 1 ? String(Int(nauticalMiles)) : String((nauticalMiles * 1_000).rounded() / 1_000)
            return "\(number) NM"
        }
    }

    /// A card with a line on it.
    private struct Plate {
        let ground: StraightColour
        let ink: StraightColour
        let scale: Double

        init(theme: Theme, scale: Double) {
            let (dark, light) = (
                StraightColour(red: 0x1F, green: 0x24, blue: 0x2A, alpha: 230),
                StraightColour(red: 0xF1, green: 0xF3, blue: 0xF5, alpha: 230)
            )
            ground = theme == .dark ? dark : light
            ink =
                theme == .dark
                ? StraightColour(red: 0xF4, green: 0xF6, blue: 0xF8)
                : StraightColour(red: 0x14, green: 0x18, blue: 0x1D)
            self.scale = scale
        }

        func paint(_ text: String, left: Double, top: Double, onto canvas: inout Canvas) throws {
            let font = try TextRenderer(fontPath: LegendRenderer.defaultBoldFontPath)
            let size = MapFurniture.textSize * scale
            let padding = MapFurniture.padding * scale
            let width = try font.width(of: text, size: size) + 2 * padding
            let capHeight = try font.capHeight(size: size)
            box(
                left: left, top: top, width: width.rounded(.up), height: (capHeight + 2 * padding).rounded(.up), &canvas
            )
            try font.draw(
                text, at: Point(x: left + padding, y: top + padding + capHeight), size: size, colour: ink, on: &canvas)
        }

        func paint(_ bar: ScaleBar, right: Double, onto canvas: inout Canvas) throws {
            let font = try TextRenderer()
            let size = 11 * scale
            let padding = MapFurniture.padding * scale
            let textWidth = try font.width(of: bar.text, size: size)
            let width = (max(bar.pixels, textWidth) + 2 * padding).rounded(.up)
            let height = (30 * scale).rounded(.up)
            let (left, top) = (right - width, Double(canvas.height) - MapFurniture.margin * scale - height)
            box(left: left, top: top, width: width, height: height, &canvas)
            let start = left + (width - bar.pixels) / 2
            let (end, base) = (start + bar.pixels, top + height - padding)
            let line = [(start, base - 5 * scale), (start, base), (end, base), (end, base - 5 * scale)]
            canvas.stroke(line.map { Point(x: $0.0, y: $0.1) }, with: Stroke(width: 1.4 * scale), colour: ink)
            try font.draw(
                bar.text, at: Point(x: left + (width - textWidth) / 2, y: base - 6 * scale), size: size, colour: ink,
                on: &canvas)
        }

        private func box(left: Double, top: Double, width: Double, height: Double, _ canvas: inout Canvas) {
            let ring = [(0, 0), (width, 0), (width, height), (0, height)].map {
                Point(x: left + $0.0, y: top + $0.1)
            }
            canvas.fill([ring], with: ground)
        }
    }
}
