import Synchronization

/// The outlines of cells as planar integer rings. They are cut at the antimeridian and reach up to the poles. Adjacent
/// cells have exactly equal vertices. So in any set of cells, shared edges cancel in pairs.
///
/// The plane is that of `Grid`, within ±2³⁰ in x, with one difference. Beyond ±89.7°, where mercator's y goes to
/// infinity, y is linear in latitude, and its last unit is the pole.
package enum CellOutlines {
    /// The latitude beyond which y is linear in it.
    private static let linearFrom = 89.7
    private static let linearY = Int64(Grid.units(UnitMercator.y(latitude: -linearFrom)).rounded())
    /// The y of the south pole; the north pole's is its negative.
    package static let poleY = Int64(Int32.max)

    /// Whether neither the antimeridian nor a pole cuts any cell with these vertices. Then their outlines in the table
    /// are those of this plane.
    fileprivate static func areWhole(_ vertices: some Sequence<GridPoint>) -> Bool {
        let half = Int32(Grid.half)
        let polar = Int32(linearY)
        return vertices.allSatisfy { $0.x <= half && $0.x >= -half && $0.y <= polar && $0.y >= -polar }
    }

    /// The place of a point of the plane; longitude −180…180.
    package static func place(_ point: GridPoint) -> LonLat {
        LonLat(
            uncheckedLongitude: longitude(x: point.x), latitude: latitude(y: Int64(point.y)))
    }

    @inline(__always)
    fileprivate static func longitude(x: Int32) -> Double { Double(x) / Double(Grid.half) * 180 }

    private static func latitude(y: Int64) -> Double {
        guard abs(y) > linearY else { return UnitMercator.latitude(y: Double(y) / Double(Grid.world) + 0.5) }
        let share = Double(abs(y) - linearY) / Double(poleY - linearY)
        let latitude = linearFrom + share * (90 - linearFrom)
        return y < 0 ? latitude : -latitude
    }

    private static func y(latitude: Double) -> Int64 {
        guard abs(latitude) > linearFrom else { return Int64(Grid.units(UnitMercator.y(latitude: latitude)).rounded()) }
        let share = (abs(latitude) - linearFrom) / (90 - linearFrom)
        let y = linearY + Int64((share * Double(poleY - linearY)).rounded())
        return latitude > 0 ? -y : y
    }

    private struct Corner {
        var x: Int64
        var y: Int64
    }

    /// The parts of a cell's outline: one ring, or two or three if the antimeridian cuts the cell.
    fileprivate static func parts(of vertices: RingMesh.Corners, dense: Int) -> [[GridPoint]] {
        var corners = vertices.map { Corner(x: Int64($0.x), y: Int64($0.y)) }
        if corners.contains(where: { abs($0.y) > linearY }) {
            // The table can't represent cells next to a pole. Their first vertices are the library's in the same order.
            // For a cell around the pole, the first vertex follows again, then two at the map's edge.
            let boundary = H3.boundary(h3: H3Bits.index(dense: dense, resolution: Cell.resolution))
            for index in corners.indices {
                if index > boundary.count {
                    corners[index].y = corners[index].y < 0 ? -poleY : poleY
                } else {
                    let latitude = boundary[index % boundary.count].latitude
                    if abs(latitude) > linearFrom { corners[index].y = y(latitude: latitude) }
                }
            }
        }
        return [-Grid.world, 0, Grid.world].compactMap { turn in
            let eastern = clipped(corners, at: turn - Grid.half) { $0 >= $1 }
            let part = clipped(eastern, at: turn + Grid.half) { $0 <= $1 }
            guard part.contains(where: { $0.x != part.first?.x }) else { return nil }
            return part.map { GridPoint(Int32(clamping: $0.x - turn), Int32(clamping: $0.y)) }
        }
    }

    /// Source: I. Sutherland, G. Hodgman, "Reentrant polygon clipping", CACM 17 (1974), doi:10.1145/360767.360802
    private static func clipped(_ corners: [Corner], at limit: Int64, keeps: (Int64, Int64) -> Bool) -> [Corner] {
        var result: [Corner] = []
        guard var previous = corners.last else { return [] }
        for corner in corners {
            if keeps(corner.x, limit) != keeps(previous.x, limit) {
                result.append(crossing(corner.x < previous.x ? (corner, previous) : (previous, corner), limit))
            }
            if keeps(corner.x, limit) { result.append(corner) }
            previous = corner
        }
        return result
    }

    /// The point where an edge meets a meridian. The edge goes from west to east for every caller and is straight in
    /// degrees, so both cells that share it get the same point.
    private static func crossing(_ edge: (west: Corner, east: Corner), _ x: Int64) -> Corner {
        let share = Double(x - edge.west.x) / Double(edge.east.x - edge.west.x)
        let (west, east) = (latitude(y: edge.west.y), latitude(y: edge.east.y))
        return Corner(x: x, y: y(latitude: west + (east - west) * share))
    }
}

/// The outlines of a chunk's cells of resolution 5 in the plane of `CellOutlines`, and in degrees. They are the input
/// of dissolving.
package final class PlanarChunk: Sendable {
    package let mesh: RingMesh
    /// For each ring, the position of its cell in the chunk. A cell that the antimeridian cuts has several rings.
    package let cells: [UInt16]
    /// The latitudes of the mesh's corners by number, in units of `DegreePoint`. They are cached, because they are slow
    /// to compute.
    private let latitudes: [Int32]

    private static let made = Mutex([Int: PlanarChunk]())

    /// Makes a chunk on first use and caches it. It takes 3 kB more than the chunk of the cell table.
    package static func of(_ index: Int) -> PlanarChunk {
        if let chunk = made.withLock({ $0[index] }) { return chunk }
        // It is made outside the lock: two threads may make the same chunk, with equal results.
        let chunk = PlanarChunk(index)
        made.withLock { $0[index] = chunk }
        return chunk
    }

    private init(_ index: Int) {
        let chunk = CellTable.of(resolution: Cell.resolution).chunk(index)
        if CellOutlines.areWhole(chunk.mesh.points) {
            mesh = chunk.mesh
            cells = CellChunk.positions
        } else {
            var starts: [UInt16] = [0]
            var vertices: [GridPoint] = []
            var cells: [UInt16] = []
            for position in 0..<chunk.mesh.count {
                let dense = index * CellTable.chunkSize + position
                for part in CellOutlines.parts(of: chunk.vertices(position), dense: dense) {
                    // Skip edges without length, which occur at a pole.
                    for (vertex, before) in zip(part, part.suffix(1) + part) where vertex != before {
                        vertices.append(vertex)
                    }
                    starts.append(UInt16(vertices.count))
                    cells.append(UInt16(position))
                }
            }
            mesh = RingMesh(starts: starts, vertices: vertices, cells: cells)
            self.cells = cells
        }
        latitudes = mesh.points.map { DegreePoint(CellOutlines.place($0)).y }
    }

    /// A corner of the mesh in GeoJSON's units.
    @inline(__always)
    package func place(_ corner: Int) -> DegreePoint {
        DegreePoint(DegreePoint.units(CellOutlines.longitude(x: mesh.points[corner].x)), latitudes[corner])
    }
}
