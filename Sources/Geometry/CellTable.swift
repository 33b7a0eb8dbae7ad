import Foundation
import Synchronization

/// The outlines of all H3 cells of one resolution (0–5), as polygons of grid points joined by straight mercator lines.
///
/// A vertex is snapped to the grid by one rule for all its cells. So adjacent cells have exactly equal edges, and no
/// picture or file has a gap or an overlap between them. Outlines are made on first use and cached for good. A chunk
/// has 343 of them: the descendants of a cell three resolutions coarser. It takes 18 kB; all cells on earth take 105
/// MB.
public final class CellTable: Sendable {
    package let resolution: Int
    private let chunks: Mutex<[CellChunk?]>

    /// The number of cells in a chunk: 7³.
    @inlinable package static var chunkSize: Int { 343 }

    private static let tables = (0...Cell.resolution).map(CellTable.init(resolution:))

    /// The shared table of a resolution 0…5.
    public static func of(resolution: Int) -> CellTable { tables[resolution] }

    private init(resolution: Int) {
        self.resolution = resolution
        let slots = Cell.baseCells * H3Bits.powerOfSeven(resolution)
        chunks = Mutex([CellChunk?](repeating: nil, count: (slots + Self.chunkSize - 1) / Self.chunkSize))
    }

    /// The chunk with the cells of dense index `index * 343 ..< (index + 1) * 343`.
    package func chunk(_ index: Int) -> CellChunk {
        if let made = chunks.withLock({ $0[index] }) { return made }
        // It is made outside the lock: two threads may make the same chunk, with equal results.
        let made = CellChunk(index: index, resolution: resolution)
        chunks.withLock { $0[index] = made }
        return made
    }

    /// The outline of a cell by its dense index.
    public func vertices(dense: Int) -> RingMesh.Corners {
        chunk(dense / Self.chunkSize).vertices(dense % Self.chunkSize)
    }
}

/// The outlines of up to 343 consecutive cells.
@usableFromInline package final class CellChunk: Sendable {
    /// A ring for each cell, by its position; without corners for a pentagon's gap.
    @usableFromInline package let mesh: RingMesh
    /// Whether all vertices lie in one world, from antimeridian to antimeridian.
    package let isWithinWorld: Bool
    /// The bounding boxes of the cells' outlines, for searches.
    private let boxes: CellBoxes

    static let positions = (0..<CellTable.chunkSize).map { UInt16($0) }

    init(index: Int, resolution: Int) {
        let slots = Cell.baseCells * H3Bits.powerOfSeven(resolution)
        let first = index * CellTable.chunkSize
        var starts: [UInt16] = [0]
        var vertices: [GridPoint] = []
        vertices.reserveCapacity(CellTable.chunkSize * 7)
        for dense in first..<min(first + CellTable.chunkSize, slots) {
            if !H3Bits.isDeleted(dense: dense, resolution: resolution) {
                CellOutline.append(H3Bits.index(dense: dense, resolution: resolution), to: &vertices)
            }
            starts.append(UInt16(vertices.count))
        }
        mesh = RingMesh(starts: starts, vertices: vertices, cells: Self.positions)
        isWithinWorld = vertices.allSatisfy { abs(Int64($0.x)) <= Grid.half }
        boxes = CellBoxes(starts: starts, vertices: vertices)
    }

    /// A bit for each of `count` cells (at most 64) from a position on. It is set if the cell's bounding box shares a
    /// point with a box, in this world or an adjacent one.
    package func touching(_ first: Int, count: Int, _ box: GridBox) -> UInt64 {
        var found: UInt64 = 0
        let isOneWorld = isWithinWorld && box.minX >= -Grid.half && box.maxX <= Grid.half
        for world: Int64 in isOneWorld ? 0...0 : -1...1 {
            let box = box.shifted(worlds: world)
            found |= boxes.touching(first, count: count, box) { position in
                var own: GridBox?
                for vertex in vertices(position) {
                    let (x, y) = (Int64(vertex.x), Int64(vertex.y))
                    let box = own ?? GridBox(minX: x, minY: y, maxX: x, maxY: y)
                    own = GridBox(
                        minX: min(box.minX, x), minY: min(box.minY, y), maxX: max(box.maxX, x), maxY: max(box.maxY, y))
                }
                return own?.intersects(box) ?? false
            }
        }
        return found
    }

    /// The outline of the cell at a position in the chunk; empty for a pentagon's gap.
    @inlinable package func vertices(_ position: Int) -> RingMesh.Corners { mesh.ring(position) }
}

/// Makes the outline of one cell.
enum CellOutline {
    /// The distance of a coordinate from the middle between two grid units below which its rounding is ambiguous, in
    /// units. Two cells compute a common vertex with a difference of some 10⁻⁶ units (10⁻¹⁴ radians of trigonometry).
    private static let doubt = 1e-3

    static func append(_ h3: UInt64, to vertices: inout [GridPoint]) {
        let boundary = H3.boundary(h3: h3)
        let west = boundary.reduce(180) { min($0, $1.longitude) }
        let east = boundary.reduce(-180) { max($0, $1.longitude) }
        if east - west < 90 {
            // The usual case: neither across the antimeridian nor around a pole.
            for place in boundary { vertices.append(snap(place, of: h3)) }
            return
        }
        let center = H3.center(h3: h3).longitude
        let points = boundary.map { snap($0, of: h3) }
        var previous = center
        var unrolled: [(x: Int64, y: Int64)] = []
        var first = 0.0
        for (place, point) in zip(boundary, points) {
            // Longitudes continue from vertex to vertex without wrapping, starting near the centre.
            let turns = ((previous - place.longitude) / 360).rounded()
            let longitude = place.longitude + turns * 360
            if unrolled.isEmpty { first = longitude }
            unrolled.append((Int64(point.x) + Int64(turns) * Grid.world, Int64(point.y)))
            previous = longitude
        }
        guard let firstPlace = boundary.first, let firstPoint = points.first else { return }
        let turnsAtEnd = ((previous - firstPlace.longitude) / 360).rounded()
        if abs(firstPlace.longitude + turnsAtEnd * 360 - first) > 180 {
            // The ring runs once around the world, so a pole lies inside. Close it along the edge of the plane.
            let edge: Int64 = firstPoint.y < 0 ? -Int64(Int32.max) : Int64(Int32.max)
            let end = Int64(firstPoint.x) + Int64(turnsAtEnd) * Grid.world
            unrolled.append((end, Int64(firstPoint.y)))
            unrolled.append((end, edge))
            unrolled.append((unrolled[0].x, edge))
        }
        // A ring around a pole is one world wide. Shift it to fit 32 bits.
        let shift =
            if unrolled.contains(where: { $0.x > Int64(Int32.max) }) {
                -Grid.world
            } else if unrolled.contains(where: { $0.x < Int64(Int32.min) }) { Grid.world } else { Int64(0) }
        for index in unrolled.indices { unrolled[index].x += shift }
        for point in unrolled { vertices.append(GridPoint(Int32(clamping: point.x), Int32(clamping: point.y))) }
    }

    /// The grid point of a vertex of a cell.
    private static func snap(_ place: LonLat, of h3: UInt64) -> GridPoint {
        let x = Grid.units(UnitMercator.x(longitude: place.longitude))
        let y = Grid.units(UnitMercator.y(latitude: place.latitude))
        if isNearRoundingEdge(x) || isNearRoundingEdge(y) {
            let canonical = canonical(place, of: h3)
            return rounded(
                Grid.units(UnitMercator.x(longitude: canonical.longitude)),
                Grid.units(UnitMercator.y(latitude: canonical.latitude)))
        }
        return rounded(x, y)
    }

    private static func isNearRoundingEdge(_ value: Double) -> Bool { abs(value - value.rounded(.down) - 0.5) < doubt }

    private static func rounded(_ x: Double, _ y: Double) -> GridPoint {
        func unit(_ value: Double) -> Int32 { Int32((min(max(value, -0x7FFF_FFFF), 0x7FFF_FFFF) + 0.5).rounded(.down)) }
        return GridPoint(unit(x), unit(y))
    }

    /// The vertex as computed for the lowest of the cells that meet in it.
    private static func canonical(_ place: LonLat, of h3: UInt64) -> LonLat {
        /// The tolerance: far below the length of any edge, and far above the differences in computing.
        let near = 1e-9
        for neighbour in H3.diskIndices(around: h3, distance: 1).sorted() where neighbour < h3 {
            for vertex in H3.boundary(h3: neighbour) {
                let turn = abs(vertex.longitude - place.longitude)
                if abs(vertex.latitude - place.latitude) < near, min(turn, 360 - turn) < near / 0.01 {
                    // Shift the vertex by a multiple of 360° to that of the original place.
                    let turns = ((place.longitude - vertex.longitude) / 360).rounded()
                    return LonLat(
                        uncheckedLongitude: vertex.longitude + turns * 360, latitude: vertex.latitude)
                }
            }
        }
        return place
    }
}
