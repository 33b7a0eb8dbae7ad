import Geometry

/// Cells dissolved within their chunks of 343. This is the slowest part of dissolving. The next dissolve reuses it,
/// because most chunks don't change from minute to minute.
public struct DissolvedChunks: Sendable {
    /// The chunks in ascending order.
    let all: [DissolvedChunk]

    /// - Parameters:
    ///   - previous: earlier results, of the same frame or one with another history. Equal chunks are shared, without
    ///     taking memory again.
    ///   - classes: the cells of the frame.
    /// - Complexity: O(cells of chunks that none of `previous` has)
    public init(_ classes: CellClasses, reusing previous: [DissolvedChunks] = []) {
        var places = [Int](repeating: 0, count: previous.count)
        all = classes.chunks.map { chunk in
            for (number, one) in previous.enumerated() {
                var place = places[number]
                while place < one.all.count, one.all[place].index < chunk.index { place += 1 }
                places[number] = place
                guard place < one.all.count else { continue }
                let kept = one.all[place]
                if kept.index == chunk.index, kept.values == chunk.values { return kept }
            }
            return DissolvedChunk(chunk)
        }
    }
}

/// An edge of a chunk.
struct ChunkEdge: Sendable {
    /// The numbers of corners of the chunk's mesh.
    var from: UInt16
    var to: UInt16
    /// 1 + the position of the cell that represents the part on the left; 0 is nothing.
    var left: UInt16
    var right: UInt16
}

/// A chunk without its inner edges.
final class DissolvedChunk: Sendable {
    let index: Int
    let values: [UInt8]
    let outlines: PlanarChunk
    /// Edges with both sides inside the chunk.
    let edges: [ChunkEdge]
    /// Edges whose right side is in another chunk or is nothing.
    let open: [ChunkEdge]
    /// The positions of the cells that represent a part.
    let representatives: [UInt16]

    init(_ chunk: CellClasses.Chunk) {
        let values = chunk.values
        let outlines = PlanarChunk.of(chunk.index)
        var sets = DisjointSets(count: values.count)
        var edges: [ChunkEdge] = []
        var open: [ChunkEdge] = []
        for ring in 0..<outlines.mesh.count {
            let position = Int(outlines.cells[ring])
            let value = values[position]
            guard value != 0 else { continue }
            let label = UInt16(position + 1)
            outlines.mesh.forEachEdge(of: ring) { from, to, neighbour in
                if neighbour == RingMesh.noNeighbour {
                    open.append(ChunkEdge(from: from, to: to, left: label, right: 0))
                    return
                }
                let other = Int(neighbour)
                if values[other] == value {
                    sets.join(position, other)
                } else if values[other] == 0 {
                    edges.append(ChunkEdge(from: from, to: to, left: label, right: 0))
                } else if position < other {
                    edges.append(ChunkEdge(from: from, to: to, left: label, right: neighbour + 1))
                }
            }
        }
        func part(_ label: UInt16) -> UInt16 { label == 0 ? 0 : UInt16(sets.root(of: Int(label) - 1) + 1) }
        for index in edges.indices {
            edges[index].left = part(edges[index].left)
            edges[index].right = part(edges[index].right)
        }
        for index in open.indices { open[index].left = part(open[index].left) }
        index = chunk.index
        self.values = values
        self.outlines = outlines
        self.edges = edges.withoutRoom()
        self.open = open.withoutRoom()
        representatives = values.indices.filter { values[$0] != 0 && sets.root(of: $0) == $0 }.map(UInt16.init)
            .withoutRoom()
    }
}
