import Geometry

/// The outline of cells of one resolution, without the borders between them. It consists of the directed edges whose
/// reverse is no edge of another cell, chained into rings.
struct CellUnion {
    /// A directed edge between two corners. Cells run counter-clockwise on the map.
    private struct Edge {
        var from: UInt64
        var to: UInt64

        /// The corners in rising order, which are equal for an edge and its reverse.
        var ends: (UInt64, UInt64) { (min(from, to), max(from, to)) }
    }

    /// The rings in the order of their first corners, by y and x. Exteriors run counter-clockwise on the map, holes
    /// clockwise. Rings that meet in a corner may be one ring.
    let rings: [[GridPoint]]

    /// - Parameters:
    ///   - cells: dense indices, each once.
    ///   - resolution: 0 to 5.
    /// - Complexity: O(n log n) in the cells; only edges of the outline and of chunks of the table are sorted.
    init(_ cells: [Int], resolution: Int) {
        let table = CellTable.of(resolution: resolution)
        let cells = cells.sorted()
        var outline: [Edge] = []
        // Edges whose cell beyond is in another chunk, if there is one.
        var rim: [Edge] = []
        // With a place for no neighbour.
        var isMember = [Bool](repeating: false, count: CellTable.chunkSize + 1)
        var next = 0
        while next < cells.count {
            let index = cells[next] / CellTable.chunkSize
            let first = index * CellTable.chunkSize
            let start = next
            while next < cells.count, cells[next] < first + CellTable.chunkSize {
                isMember[cells[next] - first] = true
                next += 1
            }
            let mesh = table.chunk(index).mesh
            for cell in cells[start..<next] {
                let range = mesh.range(of: cell - first)
                for corner in range {
                    let neighbour = mesh.neighbours[corner]
                    if isMember[Int(neighbour)] { continue }
                    let following = corner + 1 < range.upperBound ? corner + 1 : range.lowerBound
                    let edge = Edge(
                        from: Self.key(mesh.points[Int(mesh.corners[corner])]),
                        to: Self.key(mesh.points[Int(mesh.corners[following])]))
                    if neighbour == RingMesh.noNeighbour { rim.append(edge) } else { outline.append(edge) }
                }
            }
            for cell in cells[start..<next] { isMember[cell - first] = false }
        }
        outline += Self.withoutPairs(rim)
        outline.sort { ($0.from, $0.to) < ($1.from, $1.to) }
        rings = Self.chained(outline)
    }

    /// The edges whose reverse is no edge.
    private static func withoutPairs(_ edges: [Edge]) -> [Edge] {
        let sorted = edges.sorted { ($0.ends.0, $0.ends.1, $0.from) < ($1.ends.0, $1.ends.1, $1.from) }
        var left: [Edge] = []
        var index = 0
        while index < sorted.count {
            if index + 1 < sorted.count, sorted[index].from == sorted[index + 1].to,
                sorted[index].to == sorted[index + 1].from
            {
                index += 2
                continue
            }
            left.append(sorted[index])
            index += 1
        }
        return left
    }

    /// A corner as a number, which rises by y and then by x.
    private static func key(_ point: GridPoint) -> UInt64 {
        UInt64(UInt32(bitPattern: point.y) ^ 1 << 31) << 32 | UInt64(UInt32(bitPattern: point.x) ^ 1 << 31)
    }

    private static func point(_ key: UInt64) -> GridPoint {
        GridPoint(
            x: Int32(bitPattern: UInt32(truncatingIfNeeded: key) ^ 1 << 31),
            y: Int32(bitPattern: UInt32(truncatingIfNeeded: key >> 32) ^ 1 << 31))
    }

    /// Chains sorted edges into rings.
    private static func chained(_ edges: [Edge]) -> [[GridPoint]] {
        var isUsed = [Bool](repeating: false, count: edges.count)
        /// The first unused edge from a corner.
        func following(_ corner: UInt64) -> Int? {
            var (low, high) = (0, edges.count)
            while low < high {
                let middle = (low + high) / 2
                if edges[middle].from < corner { low = middle + 1 } else { high = middle }
            }
            while low < edges.count, edges[low].from == corner {
                if !isUsed[low] { return low }
                low += 1
            }
            return nil
        }
        var rings: [[GridPoint]] = []
        for index in edges.indices where !isUsed[index] {
            let start = edges[index].from
            var ring: [GridPoint] = []
            var current: Int? = index
            while let edge = current {
                isUsed[edge] = true
                ring.append(Self.point(edges[edge].from))
                current = edges[edge].to == start ? nil : following(edges[edge].to)
            }
            rings.append(ring)
        }
        return rings
    }
}
