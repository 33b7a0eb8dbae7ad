import Geometry

/// A straight boundary between two cells, or between a cell and nothing: an edge without direction, with the label of what
/// lies on either side. 0 is nothing.
struct SharedEdge: Sendable {
    var from: GridPoint
    var to: GridPoint
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
    /// By hash: 1 + index into `edges`; 0 is free.
    private var table: [UInt32]
    private var mask: Int

    /// - Parameter expected: edges, both directions counted.
    init(expecting expected: Int) {
        let size = 1 << (Int.bitWidth - max(expected * 2, 16).leadingZeroBitCount)
        table = [UInt32](repeating: 0, count: size)
        mask = size - 1
        edges.reserveCapacity(expected)
    }

    /// Empties it for the next use.
    mutating func removeAll() {
        edges.removeAll(keepingCapacity: true)
        table.withUnsafeMutableBufferPointer { $0.update(repeating: 0) }
    }

    /// Adds an edge with `label` on its left.
    @inline(__always)
    mutating func add(from: GridPoint, to: GridPoint, label: UInt32) {
        let a = UInt64(bits: from)
        let b = UInt64(bits: to)
        guard a != b else { return }
        let isForward = a < b
        let low = isForward ? from : to
        let high = isForward ? to : from
        // Source of the mixing constants: SplitMix64, S. Vigna
        var hash = min(a, b) &* 0x9E37_79B9_7F4A_7C15 ^ max(a, b) &* 0xBF58_476D_1CE4_E5B9
        hash ^= hash >> 31
        var slot = Int(truncatingIfNeeded: hash) & mask
        while table[slot] != 0 {
            let index = Int(table[slot] - 1)
            if edges[index].from == low, edges[index].to == high {
                if isForward { edges[index].left = label } else { edges[index].right = label }
                return
            }
            slot = (slot + 1) & mask
        }
        edges.append(
            SharedEdge(from: low, to: high, left: isForward ? label : 0, right: isForward ? 0 : label))
        table[slot] = UInt32(edges.count)
    }

    /// Adds an edge that may have both sides already.
    mutating func add(_ edge: SharedEdge) {
        if edge.left != 0 { add(from: edge.from, to: edge.to, label: edge.left) }
        if edge.right != 0 { add(from: edge.to, to: edge.from, label: edge.right) }
    }
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
