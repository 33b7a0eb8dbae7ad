import BillowAreas
import BillowRaster
import Turbulence

/// A vertical profile as a picture: distance flown to the right, altitude upward, and what is known in the legend's colours.
struct ProfilePicture {
    var profile: VerticalProfile
    /// Altitude blocks, the lowest first.
    var rows: Range<Int>
    var style: Style
    var title: String
    var instant: Instant
    /// Pixels.
    var width: Int
    var height: Int

    private static let margin = (left: 64.0, top: 34.0, right: 16.0, bottom: 42.0)
    private static let textSize = 12.0
    private static let metresPerNauticalMile = 1_852.0
    /// Pixels between labels at least.
    private static let labelSpacing = 70.0

    /// Colours of paper, lines and words, on light and on dark.
    private struct Ink {
        var paper: StraightColour
        var line: StraightColour
        var word: StraightColour

        init(_ theme: Theme) {
            let grey = { (value: UInt8) in StraightColour(red: value, green: value, blue: value) }
            paper = theme == .light ? grey(222) : grey(28)
            line = theme == .light ? grey(196) : grey(70)
            word = theme == .light ? grey(40) : grey(225)
        }
    }

    func png() throws -> [UInt8] {
        var canvas = try Canvas(width: width, height: height)
        let text = try TextRenderer()
        let ink = Ink(style.theme)
        canvas.fill([Self.rectangle(0, 0, Double(width), Double(height))], with: ink.paper)
        drawGrid(on: &canvas, ink)
        drawCells(on: &canvas)
        try drawLabels(on: &canvas, text, ink)
        return try canvas.png()
    }

    private var plot: (left: Double, top: Double, right: Double, bottom: Double) {
        (Self.margin.left, Self.margin.top, Double(width) - Self.margin.right, Double(height) - Self.margin.bottom)
    }

    private func x(metres: Double) -> Double { plot.left + metres / profile.length * (plot.right - plot.left) }

    private func y(block: Int) -> Double {
        plot.bottom - Double(block - rows.lowerBound) / Double(max(rows.count, 1)) * (plot.bottom - plot.top)
    }

    private func drawCells(on canvas: inout Canvas) {
        for block in rows {
            let row = profile.severities[block]
            var column = 0
            while column < row.count {
                var end = column + 1
                while end < row.count, row[end] == row[column] { end += 1 }
                if let severity = row[column] {
                    let right = end == row.count ? profile.length : Double(end) * profile.stretch
                    canvas.fill(
                        [
                            Self.rectangle(
                                x(metres: Double(column) * profile.stretch), y(block: block + 1), x(metres: right),
                                y(block: block))
                        ], with: style[severity].fill.colour)
                }
                column = end
            }
        }
    }

    private func drawGrid(on canvas: inout Canvas, _ ink: Ink) {
        for block in labelledBlocks { line(plot.left, y(block: block), plot.right, y(block: block), ink, &canvas) }
        for miles in labelledMiles {
            let x = x(metres: miles * Self.metresPerNauticalMile)
            line(x, plot.top, x, plot.bottom, ink, &canvas)
        }
    }

    private func line(_ x0: Double, _ y0: Double, _ x1: Double, _ y1: Double, _ ink: Ink, _ canvas: inout Canvas) {
        let (left, top) = (x0.rounded(), y0.rounded())
        canvas.fill(
            [Self.rectangle(left, top, max(x1.rounded(), left + 1), max(y1.rounded(), top + 1))], with: ink.line)
    }

    /// Every 5,000 or 10,000 ft.
    private var labelledBlocks: [Int] {
        let step = rows.count > 30 ? 10 : rows.count > 10 ? 5 : 1
        return Array(rows).filter { $0 % step == 0 } + (rows.upperBound % step == 0 ? [rows.upperBound] : [])
    }

    /// Round numbers of nautical miles with room for their labels.
    private var labelledMiles: [Double] {
        let length = profile.length / Self.metresPerNauticalMile
        let most = max(1, (plot.right - plot.left) / Self.labelSpacing)
        let steps: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]
        let step = steps.first { length / $0 <= most } ?? length
        return Array(stride(from: 0, through: length, by: step))
    }

    private func drawLabels(on canvas: inout Canvas, _ text: TextRenderer, _ ink: Ink) throws {
        let size = Self.textSize
        for block in labelledBlocks {
            let label = block == 0 ? "ground" : "FL" + (block < 10 ? "0" : "") + "\(block)0"
            let width = try text.width(of: label, size: size)
            try text.draw(
                label, at: Point(x: plot.left - 8 - width, y: y(block: block) + 4), size: size, colour: ink.word,
                on: &canvas)
        }
        for miles in labelledMiles {
            let label = "\(Int(miles)) NM"
            let width = try text.width(of: label, size: size)
            let centre = x(metres: miles * Self.metresPerNauticalMile)
            let left = min(max(centre - width / 2, 2), Double(self.width) - width - 2)
            try text.draw(label, at: Point(x: left, y: plot.bottom + 20), size: size, colour: ink.word, on: &canvas)
        }
        try text.draw(
            String(title.prefix(100)), at: Point(x: plot.left, y: 22), size: size + 2, colour: ink.word, on: &canvas)
        let time = instant.description
        let width = try text.width(of: time, size: size)
        try text.draw(time, at: Point(x: plot.right - width, y: 22), size: size, colour: ink.word, on: &canvas)
    }

    private static func rectangle(_ left: Double, _ top: Double, _ right: Double, _ bottom: Double) -> [Point] {
        [Point(x: left, y: top), Point(x: right, y: top), Point(x: right, y: bottom), Point(x: left, y: bottom)]
    }
}
