import Geometry

/// Removes points of arcs, or cuts their corners, without changing the topology of faces. A corner is removed only if
/// no other point lies in the triangle with its neighbours. So no boundary crosses another.
///
/// Source: M. Visvalingam, J. D. Whyatt, "Line generalisation by repeated elimination of points", The Cartographic
/// Journal 30 (1993); G. Chaikin, "An algorithm for high-speed curve generation", Computer Graphics and Image
/// Processing 3 (1974)
struct ArcSimplifier {
    private var map: ArcMap
    /// The points of all arcs in sequence.
    private var points: [DegreePoint] = []
    /// The points before and after each in its arc; −1 for an end that must stay.
    private var before: [Int32] = []
    private var behind: [Int32] = []
    private var isGone: [Bool] = []
    private var arcOf: [Int32] = []
    /// By arc: the number of points, and its minimum.
    private var counts: [Int] = []
    private var fewest: [Int] = []
    private var index: [UInt64: [Int32]] = [:]
    /// The side of the index's buckets as a power of two: 2²⁰ units, a tenth of a degree.
    private static let shift = Int32(20)

    init(_ map: ArcMap) { self.map = map }

    /// - Parameters:
    ///   - tolerance: units of 10⁻⁷ degrees. A corner is removed if its triangle is smaller than half the tolerance
    ///     squared.
    ///   - smoothing: the number of passes that cut corners.
    func simplified(tolerance: Double, smoothing: Int, maximumCorners: Int = .max) throws(TooManyCorners) -> ArcMap {
        var work = self
        work.load()
        work.removeCorners(smallerThan: tolerance * tolerance)
        work.store()
        let corners = work.map.points.count << smoothing
        guard smoothing == 0 || corners <= maximumCorners else {
            throw TooManyCorners(smoothing: smoothing, corners: corners, most: maximumCorners)
        }
        for _ in 0..<smoothing {
            work.load()
            work.cutCorners()
        }
        return work.map
    }

    private mutating func load() {
        points = map.points
        (before, behind, arcOf, counts, fewest) = ([], [], [], [], [])
        index = [:]
        // Two arcs between the same junctions must not coincide.
        var twins: [UInt64: Int] = [:]
        for arc in map.arcs { twins[Self.pair(arc), default: 0] += 1 }
        for (number, arc) in map.arcs.enumerated() {
            counts.append(Int(arc.behind - arc.first))
            fewest.append(arc.start == arc.end ? 4 : twins[Self.pair(arc), default: 1] > 1 ? 3 : 2)
            for point in arc.first..<arc.behind {
                let isEnd = point == arc.first || point == arc.behind - 1
                before.append(isEnd ? -1 : Int32(point) - 1)
                behind.append(isEnd ? -1 : Int32(point) + 1)
                arcOf.append(Int32(number))
                index[Self.bucket(points[Int(point)]), default: []].append(Int32(point))
            }
        }
        isGone = [Bool](repeating: false, count: points.count)
    }

    private mutating func store() {
        map = replacingPoints { arc in (Int(arc.first)..<Int(arc.behind)).filter { !isGone[$0] }.map { points[$0] } }
    }

    /// The map with the points that `body` returns for each arc.
    private func replacingPoints(_ body: (ArcMap.Arc) -> [DegreePoint]) -> ArcMap {
        var map = map
        var all: [DegreePoint] = []
        all.reserveCapacity(points.count)
        for number in map.arcs.indices {
            let first = all.count
            all.append(contentsOf: body(map.arcs[number]))
            map.arcs[number].first = UInt32(first)
            map.arcs[number].behind = UInt32(all.count)
        }
        map.points = all
        return map
    }

    // MARK: - Fewer corners

    private mutating func removeCorners(smallerThan doubleArea: Double) {
        var candidates = points.indices.filter { before[$0] >= 0 }
        while true {
            // The smallest first. Corners that are affected by a removal are candidates of the next round.
            let ordered = candidates.filter { !isGone[$0] }.map { ($0, size($0)) }.filter { $0.1 <= doubleArea }
                .sorted { ($0.1, $0.0) < ($1.1, $1.0) }
            var touched = Set<Int>()
            var changed: [Int] = []
            for (corner, _) in ordered where !touched.contains(corner) {
                let a = Int(before[corner])
                let b = Int(behind[corner])
                guard counts[Int(arcOf[corner])] > fewest[Int(arcOf[corner])], isFree(a, corner, b) else { continue }
                isGone[corner] = true
                counts[Int(arcOf[corner])] -= 1
                if behind[a] >= 0 { behind[a] = Int32(b) }
                if before[b] >= 0 { before[b] = Int32(a) }
                for neighbour in [a, b] where before[neighbour] >= 0 {
                    touched.insert(neighbour)
                    changed.append(neighbour)
                }
            }
            if changed.isEmpty { return }
            candidates = Array(Set(changed))
        }
    }

    /// Twice the area of the triangle of a corner and its neighbours.
    private func size(_ corner: Int) -> Double {
        abs(Double(Self.cross(points[Int(before[corner])], points[corner], points[Int(behind[corner])])))
    }

    /// Whether no other point lies in a triangle or on its edge.
    private func isFree(_ a: Int, _ b: Int, _ c: Int) -> Bool {
        isFree(points[a], points[b], points[c], around: points[b])
    }

    private func isFree(_ a: DegreePoint, _ b: DegreePoint, _ c: DegreePoint, around corner: DegreePoint) -> Bool {
        let low = pointwiseMin(pointwiseMin(a, b), c)
        let high = pointwiseMax(pointwiseMax(a, b), c)
        for x in low.x >> Self.shift...high.x >> Self.shift {
            for y in low.y >> Self.shift...high.y >> Self.shift {
                for other in index[Self.key(x, y)] ?? [] where !isGone[Int(other)] {
                    let point = points[Int(other)]
                    if point == a || point == corner || point == c { continue }
                    if Self.contains(a, b, c, point) { return false }
                }
            }
        }
        return true
    }

    // MARK: - Rounder corners

    private mutating func cutCorners() {
        map = replacingPoints { arc in
            let first = Int(arc.first)
            let last = Int(arc.behind) - 1
            var round = [points[first]]
            for corner in first + 1..<max(last, first + 1) {
                let (a, b, c) = (points[corner - 1], points[corner], points[corner + 1])
                let entry = Self.quarter(from: b, to: a)
                let exit = Self.quarter(from: b, to: c)
                if entry != b, exit != b, isFree(entry, b, exit, around: b) {
                    round.append(entry)
                    round.append(exit)
                } else {
                    round.append(b)
                }
            }
            round.append(points[last])
            return round
        }
    }

    private static func quarter(from a: DegreePoint, to b: DegreePoint) -> DegreePoint {
        func part(_ a: Int32, _ b: Int32) -> Int32 { Int32(clamping: Int64(a) + (Int64(b) - Int64(a)) / 4) }
        return DegreePoint(part(a.x, b.x), part(a.y, b.y))
    }

    // MARK: - Triangles

    private static func cross(_ a: DegreePoint, _ b: DegreePoint, _ c: DegreePoint) -> Int128 {
        Int128(Int64(b.x) - Int64(a.x)) * Int128(Int64(c.y) - Int64(a.y))
            - Int128(Int64(b.y) - Int64(a.y)) * Int128(Int64(c.x) - Int64(a.x))
    }

    private static func contains(_ a: DegreePoint, _ b: DegreePoint, _ c: DegreePoint, _ point: DegreePoint) -> Bool {
        let ab = cross(a, b, point)
        let bc = cross(b, c, point)
        let ca = cross(c, a, point)
        guard ab >= 0 && bc >= 0 && ca >= 0 || ab <= 0 && bc <= 0 && ca <= 0 else { return false }
        // A degenerate triangle contains only points between its ends.
        let low = pointwiseMin(pointwiseMin(a, b), c)
        let high = pointwiseMax(pointwiseMax(a, b), c)
        return all(low .<= point) && all(point .<= high)
    }

    private static func bucket(_ point: DegreePoint) -> UInt64 { key(point.x >> shift, point.y >> shift) }
    private static func key(_ x: Int32, _ y: Int32) -> UInt64 { UInt64(bits: DegreePoint(x, y)) }

    private static func pair(_ arc: ArcMap.Arc) -> UInt64 {
        UInt64(min(arc.start, arc.end)) << 32 | UInt64(max(arc.start, arc.end))
    }
}
