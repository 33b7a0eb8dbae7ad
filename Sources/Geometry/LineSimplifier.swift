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
        kept(line, tolerance: tolerance).map { line[$0] }
    }

    /// A closed ring with at most so many positions, by the smallest tolerance that does it, at least the one given.
    static func simplified(_ ring: [LonLat], tolerance: Double, positions: Int) -> (ring: [LonLat], tolerance: Double) {
        var result = kept(ring, tolerance: tolerance)
        guard result.count > positions else { return (result.map { ring[$0] }, tolerance) }
        var low = tolerance
        var high = max(tolerance, 1e-5)
        repeat {
            high *= 2
            result = kept(ring, tolerance: high)
        } while result.count > positions && high < 360
        for _ in 0..<12 {
            let middle = (low + high) / 2
            let attempt = kept(ring, tolerance: middle)
            if attempt.count > positions {
                low = middle
            } else {
                high = middle
                result = attempt
            }
        }
        return (result.map { ring[$0] }, high)
    }

    private static func kept(_ line: [LonLat], tolerance: Double) -> [Int] {
        guard line.count > 2 else { return Array(line.indices) }
        let corners = unrolled(line)
        var isKept = [Bool](repeating: false, count: line.count)
        isKept[0] = true
        isKept[line.count - 1] = true
        if line.first == line.last, line.count >= 4 {
            // A ring hangs on two corners far from each other, and keeps the one furthest from the line between them.
            let far = farthest(corners, 0, line.count - 1)
            isKept[far.index] = true
            let first = farthest(corners, 0, far.index)
            let second = farthest(corners, far.index, line.count - 1)
            let third = first.distance >= second.distance ? first.index : second.index
            if third > 0 { isKept[third] = true }
        }
        var anchors = isKept.indices.filter { isKept[$0] }
        var ranges = Array(zip(anchors, anchors.dropFirst()))
        anchors = []
        while let (start, end) = ranges.popLast() {
            guard end - start > 1 else { continue }
            let far = farthest(corners, start, end)
            // An edge takes the short way: one that long would turn around.
            let isTooLong = abs(corners[end].x - corners[start].x) > longestEdge
            guard far.distance > tolerance || isTooLong else { continue }
            isKept[far.index] = true
            ranges.append((start, far.index))
            ranges.append((far.index, end))
        }
        return isKept.indices.filter { isKept[$0] }
    }

    /// Degrees of longitude.
    private static let longestEdge = 90.0

    private static func unrolled(_ line: [LonLat]) -> [SIMD2<Double>] {
        var longitude = line.first?.longitude ?? 0
        return line.map { place in
            longitude = place.longitude + ((longitude - place.longitude) / 360).rounded() * 360
            return SIMD2(longitude, place.latitude)
        }
    }

    private static func farthest(_ corners: [SIMD2<Double>], _ start: Int, _ end: Int) -> (index: Int, distance: Double)
    {
        var best = (index: -1, distance: -1.0)
        guard end - start > 1 else { return best }
        for index in start + 1..<end {
            let scale = SIMD2(cos(corners[index].y * .pi / 180), 1)
            let edge = (corners[end] - corners[start]) * scale
            let offset = (corners[index] - corners[start]) * scale
            let length = (edge * edge).sum()
            let share = length > 0 ? min(max((offset * edge).sum() / length, 0), 1) : 0
            let apart = offset - edge * share
            let distance = (apart * apart).sum().squareRoot()
            if distance > best.distance { best = (index, distance) }
        }
        return best
    }
}
