import Foundation

/// Fewer corners for lines in degrees.
///
/// From every corner that is kept the line goes straight to the furthest corner by which it stays within the
/// tolerance: for the curved sides of corridors that leaves about half as many corners as halving the line where it is
/// off most (Douglas,
/// Peucker), or the same number at a fraction of the error.
///
/// Source: H. Imai, M. Iri, "Computational-geometric methods for polygonal approximations of a curve", CVGIP 36
/// (1986), whose shortcuts these are, taken greedily
package enum LineSimplifier {
    /// A line with the corners left out that lie no further than a tolerance from what is left. Edges are straight in
    /// longitude and latitude and take the short way; distances are in degrees of latitude, so a degree of longitude
    /// counts less towards the poles. A closed ring stays closed, with four positions at least.
    ///
    /// - Complexity: O(n log m) where m corners in a row are left out
    package static func simplified(_ line: [LonLat], tolerance: Double) -> [LonLat] {
        let shortcuts = Shortcuts(line)
        return shortcuts.kept(tolerance: tolerance).map { line[$0] }
    }

    /// The same by the smallest tolerance, to a few percent, that leaves at most so many positions; nil where a
    /// tolerance of `most` leaves more.
    /// - Parameter least: the smallest tolerance that will do.
    static func simplified(_ line: [LonLat], to positions: Int, least: Double, most: Double) -> (
        line: [LonLat], tolerance: Double
    )? {
        let shortcuts = Shortcuts(line)
        var low = max(least, finest)
        var high = least
        var best = shortcuts.kept(tolerance: least)
        while best.count > positions {
            guard high < most else { return nil }
            low = max(high, finest)
            high = min(low * 4, most)
            best = shortcuts.kept(tolerance: high)
        }
        while high > low * precision, high > least {
            let middle = (low * high).squareRoot()
            let kept = shortcuts.kept(tolerance: middle)
            if kept.count > positions {
                low = middle
            } else {
                (best, high) = (kept, middle)
            }
        }
        return (best.map { line[$0] }, high)
    }

    /// Degrees: a metre.
    private static let finest = 1e-5
    private static let precision = 1.03
}

/// The straight ways between the corners of a line.
private struct Shortcuts {
    /// A corner; longitudes go on where the antimeridian is crossed.
    private struct Corner {
        var x: Double
        var y: Double
        /// What a degree of longitude counts here.
        var scale: Double
    }

    private let corners: [Corner]
    /// Corners that are kept in any case: the ends, and of a ring two more.
    private let stops: [Int]

    /// Degrees of longitude. An edge takes the short way: one around half the world would turn around.
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
        /// The corner furthest from a straight way.
        func farthest(_ start: Int, _ end: Int) -> (index: Int, squared: Double) {
            (start + 1..<max(end, start + 1)).reduce((index: start, squared: -1)) { best, index in
                let squared = Self.squaredDistance(of: corners[index], from: corners[start], corners[end])
                return squared > best.squared ? (index, squared) : best
            }
        }
        // A ring hangs on two corners far from each other, and keeps the one furthest from the line between them.
        let far = farthest(0, line.count - 1).index
        let (first, second) = (farthest(0, far), farthest(far, line.count - 1))
        stops = Set([0, far, first.squared >= second.squared ? first.index : second.index, line.count - 1]).sorted()
    }

    /// The corners that are left.
    func kept(tolerance: Double) -> [Int] {
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

    /// A corner that can be gone to straight, and the one after it can't: first by ways of twice the length, then
    /// between.
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

    /// Whether no corner between two others is further from the straight way between them.
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
