/// Why a canvas can't be made.
public enum CanvasError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The width or height is outside 1...`PNG.largestSide`, or their product exceeds `Canvas.maximumPixels`.
    case sizeOutOfRange(width: Int, height: Int)

    public var description: String {
        switch self {
        case .sizeOutOfRange(let width, let height):
            "canvas of \(width) × \(height) pixels; each side must be 1 to \(PNG.largestSide), at most "
                + "\(Canvas.maximumPixels) pixels in all"
        }
    }
}

/// A picture under construction: premultiplied RGBA, row-major from the top left, transparent at first. It serves
/// legends, maps, and tiles of several layers. Tiles with only hexagons have an exact path of their own.
public struct Canvas: Sendable {
    /// 4096 × 4096: the maximum for one request, which takes 64 MB.
    package static let maximumPixels = 4096 * 4096

    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// The pixels, row-major from the top left.
    package private(set) var pixels: [PremultipliedColour]

    /// - Throws: `sizeOutOfRange`.
    package init(width: Int, height: Int) throws(CanvasError) {
        guard (1...PNG.largestSide).contains(width), (1...PNG.largestSide).contains(height),
            width * height <= Canvas.maximumPixels
        else { throw .sizeOutOfRange(width: width, height: height) }
        self.width = width
        self.height = height
        pixels = [PremultipliedColour](repeating: .clear, count: width * height)
    }

    /// The pixel in column x and row y; nil outside.
    package subscript(x: Int, y: Int) -> PremultipliedColour? {
        guard x >= 0, y >= 0, x < width, y < height else { return nil }
        return pixels[y * width + x]
    }

    /// Draws a polygon of one colour over the picture, antialiased by exact area. For rings, see `Mask`.
    package mutating func fill(_ rings: [[Point]], with colour: StraightColour) {
        paint(Mask(rings: rings, canvasWidth: width, canvasHeight: height), colour)
    }

    /// Draws one colour over the whole picture.
    package mutating func fill(with colour: StraightColour) {
        let (right, bottom) = (Double(width), Double(height))
        let corners = [Point(x: 0, y: 0), Point(x: right, y: 0), Point(x: right, y: bottom), Point(x: 0, y: bottom)]
        fill([corners], with: colour)
    }

    /// Draws a polygon of one colour over the picture, only on a pattern's lines.
    package mutating func fill(_ rings: [[Point]], with colour: StraightColour, pattern: PlacedPattern) {
        paint(
            Mask(rings: rings, canvasWidth: width, canvasHeight: height), lines: Ink(pattern: pattern, colour: colour))
    }

    /// Draws a polygon of one colour over the picture, and then another colour on a pattern's lines.
    package mutating func fill(_ rings: [[Point]], with colour: StraightColour, lines: Ink) {
        let mask = Mask(rings: rings, canvasWidth: width, canvasHeight: height)
        paint(mask, colour)
        paint(mask, lines: lines)
    }

    /// Draws a line over the picture.
    package mutating func stroke(
        _ points: [Point], isClosed: Bool = false, with stroke: Stroke, colour: StraightColour
    ) {
        let rings = stroke.rings(points, isClosed: isClosed, canvasWidth: width, canvasHeight: height)
        if !rings.isEmpty { fill(rings, with: colour) }
    }

    /// A second colour of a shape, drawn over the first on a pattern's lines.
    package struct Ink: Sendable {
        package let pattern: PlacedPattern
        package let colour: StraightColour

        package init(pattern: PlacedPattern, colour: StraightColour) {
            self.pattern = pattern
            self.colour = colour
        }
    }

    /// A shape of a layer. For rings, see `Mask`.
    package struct LayerShape: Sendable {
        let rings: [[Point]]
        let colour: StraightColour
        let ink: Ink?

        package init(_ rings: [[Point]], _ colour: StraightColour, ink: Ink? = nil) {
            self.rings = rings
            self.colour = colour
            self.ink = ink.map {
                Ink(
                    pattern: $0.pattern, colour: $0.colour.premultiplied.over(colour.premultiplied).straight)
            }
        }
    }

    /// Draws shapes over the picture as *one* layer. If several shapes share a pixel, their shares are added, so no
    /// background shows through a common edge. If they overlap, the first takes its share first.
    package mutating func fill(parts: [LayerShape]) {
        paint(parts.map { (Mask(rings: $0.rings, canvasWidth: width, canvasHeight: height), $0.colour, $0.ink) })
    }

    /// Draws masks of one layer over the picture. An ink is the colour that results from drawing it over the mask's
    /// own.
    ///
    /// A pixel covered completely by one colour over an opaque pixel d becomes (colour × alpha + d × (255 − alpha)) ÷
    /// 255, rounded once to the nearest. Shares whose rounded sum exceeds the pixel are limited to it.
    mutating func paint(_ parts: [(mask: Mask, colour: StraightColour, ink: Ink?)]) {
        let left = max(0, parts.map(\.mask.left).min() ?? 0)
        let top = max(0, parts.map(\.mask.top).min() ?? 0)
        let right = min(width, parts.map { $0.mask.left + $0.mask.width }.max() ?? 0)
        let bottom = min(height, parts.map { $0.mask.top + $0.mask.height }.max() ?? 0)
        guard left < right, top < bottom else { return }
        let width = width
        // One row of the layer. A row of each mask is added to it as a whole, so that nothing is copied for each pixel.
        var layer = [LayerPixel](repeating: LayerPixel(), count: right - left)
        layer.withUnsafeMutableBufferPointer { layer in
            pixels.withUnsafeMutableBufferPointer { pixels in
                for y in top..<bottom {
                    for part in parts { LayerPixel.add(part, row: y, to: layer, from: left) }
                    for x in left..<right where layer[x - left].alpha > 0 {
                        pixels[y * width + x] = layer[x - left].over(pixels[y * width + x])
                    }
                    layer.update(repeating: LayerPixel())
                }
            }
        }
    }

    /// Draws one mask over the picture. The result is the same as for a layer of one part, but only covered pixels are
    /// processed.
    private mutating func paint(_ mask: Mask, _ colour: StraightColour) {
        forEachRow(of: mask) { row in
            // Most neighbours are covered alike and lie on alike pixels.
            var last = (coverage: UInt8(0), below: PremultipliedColour.clear, result: PremultipliedColour.clear)
            for x in row.coverage.indices where row.coverage[x] > 0 {
                let (coverage, below) = (row.coverage[x], row.pixels[x])
                if coverage != last.coverage || below != last.below {
                    last = (coverage, below, LayerPixel(colour, coverage: coverage).over(below))
                }
                row.pixels[x] = last.result
            }
        }
    }

    /// Draws the part of a mask that lies on a pattern's lines over the picture.
    private mutating func paint(_ mask: Mask, lines: Ink) {
        let pattern = lines.pattern
        forEachRow(of: mask) { row in
            pattern.withRow(x: row.x, y: row.y) { inked, first in
                var column = first
                for x in row.coverage.indices {
                    let ink = inked[column]
                    column += 1
                    if column == inked.count { column = 0 }
                    guard ink > 0, row.coverage[x] > 0 else { continue }
                    let share = UInt8(truncatingIfNeeded: (UInt32(row.coverage[x]) * UInt32(ink) + 127) / 255)
                    row.pixels[x] = LayerPixel(lines.colour, coverage: share).over(row.pixels[x])
                }
            }
        }
    }

    /// The part of a row of the picture that a mask's row lies on.
    private struct MaskedRow {
        /// The place of the first pixel.
        let x: Int
        let y: Int
        let coverage: UnsafeBufferPointer<UInt8>
        /// As many pixels as there are in `coverage`.
        let pixels: UnsafeMutablePointer<PremultipliedColour>
    }

    @inline(__always)
    private mutating func forEachRow(of mask: Mask, _ body: (MaskedRow) -> Void) {
        let (left, right) = (max(0, mask.left), min(width, mask.left + mask.width))
        let (top, bottom) = (max(0, mask.top), min(height, mask.top + mask.height))
        guard left < right, top < bottom else { return }
        let width = width
        mask.coverage.withUnsafeBufferPointer { coverage in
            pixels.withUnsafeMutableBufferPointer { pixels in
                guard let first = pixels.baseAddress else { return }
                for y in top..<bottom {
                    let start = (y - mask.top) * mask.width + left - mask.left
                    let row = UnsafeBufferPointer(rebasing: coverage[start..<start + right - left])
                    body(MaskedRow(x: left, y: y, coverage: row, pixels: first + y * width + left))
                }
            }
        }
    }

    /// Draws another picture over this one, with its north-west corner at (x, y), clipped to this one.
    package mutating func lay(_ other: Canvas, x: Int = 0, y: Int = 0) {
        let (left, right) = (max(0, -x), min(other.width, width - x))
        let (top, bottom) = (max(0, -y), min(other.height, height - y))
        guard left < right, top < bottom else { return }
        for row in top..<bottom {
            for column in left..<right {
                let above = other.pixels[row * other.width + column]
                guard above.alpha > 0 else { continue }
                let at = (row + y) * width + column + x
                pixels[at] = above.over(pixels[at])
            }
        }
    }

    /// Draws a colour over the pixel in column x and row y, which must be inside.
    @inline(__always)
    package mutating func lay(_ colour: PremultipliedColour, x: Int, y: Int) {
        let at = y * width + x
        pixels[at] = colour.over(pixels[at])
    }
}

/// One pixel of a layer that several shapes share, in units of 1/(255 × 255).
private struct LayerPixel {
    private static let whole: UInt32 = 255 * 255

    private var left: UInt32 = 255
    private var red: UInt32 = 0
    private var green: UInt32 = 0
    private var blue: UInt32 = 0
    /// The accumulated alpha, 0...255 × 255.
    private(set) var alpha: UInt32 = 0

    init() {}

    init(_ colour: StraightColour, coverage: UInt8) { add(colour, coverage: coverage) }

    mutating func add(_ colour: StraightColour, coverage: UInt8) {
        let coverage = min(UInt32(coverage), left)
        left -= coverage
        let weight = coverage * UInt32(colour.alpha)
        alpha += weight
        red += weight * UInt32(colour.red)
        green += weight * UInt32(colour.green)
        blue += weight * UInt32(colour.blue)
    }

    /// Adds a row of a mask to a row of the layer, which starts in column `left` and contains the mask's columns.
    static func add(
        _ part: (mask: Mask, colour: StraightColour, ink: Canvas.Ink?), row y: Int,
        to layer: UnsafeMutableBufferPointer<LayerPixel>, from left: Int
    ) {
        let (mask, colour) = (part.mask, part.colour)
        guard y >= mask.top, y < mask.top + mask.height else { return }
        let columns = max(left, mask.left)..<max(left, min(left + layer.count, mask.left + mask.width))
        mask.coverage.withUnsafeBufferPointer { coverage in
            let start = (y - mask.top) * mask.width - mask.left
            guard let ink = part.ink else {
                for x in columns where coverage[start + x] > 0 {
                    layer[x - left].add(colour, coverage: coverage[start + x])
                }
                return
            }
            for x in columns where coverage[start + x] > 0 {
                let whole = coverage[start + x]
                let both = UInt32(whole) * UInt32(ink.pattern.coverage(x: x, y: y))
                let inked = UInt8(truncatingIfNeeded: (both + 127) / 255)
                layer[x - left].add(ink.colour, coverage: inked)
                layer[x - left].add(colour, coverage: whole - inked)
            }
        }
    }

    /// Composites source-over. Every sum is at most 255³.
    func over(_ below: PremultipliedColour) -> PremultipliedColour {
        let rest = LayerPixel.whole - alpha
        func blend(_ above: UInt32, _ below: UInt8) -> UInt8 {
            UInt8(truncatingIfNeeded: (above + UInt32(below) * rest + LayerPixel.whole / 2) / LayerPixel.whole)
        }
        return PremultipliedColour(
            uncheckedRed: blend(red, below.red), green: blend(green, below.green), blue: blend(blue, below.blue),
            alpha: blend(255 * alpha, below.alpha))
    }
}
