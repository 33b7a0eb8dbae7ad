package import BillowRaster
import Foundation

/// The furniture of a map picture: a time in the north-west corner, a legend in the south-west, a scale bar in the
/// south-east. No part is cut off or covers another.
///
/// The time stamp takes as many lines as it needs. If there is too little room, the legend is left out first and then
/// the scale bar. If the whole time stamp doesn't fit, it is reduced to its warnings. If the warnings don't fit either,
/// a mark in the corner replaces them, in a picture of any size.
package struct MapFurniture: Sendable, Hashable {
    package var legend: Legend?
    /// The time, and other facts that a reader of the picture needs. If it is empty, no time stamp is drawn.
    package var timeStamp: [String]
    /// The words of the time stamp that must not be left out.
    package var warnings: [String]
    package var showsScaleBar: Bool

    package init(
        legend: Legend? = nil, timeStamp: [String] = [], warnings: [String] = [], showsScaleBar: Bool = false
    ) {
        self.legend = legend
        self.timeStamp = timeStamp
        self.warnings = warnings
        self.showsScaleBar = showsScaleBar
    }

    /// The distance from the picture's edges in points.
    private static let margin = 10.0
    private static let textSize = 13.0
    private static let padding = 7.0
    private static let longestBar = 150.0

    /// Mixes in everything that decides the furniture's pixels, besides the region.
    package func mix(into fingerprint: inout Fingerprint, style: Style) {
        fingerprint.mix(UInt64(timeStamp.count))
        for words in timeStamp + warnings { fingerprint.mix(words) }
        fingerprint.mix((showsScaleBar ? 2 : 0) | (style.theme == .dark ? 1 : 0) as UInt64)
        guard let legend else { return }
        for text in [legend.title, legend.layer, legend.style] + legend.notes + legend.entries.map(\.label) {
            fingerprint.mix(text)
        }
        style.mix(into: &fingerprint)
    }

    /// A part that there may be no room for, by its parameter's name.
    package enum Part: String, Sendable, CaseIterable {
        case legend, timestamp, scalebar
    }

    /// The parts and their places.
    private struct Layout {
        var stamp: TimeStamp?
        /// Whether a mark stands in place of the warnings.
        var hasMark = false
        var bar: (bar: ScaleBar, box: Box)?
        var legend: (card: Canvas, x: Int, y: Int)?
        var omitted: [Part] = []
    }

    /// The requested parts that a region has no room for. The time stamp is omitted also where only its warnings are
    /// left.
    package func omitted(in region: MapRegion, style: Style) throws(PictureError) -> [Part] {
        self == MapFurniture() ? [] : try layout(region, style).omitted
    }

    private func layout(_ region: MapRegion, _ style: Style) throws(PictureError) -> Layout {
        var layout = Layout()
        let margin = MapFurniture.margin * Double(region.scale)
        let plate = Plate(theme: style.theme, scale: Double(region.scale))
        // The room left for the next part.
        var top = margin
        var right = Double(region.width) - margin
        do {
            if let (stamp, isWhole) = try stamp(region) {
                layout.stamp = stamp
                if !isWhole { layout.omitted.append(.timestamp) }
                top = stamp.bottom + margin
            } else {
                if !timeStamp.isEmpty { layout.omitted.append(.timestamp) }
                layout.hasMark = !warnings.isEmpty
                if layout.hasMark { top = Double(region.height) }
            }
            if showsScaleBar, let bar = ScaleBar(region) {
                let box = try plate.box(of: bar, right: right, height: Double(region.height))
                if box.left >= margin, box.top >= top {
                    layout.bar = (bar, box)
                    right = box.left - margin
                } else {
                    layout.omitted.append(.scalebar)
                }
            }
        } catch { throw .text(error) }
        if let legend {
            let card = try MapFurniture.card(legend, scale: region.scale, theme: style.theme)
            let y = region.height - card.height - Int(margin)
            if Double(y) >= top, margin + Double(card.width) <= right {
                layout.legend = (card, Int(margin), y)
            } else {
                layout.omitted.append(.legend)
            }
        }
        return layout
    }

    package func paint(_ region: MapRegion, style: Style, onto canvas: inout Canvas) throws(PictureError) {
        let layout = try layout(region, style)
        let plate = Plate(theme: style.theme, scale: Double(region.scale))
        do {
            if let stamp = layout.stamp { try plate.paint(stamp, onto: &canvas) }
            if layout.hasMark { plate.paintMark(onto: &canvas) }
            if let (bar, box) = layout.bar { try plate.paint(bar, in: box, onto: &canvas) }
        } catch { throw .text(error) }
        if let (card, x, y) = layout.legend { canvas.lay(card, x: x, y: y) }
    }

    /// The whole time stamp, or only its warnings, whichever fits; nil if neither does.
    private func stamp(_ region: MapRegion) throws(TextError) -> (stamp: TimeStamp, isWhole: Bool)? {
        guard !timeStamp.isEmpty else { return nil }
        let font = try TextRenderer(fontPath: LegendRenderer.defaultBoldFontPath)
        for (words, isWhole) in [(timeStamp, true), (warnings, false)] where !words.isEmpty {
            if let stamp = try TimeStamp.fitting(words, in: region, font) { return (stamp, isWhole) }
        }
        return nil
    }

    /// A legend as it is drawn on a map.
    package static func card(_ legend: Legend, scale: Int, theme: Theme) throws(PictureError) -> Canvas {
        let renderer: LegendRenderer
        do { renderer = try LegendRenderer() } catch { throw .text(error) }
        do { return try renderer.canvas(legend, options: try LegendOptions(scale: scale, theme: theme)) } catch {
            throw .legend(error)
        }
    }

    /// A time stamp, wrapped to the picture's width. The letters are smaller if a single word is too wide, or if there
    /// are too many lines.
    private struct TimeStamp {
        let lines: [String]
        let left: Double
        let top: Double
        let width: Double
        let size: Double
        let capHeight: Double
        let padding: Double

        private static let separator = " · "
        private static let lineHeight = 1.8

        var bottom: Double { top + height }
        var height: Double {
            (capHeight * (1 + TimeStamp.lineHeight * Double(lines.count - 1)) + 2 * padding).rounded(.up)
        }

        func baseline(of line: Int) -> Double { top + padding + capHeight * (1 + TimeStamp.lineHeight * Double(line)) }

        private init(_ words: [String], scale: Double, room: Double, _ font: TextRenderer) throws(TextError) {
            let (size, padding) = (MapFurniture.textSize * scale, MapFurniture.padding * scale)
            let margin = MapFurniture.margin * scale
            var lines: [String] = []
            var widest = 0.0
            for word in words {
                let longer = lines.last.map { $0 + TimeStamp.separator + word }
                if let longer, try font.width(of: longer, size: size) + 2 * (margin + padding) <= room {
                    lines[lines.count - 1] = longer
                } else {
                    lines.append(word)
                }
                widest = max(widest, try font.width(of: lines[lines.count - 1], size: size))
            }
            (left, top) = (margin, margin)
            self.size = size
            self.padding = padding
            self.lines = lines
            width = (widest + 2 * padding).rounded(.up)
            capHeight = try font.capHeight(size: size)
        }

        /// The largest layout that fits the picture, at constant proportions; nil if its letters would be too small to
        /// draw.
        static func fitting(_ words: [String], in region: MapRegion, _ font: TextRenderer) throws(TextError)
            -> TimeStamp?
        {
            let (width, height) = (Double(region.width), Double(region.height))
            var scale = Double(region.scale)
            while MapFurniture.textSize * scale >= TextRenderer.sizes.lowerBound {
                let stamp = try TimeStamp(words, scale: scale, room: width, font)
                if stamp.left + stamp.width <= width, stamp.bottom <= height { return stamp }
                scale *= 0.9
            }
            return nil
        }
    }

    /// A scale bar of a round number of nautical miles.
    ///
    /// Source: a nautical mile is 1,852 m, NIST SP 811, https://www.nist.gov/pml/special-publication-811
    struct ScaleBar {
        let nauticalMiles: Double
        let pixels: Double

        /// Returns nil at a pole, where a pixel has no width.
        init?(_ region: MapRegion) {
            let milesPerPixel = region.metresPerPixel / 1_852
            let longest = milesPerPixel * MapFurniture.longestBar * Double(region.scale)
            let power = pow(10, log10(longest).rounded(.down))
            let steps = [5.0, 2, 1].map { $0 * power }
            nauticalMiles = steps.first { $0 <= longest } ?? power
            pixels = nauticalMiles / milesPerPixel
            guard pixels.isFinite, (1e-6...1e6).contains(nauticalMiles) else { return nil }
        }

        var text: String {
            let number =
                nauticalMiles >= 1 ? String(Int(nauticalMiles)) : String((nauticalMiles * 1_000).rounded() / 1_000)
            return "\(number) NM"
        }
    }

    /// A card on which text and scale bar are drawn.
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

        /// The side of the mark in points.
        private static let markSide = 14.0

        /// Draws an exclamation mark on a square in the corner, without using a font. It replaces warnings that don't
        /// fit. In the smallest pictures it is only the square.
        func paintMark(onto canvas: inout Canvas) {
            let side = min(Plate.markSide * scale, Double(canvas.width), Double(canvas.height))
            fill(Box(left: 0, top: 0, width: side, height: side), &canvas, with: ink)
            guard side >= 5 else { return }
            let bar = (side / 5).rounded()
            let left = ((side - bar) / 2).rounded()
            let (stroke, dot) = ((side * 0.45).rounded(), (side * 0.15).rounded(.up))
            let top = ((side - stroke - 2 * dot) / 2).rounded()
            fill(Box(left: left, top: top, width: bar, height: stroke), &canvas, with: ground)
            fill(Box(left: left, top: top + stroke + dot, width: bar, height: dot), &canvas, with: ground)
        }

        func paint(_ stamp: TimeStamp, onto canvas: inout Canvas) throws(TextError) {
            let font = try TextRenderer(fontPath: LegendRenderer.defaultBoldFontPath)
            fill(
                Box(left: stamp.left, top: stamp.top, width: stamp.width, height: stamp.height), &canvas, with: ground)
            for (number, line) in stamp.lines.enumerated() {
                let place = Point(x: stamp.left + stamp.padding, y: stamp.baseline(of: number))
                try font.draw(line, at: place, size: stamp.size, colour: ink, on: &canvas)
            }
        }

        private static let barTextSize = 11.0

        /// The card of a scale bar whose right edge is given.
        func box(of bar: ScaleBar, right: Double, height below: Double) throws(TextError) -> Box {
            let text = try TextRenderer().width(of: bar.text, size: Plate.barTextSize * scale)
            let width = (max(bar.pixels, text) + 2 * MapFurniture.padding * scale).rounded(.up)
            let height = (30 * scale).rounded(.up)
            return Box(
                left: right - width, top: below - MapFurniture.margin * scale - height, width: width, height: height)
        }

        func paint(_ bar: ScaleBar, in box: Box, onto canvas: inout Canvas) throws(TextError) {
            let font = try TextRenderer()
            let size = Plate.barTextSize * scale
            let textWidth = try font.width(of: bar.text, size: size)
            fill(box, &canvas, with: ground)
            let start = box.left + (box.width - bar.pixels) / 2
            let (end, base) = (start + bar.pixels, box.top + box.height - MapFurniture.padding * scale)
            let line = [(start, base - 5 * scale), (start, base), (end, base), (end, base - 5 * scale)]
            canvas.stroke(line.map { Point(x: $0.0, y: $0.1) }, with: Stroke(width: 1.4 * scale), colour: ink)
            try font.draw(
                bar.text, at: Point(x: box.left + (box.width - textWidth) / 2, y: base - 6 * scale), size: size,
                colour: ink, on: &canvas)
        }

        private func fill(_ box: Box, _ canvas: inout Canvas, with colour: StraightColour) {
            let ring = [(0, 0), (box.width, 0), (box.width, box.height), (0, box.height)].map {
                Point(x: box.left + $0.0, y: box.top + $0.1)
            }
            canvas.fill([ring], with: colour)
        }
    }

    /// A rectangle of the picture, in pixels.
    private struct Box {
        var left: Double
        var top: Double
        var width: Double
        var height: Double
    }
}
