/// The rings of a chunk's cells with shared corners: each corner is stored once, and each edge with the cell beyond it.
///
/// The rings are counter-clockwise on a map (north up), not closed.
public struct RingMesh: Sendable {
    /// The index in `corners` of each ring's first corner, and at the end the number of corners: count + 1 entries.
    @usableFromInline package let starts: [UInt16]
    /// The number in `points` of each corner of a ring.
    @usableFromInline package let corners: [UInt16]
    /// For each corner of a ring, the cell beyond the edge from it to the next corner, as a position in the chunk. It
    /// is `noNeighbour` if that cell is in another chunk or doesn't exist.
    @usableFromInline package let neighbours: [UInt16]
    /// Every corner once. Corners on edges without a neighbour come first: only they can be shared with other chunks.
    @usableFromInline package let points: [GridPoint]
    /// The number of `points` on edges without a neighbour.
    package let rimCount: Int

    /// The position after the last cell, used for no neighbour.
    @inlinable package static var noNeighbour: UInt16 { UInt16(CellTable.chunkSize) }

    /// - Parameters:
    ///   - starts: the index in `vertices` of each ring's start, and at the end their number.
    ///   - vertices: of all rings in sequence; at most 2¹⁶.
    ///   - cells: the position of the cell that each ring belongs to.
    init(starts: [UInt16], vertices: [GridPoint], cells: [UInt16]) {
        var numbers = CornerNumbers(expecting: vertices.count)
        let corners = vertices.map { UInt16(truncatingIfNeeded: numbers.number($0)) }
        let neighbours = Self.neighbours(starts: starts, corners: corners, cells: cells)

        var isOnRim = [Bool](repeating: false, count: numbers.corners.count)
        Self.forEachEdge(starts, corners) { corner, from, to, _ in
            guard neighbours[corner] == Self.noNeighbour else { return }
            isOnRim[Int(from)] = true
            isOnRim[Int(to)] = true
        }
        let order = isOnRim.indices.filter { isOnRim[$0] } + isOnRim.indices.filter { !isOnRim[$0] }
        var renumbered = [UInt16](repeating: 0, count: order.count)
        for (number, old) in order.enumerated() { renumbered[old] = UInt16(number) }

        self.starts = starts.withoutRoom()
        self.corners = corners.map { renumbered[Int($0)] }
        self.neighbours = neighbours
        points = order.map { numbers.corners[$0] }
        rimCount = isOnRim.count { $0 }
    }

    package static let empty = RingMesh(starts: [0], vertices: [], cells: [])

    /// The number of rings.
    package var count: Int { starts.count - 1 }

    /// The indices of a ring's corners in `corners`.
    @inlinable package func range(of ring: Int) -> Range<Int> { Int(starts[ring])..<Int(starts[ring + 1]) }

    @inlinable package func ring(_ index: Int) -> Corners {
        Corners(points: points, corners: corners[range(of: index)])
    }

    /// The corners of one ring.
    public struct Corners: RandomAccessCollection, Sendable {
        @usableFromInline let points: [GridPoint]
        @usableFromInline let corners: ArraySlice<UInt16>

        @inlinable init(points: [GridPoint], corners: ArraySlice<UInt16>) {
            self.points = points
            self.corners = corners
        }

        @inlinable public var startIndex: Int { corners.startIndex }
        @inlinable public var endIndex: Int { corners.endIndex }
        /// The corner at an index of the ring.
        @inlinable public subscript(index: Int) -> GridPoint { points[Int(corners[index])] }
    }

    /// Visits every edge: the index of its first corner in `corners`, the numbers of both corners, and its ring.
    @inline(__always)
    private static func forEachEdge(
        _ starts: [UInt16], _ corners: [UInt16],
        _ body: (_ corner: Int, _ from: UInt16, _ to: UInt16, _ ring: Int) -> Void
    ) {
        for ring in 0..<starts.count - 1 {
            let range = Int(starts[ring])..<Int(starts[ring + 1])
            for corner in range {
                let next = corner + 1 == range.upperBound ? range.lowerBound : corner + 1
                body(corner, corners[corner], corners[next], ring)
            }
        }
    }

    /// Visits every edge of a ring: the numbers of its corners, and the cell beyond it.
    @inlinable
    @inline(__always)
    package func forEachEdge(of ring: Int, _ body: (_ from: UInt16, _ to: UInt16, _ neighbour: UInt16) -> Void) {
        let range = range(of: ring)
        for corner in range {
            let next = corner + 1 == range.upperBound ? range.lowerBound : corner + 1
            body(corners[corner], corners[next], neighbours[corner])
        }
    }

    /// Finds the neighbour of each edge. Two rings are neighbours along an edge if one has it from a to b and the other
    /// from b to a.
    private static func neighbours(starts: [UInt16], corners: [UInt16], cells: [UInt16]) -> [UInt16] {
        struct Edge {
            var from: UInt16
            var to: UInt16
            var corner: Int
            var ring: Int
        }
        var neighbours = [UInt16](repeating: noNeighbour, count: corners.count)
        var edges: [Edge] = []
        edges.reserveCapacity(corners.count)
        var table = HashSlots(expecting: corners.count)
        forEachEdge(starts, corners) { corner, from, to, ring in
            let back = table.slot(of: UInt64(to) << 16 | UInt64(from)) { edges[$0].from == to && edges[$0].to == from }
            if let other = table[back].map({ edges[$0] }) {
                neighbours[corner] = cells[other.ring]
                neighbours[other.corner] = cells[ring]
            }
            let slot = table.slot(of: UInt64(from) << 16 | UInt64(to)) { edges[$0].from == from && edges[$0].to == to }
            table.fill(slot, with: edges.count)
            edges.append(Edge(from: from, to: to, corner: corner, ring: ring))
        }
        return neighbours
    }
}
