public import Geometry

/// Cells dissolved by class: what is left of their edges once those between equals are gone, as a planar map of arcs
/// between faces. From it come the polygons of each class, of each class or worse, and simplified ones, all of which share
/// their boundaries exactly.
///
/// Chunks of 343 cells are dissolved one by one and then joined, and a chunk that did not change is taken over from the
/// dissolve before.
public struct DissolvedCells: Sendable {
    /// A chunk with its inner edges gone. Labels are 1 + the position of the cell that stands for its part of the chunk.
    private struct DissolvedChunk: Sendable {
        var values: [UInt8]
        /// The corners of its edges; the first of them, as many as `rim` has, may be other chunks' corners, too.
        var points: [DegreePoint]
        var rim: [GridPoint]
        /// Edges whose sides are both known.
        var edges: [SharedEdge]
        /// Edges with another chunk on their right, if anything.
        var open: [SharedEdge]
        /// The cells that stand for a part.
        var representatives: [UInt16]
    }

    private let chunks: [Int: DissolvedChunk]
    private(set) var arcs: ArcMap
    /// By face: its class.
    let faceClasses: [UInt8]

    /// - Parameter previous: an earlier dissolve, for the chunks that are the same.
    /// - Complexity: O(cells)
    public init(_ classes: CellClasses, reusing previous: DissolvedCells? = nil) {
        var dissolved: [Int: DissolvedChunk] = [:]
        dissolved.reserveCapacity(classes.chunks.count)
        for chunk in classes.chunks {
            if let kept = previous?.chunks[chunk.index], kept.values == chunk.values {
                dissolved[chunk.index] = kept
            } else {
                dissolved[chunk.index] = Self.dissolve(chunk)
            }
        }
        chunks = dissolved
        let parts = classes.chunks.compactMap { dissolved[$0.index] }

        // Corners of all chunks: first those that chunks share, each once, then the others chunk by chunk.
        var shared = CornerNumbers(expecting: parts.reduce(0) { $0 + $1.rim.count })
        let rims = parts.map { $0.rim.map { shared.number($0) } }
        var points = [DegreePoint](repeating: .zero, count: shared.corners.count)
        points.reserveCapacity(parts.reduce(points.count) { $0 + $1.points.count - $1.rim.count })

        // Labels of all chunks: 1 + chunk's place × 343 + position.
        var labelClasses = [UInt8]()
        labelClasses.reserveCapacity(parts.count * CellTable.chunkSize)
        for part in parts { labelClasses.append(contentsOf: part.values) }
        var sets = DisjointSets(count: labelClasses.count)
        var edges: [SharedEdge] = []
        edges.reserveCapacity(parts.reduce(0) { $0 + $1.edges.count + $1.open.count })
        var open = EdgeJoiner(expecting: parts.reduce(0) { $0 + $1.open.count })
        for (place, part) in parts.enumerated() {
            let label = UInt32(place * CellTable.chunkSize)
            let rim = rims[place]
            let inner = UInt32(points.count) &- UInt32(rim.count)
            for (number, point) in zip(rim, part.points) { points[Int(number)] = point }
            points.append(contentsOf: part.points[rim.count...])
            func number(_ corner: UInt32) -> UInt32 { corner < rim.count ? rim[Int(corner)] : inner &+ corner }
            for edge in part.edges {
                edges.append(
                    SharedEdge(
                        from: number(edge.from), to: number(edge.to), left: edge.left + label,
                        right: edge.right == 0 ? 0 : edge.right + label))
            }
            for edge in part.open {
                open.add(from: number(edge.from), to: number(edge.to), label: edge.left + label)
            }
        }
        for edge in open.edges {
            if edge.left != 0, edge.right != 0,
                labelClasses[Int(edge.left) - 1] == labelClasses[Int(edge.right) - 1]
            {
                sets.join(Int(edge.left) - 1, Int(edge.right) - 1)
            } else {
                edges.append(edge)
            }
        }
        // Faces are numbered by their first cell.
        var numbers = [UInt32](repeating: 0, count: labelClasses.count)
        var faceClasses: [UInt8] = []
        for (place, part) in parts.enumerated() {
            for position in part.representatives {
                let label = place * CellTable.chunkSize + Int(position)
                let root = sets.root(of: label)
                if numbers[root] == 0 {
                    faceClasses.append(labelClasses[root])
                    numbers[root] = UInt32(faceClasses.count)
                }
                numbers[label] = numbers[root]
            }
        }
        for index in edges.indices {
            if edges[index].left != 0 { edges[index].left = numbers[Int(edges[index].left) - 1] }
            if edges[index].right != 0 { edges[index].right = numbers[Int(edges[index].right) - 1] }
        }
        self.faceClasses = faceClasses
        arcs = ArcMap(points, edges)
    }

    private static func dissolve(_ chunk: CellClasses.Chunk) -> DissolvedChunk {
        let outlines = CellTable.of(resolution: Cell.resolution).chunk(chunk.index)
        let values = chunk.values
        // Where the antimeridian or a pole cuts cells, the table's edges aren't those of the map: all are left to be joined.
        let isWhole = CellOutlines.areWhole(outlines.vertices[...])
        var corners = CornerNumbers(expecting: CellTable.chunkSize * 2)
        var sets = DisjointSets(count: values.count)
        var edges: [SharedEdge] = []
        var open: [SharedEdge] = []
        /// The edges of a cell in the table, with the cell on the other side.
        func forEachEdge(of position: Int, _ body: (GridPoint, GridPoint, Int) -> Void) {
            let ring = Int(outlines.starts[position])..<Int(outlines.starts[position + 1])
            for vertex in ring {
                let next = vertex + 1 == ring.upperBound ? ring.lowerBound : vertex + 1
                body(outlines.vertices[vertex], outlines.vertices[next], Int(outlines.neighbours[vertex]))
            }
        }
        func addOpen(_ a: GridPoint, _ b: GridPoint, _ position: Int) {
            guard a != b else { return }
            open.append(
                SharedEdge(from: corners.number(a), to: corners.number(b), left: UInt32(position + 1), right: 0))
        }
        for (position, value) in values.enumerated() where value != 0 {
            if isWhole {
                forEachEdge(of: position) { a, b, other in
                    if other == CellChunk.noNeighbour { addOpen(a, b, position) }
                }
            } else {
                CellOutlines.forEachPart(
                    of: outlines.vertices(position), dense: chunk.index * CellTable.chunkSize + position
                ) { ring in
                    guard var previous = ring.last else { return }
                    for vertex in ring {
                        addOpen(previous, vertex, position)
                        previous = vertex
                    }
                }
            }
        }
        let rim = corners.corners
        for (position, value) in values.enumerated() where value != 0 && isWhole {
            forEachEdge(of: position) { a, b, other in
                guard other != CellChunk.noNeighbour, a != b else { return }
                if values[other] == value {
                    sets.join(position, other)
                } else if values[other] == 0 || position < other {
                    edges.append(
                        SharedEdge(
                            from: corners.number(a), to: corners.number(b), left: UInt32(position + 1),
                            right: values[other] == 0 ? 0 : UInt32(other + 1)))
                }
            }
        }
        func part(_ label: UInt32) -> UInt32 { label == 0 ? 0 : UInt32(sets.root(of: Int(label) - 1) + 1) }
        for index in edges.indices {
            edges[index].left = part(edges[index].left)
            edges[index].right = part(edges[index].right)
        }
        for index in open.indices { open[index].left = part(open[index].left) }
        let representatives = values.indices.filter { values[$0] != 0 && sets.root(of: $0) == $0 }
        return DissolvedChunk(
            values: values, points: corners.corners.map { DegreePoint(CellOutlines.place($0)) }, rim: rim, edges: edges,
            open: open, representatives: representatives.map(UInt16.init))
    }

    /// About how many edges and corners it holds.
    public var size: Int {
        chunks.values.reduce(0) { $0 + $1.values.count / 8 + $1.edges.count + $1.open.count + $1.points.count }
            + arcs.arcs.reduce(0) { $0 + $1.points.count }
    }

    // MARK: - Polygons

    /// The area of the cells of one class. Polygons touch at single points at most; they are in the order of their first
    /// cells.
    public func area(of value: UInt8) -> MultiPolygon { arcs.area { faceClasses[$0] == value } }

    /// The area of the cells of one class or above.
    public func area(atLeast value: UInt8) -> MultiPolygon { arcs.area { faceClasses[$0] >= value } }

    /// The same areas with fewer corners: every boundary is simplified once for both of its sides, so neighbours neither
    /// cross nor leave gaps, and no area vanishes.
    ///
    /// - Parameters:
    ///   - tolerance: about how far a boundary may move, in degrees; 0 leaves out only what lies on a straight line.
    ///   - smoothing: how often corners are cut afterwards, 0…3.
    public func simplified(tolerance: Double, smoothing: Int = 0) -> DissolvedCells {
        var result = self
        result.arcs = ArcSimplifier(arcs).simplified(
            tolerance: tolerance * DegreePoint.unitsPerDegree, smoothing: min(max(smoothing, 0), 3))
        return result
    }
}
