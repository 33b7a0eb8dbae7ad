/// The edges of a tile's cells, each once: what two neighbours share is added for both at a time, and between two cells of
/// one class nothing is left of it. Holds one tile at a time.
public final class SharedEdges {
    private struct Edge {
        /// The northern end.
        var a: SIMD2<Int64>
        var b: SIMD2<Int64>
        /// What going from a to b adds to each class.
        var signs: CoverageRaster.Shares
    }

    private var edges: UnsafeMutablePointer<Edge>
    private var count = 0
    /// By hash of the ends: the edge's index, or −1. A power of two of them, and twice as many as edges at least.
    private var slots: UnsafeMutablePointer<Int32>
    private var slotCount = 64
    /// For how many slots there is memory.
    private var capacity = 64

    public init() {
        edges = .allocate(capacity: capacity / 2)
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: -1, count: capacity)
    }

    deinit {
        edges.deallocate()
        slots.deallocate()
    }

    /// Forgets all and makes room for the rings of so many cells; there may be more.
    public func start(cells: Int) {
        count = 0
        // Cells that lie together have three to four edges each, not counting those they share twice.
        empty(slots: cells * 8)
    }

    private func empty(slots wanted: Int) {
        slotCount = 64
        while slotCount < wanted { slotCount *= 2 }
        if slotCount > capacity {
            let larger = UnsafeMutablePointer<Edge>.allocate(capacity: slotCount / 2)
            larger.moveInitialize(from: edges, count: count)
            edges.deallocate()
            edges = larger
            slots.deallocate()
            slots = .allocate(capacity: slotCount)
            capacity = slotCount
        }
        slots.initialize(repeating: -1, count: slotCount)
    }

    /// Adds a ring of at least one corner to a class, counter-clockwise on the map, not closed.
    public func add(ring: UnsafeBufferPointer<SIMD2<Int64>>, class lane: Int) {
        guard let last = ring.last else { return }
        while (count + ring.count) * 2 > slotCount { grow() }
        var forward = CoverageRaster.Shares.zero
        forward[lane] = 1
        let backward = CoverageRaster.Shares.zero &- forward
        var previous = last
        for corner in ring {
            if previous.y < corner.y {
                add(previous, corner, forward)
            } else if corner.y < previous.y {
                add(corner, previous, backward)
            }
            previous = corner
        }
    }

    @inline(__always)
    private func add(_ a: SIMD2<Int64>, _ b: SIMD2<Int64>, _ signs: CoverageRaster.Shares) {
        let mask = slotCount &- 1
        var slot = Self.hash(a, b) & mask
        while slots[slot] >= 0 {
            let known = edges + Int(slots[slot])
            let difference = (known.pointee.a ^ a) | (known.pointee.b ^ b)
            if difference.x | difference.y == 0 {
                known.pointee.signs &+= signs
                return
            }
            slot = (slot &+ 1) & mask
        }
        slots[slot] = Int32(truncatingIfNeeded: count)
        edges[count] = Edge(a: a, b: b, signs: signs)
        count &+= 1
    }

    private func grow() {
        empty(slots: slotCount * 2)
        for index in 0..<count {
            var slot = Self.hash(edges[index].a, edges[index].b) & (slotCount - 1)
            while slots[slot] >= 0 { slot = (slot + 1) & (slotCount - 1) }
            slots[slot] = Int32(truncatingIfNeeded: index)
        }
    }

    @inline(__always)
    private static func hash(_ a: SIMD2<Int64>, _ b: SIMD2<Int64>) -> Int {
        // Edges that don't cross have different middles.
        let middle = a &+ b
        let mixed = UInt64(bitPattern: middle.x &+ middle.y &<< 32) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed &>> 40)
    }

    /// Draws them and forgets them.
    public func drain(into raster: CoverageRaster) {
        for index in 0..<count {
            let edge = edges + index
            if !edge.pointee.signs.isNothing {
                raster.addDownward(edge.pointee.a, edge.pointee.b, signs: edge.pointee.signs)
            }
        }
        count = 0
    }
}
