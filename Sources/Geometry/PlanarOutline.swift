import Foundation

/// The outer boundary of a closed line that may cross itself.
struct PlanarOutline {
    /// The vertices counter-clockwise, without a repeated last one.
    let points: [SIMD2<Double>]

    private typealias Point = SIMD2<Double>

    /// Traces the outer boundary.
    /// - Complexity: O(n²)
    init(_ line: [SIMD2<Double>]) {
        guard line.count >= 3 else {
            points = line
            return
        }
        let (nodes, neighbours) = Self.arrangement(line)
        // The rightmost point lies on the outer boundary, and the traversal reaches it from below.
        guard
            let start = nodes.indices.max(by: { (nodes[$0].x, nodes[$0].y) < (nodes[$1].x, nodes[$1].y) })
        else {
            points = line
            return
        }
        var outline: [Point] = []
        var current = start
        var heading = Point(0, 1)
        var first: Int?
        // Every edge is traversed at most once in each direction.
        for _ in 0..<neighbours.reduce(0, { $0 + $1.count }) {
            guard let next = Self.rightmost(of: neighbours[current], from: current, heading, nodes) else { break }
            if current == start {
                if first == next { break }
                if first == nil { first = next }
            }
            outline.append(nodes[current])
            heading = nodes[next] - nodes[current]
            current = next
        }
        points = outline
    }

    /// Splits the line at its crossings. Returns its places, and for each the places that it is joined to. Places are
    /// snapped to a fine grid (6 mm on the earth), which merges those that differ only by rounding.
    private static func arrangement(_ line: [Point]) -> (nodes: [Point], neighbours: [[Int]]) {
        let line = line.map(snapped)
        var nodes: [Point] = []
        var numbers: [Point: Int] = [:]
        func node(_ point: Point) -> Int {
            if let known = numbers[point] { return known }
            numbers[point] = nodes.count
            nodes.append(point)
            return nodes.count - 1
        }
        let corners = line.map(node)
        var cuts = [[(share: Double, node: Int)]](repeating: [], count: line.count)
        let boxes = line.indices.map { index in
            let next = line[(index + 1) % line.count]
            return (low: pointwiseMin(line[index], next), high: pointwiseMax(line[index], next))
        }
        let order = line.indices.sorted { boxes[$0].low.x < boxes[$1].low.x }
        for (position, i) in order.enumerated() {
            for j in order[(position + 1)...] {
                guard boxes[j].low.x <= boxes[i].high.x else { break }
                guard boxes[i].low.y <= boxes[j].high.y, boxes[j].low.y <= boxes[i].high.y else { continue }
                let apart = abs(i - j)
                guard apart > 1, apart < line.count - 1 else { continue }
                let (a, b) = (line[i], line[(i + 1) % line.count])
                let (c, d) = (line[j], line[(j + 1) % line.count])
                let denominator = cross(b - a, d - c)
                guard denominator != 0 else { continue }
                let s = cross(c - a, d - c) / denominator
                let t = cross(c - a, b - a) / denominator
                guard s >= 0, s <= 1, t >= 0, t <= 1 else { continue }
                let crossing = node(snapped(a + (b - a) * s))
                cuts[i].append((s, crossing))
                cuts[j].append((t, crossing))
            }
        }
        var neighbours = [[Int]](repeating: [], count: nodes.count)
        for index in line.indices {
            var previous = corners[index]
            let stops = cuts[index].sorted { $0.share < $1.share }.map(\.node) + [corners[(index + 1) % line.count]]
            for stop in stops where stop != previous {
                if !neighbours[previous].contains(stop) {
                    neighbours[previous].append(stop)
                    neighbours[stop].append(previous)
                }
                previous = stop
            }
        }
        return (nodes, neighbours)
    }

    /// The neighbour farthest to the right of a heading; the previous place only if there is no other.
    private static func rightmost(of neighbours: [Int], from current: Int, _ heading: Point, _ nodes: [Point]) -> Int? {
        var best: (turn: Double, node: Int)?
        for node in neighbours {
            let direction = nodes[node] - nodes[current]
            var turn = atan2(cross(heading, direction), (heading * direction).sum())
            if turn <= -.pi + 1e-12 { turn = .pi }
            if turn < best?.turn ?? .infinity { best = (turn, node) }
        }
        return best?.node
    }

    private static func snapped(_ point: Point) -> Point { (point * grid).rounded(.toNearestOrEven) / grid }
    private static let grid = Double(1 << 30)

    private static func cross(_ a: Point, _ b: Point) -> Double { a.x * b.y - a.y * b.x }
}
