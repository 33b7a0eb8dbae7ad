import Foundation
import Geometry

/// A planar map: arcs from junction to junction, with a face on either side. A junction is a point where other than two
/// edges meet, or where a boundary reaches the antimeridian. The plane is longitude and latitude, in which GeoJSON's
/// edges are straight.
struct ArcMap: Sendable {
    struct Arc: Sendable {
        /// The index of its first point in `points`, and the index after its last. Both ends are included; a closed arc
        /// repeats its first point at the end.
        var first: UInt32
        var behind: UInt32
        /// 1 + the face on the left, seen on a map (north up); 0 for none.
        var left: UInt32
        var right: UInt32
        /// The numbers of its junctions; equal for a closed arc.
        var start: UInt32
        var end: UInt32
        /// Twice the signed area under the arc, of its original points even if some have been removed. Positive sums
        /// are counter-clockwise on a map.
        var doubleArea: Double
    }

    var arcs: [Arc] = []
    /// The points of all arcs in sequence.
    var points: [DegreePoint] = []
    private var junctions = 0

    /// Makes a map from edges.
    /// - Parameter points: the corners, by number.
    /// - Complexity: O(points + edges)
    init(_ points: [DegreePoint], _ edges: [SharedEdge]) {
        let graph = EdgeGraph(points, edges)
        var isTaken = [Bool](repeating: false, count: edges.count)
        var numbers = [UInt32](repeating: 0, count: graph.points.count)
        // The number of arcs, except closed ones.
        let expected = graph.arcEnds / 2
        arcs.reserveCapacity(expected)
        self.points.reserveCapacity(edges.count + expected)
        for vertex in graph.points.indices where graph.isJunction[vertex] {
            for edge in graph.edges(at: vertex) where !isTaken[Int(edge)] {
                follow(Int(edge), from: vertex, edges, graph, &isTaken, &numbers)
            }
        }
        // The remaining edges form closed arcs that meet no others.
        for edge in edges.indices where !isTaken[edge] {
            follow(edge, from: Int(edges[edge].from), edges, graph, &isTaken, &numbers)
        }
    }

    private mutating func follow(
        _ first: Int, from start: Int, _ edges: [SharedEdge], _ graph: EdgeGraph, _ isTaken: inout [Bool],
        _ numbers: inout [UInt32]
    ) {
        let begin = points.count
        points.append(graph.points[start])
        var edge = first
        var vertex = start
        while true {
            isTaken[edge] = true
            vertex = graph.otherEnd(of: edge, from: vertex)
            points.append(graph.points[vertex])
            guard vertex != start, !graph.isJunction[vertex],
                let next = graph.edges(at: vertex).first(where: { Int($0) != edge })
            else { break }
            edge = Int(next)
        }
        let isForward = Int(edges[first].from) == start
        let sides = edges[first]
        arcs.append(
            Arc(
                first: UInt32(begin), behind: UInt32(points.count), left: isForward ? sides.left : sides.right,
                right: isForward ? sides.right : sides.left, start: number(start, &numbers),
                end: number(vertex, &numbers), doubleArea: Self.doubleArea(points[begin...])))
    }

    func points(of arc: Arc) -> ArraySlice<DegreePoint> { points[Int(arc.first)..<Int(arc.behind)] }

    /// The approximate size in bytes.
    var byteCount: Int { arcs.count * MemoryLayout<Arc>.stride + points.count * MemoryLayout<DegreePoint>.stride }

    private mutating func number(_ vertex: Int, _ numbers: inout [UInt32]) -> UInt32 {
        if numbers[vertex] == 0 {
            junctions += 1
            numbers[vertex] = UInt32(junctions)
        }
        return numbers[vertex] - 1
    }

    /// Source: B. Braden, "The Surveyor's Area Formula", College Mathematics Journal 17 (1986), doi:10.2307/2686282
    private static func doubleArea(_ points: ArraySlice<DegreePoint>) -> Double {
        zip(points, points.dropFirst()).reduce(0) { sum, edge in
            sum + Double(edge.0.x) * Double(edge.1.y) - Double(edge.1.x) * Double(edge.0.y)
        }
    }

    // MARK: - Areas

    /// An arc in the direction that has a face of the area on the left.
    private struct DirectedArc {
        var arc: Int
        var isForward: Bool
        /// The face on the left; if faces are merged, the lowest of them.
        var face: Int
    }

    private struct Ring {
        var points: [DegreePoint]
        var doubleArea: Double
    }

    /// The area of the faces that meet a condition; adjacent faces are merged.
    /// - Complexity: O(points)
    func area(_ isInside: (Int) -> Bool) -> PackedArea {
        let (directed, faces) = boundary(isInside)
        // The directed arcs grouped by the junction where they start.
        let leaving = GroupedIndices(directed.lazy.map { start($0) }, groups: junctions)
        // The directed arcs grouped by face: rings are made and packed one face after another.
        let byFace = GroupedIndices(directed.lazy.map(\.face), groups: (faces.last ?? -1) + 1)
        var isTaken = [Bool](repeating: false, count: directed.count)
        var area = PackedArea()
        for face in faces {
            var found: [Ring] = []
            for first in byFace[face] where !isTaken[Int(first)] {
                var walk: [Int] = []
                var arrow = Int(first)
                while !isTaken[arrow] {
                    isTaken[arrow] = true
                    walk.append(arrow)
                    let junction = end(directed[arrow])
                    let onward = leaving[junction].lazy.map(Int.init).filter {
                        directed[$0].face == face && !isTaken[$0]
                    }
                    guard let leftmost = leftmost(of: onward, after: directed[arrow], directed) else { break }
                    arrow = leftmost
                }
                found += rings(of: walk, directed)
            }
            for polygon in Self.polygons(found) { area.append(polygon) }
        }
        return area.withoutRoom()
    }

    /// The indices of a sequence, grouped by a number of each element, in ascending order.
    private struct GroupedIndices {
        private var starts: [Int32]
        private var members: [Int32]

        /// - Parameter numbers: each below `groups`.
        init(_ numbers: some Collection<Int>, groups: Int) {
            starts = [Int32](repeating: 0, count: groups + 1)
            for number in numbers { starts[number + 1] += 1 }
            for group in 0..<groups { starts[group + 1] += starts[group] }
            members = [Int32](repeating: 0, count: numbers.count)
            var next = starts
            for (index, number) in numbers.enumerated() {
                members[Int(next[number])] = Int32(index)
                next[number] += 1
            }
        }

        subscript(group: Int) -> ArraySlice<Int32> { members[Int(starts[group])..<Int(starts[group + 1])] }
    }

    private func boundary(_ isInside: (Int) -> Bool) -> (directed: [DirectedArc], faces: [Int]) {
        let count = arcs.reduce(0) { max($0, Int($1.left), Int($1.right)) }
        var sets = DisjointSets(count: count)
        let isIn = (0..<count).map(isInside)
        func includes(_ label: UInt32) -> Bool { label != 0 && isIn[Int(label) - 1] }
        for arc in arcs where includes(arc.left) && includes(arc.right) {
            sets.join(Int(arc.left) - 1, Int(arc.right) - 1)
        }
        var directed: [DirectedArc] = []
        for (index, arc) in arcs.enumerated() where includes(arc.left) != includes(arc.right) {
            let isForward = includes(arc.left)
            let face = sets.root(of: Int(isForward ? arc.left : arc.right) - 1)
            directed.append(DirectedArc(arc: index, isForward: isForward, face: face))
        }
        return (directed, (0..<count).filter { isIn[$0] && sets.root(of: $0) == $0 })
    }

    private func start(_ arrow: DirectedArc) -> Int {
        Int(arrow.isForward ? arcs[arrow.arc].start : arcs[arrow.arc].end)
    }
    private func end(_ arrow: DirectedArc) -> Int { Int(arrow.isForward ? arcs[arrow.arc].end : arcs[arrow.arc].start) }

    /// The directed arc that turns left most, where an area touches itself at a point. It stays with the same part of
    /// the area.
    private func leftmost(of onward: some Collection<Int>, after arrow: DirectedArc, _ directed: [DirectedArc]) -> Int?
    {
        guard onward.count > 1 else { return onward.first }
        func direction(_ arrow: DirectedArc, atEnd: Bool) -> (x: Double, y: Double) {
            let arc = arcs[arrow.arc]
            let a = points[Int(arrow.isForward == atEnd ? arc.behind - 2 : arc.first)]
            let b = points[Int(arrow.isForward == atEnd ? arc.behind - 1 : arc.first + 1)]
            let sign: Double = arrow.isForward ? 1 : -1
            return (sign * (Double(b.x) - Double(a.x)), sign * (Double(b.y) - Double(a.y)))
        }
        let arriving = direction(arrow, atEnd: true)
        return onward.max { a, b in
            func turn(_ index: Int) -> Double {
                let leaving = direction(directed[index], atEnd: false)
                return atan2(
                    arriving.x * leaving.y - arriving.y * leaving.x, arriving.x * leaving.x + arriving.y * leaving.y)
            }
            return turn(a) < turn(b)
        }
    }

    /// Splits a walk at the junctions that it passes more than once, so that every ring is simple.
    private func rings(of walk: [Int], _ directed: [DirectedArc]) -> [Ring] {
        var found: [Ring] = []
        var stack: [Int] = []
        var depths: [Int: Int] = [:]
        for arrow in walk {
            depths[start(directed[arrow])] = stack.count
            stack.append(arrow)
            guard let depth = depths[end(directed[arrow])] else { continue }
            let loop = stack[depth...]
            var points: [DegreePoint] = []
            var area = 0.0
            for arrow in loop {
                let arc = arcs[directed[arrow].arc]
                area += directed[arrow].isForward ? arc.doubleArea : -arc.doubleArea
                if directed[arrow].isForward {
                    points.append(contentsOf: self.points(of: arc).dropLast())
                } else {
                    points.append(contentsOf: self.points(of: arc).reversed().dropLast())
                }
            }
            if let first = points.first { points.append(first) }
            found.append(Ring(points: points, doubleArea: area))
            for arrow in loop { depths[start(directed[arrow])] = nil }
            stack.removeSubrange(depth...)
        }
        return found
    }

    // MARK: - Rings

    /// The rings of one face as polygons; each hole is assigned to the exterior around it.
    private static func polygons(_ rings: [Ring]) -> [[[DegreePoint]]] {
        let exteriors = rings.filter { $0.doubleArea > 0 }.sorted { $0.doubleArea < $1.doubleArea }
        var polygons = exteriors.map { [$0.points] }
        let boxes = exteriors.map { Box($0.points) }
        for hole in rings where hole.doubleArea < 0 {
            // A face has one exterior, unless the antimeridian cuts it.
            guard let point = hole.points.first else { continue }
            var candidates = exteriors.indices.filter { boxes[$0].contains(hole.points) }
            while candidates.count > 1, let smallest = candidates.first {
                if Self.contains(exteriors[smallest].points, point) { break }
                candidates.removeFirst()
            }
            if let owner = candidates.first { polygons[owner].append(hole.points) }
        }
        return polygons
    }

    private struct Box {
        var low = DegreePoint(.max, .max)
        var high = DegreePoint(.min, .min)

        init(_ points: [DegreePoint]) {
            for point in points {
                low = pointwiseMin(low, point)
                high = pointwiseMax(high, point)
            }
        }

        func contains(_ points: [DegreePoint]) -> Bool {
            points.allSatisfy { all(low .<= $0) && all($0 .<= high) }
        }
    }

    /// Source: W. R. Franklin, "PNPOLY", https://wrfranklin.org/Research/Short_Notes/pnpoly.html
    private static func contains(_ ring: [DegreePoint], _ point: DegreePoint) -> Bool {
        var inside = false
        for (a, b) in zip(ring, ring.dropFirst()) where (a.y > point.y) != (b.y > point.y) {
            let share = (Double(point.y) - Double(a.y)) / (Double(b.y) - Double(a.y))
            if Double(point.x) < Double(a.x) + share * (Double(b.x) - Double(a.x)) { inside.toggle() }
        }
        return inside
    }
}
