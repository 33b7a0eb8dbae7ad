import Geometry

/// The corners that edges share, and the edges that meet in each.
struct EdgeGraph {
    let points: [DegreePoint]
    /// By edge: the numbers of its vertices.
    let ends: [(from: UInt32, to: UInt32)]
    /// By vertex: where its edges begin in `incident`; one more at the end.
    private let starts: [UInt32]
    private let incident: [UInt32]

    init(_ points: [DegreePoint], _ edges: [SharedEdge]) {
        self.points = points
        ends = edges.map { ($0.from, $0.to) }
        var starts = [UInt32](repeating: 0, count: points.count + 1)
        for (from, to) in ends {
            starts[Int(from) + 1] += 1
            starts[Int(to) + 1] += 1
        }
        for vertex in points.indices { starts[vertex + 1] += starts[vertex] }
        var incident = [UInt32](repeating: 0, count: edges.count * 2)
        var next = starts
        for (edge, (from, to)) in ends.enumerated() {
            for vertex in [Int(from), Int(to)] {
                incident[Int(next[vertex])] = UInt32(edge)
                next[vertex] += 1
            }
        }
        self.starts = starts
        self.incident = incident
    }

    /// The edges that meet in a vertex.
    func edges(at vertex: Int) -> ArraySlice<UInt32> { incident[Int(starts[vertex])..<Int(starts[vertex + 1])] }

    func otherEnd(of edge: Int, from vertex: Int) -> Int {
        Int(Int(ends[edge].from) == vertex ? ends[edge].to : ends[edge].from)
    }

    /// Whether arcs end here: where other than two edges meet, and where a boundary begins to run along the antimeridian,
    /// because its other half, on the other side of the map, ends there as well.
    func isJunction(_ vertex: Int) -> Bool {
        let edges = edges(at: vertex)
        guard edges.count == 2 else { return true }
        guard points[vertex].isOnAntimeridian else { return false }
        return edges.contains { points[otherEnd(of: Int($0), from: vertex)].x != points[vertex].x }
    }
}
