import Foundation

/// Simplifies lines in degrees.
///
/// From each kept corner, the line goes straight to the farthest corner by which it stays within the tolerance.
/// (Douglas and Peucker split the line at its largest error.) For the curved sides of corridors, this keeps about half
/// as many corners, or the same number at a fraction of the error.
///
/// Source: H. Imai, M. Iri, "Computational-geometric methods for polygonal approximations of a curve", CVGIP 36 (1986),
/// whose shortcuts these are, taken greedily
package enum LineSimplifier {
    /// A line without the corners that are within a tolerance of the simplified line. Edges are straight in longitude
    /// and latitude and take the shorter way. Distances are in degrees of latitude, so a degree of longitude counts
    /// less towards the poles. A closed ring stays closed, with at least four positions.
    ///
    /// - Complexity: O(n log m), where m consecutive corners are left out
    package static func simplified(_ line: [LonLat], tolerance: Double) -> [LonLat] {
        let shortcuts = Shortcuts(line)
        return shortcuts.simplified(tolerance: tolerance).map { line[$0] }
    }

    /// Simplifies a line with the smallest tolerance, to a few percent, that keeps at most a number of positions.
    /// Returns nil if a tolerance of `most` keeps more.
    /// - Parameter least: the minimum tolerance.
    static func simplified(_ line: [LonLat], to positions: Int, least: Double, most: Double) -> (
        line: [LonLat], tolerance: Double
    )? {
        let shortcuts = Shortcuts(line)
        var low = max(least, finest)
        var high = least
        var best = shortcuts.simplified(tolerance: least)
        while best.count > positions {
            guard high < most else { return nil }
            low = max(high, finest)
            high = min(low * 4, most)
            best = shortcuts.simplified(tolerance: high)
        }
        while high > low * precision, high > least {
            let middle = (low * high).squareRoot()
            let kept = shortcuts.simplified(tolerance: middle)
            if kept.count > positions {
                low = middle
            } else {
                (best, high) = (kept, middle)
            }
        }
        return (best.map { line[$0] }, high)
    }

    /// The smallest tolerance in degrees: a metre.
    private static let finest = 1e-5
    private static let precision = 1.03
}

/// The shortcuts between the corners of a line.
private struct Shortcuts {
    /// A corner, whose longitude continues across the antimeridian without wrapping.
    private struct Corner {
        var x: Double
        var y: Double
        /// The length of a degree of longitude at the corner, in degrees of latitude.
        var scale: Double
    }

    private let corners: [Corner]
    /// Corners that are always kept: the ends, and two more of a ring.
    private let stops: [Int]

    /// The maximum degrees of longitude of an edge. An edge around half the world would reverse, as it takes the
    /// shorter way.
    private static let longestEdge = 90.0

    init(_ line: [LonLat]) {
        var longitude = line.first?.longitude ?? 0
        let corners = line.map { place in
            longitude = place.longitude + ((longitude - place.longitude) / 360).rounded() * 360
            return Corner(x: longitude, y: place.latitude, scale: cos(place.latitude * .pi / 180))
        }
        self.corners = corners
        guard line.count >= 4, line.first == line.last else {
            stops = line.isEmpty ? [] : Array(Set([0, line.count - 1])).sorted()
            return
        }
        /// The corner farthest from a straight line.
        func farthest(_ start: Int, _ end: Int) -> (index: Int, squared: Double) {
            (start + 1..<max(end, start + 1)).reduce((index: start, squared: -1)) { best, index in
                let squared = Self.squaredDistance(of: corners[index], from: corners[start], corners[end])
                return squared > best.squared ? (index, squared) : best
            }
        }
        // A ring keeps two corners far from each other, and the one farthest from the line between them.
        let far = farthest(0, line.count - 1).index
        let (first, second) = (farthest(0, far), farthest(far, line.count - 1))
        stops = Set([0, far, first.squared >= second.squared ? first.index : second.index, line.count - 1]).sorted()
    }

    /// The indices of the corners of the simplified line.
    func simplified(tolerance: Double) -> [Int] {
        let squared = tolerance * tolerance
        var kept = Array(stops.prefix(1))
        for (start, end) in zip(stops, stops.dropFirst()) {
            var at = start
            while at < end {
                at = furthest(from: at, upTo: end, squared)
                kept.append(at)
            }
        }
        return kept
    }

    /// The farthest corner that a shortcut can reach: a galloping search doubles the step, then a binary search
    /// follows.
    private func furthest(from start: Int, upTo end: Int, _ squaredTolerance: Double) -> Int {
        var reached = start + 1
        var step = 1
        while reached < end {
            let next = min(reached + step, end)
            guard isWithin(squaredTolerance, from: start, to: next) else { break }
            reached = next
            step *= 2
        }
        var beyond = min(reached + step, end + 1)
        while beyond - reached > 1 {
            let middle = (reached + beyond) / 2
            if isWithin(squaredTolerance, from: start, to: middle) { reached = middle } else { beyond = middle }
        }
        return reached
    }

    /// Whether all corners between two others are within the tolerance of the straight line between them.
    private func isWithin(_ squaredTolerance: Double, from start: Int, to end: Int) -> Bool {
        let (a, b) = (corners[start], corners[end])
        guard abs(b.x - a.x) <= Self.longestEdge else { return end - start <= 1 }
        for index in start + 1..<max(end, start + 1)
        where Self.squaredDistance(of: corners[index], from: a, b) > squaredTolerance { return false }
        return true
    }

    private static func squaredDistance(of corner: Corner, from a: Corner, _ b: Corner) -> Double {
        let (edgeX, edgeY) = ((b.x - a.x) * corner.scale, b.y - a.y)
        let (x, y) = ((corner.x - a.x) * corner.scale, corner.y - a.y)
        let length = edgeX * edgeX + edgeY * edgeY
        let share = length > 0 ? min(max((x * edgeX + y * edgeY) / length, 0), 1) : 0
        let (offX, offY) = (x - edgeX * share, y - edgeY * share)
        return offX * offX + offY * offY
    }
}
