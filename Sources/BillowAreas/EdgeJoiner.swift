import Geometry

/// A straight boundary between two cells, or between a cell and nothing: an edge between two numbered corners, with the
/// label of each side. 0 is nothing.
struct SharedEdge: Sendable {
    var from: UInt32
    var to: UInt32
    /// The labels on both sides on a map (north up), in the direction from `from` to `to`.
    var left: UInt32
    var right: UInt32
}

/// Joins the two directions of each edge. Cells add their edges counter-clockwise. If two cells meet, they add the same
/// edge twice, once in each direction.
///
/// It is a hash table with open addressing, because a dictionary would take most of the time of a dissolve.
struct EdgeJoiner {
    private(set) var edges: [SharedEdge] = []
    private var table: HashSlots

    /// - Parameter expected: the number of edges, counting both directions.
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

/// A union-find structure.
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

    /// Joins two sets. The lower root stays a root, so that the result does not depend on the order of joining.
    mutating func join(_ a: Int, _ b: Int) {
        let a = root(of: a)
        let b = root(of: b)
        if a < b { parents[b] = UInt32(a) } else { parents[a] = UInt32(b) }
    }
}
