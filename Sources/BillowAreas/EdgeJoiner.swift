import Geometry

/// A straight boundary between two cells, or between a cell and nothing: an edge between two numbered corners, with the label
/// of what lies on either side. 0 is nothing.
struct SharedEdge: Sendable {
    var from: UInt32
    var to: UInt32
    /// Seen on a map (north up), walking from `from` to `to`.
    var left: UInt32
    var right: UInt32
}

/// Brings the two directions of each edge together: cells hand in their edges counter-clockwise, and where two of them meet
/// they hand in the same edge twice, once each way.
///
/// A hash table with open addressing, because a dictionary would take most of the time of a dissolve.
struct EdgeJoiner {
    private(set) var edges: [SharedEdge] = []
    private var table: HashSlots

    /// - Parameter expected: edges, both directions counted.
    init(expecting expected: Int) {
        table = HashSlots(expecting: expected)
        edges.reserveCapacity(expected)
    }

    /// Adds an edge with `label` on its left.
    mutating func add(from: UInt32, to: UInt32, label: UInt32) {
        let isForward = from < to
        let low = min(from, to)
        let high = max(from, to)
        let slot = table.slot(of: UInt64(low) << 32 | UInt64(high)) { edges[$0].from == low && edges[$0].to == high }
        guard let known = table[slot] else {
            table.fill(slot, with: edges.count)
            edges.append(SharedEdge(from: low, to: high, left: isForward ? label : 0, right: isForward ? 0 : label))
            return
        }
        if isForward { edges[known].left = label } else { edges[known].right = label }
    }
}

/// Numbers corners in the order in which they come, the same corner always by the same number.
struct CornerNumbers {
    private(set) var corners: [GridPoint] = []
    private var table: HashSlots

    init(expecting expected: Int) {
        table = HashSlots(expecting: expected)
        corners.reserveCapacity(expected)
    }

    mutating func number(_ point: GridPoint) -> UInt32 {
        let slot = table.slot(of: UInt64(bits: point)) { corners[$0] == point }
        if let known = table[slot] { return UInt32(known) }
        table.fill(slot, with: corners.count)
        corners.append(point)
        return UInt32(corners.count - 1)
    }
}

/// Places of things in an array, by a key of 64 bits: linear probing, never full.
private struct HashSlots {
    /// 1 + the place; 0 is free.
    private var slots: [UInt32]
    private let mask: Int

    init(expecting expected: Int) {
        let size = 1 << (Int.bitWidth - max(expected * 2, 16).leadingZeroBitCount)
        slots = [UInt32](repeating: 0, count: size)
        mask = size - 1
    }

    /// The slot of the thing with a key, or the free one where it belongs.
    @inline(__always)
    func slot(of key: UInt64, isIt: (Int) -> Bool) -> Int {
        // Source of the mixing constants: SplitMix64, S. Vigna
        var hash = key &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ hash >> 32) &* 0xBF58_476D_1CE4_E5B9
        var slot = Int(truncatingIfNeeded: hash >> 32) & mask
        while slots[slot] != 0, !isIt(Int(slots[slot] - 1)) { slot = (slot + 1) & mask }
        return slot
    }

    subscript(slot: Int) -> Int? { slots[slot] == 0 ? nil : Int(slots[slot] - 1) }

    mutating func fill(_ slot: Int, with place: Int) { slots[slot] = UInt32(place + 1) }
}

extension UInt64 {
    /// A grid point as one number.
    init(bits point: GridPoint) {
        self = UInt64(UInt32(bitPattern: point.x)) << 32 | UInt64(UInt32(bitPattern: point.y))
    }
}

/// Which things belong together, by joining two at a time.
///
/// Source: B. Galler, M. Fischer, "An improved equivalence algorithm", CACM 7 (1964); path halving
struct DisjointSets {
    private var parents: [UInt32]

    init(count: Int) { parents = Array(0..<UInt32(count)) }

    mutating func root(of member: Int) -> Int {
        var member = member
        while Int(parents[member]) != member {
            parents[member] = parents[Int(parents[member])]
            member = Int(parents[member])
        }
        return member
    }

    /// The lower root stays one, so that the outcome does not depend on the order of joining.
    mutating func join(_ a: Int, _ b: Int) {
        let a = root(of: a)
        let b = root(of: b)
        if a < b { parents[b] = UInt32(a) } else { parents[a] = UInt32(b) }
    }
}
