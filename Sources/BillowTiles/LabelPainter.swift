import BillowRaster

/// Writes labels with a halo, which makes them readable on any background. It opens its font when the first label is
/// written.
final class LabelPainter {
    private var font: TextRenderer?

    private static let ring = [
        (-1.0, -1.0), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1),
    ]

    /// - Parameter start: the left end of the text, on the baseline.
    func draw(
        _ text: String, at start: Point, size: Double, _ marks: MarkColours, colour: StraightColour,
        on canvas: inout Canvas
    ) throws(TextError) {
        let font = try ready()
        let reach = max(1, size / 11)
        // The baseline is rounded to whole pixels once, so that halo and letters match.
        let baseline = Point(x: start.x, y: start.y.rounded())
        for (dx, dy) in LabelPainter.ring {
            let at = Point(x: baseline.x + dx * reach, y: baseline.y + dy * reach)
            try font.draw(text, at: at, size: size, colour: marks.halo, on: &canvas)
        }
        try font.draw(text, at: baseline, size: size, colour: colour, on: &canvas)
    }

    func width(of text: String, size: Double) throws(TextError) -> Double {
        try ready().width(of: text, size: size)
    }

    private func ready() throws(TextError) -> TextRenderer {
        if let font { return font }
        let made = try TextRenderer()
        font = made
        return made
    }
}
