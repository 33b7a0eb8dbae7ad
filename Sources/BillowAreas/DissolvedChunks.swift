import Geometry

/// Cells dissolved within their chunks of 343: the half of a dissolve that takes longest, kept for the next one,
/// because from minute to minute most chunks stay the same.
public struct DissolvedChunks: Sendable {
    /// In the order of their numbers.
    let all: [DissolvedChunk]

    /// - Parameters:
    ///   - previous: earlier ones, of the same picture or of one that looks back over another time: a chunk
    ///     that one
    ///     of them has is taken over, and takes memory once.
    ///   - classes: the cells of the picture.
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
    /// Corners of the chunk's mesh.
    var from: UInt16
    var to: UInt16
    /// 1 + the position of the cell that stands for the part on the left; 0 is nothing.
    var left: UInt16
    var right: UInt16
}

/// A chunk with its inner edges gone.
final class DissolvedChunk: Sendable {
    let index: Int
    let values: [UInt8]
    let outlines: PlanarChunk
    /// Edges whose sides are both known.
    let edges: [ChunkEdge]
    /// Edges with another chunk on their right, if anything.
    let open: [ChunkEdge]
    /// The cells that stand for a part.
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
