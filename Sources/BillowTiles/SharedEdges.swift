import BillowRaster

/// The edges of a tile's cells, each once: what two neighbours share is added for both at a time, and between two cells of
/// one class nothing is left of it. Holds one tile at a time.
struct SharedEdges {
    private struct Edge {
        /// The northern end, or the western one.
        var a: SIMD2<Int64>
        var b: SIMD2<Int64>
        /// What going from a to b adds to each class.
        var signs: CoverageRaster.Shares
    }

    private var edges: [Edge] = []
    /// By hash of the ends: the edge's index, or −1.
    private var slots: [Int32] = []
    private var mask = 0

    /// Makes room for the rings of so many cells.
    mutating func reserve(cells: Int) {
        edges.removeAll(keepingCapacity: true)
        edges.reserveCapacity(cells * 6)
        resize(to: cells * 12)
    }

    private mutating func resize(to count: Int) {
        var size = 64
        while size < count { size *= 2 }
        mask = size - 1
        if slots.count < size {
            slots = [Int32](repeating: -1, count: size)
        } else {
            slots.withUnsafeMutableBufferPointer { $0[..<size].update(repeating: -1) }
        }
    }

    /// Adds a ring of at least one corner to a class, counter-clockwise on the map, not closed.
    mutating func add(ring: UnsafeBufferPointer<SIMD2<Int64>>, class lane: Int) {
        // A few cells have more corners than six: never more than half full.
        if (edges.count + ring.count) * 2 > mask { grow() }
        var forward = CoverageRaster.Shares.zero
        forward[lane] = 1
        let backward = CoverageRaster.Shares.zero &- forward
        var previous = ring[ring.count - 1]
        for corner in ring {
            let isDownward = previous.y < corner.y
            if previous.y != corner.y {
                add(
                    Edge(
                        a: isDownward ? previous : corner, b: isDownward ? corner : previous,
                        signs: isDownward ? forward : backward))
            }
            previous = corner
        }
    }

    private mutating func add(_ edge: Edge) {
        var slot = Self.hash(edge) & mask
        while slots[slot] >= 0 {
            let known = Int(slots[slot])
            let other = edges[known]
            if other.a.x == edge.a.x, other.a.y == edge.a.y, other.b.x == edge.b.x, other.b.y == edge.b.y {
                edges[known].signs &+= edge.signs
                return
            }
            slot = (slot &+ 1) & mask
        }
        slots[slot] = Int32(truncatingIfNeeded: edges.count)
        edges.append(edge)
    }

    private mutating func grow() {
        let all = edges
        edges.removeAll(keepingCapacity: true)
        resize(to: (mask + 1) * 2)
        for edge in all { add(edge) }
    }

    @inline(__always)
    private static func hash(_ edge: Edge) -> Int {
        let a = UInt64(bitPattern: edge.a.x &+ edge.a.y &<< 32)
        let b = UInt64(bitPattern: edge.b.x &+ edge.b.y &<< 32)
        let mixed = (a &* 0x9E37_79B9_7F4A_7C15) ^ (b &* 0xC2B2_AE3D_27D4_EB4F)
        return Int(truncatingIfNeeded: ((mixed ^ mixed &>> 29) &* 0xFF51_AFD7_ED55_8CCD) &>> 33)
    }

    /// Draws them and forgets them.
    mutating func drain(into raster: CoverageRaster) {
        for edge in edges where !edge.signs.isNothing { raster.addEdge(from: edge.a, to: edge.b, signs: edge.signs) }
        edges.removeAll(keepingCapacity: true)
    }
}
