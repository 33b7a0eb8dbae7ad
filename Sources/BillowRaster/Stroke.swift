/// Converts a line of some width to convex rings, for `Canvas.fill`.
///
/// Every ring has the same winding, so a place where two overlap (at a bend) is covered once. Only the part inside a
/// rectangle is made. Dashes are counted from the line's own start, so the parts of a line in adjacent tiles match.
package struct Stroke: Sendable, Hashable {
    /// The width in pixels.
    package var width: Double
    /// The lengths of dash and gap in pixels; nil for a solid line.
    package var dash: Dash?

    package struct Dash: Sendable, Hashable {
        package var on: Double
        package var off: Double

        package init(on: Double, off: Double) {
            self.on = on
            self.off = off
        }
    }

    package init(width: Double, dash: Dash? = nil) {
        self.width = width
        self.dash = dash
    }

    /// The rings of a line through `points`, for the part within 0…width × 0…height.
    /// - Parameters:
    ///   - isClosed: whether the last point is joined to the first.
    ///   - points: the line's points, in pixels.
    ///   - canvasWidth: pixels.
    ///   - canvasHeight: pixels.
    package func rings(_ points: [Point], isClosed: Bool = false, canvasWidth: Int, canvasHeight: Int) -> [[Point]] {
        let reach = width / 2 + 1
        return rings(
            points, isClosed: isClosed,
            in: ClipBox(
                left: -reach, top: -reach, right: Double(canvasWidth) + reach, bottom: Double(canvasHeight) + reach))
    }

    /// The rings of a line, without clipping.
    package func rings(_ points: [Point], isClosed: Bool = false) -> [[Point]] {
        rings(points, isClosed: isClosed, in: .everywhere)
    }

    private func rings(_ points: [Point], isClosed: Bool, in box: ClipBox) -> [[Point]] {
        var rings: [[Point]] = []
        var travelled = 0.0
        for index in 0..<max(isClosed ? points.count : points.count - 1, 0) {
            let (a, b) = (points[index], points[(index + 1) % points.count])
            let (dx, dy) = (b.x - a.x, b.y - a.y)
            let length = (dx * dx + dy * dy).squareRoot()
            guard length > 0, length.isFinite else { continue }
            if let shown = box.part(of: a, b) {
                for part in parts(from: shown.lowerBound * length, to: shown.upperBound * length, after: travelled) {
                    rings.append(bar(a, dx / length, dy / length, from: part.lowerBound, to: part.upperBound))
                }
                // A round joint where the line continues.
                if width > 1.5, dash == nil, isClosed || index > 0, box.contains(a) { rings.append(dot(a)) }
            }
            travelled += length
        }
        return rings
    }

    /// The dashes of an interval of a segment that begins `start` along the line.
    private func parts(from: Double, to: Double, after start: Double) -> [ClosedRange<Double>] {
        guard let dash, dash.on > 0, dash.off > 0 else { return from < to ? [from...to] : [] }
        let period = dash.on + dash.off
        var parts: [ClosedRange<Double>] = []
        var begin = ((start + from) / period).rounded(.down) * period - start
        while begin < to {
            let (first, last) = (max(begin, from), min(begin + dash.on, to))
            if first < last { parts.append(first...last) }
            begin += period
        }
        return parts
    }

    /// A rectangle along a direction, with its corners clockwise on the screen.
    private func bar(_ a: Point, _ x: Double, _ y: Double, from: Double, to: Double) -> [Point] {
        let (nx, ny) = (-y * width / 2, x * width / 2)
        let (sx, sy, ex, ey) = (a.x + x * from, a.y + y * from, a.x + x * to, a.y + y * to)
        return [
            Point(x: sx - nx, y: sy - ny), Point(x: ex - nx, y: ey - ny), Point(x: ex + nx, y: ey + ny),
            Point(x: sx + nx, y: sy + ny),
        ]
    }

    private func dot(_ centre: Point) -> [Point] { Point.circle(centre: centre, radius: width / 2) }

    private struct ClipBox {
        var left, top, right, bottom: Double

        static let everywhere = ClipBox(left: -1e9, top: -1e9, right: 1e9, bottom: 1e9)

        func contains(_ point: Point) -> Bool {
            point.x >= left && point.x <= right && point.y >= top && point.y <= bottom
        }

        /// The interval of a segment inside the rectangle, as shares of its length.
        ///
        /// Source: Y.-D. Liang, B. Barsky, "A new concept and method for line clipping", ACM TOG 3 (1984),
        /// doi:10.1145/357332.357333
        func part(of a: Point, _ b: Point) -> ClosedRange<Double>? {
            var (first, last) = (0.0, 1.0)
            for (step, room) in [
                (a.x - b.x, a.x - left), (b.x - a.x, right - a.x), (a.y - b.y, a.y - top), (b.y - a.y, bottom - a.y),
            ] {
                if step == 0 {
                    if room < 0 { return nil }
                } else if step < 0 {
                    first = max(first, room / step)
                } else {
                    last = min(last, room / step)
                }
            }
            return first <= last ? first...last : nil
        }
    }
}

extension Point {
    /// A circle as a ring of 24 corners, clockwise on the screen.
    package static func circle(centre: Point, radius: Double) -> [Point] {
        unitCircle.map { Point(x: centre.x + $0.x * radius, y: centre.y + $0.y * radius) }
    }

    /// The corners from (1, 0), each turned by 15° from the one before. The constants are cos and sin of 15°.
    private static let unitCircle: [Point] = {
        let (cosine, sine) = (0.965_925_826_289_068_3, 0.258_819_045_102_520_8)
        var corners = [Point(x: 1, y: 0)]
        for _ in 1..<24 {
            let last = corners[corners.count - 1]
            corners.append(Point(x: last.x * cosine - last.y * sine, y: last.x * sine + last.y * cosine))
        }
        return corners
    }()
}
