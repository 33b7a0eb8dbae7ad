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
        var edges: [SharedEdge]
        /// The class of each label.
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
        var joiner = EdgeJoiner(expecting: CellTable.chunkSize * 8)
        var edgeCount = 0
        for chunk in classes.chunks {
            let made: DissolvedChunk
            if let kept = previous?.chunks[chunk.index], kept.values == chunk.values {
                made = kept
            } else {
                made = Self.dissolve(chunk, &joiner)
            }
            dissolved[chunk.index] = made
            edgeCount += made.edges.count
        }
        chunks = dissolved

        // Labels of all chunks: 1 + chunk's place × 343 + position.
        var labelClasses = [UInt8]()
        labelClasses.reserveCapacity(classes.chunks.count * CellTable.chunkSize)
        for chunk in classes.chunks { labelClasses.append(contentsOf: chunk.values) }
        var sets = DisjointSets(count: labelClasses.count)
        var edges: [SharedEdge] = []
        edges.reserveCapacity(edgeCount)
        var open = EdgeJoiner(expecting: edgeCount)
        for (place, chunk) in classes.chunks.enumerated() {
            guard let made = dissolved[chunk.index] else { continue }
            let offset = UInt32(place * CellTable.chunkSize)
            for var edge in made.edges {
                if edge.left != 0 { edge.left += offset }
                if edge.right != 0 { edge.right += offset }
                if edge.left != 0, edge.right != 0 { edges.append(edge) } else { open.add(edge) }
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
        for (place, chunk) in classes.chunks.enumerated() {
            for position in dissolved[chunk.index]?.representatives ?? [] {
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
        arcs = ArcMap(edges)
    }

    private static func dissolve(_ chunk: CellClasses.Chunk, _ joiner: inout EdgeJoiner) -> DissolvedChunk {
        joiner.removeAll()
        let outlines = CellTable.of(resolution: Cell.resolution).chunk(chunk.index)
        for (position, value) in chunk.values.enumerated() where value != 0 {
            CellOutlines.forEachPart(
                of: outlines.vertices(position), dense: chunk.index * CellTable.chunkSize + position
            ) { ring in
                guard var previous = ring.last else { return }
                for vertex in ring {
                    joiner.add(from: previous, to: vertex, label: UInt32(position + 1))
                    previous = vertex
                }
            }
        }
        var sets = DisjointSets(count: chunk.values.count)
        var edges: [SharedEdge] = []
        for edge in joiner.edges {
            if edge.left != 0, edge.right != 0, chunk.values[Int(edge.left) - 1] == chunk.values[Int(edge.right) - 1] {
                sets.join(Int(edge.left) - 1, Int(edge.right) - 1)
            } else {
                edges.append(edge)
            }
        }
        for index in edges.indices {
            if edges[index].left != 0 { edges[index].left = UInt32(sets.root(of: Int(edges[index].left) - 1) + 1) }
            if edges[index].right != 0 { edges[index].right = UInt32(sets.root(of: Int(edges[index].right) - 1) + 1) }
        }
        let representatives = chunk.values.indices.filter {
            chunk.values[$0] != 0 && sets.root(of: $0) == $0
        }
        return DissolvedChunk(values: chunk.values, edges: edges, representatives: representatives.map(UInt16.init))
    }

    /// About how many edges and corners it holds.
    public var size: Int {
        chunks.values.reduce(0) { $0 + $1.values.count / 8 + $1.edges.count }
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
