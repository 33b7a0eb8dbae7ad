import Geometry

/// Cells dissolved within their chunks of 343: the half of a dissolve that takes longest, kept for the next one, because
/// from minute to minute most chunks stay the same.
public struct DissolvedChunks: Sendable {
    /// In the order of their numbers.
    let all: [DissolvedChunk]

    /// - Parameter previous: earlier ones, of the same picture or of one that looks back over another time: a chunk that one
    ///   of them has is taken over, and takes memory once.
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

/// An edge of a chunk. A chunk has at most 3,430 corners: its cells have ten at most.
struct ChunkEdge: Sendable {
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
    /// The corners of its edges; the first of them, as many as `rim` has, may be other chunks' corners, too.
    let points: [DegreePoint]
    let rim: [GridPoint]
    /// Edges whose sides are both known.
    let edges: [ChunkEdge]
    /// Edges with another chunk on their right, if anything.
    let open: [ChunkEdge]
    /// The cells that stand for a part.
    let representatives: [UInt16]

    init(_ chunk: CellClasses.Chunk) {
        index = chunk.index
        let outlines = CellTable.of(resolution: Cell.resolution).chunk(chunk.index)
        let values = chunk.values
        // Where the antimeridian or a pole cuts cells, the table's edges aren't those of the map: all are left to be joined.
        let isWhole = CellOutlines.areWhole(outlines.vertices[...])
        var corners = CornerNumbers(expecting: CellTable.chunkSize * 2)
        var sets = DisjointSets(count: values.count)
        var edges: [ChunkEdge] = []
        var open: [ChunkEdge] = []
        func corner(_ point: GridPoint) -> UInt16 { UInt16(clamping: corners.number(point)) }
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
            open.append(ChunkEdge(from: corner(a), to: corner(b), left: UInt16(position + 1), right: 0))
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
                        ChunkEdge(
                            from: corner(a), to: corner(b), left: UInt16(position + 1),
                            right: values[other] == 0 ? 0 : UInt16(other + 1)))
                }
            }
        }
        func part(_ label: UInt16) -> UInt16 { label == 0 ? 0 : UInt16(sets.root(of: Int(label) - 1) + 1) }
        for index in edges.indices {
            edges[index].left = part(edges[index].left)
            edges[index].right = part(edges[index].right)
        }
        for index in open.indices { open[index].left = part(open[index].left) }
        // Copies, because what grew has room to spare, and this is kept for hours.
        self.values = values
        self.edges = Array(edges[...])
        self.open = Array(open[...])
        self.rim = rim
        points = corners.corners.map { DegreePoint(CellOutlines.place($0)) }
        representatives = values.indices.filter { values[$0] != 0 && sets.root(of: $0) == $0 }.map(UInt16.init)
    }
}
