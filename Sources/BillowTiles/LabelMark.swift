import BillowRaster

/// A label beside a symbol or in an area, with its possible spots. It is drawn at the first free one.
struct Label: Sendable {
    /// A place on the map and the alignment of the text to it.
    struct Spot: Sendable {
        /// On the baseline, in the world's pixels.
        var place: Point
        var alignment: LabelMark.Alignment
    }

    let text: String
    /// Points per em.
    let size: Double
    let ink: LabelMark.Ink
    /// The possible spots, the best first.
    let spots: [Spot]

    /// The maximum length; longer texts are cut and end in an ellipsis.
    private static let maximumCharacters = 40
    /// The width of the halo around letters, in points.
    private static let halo = 1.5

    init(_ text: String, size: Double, ink: LabelMark.Ink, spots: [Spot]) {
        self.text = text.count > Label.maximumCharacters ? text.prefix(Label.maximumCharacters - 1) + "…" : text
        self.size = size
        self.ink = ink
        self.spots = spots
    }

    /// The boxes of the text and its halo at each spot, in the world's pixels.
    /// - Parameter scale: pixels per point.
    func boxes(scale: Double) -> [PixelBox] {
        let width = Label.widthBound(of: text) * size * scale
        let halo = Label.halo * scale
        return spots.map { spot in
            let left =
                switch spot.alignment {
                case .start: spot.place.x
                case .middle: spot.place.x - width / 2
                case .end: spot.place.x - width
                }
            // DejaVu Sans: accents and brackets reach 0.8 em up, descenders 0.24 em down.
            return PixelBox(
                minX: left - halo, minY: spot.place.y - 0.8 * size * scale - halo, maxX: left + width + halo,
                maxY: spot.place.y + 0.24 * size * scale + halo)
        }
    }

    /// An upper bound of a text's width in DejaVu Sans, in ems. It needs no font, so it is the same on every machine.
    static func widthBound(of text: String) -> Double {
        text.unicodeScalars.reduce(0) { $0 + widthBound(of: $1) }
    }

    private static func widthBound(of letter: Unicode.Scalar) -> Double {
        switch letter {
        case " ", ",", ".", ":", "-", "'", "/", "(", ")", "I", "J", "f", "i", "j", "l", "r", "t": 0.42
        case "0"..."9", "a"..."l", "n"..."v", "x"..."z": 0.64
        case "A"..."L", "N"..."V", "X"..."Z", "–": 0.79
        default: 1
        }
    }
}

/// A box in the world's pixels.
struct PixelBox {
    var minX: Double
    var minY: Double
    var maxX: Double
    var maxY: Double

    /// Whether two boxes share a point, on a map that repeats every `world` pixels.
    func overlaps(_ other: PixelBox, world: Double) -> Bool {
        guard minY < other.maxY, other.minY < maxY else { return false }
        let shift = ((minX + maxX - other.minX - other.maxX) / 2 / world).rounded() * world
        return minX < other.maxX + shift && other.minX + shift < maxX
    }
}

/// A label as drawn.
struct LabelMark: Sendable, Hashable {
    enum Alignment: UInt8, Sendable, Hashable {
        case start, middle, end
    }

    enum Ink: Sendable, Hashable {
        case ink
        case area(AreaAppearance)
    }

    let text: String
    /// A position on the baseline.
    let place: PicturePosition
    let alignment: Alignment
    /// Points per em.
    let size: Double
    let ink: Ink

    func mix(into fingerprint: inout Fingerprint) {
        fingerprint.mix(text)
        place.mix(into: &fingerprint)
        fingerprint.mix(size.bitPattern)
        fingerprint.mix(UInt64(alignment.rawValue))
        if case .area(let appearance) = ink { appearance.mix(into: &fingerprint) }
    }

    /// - Parameter scale: pixels per point.
    func paint(_ style: Style, scale: Double, onto canvas: inout Canvas, text painter: LabelPainter) throws(TextError) {
        let size = size * scale
        var start = place.point
        switch alignment {
        case .start: break
        case .middle: start.x -= try painter.width(of: text, size: size) / 2
        case .end: start.x -= try painter.width(of: text, size: size)
        }
        let colour =
            switch ink {
            case .ink: style.marks.ink
            // Thin letters look paler than an outline of their colour.
            case .area(let appearance): appearance.colour(style.marks).halfway(to: style.marks.ink)
            }
        try painter.draw(text, at: start, size: size, style.marks, colour: colour, on: &canvas)
    }
}
