import CFreeType

/// Why text can't be drawn.
public enum TextError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file doesn't exist or can't be read.
    case fontNotFound(path: String)
    /// The file isn't a scalable font.
    case notAFont(path: String)
    /// The size is outside 4 to 512 pixels per em.
    case sizeOutOfRange(Double)
    /// Any other error, with FreeType's number.
    case library(code: Int, path: String)

    public var description: String {
        switch self {
        case .fontNotFound(let path):
            "the font \(path) can't be opened; install it (Debian: fonts-dejavu-core)"
        case .notAFont(let path): "\(path) is not a scalable font"
        case .sizeOutOfRange(let size): "text of \(size) pixels an em; must be 4 to 512"
        case .library(let code, let path): "FreeType error \(code) with \(path)"
        }
    }
}

/// Measures and rasterises lines of text in one font, with kerning, to a 64th of a pixel. Text runs left to right only;
/// characters that the font lacks are shown as its box.
///
/// It owns a FreeType library and face, so one instance belongs to one thread at a time. It isn't `Sendable`.
package final class TextRenderer {
    /// The path of DejaVu Sans.
    package static let defaultFontPath = "\(FontFolder.path)/\(FontFolder.regular)"
    /// The allowed pixels per em.
    package static let sizes: ClosedRange<Double> = 4...512

    /// The path of the font file.
    package let fontPath: String
    private var font = BillowFont()

    /// - Throws: `fontNotFound`, `notAFont`, `library`.
    package init(fontPath: String = defaultFontPath) throws(TextError) {
        self.fontPath = fontPath
        try TextRenderer.check(billow_font_open(fontPath, &font), fontPath)
    }

    deinit { if font.library != nil { billow_font_close(&font) } }

    /// The advance width of a line: pixels from the start of the first character to that of a character after the last.
    ///
    /// - Parameters:
    ///   - size: pixels per em, 4 to 512.
    ///   - text: the line.
    /// - Throws: `sizeOutOfRange`, `library`.
    package func width(of text: String, size: Double) throws(TextError) -> Double {
        var end = 0
        try layOut(text, size: size) { (_, _, after) throws(TextError) in end = after }
        return Double(end) / 64
    }

    /// The height of a capital H above the baseline, in pixels.
    package func capHeight(size: Double) throws(TextError) -> Double {
        try setSize(size)
        var (kerning, advance, height) = (Int32(0), Int32(0), Int32(0))
        let glyph = billow_font_glyph(&font, UInt32(UInt8(ascii: "H")))
        try check(billow_font_measure(&font, 0, glyph, &kerning, &advance, &height))
        return Double(height) / 64
    }

    /// Draws a line of text over a canvas.
    ///
    /// - Parameters:
    ///   - start: the pen's start on the baseline. The baseline is rounded to whole pixels, so that horizontal strokes
    ///     are
    ///     crisp.
    ///   - text: the line.
    ///   - size: pixels per em, 4 to 512.
    ///   - colour: the colour of the letters.
    ///   - canvas: the canvas to draw on.
    /// - Throws: `sizeOutOfRange`, `library`.
    package func draw(
        _ text: String, at start: Point, size: Double, colour: StraightColour, on canvas: inout Canvas
    ) throws(TextError) {
        // A pen so far away draws nothing. The limit prevents traps in the conversions below.
        let reach = Double(PNG.largestSide)
        guard abs(start.x) <= reach, abs(start.y) <= reach else { return }
        let pen = Int((start.x * 64).rounded())
        let baseline = Int(start.y.rounded())
        try layOut(text, size: size) { (glyph, before, _) throws(TextError) in
            let x = pen + before
            var drawn = BillowGlyph()
            try check(billow_font_draw(&font, glyph, Int32(x & 63), &drawn))
            canvas.paint([(Mask(drawn, column: x >> 6, baseline: baseline), colour, nil)])
        }
    }

    /// Calls `body` for each character with its glyph, its start and its end, in 1/64 pixel from the line's start.
    private func layOut(
        _ text: String, size: Double, body: (_ glyph: UInt32, _ start: Int, _ end: Int) throws(TextError) -> Void
    ) throws(TextError) {
        try setSize(size)
        var pen = 0
        var before: UInt32 = 0
        for character in text.unicodeScalars {
            let glyph = billow_font_glyph(&font, character.value)
            var (kerning, advance, height) = (Int32(0), Int32(0), Int32(0))
            try check(billow_font_measure(&font, before, glyph, &kerning, &advance, &height))
            let start = pen + Int(kerning)
            pen = start + Int(advance)
            try body(glyph, start, pen)
            before = glyph
        }
    }

    private func setSize(_ size: Double) throws(TextError) {
        guard TextRenderer.sizes.contains(size) else { throw .sizeOutOfRange(size) }
        try check(billow_font_set_size(&font, Int32((size * 64).rounded())))
    }

    private func check(_ code: Int32) throws(TextError) { try TextRenderer.check(code, fontPath) }

    /// Source: https://freetype.org/freetype2/docs/reference/ft2-error_code_values.html (1 and 2)
    private static func check(_ code: Int32, _ path: String) throws(TextError) {
        switch code {
        case 0: return
        case 1: throw .fontNotFound(path: path)
        case 2: throw .notAFont(path: path)
        default: throw .library(code: Int(code), path: path)
        }
    }
}

extension Mask {
    fileprivate init(_ glyph: BillowGlyph, column: Int, baseline: Int) {
        let (width, rows) = (Int(glyph.width), Int(glyph.rows))
        var coverage: [UInt8] = []
        coverage.reserveCapacity(width * rows)
        if let pixels = glyph.pixels {
            for row in 0..<rows {
                coverage += UnsafeBufferPointer(start: pixels + row * Int(glyph.pitch), count: width)
            }
        }
        guard coverage.count == width * rows else {
            self = .empty
            return
        }
        self.init(
            left: column + Int(glyph.left), top: baseline - Int(glyph.top), width: width, height: rows,
            coverage: coverage)
    }
}
