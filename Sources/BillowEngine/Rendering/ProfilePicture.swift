package import BillowAreas
package import BillowRaster
import BillowTiles
package import Turbulence

/// A vertical profile as an image: distance flown to the right, altitude upward, turbulence in the colours of the
/// legend below. Issued areas along the path lie above it, as on maps. The time and marks for simulated and stale data
/// are at the top.
package struct ProfilePicture {
    package var profile: VerticalProfile
    package var hazards: [RouteHazard]
    /// Computed turbulence below the reports; nil for none.
    package var field: FieldLayer?
    package var instant: Instant
    /// Altitude blocks, lowest first.
    package var rows: Range<Int>
    package var style: Style
    /// The severities in the legend.
    package var severities: SeveritySet
    package var title: String
    package var caption: [String]
    /// The size in pixels.
    package var width: Int
    package var height: Int

    package init(
        profile: VerticalProfile, hazards: [RouteHazard], field: FieldLayer? = nil, instant: Instant,
        rows: Range<Int>, style: Style,
        severities: SeveritySet, title: String, caption: [String], width: Int, height: Int
    ) {
        self.profile = profile
        self.hazards = hazards
        self.field = field
        self.instant = instant
        self.rows = rows
        self.style = style
        self.severities = severities
        self.title = title
        self.caption = caption
        self.width = width
        self.height = height
    }

    private static let margin = (left: 64.0, top: 54.0, right: 16.0, bottom: 36.0)
    /// The height of a line of text above or below the plot, in pixels.
    private static let textLine = 18.0
    /// The margin around title, caption and legend.
    static let inset = 8.0
    private static let legendLine = 20.0
    static let textSize = 12.0
    private static let metresPerNauticalMile = 1_852.0
    /// The smallest distance between labels, in pixels.
    private static let labelSpacing = 70.0

    /// The colours of background, lines and text, for light and dark styles.
    struct Ink {
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

    package func png() throws(EngineError) -> [UInt8] {
        var canvas: Canvas
        do { canvas = try Canvas(width: width, height: height) } catch { throw .picture(.canvas(error)) }
        do { try draw(on: &canvas) } catch { throw .picture(.text(error)) }
        do { return try canvas.png() } catch { throw .picture(.png(error)) }
    }

    private func draw(on canvas: inout Canvas) throws(TextError) {
        let text = try TextRenderer()
        let ink = Ink(style.theme)
        canvas.fill([Self.rectangle(0, 0, Double(width), Double(height))], with: ink.paper)
        let legend = try legendLines(text)
        let answer = try answerLines(text)
        let plot = Plot(
            left: Self.margin.left,
            top: Self.margin.top + (answer.isEmpty ? 0 : Self.textLine + Double(answer.count - 1) * Self.answerLine),
            right: Double(width) - Self.margin.right,
            bottom: Double(height) - Self.margin.bottom - Double(legend.count) * Self.legendLine
                - (hasTimes ? Self.textLine : 0),
            length: profile.length,
            rows: rows)
        drawGrid(plot, on: &canvas, ink)
        drawField(plot, on: &canvas)
        drawCells(plot, on: &canvas)
        drawPath(plot, on: &canvas)
        let captions = drawHazards(plot, on: &canvas)
        try drawCaptions(captions, on: &canvas, text, ink)
        try drawLabels(plot, on: &canvas, text, ink)
        try drawHeader(on: &canvas, text, ink)
        try drawAnswer(answer, on: &canvas, text, ink)
        try drawLegend(legend, on: &canvas, text, ink)
    }

    /// The position of the plot, in pixels.
    struct Plot {
        var left: Double
        var top: Double
        var right: Double
        var bottom: Double
        /// The length of the route in metres.
        var length: Double
        var rows: Range<Int>

        func x(metres: Double) -> Double { left + metres / length * (right - left) }

        func y(block: Int) -> Double { y(thousands: Double(block)) }

        /// Clamped to the plot.
        func y(thousands: Double) -> Double {
            let inside = min(max(thousands, Double(rows.lowerBound)), Double(rows.upperBound))
            return bottom - (inside - Double(rows.lowerBound)) / Double(max(rows.count, 1)) * (bottom - top)
        }
    }

    private func drawCells(_ plot: Plot, on canvas: inout Canvas) {
        for block in rows {
            let row = profile.severities[block]
            var column = 0
            while column < row.count {
                var end = column + 1
                while end < row.count, row[end] == row[column] { end += 1 }
                if let severity = row[column] {
                    let right = end == row.count ? profile.length : Double(end) * profile.stretch
                    let cells = Self.rectangle(
                        plot.x(metres: Double(column) * profile.stretch), plot.y(block: block + 1),
                        plot.x(metres: right), plot.y(block: block))
                    fill(cells, severity, on: &canvas)
                    if field != nil { outline(cells, on: &canvas) }
                }
                column = end
            }
        }
    }

    /// The text in a hazard's box.
    private struct Caption {
        /// Alternatives; the first one that fits is drawn.
        var texts: [String]
        var left: Double
        var top: Double
        var right: Double
        var bottom: Double
    }

    /// Draws hazards, the most severe on top.
    private func drawHazards(_ plot: Plot, on canvas: inout Canvas) -> [Caption] {
        let order = hazards.sorted {
            ($0.area.severity ?? .smooth, $0.area.id) < ($1.area.severity ?? .smooth, $1.area.id)
        }
        var captions: [Caption] = []
        for hazard in order {
            let appearance = AreaAppearance(of: hazard.area, at: instant)
            let top = plot.y(thousands: hazard.area.altitudeMaxFeet.map { Double($0) / 1_000 } ?? .infinity)
            let bottom = plot.y(thousands: hazard.area.altitudeMinFeet.map { Double($0) / 1_000 } ?? 0)
            for stretch in hazard.stretches {
                // A hazard that is met at a single point has a minimum width too.
                let left = min(plot.x(metres: stretch.lowerBound), plot.right - 3)
                let right = max(plot.x(metres: stretch.upperBound), left + 3)
                let box = Self.rectangle(left, top, right, max(bottom, top + 2))
                canvas.fill([box], with: appearance.ground(style.marks))
                canvas.fill(
                    [box], with: appearance.colour(style.marks),
                    pattern: PlacedPattern(appearance.pattern(scale: 1), originX: 0, originY: 0))
                canvas.stroke(
                    box, isClosed: true, with: appearance.stroke(scale: 1), colour: appearance.colour(style.marks))
                let texts = [hazard.area.caption, hazard.area.hazard].compactMap { $0 }
                captions.append(Caption(texts: texts, left: left, top: top, right: right, bottom: bottom))
            }
        }
        return captions.reversed()
    }

    /// Draws each caption in the first free line of its box, and omits it if no line is free.
    private func drawCaptions(
        _ captions: [Caption], on canvas: inout Canvas, _ text: TextRenderer, _ ink: Ink
    ) throws(TextError) {
        let (size, line) = (Self.textSize - 1, 15.0)
        var taken: [(left: Double, right: Double, top: Double)] = []
        for caption in captions {
            let left = caption.left + 5
            let widths = try caption.texts.map { (words) throws(TextError) in
                (words, try text.width(of: words, size: size))
            }
            guard let (words, width) = widths.first(where: { left + $0.1 < caption.right - 2 }) else { continue }
            let lines = stride(from: caption.top + 3, through: max(caption.bottom - line, caption.top + 3), by: line)
            let free = lines.first { top in
                taken.allSatisfy { abs($0.top - top) >= line || $0.right < left || $0.left > left + width }
            }
            guard let free else { continue }
            taken.append((left, left + width, free))
            var paper = ink.paper
            paper.alpha = 210
            canvas.fill([Self.rectangle(left - 2, free, left + width + 2, free + line - 1)], with: paper)
            try text.draw(
                words, at: Point(x: left, y: free + 11), size: size, colour: ink.word, on: &canvas)
        }
    }

    func fill(_ ring: [Point], _ severity: Severity, on canvas: inout Canvas) {
        canvas.fill([ring], with: style[severity].fill.colour)
        guard let pattern = style[severity].pattern else { return }
        let placed = PlacedPattern(pattern.pattern(scale: 1), originX: 0, originY: 0)
        canvas.fill([ring], with: pattern.paint.colour, pattern: placed)
    }

    private func drawGrid(_ plot: Plot, on canvas: inout Canvas, _ ink: Ink) {
        for block in labelledBlocks {
            line(plot.left, plot.y(block: block), plot.right, plot.y(block: block), ink, &canvas)
        }
        for miles in labelledMiles(plot) {
            let x = plot.x(metres: miles * Self.metresPerNauticalMile)
            line(x, plot.top, x, plot.bottom, ink, &canvas)
        }
    }

    private func line(_ x0: Double, _ y0: Double, _ x1: Double, _ y1: Double, _ ink: Ink, _ canvas: inout Canvas) {
        let (left, top) = (x0.rounded(), y0.rounded())
        canvas.fill(
            [Self.rectangle(left, top, max(x1.rounded(), left + 1), max(y1.rounded(), top + 1))], with: ink.line)
    }

    /// The labelled altitudes: every 5,000 or 10,000 ft.
    private var labelledBlocks: [Int] {
        let step = rows.count > 30 ? 10 : rows.count > 10 ? 5 : 1
        return Array(rows).filter { $0 % step == 0 } + (rows.upperBound % step == 0 ? [rows.upperBound] : [])
    }

    /// Round numbers of nautical miles at distances that fit the labels.
    private func labelledMiles(_ plot: Plot) -> [Double] {
        let length = profile.length / Self.metresPerNauticalMile
        let most = max(1, (plot.right - plot.left) / Self.labelSpacing)
        let steps: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]
        let step = steps.first { length / $0 <= most } ?? length
        return Array(stride(from: 0, through: length, by: step))
    }

    private func drawLabels(_ plot: Plot, on canvas: inout Canvas, _ text: TextRenderer, _ ink: Ink) throws(TextError) {
        let size = Self.textSize
        for block in labelledBlocks {
            let label = block == 0 ? "ground" : "FL" + (block < 10 ? "0" : "") + "\(block)0"
            let width = try text.width(of: label, size: size)
            try text.draw(
                label, at: Point(x: plot.left - 8 - width, y: plot.y(block: block) + 4), size: size, colour: ink.word,
                on: &canvas)
        }
        for miles in labelledMiles(plot) {
            let label = "\(Int(miles)) NM"
            let width = try text.width(of: label, size: size)
            let centre = plot.x(metres: miles * Self.metresPerNauticalMile)
            let left = min(max(centre - width / 2, 2), Double(self.width) - width - 2)
            try text.draw(label, at: Point(x: left, y: plot.bottom + 20), size: size, colour: ink.word, on: &canvas)
            guard hasTimes, let flight = field?.profile.flight else { continue }
            let clock = FieldProfile.clock(flight.time(at: miles * Self.metresPerNauticalMile)) + "Z"
            let start = centre - (try text.width(of: clock, size: size)) / 2
            try text.draw(
                clock, at: Point(x: max(start, 2), y: plot.bottom + 20 + Self.textLine), size: size, colour: ink.word,
                on: &canvas)
        }
    }

    /// Draws the title, truncated if necessary, and the caption below it, in a smaller font if necessary.
    private func drawHeader(on canvas: inout Canvas, _ text: TextRenderer, _ ink: Ink) throws(TextError) {
        let room = Double(width) - 2 * Self.inset
        let titleSize = Self.textSize + 2
        var title = String(title.prefix(100))
        while !title.isEmpty, try text.width(of: title + "…", size: titleSize) > room { title.removeLast() }
        if title != self.title { title += "…" }
        try text.draw(title, at: Point(x: Self.inset, y: 22), size: titleSize, colour: ink.word, on: &canvas)
        let bold = try TextRenderer(fontPath: LegendRenderer.defaultBoldFontPath)
        let caption = (caption + fieldCaption).joined(separator: " · ")
        let width = try bold.width(of: caption, size: Self.textSize)
        let size = max(Self.textSize * min(1, room / width), TextRenderer.sizes.lowerBound)
        try bold.draw(caption, at: Point(x: Self.inset, y: 42), size: size, colour: ink.word, on: &canvas)
    }

    private struct LegendEntry {
        var sign: Sign
        /// The left edge in pixels.
        var left: Double
    }

    /// The legend's entries, wrapped into lines.
    private func legendLines(_ text: TextRenderer) throws(TextError) -> [[LegendEntry]] {
        var lines: [[LegendEntry]] = []
        var left = Double.infinity
        for sign in Severity.allCases.filter(severities.contains).map(Sign.severity) + fieldSigns {
            let width = try text.width(of: sign.label, size: Self.textSize) + Self.swatch + 20
            if left + width > Double(self.width) {
                lines.append([])
                left = Self.inset
            }
            lines[lines.count - 1].append(LegendEntry(sign: sign, left: left))
            left += width
        }
        return lines
    }

    /// The distance from a swatch's left side to its label.
    private static let swatch = 24.0

    private func drawLegend(
        _ lines: [[LegendEntry]], on canvas: inout Canvas, _ text: TextRenderer, _ ink: Ink
    ) throws(TextError) {
        for (number, line) in lines.enumerated() {
            let baseline = Double(height) - 8 - Double(lines.count - 1 - number) * Self.legendLine
            for entry in line {
                let (left, top) = (entry.left.rounded(), baseline - 11)
                canvas.fill([Self.rectangle(left, top, left + 18, top + 13)], with: ink.line)
                let inside = Self.rectangle(left + 1, top + 1, left + 17, top + 12)
                canvas.fill([inside], with: ink.paper)
                fill(inside, entry.sign, on: &canvas)
                try text.draw(
                    entry.sign.label, at: Point(x: left + Self.swatch, y: baseline), size: Self.textSize,
                    colour: ink.word, on: &canvas)
            }
        }
    }

    static func rectangle(_ left: Double, _ top: Double, _ right: Double, _ bottom: Double) -> [Point] {
        [Point(x: left, y: top), Point(x: right, y: top), Point(x: right, y: bottom), Point(x: left, y: bottom)]
    }
}
