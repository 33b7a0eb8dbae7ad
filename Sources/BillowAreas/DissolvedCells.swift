public import Geometry

/// Cells dissolved by class: the remaining edges, after those between equal cells are removed. They form a planar map
/// of arcs between faces. It gives the polygons of each class, of each class or worse, and simplified ones. All of them
/// share their boundaries exactly.
public struct DissolvedCells: Sendable {
    private(set) var arcs: ArcMap
    /// The class of each face.
    let faceClasses: [UInt8]

    /// Dissolves cells by their classes.
    public init(_ classes: CellClasses) { self.init(DissolvedChunks(classes)) }

    /// Joins dissolved chunks.
    /// - Complexity: O(remaining edges)
    public init(_ chunks: DissolvedChunks) {
        let parts = chunks.all
        var corners = JoinedCorners(sharing: parts.reduce(0) { $0 + $1.open.count })
        // The classes by label. A label is 1 + chunk's index × 343 + position.
        var labelClasses = [UInt8]()
        labelClasses.reserveCapacity(parts.count * CellTable.chunkSize)
        for part in parts { labelClasses.append(contentsOf: part.values) }
        var sets = DisjointSets(count: labelClasses.count)
        var edges: [SharedEdge] = []
        edges.reserveCapacity(parts.reduce(0) { $0 + $1.edges.count + $1.open.count })
        var open = EdgeJoiner(expecting: parts.reduce(0) { $0 + $1.open.count })
        for (place, part) in parts.enumerated() {
            let label = UInt32(place * CellTable.chunkSize)
            corners.begin(part.outlines)
            for edge in part.edges {
                edges.append(
                    SharedEdge(
                        from: corners.number(edge.from), to: corners.number(edge.to), left: UInt32(edge.left) + label,
                        right: edge.right == 0 ? 0 : UInt32(edge.right) + label))
            }
            for edge in part.open {
                open.add(
                    from: corners.number(edge.from), to: corners.number(edge.to), label: UInt32(edge.left) + label)
            }
        }
        for edge in open.edges {
            if edge.left != 0, edge.right != 0,
                labelClasses[Int(edge.left) - 1] == labelClasses[Int(edge.right) - 1]
            {
                sets.join(Int(edge.left) - 1, Int(edge.right) - 1)
            } else {
                edges.append(edge)
            }
        }
        // Faces are numbered in the order of their first cells.
        var numbers = [UInt32](repeating: 0, count: labelClasses.count)
        var faceClasses: [UInt8] = []
        for (place, part) in parts.enumerated() {
            for position in part.representatives {
                let label = place * CellTable.chunkSize + Int(position)
                let root = sets.root(of: label)
                if numbers[root] == 0 {
                    faceClasses.append(labelClasses[root])
                    numbers[root] = UInt32(faceClasses.count)
                }
                numbers[label] = numbers[root]
            }
        }
        for index in edges.indices {
            if edges[index].left != 0 { edges[index].left = numbers[Int(edges[index].left) - 1] }
            if edges[index].right != 0 { edges[index].right = numbers[Int(edges[index].right) - 1] }
        }
        self.faceClasses = faceClasses
        arcs = ArcMap(corners.points, edges)
    }

    /// The approximate size in bytes.
    package var byteCount: Int { arcs.byteCount + faceClasses.count }

    // MARK: - Polygons

    /// The area of the cells of one class. Polygons touch only at single points. They are in the order of their first
    /// cells.
    public func packedArea(of value: UInt8) -> PackedArea { arcs.area { faceClasses[$0] == value } }

    /// The area of the cells of one class or above.
    public func packedArea(atLeast value: UInt8) -> PackedArea { arcs.area { faceClasses[$0] >= value } }

    /// The unpacked area of the cells of one class.
    public func area(of value: UInt8) -> MultiPolygon { packedArea(of: value).multiPolygon }
    /// The unpacked area of the cells of one class or above.
    public func area(atLeast value: UInt8) -> MultiPolygon { packedArea(atLeast: value).multiPolygon }

    /// The same areas with fewer corners. Every boundary is simplified once for both of its sides. So adjacent areas
    /// neither overlap nor leave gaps, and no area vanishes.
    ///
    /// - Parameters:
    ///   - tolerance: the approximate maximum shift of a boundary, in degrees; 0 removes only points on straight lines.
    ///   - smoothing: the number of passes that cut corners afterwards, 0…3. Each about doubles the number of corners.
    ///   - maximumCorners: the maximum number of corners after smoothing.
    public func simplified(tolerance: Double, smoothing: Int = 0, maximumCorners: Int = .max) throws(TooManyCorners)
        -> DissolvedCells
    {
        var result = self
        result.arcs = try ArcSimplifier(arcs).simplified(
            tolerance: tolerance * DegreePoint.unitsPerDegree, smoothing: min(max(smoothing, 0), 3),
            maximumCorners: maximumCorners)
        return result
    }
}

/// Smoothing would exceed the maximum number of corners.
public struct TooManyCorners: Error, Sendable, Hashable {
    /// The requested passes that cut corners.
    public var smoothing: Int
    /// The resulting number of corners.
    public var corners: Int
    /// The maximum number.
    public var most: Int
}

/// Numbers the corners of all chunks. Corners shared by chunks get one number, and unused corners get none.
private struct JoinedCorners {
    /// The points by number.
    private(set) var points: [DegreePoint] = []
    private var shared: CornerNumbers
    /// The final number of each corner in `shared`.
    private var sharedNumbers: [UInt32] = []
    private var chunk: PlanarChunk?
    private var mesh = RingMesh.empty
    /// For each corner of that chunk, 1 + its number; 0 if it has none yet.
    private var known: [UInt32] = []

    init(sharing expected: Int) { shared = CornerNumbers(expecting: expected) }

    mutating func begin(_ chunk: PlanarChunk) {
        self.chunk = chunk
        mesh = chunk.mesh
        known.removeAll(keepingCapacity: true)
        known.append(contentsOf: repeatElement(0, count: chunk.mesh.points.count))
    }

    @inline(__always)
    mutating func number(_ corner: UInt16) -> UInt32 {
        let corner = Int(corner)
        if known[corner] == 0 { known[corner] = 1 + found(corner) }
        return known[corner] - 1
    }

    @inline(__always)
    private mutating func found(_ corner: Int) -> UInt32 {
        let next = UInt32(points.count)
        if corner < mesh.rimCount {
            let number = Int(shared.number(mesh.points[corner]))
            if number < sharedNumbers.count { return sharedNumbers[number] }
            sharedNumbers.append(next)
        }
        if let chunk { points.append(chunk.place(corner)) }
        return next
    }
}
