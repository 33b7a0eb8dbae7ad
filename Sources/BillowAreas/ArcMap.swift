import Foundation
import Geometry

/// A planar map: arcs that run from junction to junction, each with a face on either side. A junction is where other
/// than two edges meet, or where a boundary reaches the antimeridian. Its plane is that of longitude and latitude,
/// because that is
/// where the edges of GeoJSON are straight.
struct ArcMap: Sendable {
    struct Arc: Sendable {
        /// Where its points begin and end in `points`, from end to end; a closed arc ends with the point that it
        /// begins with.
        var first: UInt32
        var behind: UInt32
        /// 1 + the face on the left, seen on a map (north up); 0 for none.
        var left: UInt32
        var right: UInt32
        /// Junctions, by number; equal for a closed arc.
        var start: UInt32
        var end: UInt32
        /// Twice the signed area under the arc, of all its points also when some were left out since: positive sums are
        /// counter-clockwise on a map.
        var doubleArea: Double
    }

    var arcs: [Arc] = []
    /// Of all arcs, one behind the other.
    var points: [DegreePoint] = []
    private var junctions = 0

    /// - Parameter points: the corners, by number.
    /// - Complexity: O(points + edges)
    init(_ points: [DegreePoint], _ edges: [SharedEdge]) {
        let graph = EdgeGraph(points, edges)
        var isTaken = [Bool](repeating: false, count: edges.count)
        var numbers = [UInt32](repeating: 0, count: graph.points.count)
        // As much as there will be, but for closed arcs.
        let expected = graph.arcEnds / 2
        arcs.reserveCapacity(expected)
        self.points.reserveCapacity(edges.count + expected)
        for vertex in graph.points.indices where graph.isJunction[vertex] {
            for edge in graph.edges(at: vertex) where !isTaken[Int(edge)] {
                follow(Int(edge), from: vertex, edges, graph, &isTaken, &numbers)
            }
        }
        // What is left are closed arcs that meet no other.
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

    /// About how many bytes it takes.
    var byteCount: Int { arcs.count * MemoryLayout<Arc>.stride + points.count * MemoryLayout<DegreePoint>.stride }

    private mutating func number(_ vertex: Int, _ numbers: inout [UInt32]) -> UInt32 {
        if numbers[vertex] == 0 {
            junctions += 1
            numbers[vertex] = UInt32(junctions)
        }
        return numbers[vertex] - 1
    }

    /// Source: the shoelace formula
    private static func doubleArea(_ points: ArraySlice<DegreePoint>) -> Double {
        zip(points, points.dropFirst()).reduce(0) { sum, edge in
            sum + Double(edge.0.x) * Double(edge.1.y) - Double(edge.1.x) * Double(edge.0.y)
        }
    }

    // MARK: - Areas

    /// One way along an arc, with a face of the area on the left.
    private struct Way {
        var arc: Int
        var isForward: Bool
        /// The face on the left, of those merged the lowest.
        var face: Int
    }

    private struct Ring {
        var points: [DegreePoint]
        var doubleArea: Double
    }

    /// The area of the faces that `isInside` takes; faces beside each other become one.
    /// - Complexity: O(points)
    func area(_ isInside: (Int) -> Bool) -> PackedArea {
        let (ways, faces) = boundary(isInside)
        // Ways by the junction that they leave from.
        let leaving = Grouped(ways.lazy.map { start($0) }, groups: junctions)
        // And by the face that they go around: rings are made of one after the other, and packed at once.
        let byFace = Grouped(ways.lazy.map(\.face), groups: (faces.last ?? -1) + 1)
        var isTaken = [Bool](repeating: false, count: ways.count)
        var area = PackedArea()
        for face in faces {
            var found: [Ring] = []
            for first in byFace[face] where !isTaken[Int(first)] {
                var walk: [Int] = []
                var way = Int(first)
                while !isTaken[way] {
                    isTaken[way] = true
                    walk.append(way)
                    let junction = end(ways[way])
                    let onward = leaving[junction].lazy.map(Int.init).filter { ways[$0].face == face && !isTaken[$0] }
                    guard let leftmost = leftmost(of: onward, after: ways[way], ways) else { break }
                    way = leftmost
                }
                found += rings(of: walk, ways)
            }
            for polygon in Self.polygons(found) { area.append(polygon) }
        }
        return area.withoutRoom()
    }

    /// The indices of a sequence by a number of each of its elements, in rising order.
    private struct Grouped {
        private var starts: [Int32]
        private var members: [Int32]

        /// - Parameter numbers: all below `groups`.
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

    private func boundary(_ isInside: (Int) -> Bool) -> (ways: [Way], faces: [Int]) {
        let count = arcs.reduce(0) { max($0, Int($1.left), Int($1.right)) }
        var sets = DisjointSets(count: count)
        let isIn = (0..<count).map(isInside)
        func takes(_ label: UInt32) -> Bool { label != 0 && isIn[Int(label) - 1] }
        for arc in arcs where takes(arc.left) && takes(arc.right) { sets.join(Int(arc.left) - 1, Int(arc.right) - 1) }
        var ways: [Way] = []
        for (index, arc) in arcs.enumerated() where takes(arc.left) != takes(arc.right) {
            let isForward = takes(arc.left)
            let face = sets.root(of: Int(isForward ? arc.left : arc.right) - 1)
            ways.append(Way(arc: index, isForward: isForward, face: face))
        }
        return (ways, (0..<count).filter { isIn[$0] && sets.root(of: $0) == $0 })
    }

    private func start(_ way: Way) -> Int { Int(way.isForward ? arcs[way.arc].start : arcs[way.arc].end) }
    private func end(_ way: Way) -> Int { Int(way.isForward ? arcs[way.arc].end : arcs[way.arc].start) }

    /// At a point where an area touches itself: the way that turns left most, which stays with the same part of it.
    private func leftmost(of onward: some Collection<Int>, after way: Way, _ ways: [Way]) -> Int? {
        guard onward.count > 1 else { return onward.first }
        func direction(_ way: Way, atEnd: Bool) -> (x: Double, y: Double) {
            let arc = arcs[way.arc]
            let a = points[Int(way.isForward == atEnd ? arc.behind - 2 : arc.first)]
            let b = points[Int(way.isForward == atEnd ? arc.behind - 1 : arc.first + 1)]
            let sign: Double = way.isForward ? 1 : -1
            return (sign * (Double(b.x) - Double(a.x)), sign * (Double(b.y) - Double(a.y)))
        }
        let arriving = direction(way, atEnd: true)
        return onward.max { a, b in
            func turn(_ index: Int) -> Double {
                let leaving = direction(ways[index], atEnd: false)
                return atan2(
                    arriving.x * leaving.y - arriving.y * leaving.x, arriving.x * leaving.x + arriving.y * leaving.y)
            }
            return turn(a) < turn(b)
        }
    }

    /// A walk cut at the junctions that it passes more than once, so that every ring is simple.
    private func rings(of walk: [Int], _ ways: [Way]) -> [Ring] {
        var found: [Ring] = []
        var stack: [Int] = []
        var depths: [Int: Int] = [:]
        for way in walk {
            depths[start(ways[way])] = stack.count
            stack.append(way)
            guard let depth = depths[end(ways[way])] else { continue }
            let loop = stack[depth...]
            var points: [DegreePoint] = []
            var area = 0.0
            for way in loop {
                let arc = arcs[ways[way].arc]
                area += ways[way].isForward ? arc.doubleArea : -arc.doubleArea
                if ways[way].isForward {
                    points.append(contentsOf: self.points(of: arc).dropLast())
                } else {
                    points.append(contentsOf: self.points(of: arc).reversed().dropLast())
                }
            }
            if let first = points.first { points.append(first) }
            found.append(Ring(points: points, doubleArea: area))
            for way in loop { depths[start(ways[way])] = nil }
            stack.removeSubrange(depth...)
        }
        return found
    }

    // MARK: - Rings

    /// The rings of one face as polygons, each hole with the exterior around it.
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

    /// Source: the crossing number, W. R. Franklin's PNPOLY
    private static func contains(_ ring: [DegreePoint], _ point: DegreePoint) -> Bool {
        var inside = false
        for (a, b) in zip(ring, ring.dropFirst()) where (a.y > point.y) != (b.y > point.y) {
            let share = (Double(point.y) - Double(a.y)) / (Double(b.y) - Double(a.y))
            if Double(point.x) < Double(a.x) + share * (Double(b.x) - Double(a.x)) { inside.toggle() }
        }
        return inside
    }
}
