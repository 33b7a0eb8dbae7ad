/// A position on a canvas, in pixels from its left edge and, downwards, from its top edge. Pixels are unit squares
/// between whole numbers.
public struct Point: Sendable, Hashable {
    /// The column; it grows eastwards.
    public var x: Double
    /// The row; it grows southwards.
    public var y: Double

    /// Makes the point at x and y.
    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
}

/// The share of each pixel of a rectangle that a shape covers: 0 for none, 255 for all. Row-major from the top left.
package struct Mask: Sendable, Hashable {
    /// The column and row of the canvas where the mask's first pixel lies; may be negative.
    package let left: Int
    package let top: Int
    package let width: Int
    package let height: Int
    package let coverage: [UInt8]

    static let empty = Mask(left: 0, top: 0, width: 0, height: 0, coverage: [])

    init(left: Int, top: Int, width: Int, height: Int, coverage: [UInt8]) {
        precondition(width >= 0 && height >= 0 && coverage.count == width * height)
        self.left = left
        self.top = top
        self.width = width
        self.height = height
        self.coverage = coverage
    }

    subscript(x: Int, y: Int) -> UInt8 { coverage[y * width + x] }
}

extension Mask {
    /// Computes the exact area of polygons in each pixel, clipped to a canvas of the given size. Rings may be open or
    /// closed, wind either way, and must not cross themselves. The second of two nested rings, wound the other way, is
    /// a hole. The mask is empty if a coordinate of a ring is not finite.
    ///
    /// Signed areas are accumulated along each row, as in font-rs (Raph Levien, https://github.com/raphlinus/font-rs,
    /// src/raster.rs).
    init(rings: [[Point]], canvasWidth: Int, canvasHeight: Int) {
        let clipped = rings.map { Mask.clip($0, width: Double(canvasWidth), height: Double(canvasHeight)) }
        let points = clipped.joined()
        guard let first = points.first, points.allSatisfy({ $0.x.isFinite && $0.y.isFinite }) else {
            self = .empty
            return
        }
        var (west, east, north, south) = (first.x, first.x, first.y, first.y)
        for point in points {
            west = min(west, point.x)
            east = max(east, point.x)
            north = min(north, point.y)
            south = max(south, point.y)
        }
        // The points are clipped to the canvas, so the conversions can't trap.
        let (left, top) = (Int(west.rounded(.down)), Int(north.rounded(.down)))
        let (width, height) = (Int(east.rounded(.up)) - left, Int(south.rounded(.up)) - top)
        guard width > 0, height > 0 else {
            self = .empty
            return
        }
        var areas = AreaRows(width: width, height: height)
        for ring in clipped {
            guard var from = ring.last else { continue }
            for to in ring {
                areas.add(
                    from: Point(x: from.x - Double(left), y: from.y - Double(top)),
                    to: Point(x: to.x - Double(left), y: to.y - Double(top)))
                from = to
            }
        }
        self.init(left: left, top: top, width: width, height: height, coverage: areas.coverage())
    }

    /// The part of a ring inside 0...width × 0...height. For rings that aren't convex, it may have edges without area
    /// along the sides.
    ///
    /// Source: Sutherland, Hodgman 1974, "Reentrant polygon clipping", doi:10.1145/360767.360802
    private static func clip(_ ring: [Point], width: Double, height: Double) -> [Point] {
        guard ring.allSatisfy({ $0.x.isFinite && $0.y.isFinite }) else { return [] }
        var ring = ring
        // For each side, the distance of a point inside it.
        for inside in [
            { $0.x }, { width - $0.x }, { $0.y }, { height - $0.y },
        ] as [(Point) -> Double] {
            var kept: [Point] = []
            guard var from = ring.last else { return [] }
            for to in ring {
                let (a, b) = (inside(from), inside(to))
                if (a < 0) != (b < 0) {
                    let t = a / (a - b)
                    kept.append(Point(x: from.x + (to.x - from.x) * t, y: from.y + (to.y - from.y) * t))
                }
                if b >= 0 { kept.append(to) }
                from = to
            }
            ring = kept
        }
        return ring.map { Point(x: min(max($0.x, 0), width), y: min(max($0.y, 0), height)) }
    }
}

/// The signed areas of edges; the running sum along a row is each pixel's coverage.
private struct AreaRows {
    let width: Int
    let height: Int
    /// Two more than the width: an edge on the right side writes past its pixel.
    private let stride: Int
    private var areas: [Double]

    init(width: Int, height: Int) {
        self.width = width
        self.height = height
        stride = width + 2
        areas = [Double](repeating: 0, count: stride * height)
    }

    /// Adds one edge, with coordinates from 0 to the width and height.
    mutating func add(from: Point, to: Point) {
        guard from.y != to.y else { return }
        let (upper, lower, sign) = from.y < to.y ? (from, to, 1.0) : (to, from, -1.0)
        let slope = (lower.x - upper.x) / (lower.y - upper.y)
        var x = upper.x
        for row in max(0, Int(upper.y))..<min(height, Int(lower.y.rounded(.up))) {
            let tall = min(Double(row + 1), lower.y) - max(Double(row), upper.y)
            let next = min(max(x + slope * tall, 0), Double(width))
            spread(sign * tall, from: min(x, next), to: max(x, next), row: row)
            x = next
        }
    }

    /// Distributes the height `tall` of an edge that goes from x0 to x1 within a row to the pixels that it crosses.
    private mutating func spread(_ tall: Double, from x0: Double, to x1: Double, row: Int) {
        let start = row * stride
        let first = Int(x0)
        let last = max(first, Int(x1.rounded(.up)) - 1)
        if first == last {
            let covered = 1 - ((x0 + x1) / 2 - Double(first))
            areas[start + first] += tall * covered
            areas[start + first + 1] += tall * (1 - covered)
            return
        }
        // The edge's cover of each pixel is the edge's height left of the pixel, plus the area right of the edge inside
        // the pixel. `areas` stores the differences.
        let perPixel = tall / (x1 - x0)
        var before = 0.0
        for column in first...last {
            let (entry, exit) = (max(x0, Double(column)), min(x1, Double(column + 1)))
            let covered = perPixel * ((entry - x0) + (exit - entry) * (Double(column + 1) - (entry + exit) / 2))
            areas[start + column] += covered - before
            before = covered
        }
        areas[start + last + 1] += tall - before
    }

    func coverage() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: width * height) { result, count in
            areas.withUnsafeBufferPointer { areas in
                for row in 0..<height {
                    var sum = 0.0
                    for column in 0..<width {
                        sum += areas[row &* stride &+ column]
                        // Rounds to the nearest: the value isn't negative.
                        result[row &* width &+ column] = UInt8(min(abs(sum), 1) * 255 + 0.5)
                    }
                }
            }
            count = width * height
        }
    }
}
