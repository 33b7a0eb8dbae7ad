import Geometry

/// The corners of edges, and the edges that meet in each corner.
struct EdgeGraph {
    let points: [DegreePoint]
    let edges: [SharedEdge]
    /// Whether arcs end at each vertex. They end where other than two edges meet, and where a boundary starts to follow
    /// the antimeridian. The corresponding part on the other side of the map ends there too.
    private(set) var isJunction: [Bool] = []
    /// For each vertex, the index of its first edge in `incident`, with one more entry at the end.
    private let starts: [UInt32]
    private let incident: [UInt32]

    init(_ points: [DegreePoint], _ edges: [SharedEdge]) {
        self.points = points
        self.edges = edges
        var starts = [UInt32](repeating: 0, count: points.count + 1)
        for edge in edges {
            starts[Int(edge.from) + 1] += 1
            starts[Int(edge.to) + 1] += 1
        }
        for vertex in points.indices { starts[vertex + 1] += starts[vertex] }
        var incident = [UInt32](repeating: 0, count: edges.count * 2)
        var next = starts
        for (number, edge) in edges.enumerated() {
            incident[Int(next[Int(edge.from)])] = UInt32(number)
            next[Int(edge.from)] += 1
            incident[Int(next[Int(edge.to)])] = UInt32(number)
            next[Int(edge.to)] += 1
        }
        self.starts = starts
        self.incident = incident
        isJunction = points.indices.map { endsArcs($0) }
    }

    /// The edges that meet in a vertex.
    func edges(at vertex: Int) -> ArraySlice<UInt32> { incident[Int(starts[vertex])..<Int(starts[vertex + 1])] }

    func otherEnd(of edge: Int, from vertex: Int) -> Int {
        Int(Int(edges[edge].from) == vertex ? edges[edge].to : edges[edge].from)
    }

    /// The number of ends of arcs at junctions.
    var arcEnds: Int { points.indices.reduce(0) { $0 + (isJunction[$1] ? edges(at: $1).count : 0) } }

    private func endsArcs(_ vertex: Int) -> Bool {
        let edges = edges(at: vertex)
        guard edges.count == 2 else { return true }
        guard points[vertex].isOnAntimeridian else { return false }
        return edges.contains { points[otherEnd(of: Int($0), from: vertex)].x != points[vertex].x }
    }
}
