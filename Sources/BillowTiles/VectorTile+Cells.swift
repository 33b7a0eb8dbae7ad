public import BillowSnapshot
import BillowRaster
package import Geometry
public import Turbulence

extension VectorTile {
    /// A cell's outline.
    /// - Parameters:
    ///   - dense: the cell's dense index at the resolution.
    ///   - resolution: 0 to 5.
    public static func shape(dense: Int, resolution: Int) -> Shape {
        .ring(CellTable.of(resolution: resolution).vertices(dense: dense).map(unit))
    }

    /// A tile's box, including its buffer.
    package static func box(of coord: TileCoord) -> GridBox {
        let margin = (Grid.world >> Int64(coord.z)) * Int64(buffer) / Int64(extent) + 1
        let box = coord.box
        return GridBox(
            minX: box.minX - margin, minY: box.minY - margin, maxX: box.maxX + margin, maxY: box.maxY + margin)
    }

    /// Whether a cell's bounding box shares a point with a box, in this world or an adjacent one.
    static func touches(_ box: GridBox, dense: Int, resolution: Int) -> Bool {
        let ring = CellTable.of(resolution: resolution).vertices(dense: dense)
        var (minX, maxX, minY, maxY) = (Int64.max, Int64.min, Int64.max, Int64.min)
        for vertex in ring {
            (minX, maxX) = (min(minX, Int64(vertex.x)), max(maxX, Int64(vertex.x)))
            (minY, maxY) = (min(minY, Int64(vertex.y)), max(maxY, Int64(vertex.y)))
        }
        guard minY <= box.maxY, box.minY <= maxY else { return false }
        return [-Grid.world, 0, Grid.world].contains { minX + $0 <= box.maxX && box.minX <= maxX + $0 }
    }

    /// The cells of a tile's picture, and their resolution. At low zoom they are H3 parents.
    public static func cells(of plane: FramePlane, in coord: TileCoord) -> (
        resolution: Int, cells: [(dense: UInt32, severity: Severity)]
    ) {
        let content = TileContent(of: plane, in: box(of: coord), resolution: DrawnResolution.of(zoom: coord.z))
        return (
            content.resolution,
            content.cells.compactMap { entry in
                Severity(rawValue: UInt8(entry & 7)).map { (dense: entry >> 3, severity: $0) }
            }
        )
    }
}

extension PictureContent {
    /// The reports of a tile's picture, thinned out at low zoom.
    package static func shown(_ reports: RankedReports, in coord: TileCoord) -> [PilotReport] {
        ReportMark.shown(reports, in: MapRegion(coord, scale: .one))
    }

    /// The aircraft of a tile's picture, thinned out at low zoom.
    package static func shown(_ traffic: DrawnTraffic, in coord: TileCoord) -> [AircraftPosition] {
        TrafficMark.shown(traffic, in: MapRegion(coord, scale: .one))
    }
}

extension VectorTile {
    /// The union of cells of one resolution, without the borders between them. Winding alone distinguishes exteriors
    /// from holes, as in vector tiles.
    package static func outline(of cells: [Int], resolution: Int) -> Shape {
        .polygons(nested(CellUnion(cells, resolution: resolution).rings))
    }

    /// Assigns each hole to the exterior that contains it.
    private static func nested(_ rings: [[GridPoint]]) -> [[[Point]]] {
        func area(_ ring: [GridPoint]) -> Double {
            guard var previous = ring.last else { return 0 }
            var sum = 0.0
            for point in ring {
                sum += Double(previous.x) * Double(point.y) - Double(point.x) * Double(previous.y)
                previous = point
            }
            return sum
        }
        let areas = rings.map(area)
        // Cells run counter-clockwise on the map, where y grows downward: their area is negative.
        let exteriors = rings.indices.filter { areas[$0] < 0 }.sorted { areas[$0] > areas[$1] }.map { rings[$0] }
        var polygons = exteriors.map { [$0.map(unit)] }
        guard areas.contains(where: { $0 > 0 }) else { return polygons }
        let heights = exteriors.map { ring in
            (low: ring.reduce(.max) { min($0, $1.y) }, high: ring.reduce(.min) { max($0, $1.y) })
        }
        for (hole, area) in zip(rings, areas) where area > 0 {
            // Find the smallest exterior that contains the hole. The middle of an edge is no vertex of another ring.
            let middle = Point(
                x: (unit(hole[0]).x + unit(hole[1]).x) / 2, y: (unit(hole[0]).y + unit(hole[1]).y) / 2)
            let found = exteriors.indices.first { index in
                heights[index].low <= hole[0].y && hole[0].y <= heights[index].high
                    && contains(exteriors[index], middle)
            }
            if let found { polygons[found].append(hole.map(unit)) }
        }
        return polygons
    }

    /// Source: the crossing number, W. R. Franklin's PNPOLY, https://wrfranklin.org/Research/Short_Notes/pnpoly.html
    private static func contains(_ ring: [GridPoint], _ place: Point) -> Bool {
        var inside = false
        guard var a = ring.last.map(unit) else { return false }
        for point in ring {
            let b = unit(point)
            if (a.y > place.y) != (b.y > place.y), place.x < a.x + (place.y - a.y) / (b.y - a.y) * (b.x - a.x) {
                inside.toggle()
            }
            a = b
        }
        return inside
    }
}

extension TileCoord {
    /// The bounds of the tile and its buffer, in degrees.
    package var bounds: BoundingBox {
        let side = 1 / Double(1 << z)
        let margin = side * VectorTile.buffer / Double(VectorTile.extent)
        let (west, east) = (Double(x) * side - margin, Double(x + 1) * side + margin)
        let (north, south) = (Double(y) * side - margin, Double(y + 1) * side + margin)
        return BoundingBox(
            west: UnitMercator.longitude(x: west), south: UnitMercator.latitude(y: south),
            east: UnitMercator.longitude(x: east), north: UnitMercator.latitude(y: north)) ?? .world
    }
}
