/// Draws legends as PNG and SVG.
///
/// It owns its fonts, so one instance belongs to one thread at a time. It isn't `Sendable`.
public final class LegendRenderer {
    /// The path of DejaVu Sans: beside the executable, in `../share/billow/Fonts`, or Debian's.
    public static let defaultFontPath = TextRenderer.defaultFontPath
    /// The path of DejaVu Sans Bold.
    public static let defaultBoldFontPath = "\(FontFolder.path)/\(FontFolder.bold)"

    private let regular: TextRenderer
    private let bold: TextRenderer

    /// - Throws: `fontNotFound`, `notAFont`, `library`.
    public init(
        fontPath: String = LegendRenderer.defaultFontPath, boldFontPath: String = defaultBoldFontPath
    ) throws(TextError) {
        regular = try TextRenderer(fontPath: fontPath)
        bold = try TextRenderer(fontPath: boldFontPath)
    }

    /// Draws a legend as a PNG file: a card with round corners, transparent outside.
    public func png(_ legend: Legend, options: LegendOptions) throws(LegendError) -> [UInt8] {
        let canvas = try canvas(legend, options: options)
        do { return try canvas.png() } catch { throw .png(error) }
    }

    /// Draws a legend onto a canvas.
    public func canvas(_ legend: Legend, options: LegendOptions) throws(LegendError) -> Canvas {
        let layout = try layout(legend, options: options)
        let scale = Double(options.scale)
        var canvas: Canvas
        do {
            canvas = try Canvas(width: layout.width * options.scale, height: layout.height * options.scale)
        } catch { throw .canvas(error) }
        for item in layout.items {
            switch item {
            case .box(let box): canvas.draw(box, scale: scale)
            case .hexagon(let centre, let radius, let paint):
                canvas.drawHexagon(centre: centre.scaled(scale), radius: radius * scale, scale: scale, paint: paint)
            case .drawing(let drawing, let centre): canvas.draw(drawing, at: centre.scaled(scale), scale: scale)
            case .text(let text, let start, let size, let weight, let colour):
                do {
                    try font(weight).draw(
                        text, at: start.scaled(scale), size: size * scale, colour: colour, on: &canvas)
                } catch { throw .text(error) }
            }
        }
        return canvas
    }

    /// Draws a legend as an SVG document that looks like the PNG, with its texts as text. Its size is in pixels,
    /// `scale` times the points.
    public func svg(_ legend: Legend, options: LegendOptions) throws(LegendError) -> String {
        LegendSVG.document(try layout(legend, options: options), legend: legend, scale: options.scale)
    }

    /// The width and height of the PNG in pixels.
    package func size(_ legend: Legend, options: LegendOptions) throws(LegendError) -> (width: Int, height: Int) {
        let layout = try layout(legend, options: options)
        return (layout.width * options.scale, layout.height * options.scale)
    }

    private func layout(_ legend: Legend, options: LegendOptions) throws(LegendError) -> LegendLayout {
        do {
            return try LegendLayout(legend, theme: options.theme ?? legend.theme, orientation: options.orientation) {
                (text, size, weight) throws(TextError) in
                (
                    width: try self.font(weight).width(of: text, size: size),
                    capHeight: try self.font(weight).capHeight(size: size)
                )
            }
        } catch { throw .text(error) }
    }

    private func font(_ weight: LegendLayout.Weight) -> TextRenderer { weight == .bold ? bold : regular }
}

extension Point {
    fileprivate func scaled(_ scale: Double) -> Point { Point(x: x * scale, y: y * scale) }
}

extension Canvas {
    fileprivate mutating func draw(_ box: LegendLayout.Box, scale: Double) {
        func ring(inset: Double) -> [Point] {
            Point.roundedRectangle(
                left: box.left * scale + inset, top: box.top * scale + inset, width: box.width * scale - 2 * inset,
                height: box.height * scale - 2 * inset, radius: max(0, box.radius * scale - inset))
        }
        // The outline is one pixel at every scale: a hairline.
        let (outer, inner) = (ring(inset: 0), ring(inset: 1))
        fill(parts: [LayerShape([inner], box.fill), LayerShape([outer, inner.reversed()], box.outline)])
    }

    fileprivate mutating func drawHexagon(centre: Point, radius: Double, scale: Double, paint: SeverityPaint) {
        let outer = Hexagon.ring(centre: centre, radius: radius)
        guard let border = paint.border else {
            fill([outer], with: paint.fill.colour)
            return ink(outer, paint.pattern, scale: scale)
        }
        let inner = Hexagon.ring(centre: centre, radius: Hexagon.innerRadius(radius: radius / scale) * scale)
        fill(parts: [LayerShape([inner], paint.fill.colour), LayerShape([outer, inner.reversed()], border.colour)])
        ink(inner, paint.pattern, scale: scale)
    }

    private mutating func ink(_ ring: [Point], _ pattern: SeverityPattern?, scale: Double) {
        guard let pattern else { return }
        // The scale of a legend is 1, 2 or 3.
        let placed = PlacedPattern(pattern.pattern(scale: Int(scale)), originX: 0, originY: 0)
        fill([ring], with: pattern.paint.colour, pattern: placed)
    }
}

extension Point {
    /// A rectangle with round corners as a ring, clockwise on the screen. The steps are fine enough for any scale of a
    /// legend.
    fileprivate static func roundedRectangle(
        left: Double, top: Double, width: Double, height: Double, radius: Double
    ) -> [Point] {
        guard radius > 0 else {
            return [(0, 0), (width, 0), (width, height), (0, height)].map { Point(x: left + $0.0, y: top + $0.1) }
        }
        // A quarter of the unit circle, from (1, 0) to (0, 1): t is the tangent of half the angle.
        let steps = 16
        var quarter: [(Double, Double)] = []
        for i in 0...steps {
            let t = Double(i) / Double(steps)
            quarter.append(((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)))
        }
        let corners = [
            (left + width - radius, top + radius, 1.0, -1.0), (left + width - radius, top + height - radius, 1, 1),
            (left + radius, top + height - radius, -1, 1), (left + radius, top + radius, -1, -1),
        ]
        return corners.enumerated().flatMap { i, corner in
            // Every other quarter is reversed, so that the ring stays clockwise.
            (i.isMultiple(of: 2) ? quarter.reversed() : quarter).map {
                Point(x: corner.0 + corner.2 * $0.0 * radius, y: corner.1 + corner.3 * $0.1 * radius)
            }
        }
    }
}
