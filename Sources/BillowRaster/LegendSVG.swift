/// Writes a legend's layout as SVG 1.1.
enum LegendSVG {
    /// DejaVu Sans first, then fonts of nearly the same widths, so that the layout fits.
    private static let fonts = "'DejaVu Sans', 'Bitstream Vera Sans', Verdana, Geneva, sans-serif"

    static func document(_ layout: LegendLayout, legend: Legend, scale: Int) -> String {
        let (width, height) = (layout.width, layout.height)
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width * scale)\" height=\"\(height * scale)\" "
                + "viewBox=\"0 0 \(width) \(height)\" role=\"img\" font-family=\"\(fonts)\">",
            "<title>\(XMLText.escaped(legend.title))</title>",
        ]
        lines += layout.items.map { element($0, scale: scale) }
        lines.append("</svg>\n")
        return lines.joined(separator: "\n")
    }

    private static func element(_ item: LegendLayout.Element, scale: Int) -> String {
        switch item {
        case .box(let box):
            // A stroke is centred on its line. Moving it inwards by half a hairline keeps it inside the box.
            let hairline = 1 / Double(scale)
            return "<rect x=\"\(number(box.left + hairline / 2))\" y=\"\(number(box.top + hairline / 2))\" "
                + "width=\"\(number(box.width - hairline))\" height=\"\(number(box.height - hairline))\" "
                + "rx=\"\(number(box.radius - hairline / 2))\" fill=\"\(box.fill.hexadecimal)\" "
                + "stroke=\"\(box.outline.hexadecimal)\" stroke-width=\"\(number(hairline))\"/>"
        case .hexagon(let centre, let radius, let paint):
            let outer = Hexagon.ring(centre: centre, radius: radius)
            guard let border = paint.border else { return path([outer], paint.fill) + ink(outer, paint.pattern) }
            let inner = Hexagon.ring(centre: centre, radius: Hexagon.innerRadius(radius: radius))
            return path([inner], paint.fill) + "\n" + path([outer, inner], border) + ink(inner, paint.pattern)
        case .drawing(let drawing, let centre):
            let shapes = drawing.shapes.map { shape in
                let opacity = number(Double(shape.colour.alpha) / 255)
                let fill = "fill=\"\(shape.colour.hexadecimal)\" fill-opacity=\"\(opacity)\""
                return "<path d=\"\(data(shape.rings))\" \(fill)/>"
            }
            return "<g transform=\"translate(\(number(centre.x)) \(number(centre.y)))\">\(shapes.joined())</g>"
        case .text(let text, let start, let size, let weight, let colour):
            return "<text x=\"\(number(start.x))\" y=\"\(number(start.y))\" font-size=\"\(number(size))\""
                + (weight == .bold ? " font-weight=\"bold\"" : "")
                + " fill=\"\(colour.hexadecimal)\">\(XMLText.escaped(text))</text>"
        }
    }

    private static func path(_ rings: [[Point]], _ paint: Paint) -> String {
        return
            "<path d=\"\(data(rings))\" fill=\"\(paint.colour.hexadecimal)\" fill-opacity=\"\(number(paint.opacity))\" "
            + "fill-rule=\"evenodd\"/>"
    }

    private static func data(_ rings: [[Point]]) -> String {
        rings.map { ring in
            "M" + ring.map { "\(number($0.x)) \(number($0.y))" }.joined(separator: "L") + "Z"
        }.joined()
    }

    /// A severity's pattern over its hexagon, as an SVG pattern.
    private static func ink(_ ring: [Point], _ pattern: SeverityPattern?) -> String {
        guard let pattern else { return "" }
        let (id, side) = ("\(pattern.kind.rawValue)-\(pattern.spacing)-\(number(pattern.width))", pattern.spacing)
        let half = number(Double(side) / 2)
        let rising = "M0 \(half)L\(half) 0M\(half) \(side)L\(side) \(half)"
        let falling = "M0 \(half)L\(half) \(side)M\(half) 0L\(side) \(half)"
        let (colour, opacity) = (pattern.paint.colour.hexadecimal, number(pattern.paint.opacity))
        func lines(_ data: String) -> String {
            "<path d=\"\(data)\" fill=\"none\" stroke=\"\(colour)\" stroke-opacity=\"\(opacity)\" "
                + "stroke-width=\"\(number(pattern.width))\" stroke-linecap=\"square\"/>"
        }
        let marks =
            switch pattern.kind {
            case .hatch: lines(rising)
            case .backHatch: lines(falling)
            case .crossHatch: lines(rising + falling)
            case .horizontal: lines("M0 \(half)H\(side)")
            case .vertical: lines("M\(half) 0V\(side)")
            case .dots:
                "<circle cx=\"\(half)\" cy=\"\(half)\" r=\"\(number(pattern.width / 2))\" fill=\"\(colour)\" "
                    + "fill-opacity=\"\(opacity)\"/>"
            }
        return "<pattern id=\"\(id)\" width=\"\(side)\" height=\"\(side)\" patternUnits=\"userSpaceOnUse\">\(marks)"
            + "</pattern><path d=\"\(data([ring]))\" fill=\"url(#\(id))\"/>"
    }

    /// A number with at most three decimals, without trailing zeros, independent of locale.
    private static func number(_ value: Double) -> String {
        let rounded = (value * 1000).rounded() / 1000
        return rounded == rounded.rounded() && abs(rounded) < 1e9 ? "\(Int(rounded))" : "\(rounded)"
    }
}
