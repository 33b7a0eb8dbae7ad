/// A cell as GeoJSON wants it.
public enum CellPolygon {
    /// The closed, counter-clockwise exterior rings of a cell: one, or two where the antimeridian cuts it. Longitudes
    /// −180…180. The cells around the poles reach up to them.
    ///
    /// The vertices are those of the cell table, so that neighbours share them to the digit; beyond the map's edge, where
    /// the table has none, the library's own.
    ///
    /// Source: RFC 7946 sections 3.1.6 and 3.1.9
    public static func rings(of cell: Cell) -> [[LonLat]] {
        let outline = CellTable.of(resolution: Cell.resolution).vertices(dense: Int(cell.dense))
        let edge = Int32(Grid.half)
        guard outline.allSatisfy({ abs($0.y) < edge }) else { return polarRings(of: cell) }
        if outline.allSatisfy({ abs($0.x) <= edge }) { return [closed(outline.map(Grid.place))] }
        return split(
            outline.map { point in
                Corner(
                    longitude: (Double(point.x) / Double(Grid.half)) * 180,
                    latitude: UnitMercator.latitude(y: Double(point.y) / Double(Grid.world) + 0.5))
            })
    }

    private struct Corner {
        var longitude: Double
        var latitude: Double
    }

    private static func closed(_ ring: [LonLat]) -> [LonLat] { ring + ring.prefix(1) }

    private static func polarRings(of cell: Cell) -> [[LonLat]] {
        let vertices = H3.boundary(h3: cell.h3)
        var longitude = H3.center(of: cell).longitude
        var corners: [Corner] = []
        func unroll(_ place: LonLat) -> Corner {
            longitude = place.longitude + ((longitude - place.longitude) / 360).rounded() * 360
            return Corner(longitude: longitude, latitude: place.latitude)
        }
        for vertex in vertices { corners.append(unroll(vertex)) }
        guard let first = vertices.first, let start = corners.first else { return [] }
        let end = unroll(first)
        if abs(end.longitude - start.longitude) > 180 {
            let pole: Double = start.latitude > 0 ? 90 : -90
            corners.append(end)
            corners.append(Corner(longitude: end.longitude, latitude: pole))
            corners.append(Corner(longitude: start.longitude, latitude: pole))
        }
        return split(corners)
    }

    /// Cuts a ring at each meridian 180° and brings the parts home.
    private static func split(_ corners: [Corner]) -> [[LonLat]] {
        [-360.0, 0, 360].compactMap { turn in
            let west = clip(corners, at: turn - 180) { $0 >= $1 }
            let part = clip(west, at: turn + 180) { $0 <= $1 }
            guard part.count >= 3, area(part) > 1e-12 else { return nil }
            return closed(
                part.map { LonLat(uncheckedLongitude: $0.longitude - turn, latitude: $0.latitude) })
        }
    }

    private static func area(_ corners: [Corner]) -> Double {
        guard var previous = corners.last else { return 0 }
        var sum = 0.0
        for corner in corners {
            sum += previous.longitude * corner.latitude - corner.longitude * previous.latitude
            previous = corner
        }
        return abs(sum) / 2
    }

    /// Source: I. Sutherland, G. Hodgman, "Reentrant polygon clipping", CACM 17 (1974)
    private static func clip(_ corners: [Corner], at limit: Double, keeps: (Double, Double) -> Bool) -> [Corner] {
        guard var previous = corners.last else { return [] }
        var result: [Corner] = []
        for corner in corners {
            let isInside = keeps(corner.longitude, limit)
            if isInside != keeps(previous.longitude, limit) {
                let share = (limit - previous.longitude) / (corner.longitude - previous.longitude)
                result.append(
                    Corner(
                        longitude: limit, latitude: previous.latitude + (corner.latitude - previous.latitude) * share))
            }
            if isInside { result.append(corner) }
            previous = corner
        }
        return result
    }
}
