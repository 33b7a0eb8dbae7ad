import Turbulence

/// A legend as shapes and lines of text, in points from the top left. Both the PNG and the SVG are drawn from it.
struct LegendLayout {
    enum Weight { case regular, bold }

    enum Element {
        case box(Box)
        case hexagon(centre: Point, radius: Double, paint: SeverityPaint)
        case drawing(Drawing, centre: Point)
        /// `start` is on the baseline.
        case text(String, start: Point, size: Double, weight: Weight, colour: StraightColour)
    }

    /// A rectangle with round corners and a thin outline inside it.
    struct Box {
        let left, top, width, height, radius: Double
        let fill: StraightColour
        let outline: StraightColour
    }

    /// The neutral colours around the swatches, all opaque.
    struct Colours {
        let card, outline, title, label: StraightColour
        let noticeFill, noticeOutline, noticeText: StraightColour

        init(_ theme: Theme) {
            func grey(_ value: UInt32) -> StraightColour {
                StraightColour(
                    red: UInt8(truncatingIfNeeded: value >> 16), green: UInt8(truncatingIfNeeded: value >> 8),
                    blue: UInt8(truncatingIfNeeded: value))
            }
            switch theme {
            case .light:
                (card, outline) = (grey(0xF1F3F5), grey(0xCDD2D8))
                (title, label) = (grey(0x14181D), grey(0x2B323A))
                (noticeFill, noticeOutline, noticeText) = (grey(0xFFEBC2), grey(0xE0B252), grey(0x5A3A00))
            case .dark:
                (card, outline) = (grey(0x1F242A), grey(0x3B444E))
                (title, label) = (grey(0xF4F6F8), grey(0xD5DAE0))
                (noticeFill, noticeOutline, noticeText) = (grey(0x46340C), grey(0x8A6A1F), grey(0xFFD88A))
            }
        }
    }

    /// The size in whole points, so that it is whole pixels at every scale.
    private(set) var width = 0
    private(set) var height = 0
    private(set) var items: [Element] = []

    private static let padding = 14.0
    private static let cardRadius = 8.0
    private static let titleSize = 14.0
    private static let labelSize = 12.0
    private static let noteSize = 11.0
    private static let titleGap = 11.0
    private static let rowHeight = 26.0
    /// The distance from the centre of a swatch to its corners. A corner is at the bottom. It is 18 points wide, so
    /// that its sides fall on whole pixels.
    private static let swatchRadius = 18 / 3.0.squareRoot()
    /// The width of the widest other sign.
    private static let symbolWidth = 26.0
    private static let swatchGap = 9.0
    private static let entryGap = 20.0
    private static let noticePadding = 8.0
    private static let noticeLeading = 16.0
    /// A note is wrapped if it is wider than this and wider than everything else.
    private static let comfortableNoteWidth = 210.0

    /// - Parameter measure: returns the width and cap height of a line of text, in points.
    init(
        _ legend: Legend, theme: Theme, orientation: Orientation,
        measure: (String, Double, Weight) throws(TextError) -> (width: Double, capHeight: Double)
    ) throws(TextError) {
        typealias Layout = LegendLayout
        let colours = Colours(theme)
        let title = try measure(legend.title, Layout.titleSize, .bold)
        let isPlain = legend.entries.allSatisfy { $0.drawing(legend.drawn) == nil }
        let swatchWidth = isPlain ? Hexagon.width(radius: Layout.swatchRadius) : Layout.symbolWidth
        var labels: [(width: Double, capHeight: Double)] = []
        for entry in legend.entries { labels.append(try measure(entry.label, Layout.labelSize, .regular)) }
        let entryWidths = labels.map { swatchWidth + Layout.swatchGap + $0.width }

        let rows = orientation == .vertical ? legend.entries.count : min(legend.entries.count, 1)
        let entriesWidth =
            orientation == .vertical
            ? entryWidths.max() ?? 0
            : entryWidths.reduce(0, +) + Layout.entryGap * Double(max(0, entryWidths.count - 1))
        let plain = max(title.width, entriesWidth)
        let noteRoom = max(plain, Layout.comfortableNoteWidth) - 2 * Layout.noticePadding
        var lines: [(text: String, weight: Weight)] = []
        var widestLine = 0.0
        for (i, note) in legend.notes.enumerated() {
            let weight: Weight = i == 0 && legend.simulated ? .bold : .regular
            let wrapped = try Layout.wrap(note, width: noteRoom) { (line) throws(TextError) in
                try measure(line, Layout.noteSize, weight).width
            }
            for line in wrapped {
                lines.append((line, weight))
                widestLine = max(widestLine, try measure(line, Layout.noteSize, weight).width)
            }
        }
        let content = max(plain, lines.isEmpty ? 0 : widestLine + 2 * Layout.noticePadding).rounded(.up)

        var inner: [Element] = []
        var y = Layout.padding + title.capHeight.rounded(.up)
        inner.append(
            .text(
                legend.title, start: Point(x: Layout.padding, y: y), size: Layout.titleSize, weight: .bold,
                colour: colours.title))
        y += Layout.titleGap

        var x = Layout.padding
        for (i, entry) in legend.entries.enumerated() {
            let centre = y + Layout.rowHeight / 2
            let middle = Point(x: x + swatchWidth / 2, y: centre)
            if case .severity(_, let paint) = entry.sign {
                inner.append(.hexagon(centre: middle, radius: Layout.swatchRadius, paint: paint))
            } else if let drawing = Layout.bar(legend, from: i, orientation) ?? entry.drawing(legend.drawn) {
                inner.append(.drawing(drawing, centre: middle))
            }
            inner.append(
                .text(
                    entry.label,
                    start: Point(x: x + swatchWidth + Layout.swatchGap, y: centre + labels[i].capHeight / 2),
                    size: Layout.labelSize, weight: .regular, colour: colours.label))
            switch orientation {
            case .vertical: y += Layout.rowHeight
            case .horizontal: x += entryWidths[i] + Layout.entryGap
            }
        }
        if orientation == .horizontal { y += Layout.rowHeight * Double(rows) }

        if !lines.isEmpty {
            y += Layout.noticePadding
            let capHeight = try measure("H", Layout.noteSize, .regular).capHeight
            let boxHeight = Double(lines.count) * Layout.noticeLeading + Layout.noticePadding
            inner.append(
                .box(
                    Box(
                        left: Layout.padding, top: y, width: content, height: boxHeight, radius: 5,
                        fill: colours.noticeFill, outline: colours.noticeOutline)))
            for (i, line) in lines.enumerated() {
                let centre = y + Layout.noticePadding / 2 + (Double(i) + 0.5) * Layout.noticeLeading
                inner.append(
                    .text(
                        line.text, start: Point(x: Layout.padding + Layout.noticePadding, y: centre + capHeight / 2),
                        size: Layout.noteSize, weight: line.weight, colour: colours.noticeText))
            }
            y += boxHeight
        }

        // Limited, so that the conversion can't trap for very long texts.
        let longest = Double(PNG.largestSide)
        width = Int(min(content + 2 * Layout.padding, longest))
        // The space below the last row counts as half of the padding.
        height = Int(min((y + Layout.padding - (lines.isEmpty ? 3 : 0)).rounded(.up), longest))
        items =
            [
                .box(
                    Box(
                        left: 0, top: 0, width: Double(width), height: Double(height), radius: Layout.cardRadius,
                        fill: colours.card, outline: colours.outline))
            ] + inner
    }

    /// The scale of EDR beside an entry of a column. The first entry of the scale has the whole bar, the others none.
    /// Returns nil for any other entry.
    private static func bar(_ legend: Legend, from index: Int, _ orientation: Orientation) -> Drawing? {
        func edr(_ index: Int) -> Double? {
            guard legend.entries.indices.contains(index), case .edr(let edr, _) = legend.entries[index].sign else {
                return nil
            }
            return edr
        }
        guard orientation == .vertical, edr(index) != nil else { return nil }
        if edr(index - 1) != nil { return Drawing() }
        let stops = (index..<legend.entries.count).prefix { edr($0) != nil }.compactMap(edr)
        return FieldSwatch.bar(stops, every: rowHeight, legend.drawn)
    }

    /// Breaks text at white space into lines that fit. A single word that is too wide gets its own line.
    private static func wrap(
        _ text: String, width: Double, measure: (String) throws(TextError) -> Double
    ) throws(TextError) -> [String] {
        var lines: [String] = []
        for word in text.split(whereSeparator: \.isWhitespace) {
            if let last = lines.last, try measure("\(last) \(word)") <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}

/// A regular hexagon with a corner at the bottom.
enum Hexagon {
    /// The width from side to side; `radius` is from the centre to a corner.
    static func width(radius: Double) -> Double { radius * 3.0.squareRoot() }

    /// The corners clockwise on the screen, from the top one.
    static func ring(centre: Point, radius: Double) -> [Point] {
        let (half, quarter) = (width(radius: radius) / 2, radius / 2)
        return [(0, -radius), (half, -quarter), (half, quarter), (0, radius), (-half, quarter), (-half, -quarter)].map {
            Point(x: centre.x + $0.0, y: centre.y + $0.1)
        }
    }

    /// The radius of the hexagon inside the border. The border is 1 point wide, at most 6 % of the hexagon's width, as
    /// on tiles.
    static func innerRadius(radius: Double) -> Double {
        let width = width(radius: radius)
        return (width - 2 * min(1, 0.06 * width)) / 3.0.squareRoot()
    }
}
