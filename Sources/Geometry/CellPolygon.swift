/// The GeoJSON polygons of cells.
public enum CellPolygon {
    /// The closed, counter-clockwise exterior rings of a cell: one, or two if the antimeridian cuts it. Longitudes are
    /// −180…180. Cells around the poles reach up to them.
    ///
    /// The vertices are those of the cell table, so adjacent cells have exactly equal ones. Beyond the map's edge the
    /// table has none; vertices there are the H3 library's.
    ///
    /// Source: RFC 7946 sections 3.1.6 and 3.1.9
    public static func rings(of cell: Cell) -> [[LonLat]] {
        let outline = CellTable.of(resolution: Cell.resolution).vertices(dense: Int(cell.dense))
        let edge = Int32(Grid.half)
        guard outline.allSatisfy({ abs($0.y) < edge }) else { return polarRings(of: cell) }
        if outline.allSatisfy({ abs($0.x) <= edge }) { return [closed(outline)] }
        return UnrolledRing(
            corners: outline.map { point in
                UnrolledRing.Corner(
                    longitude: (Double(point.x) / Double(Grid.half)) * 180,
                    latitude: UnitMercator.latitude(y: Double(point.y) / Double(Grid.world) + 0.5))
            }
        ).homeRings
    }

    private static func closed(_ outline: RingMesh.Corners) -> [LonLat] {
        [LonLat](unsafeUninitializedCapacity: outline.count + 1) { ring, count in
            for point in outline {
                ring.initializeElement(at: count, to: Grid.place(point))
                count += 1
            }
            guard count > 0 else { return }
            ring.initializeElement(at: count, to: ring[0])
            count += 1
        }
    }

    private static func polarRings(of cell: Cell) -> [[LonLat]] {
        UnrolledRing(H3.boundary(h3: cell.h3), from: H3.center(of: cell).longitude).homeRings
    }
}
