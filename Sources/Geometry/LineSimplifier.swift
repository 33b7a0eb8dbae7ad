import Foundation

/// Fewer corners for lines in degrees.
///
/// Source: U. Ramer (1972); D. Douglas, T. Peucker, "Algorithms for the reduction of the number of points required to
/// represent a digitized line", Cartographica 10 (1973)
public enum LineSimplifier {
    /// A line with the corners left out that lie no further than a tolerance from what is left. Edges are straight in
    /// longitude and latitude and take the short way; distances are in degrees of latitude, so a degree of longitude counts
    /// less towards the poles. A closed ring stays closed, with four positions at least.
    ///
    /// - Complexity: O(n²) at worst, O(n log n) usually
    public static func simplified(_ line: [LonLat], tolerance: Double) -> [LonLat] {
        RankedCorners(line, above: tolerance).line(tolerance: tolerance)
    }
}

/// The corners of a line, each with the tolerance up to which it is kept: so that one look through the line serves every
/// tolerance.
struct RankedCorners {
    private let line: [LonLat]
    /// By corner: it is kept by tolerances below this.
    private let worth: [Double]
    private let least: Double

    /// - Parameter least: the smallest tolerance that will be asked for.
    /// - Complexity: O(n²) at worst, O(n log n) usually
    init(_ line: [LonLat], above least: Double) {
        self.line = line
        self.least = least
        guard line.count > 2 else {
            worth = line.map { _ in .infinity }
            return
        }
        let corners = Self.unrolled(line)
        var worth = [Double](repeating: 0, count: line.count)
        var anchors: Set<Int> = [0, line.count - 1]
        if line.first == line.last, line.count >= 4 {
            // A ring hangs on two corners far from each other, and keeps the one furthest from the line between them.
            let far = Self.farthest(corners, 0, line.count - 1)
            let first = Self.farthest(corners, 0, far.index)
            let second = Self.farthest(corners, far.index, line.count - 1)
            anchors.formUnion([far.index, first.distance >= second.distance ? first.index : second.index])
            anchors.remove(-1)
        }
        for anchor in anchors { worth[anchor] = .infinity }
        let stops = anchors.sorted()
        var ranges = zip(stops, stops.dropFirst()).map { (start: $0, end: $1, worth: Double.infinity) }
        while let range = ranges.popLast() {
            guard range.end - range.start > 1 else { continue }
            let far = Self.farthest(corners, range.start, range.end)
            // An edge takes the short way: one that long would turn around.
            let isTooLong = abs(corners[range.end].place.x - corners[range.start].place.x) > Self.longestEdge
            guard far.distance > least || isTooLong else { continue }
            // Only where the line is cut at all is a corner of the part looked at.
            let found = isTooLong ? range.worth : min(range.worth, far.distance)
            worth[far.index] = found
            ranges.append((range.start, far.index, found))
            ranges.append((far.index, range.end, found))
        }
        self.worth = worth
    }

    /// What is left by a tolerance of at least the least.
    func line(tolerance: Double) -> [LonLat] { line.indices.filter { worth[$0] > tolerance }.map { line[$0] } }

    /// The smallest tolerance that leaves at most so many corners.
    func tolerance(leaving positions: Int) -> Double {
        let ranked = worth.filter { $0 > least }.sorted(by: >)
        return ranked.count > positions ? ranked[positions] : least
    }

    /// Degrees of longitude.
    private static let longestEdge = 90.0

    /// Longitudes go on where the antimeridian is crossed; `scale` is what a degree of longitude counts there.
    private static func unrolled(_ line: [LonLat]) -> [(place: SIMD2<Double>, scale: SIMD2<Double>)] {
        var longitude = line.first?.longitude ?? 0
        return line.map { place in
            longitude = place.longitude + ((longitude - place.longitude) / 360).rounded() * 360
            return (SIMD2(longitude, place.latitude), SIMD2(cos(place.latitude * .pi / 180), 1))
        }
    }

    private static func farthest(
        _ corners: [(place: SIMD2<Double>, scale: SIMD2<Double>)], _ start: Int, _ end: Int
    ) -> (index: Int, distance: Double) {
        var best = (index: -1, squared: -1.0)
        guard end - start > 1 else { return (best.index, -1) }
        let wholeEdge = corners[end].place - corners[start].place
        for index in start + 1..<end {
            let scale = corners[index].scale
            let edge = wholeEdge * scale
            let offset = (corners[index].place - corners[start].place) * scale
            let length = (edge * edge).sum()
            let share = length > 0 ? min(max((offset * edge).sum() / length, 0), 1) : 0
            let apart = offset - edge * share
            let squared = (apart * apart).sum()
            if squared > best.squared { best = (index, squared) }
        }
        return (best.index, best.squared.squareRoot())
    }
}
