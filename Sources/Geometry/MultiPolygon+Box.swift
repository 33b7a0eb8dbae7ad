extension MultiPolygon {
    /// Whether any part of the area lies in a box, including its edge. Edges are straight in degrees.
    ///
    /// - Complexity: O(corners)
    public func intersects(_ box: BoundingBox) -> Bool {
        let parts =
            box.crossesAntimeridian
            ? [(west: box.west, east: 180.0), (west: -180.0, east: box.east)] : [(west: box.west, east: box.east)]
        return parts.contains { west, east in
            let plain = PlainBox(west: west, south: box.south, east: east, north: box.north)
            if polygons.joined().contains(where: plain.isCrossed(by:)) { return true }
            // No edge meets the box, so it lies completely inside or completely outside.
            return LonLat(longitude: west, latitude: box.south).map(contains) ?? false
        }
    }
}

/// A box that doesn't cross the antimeridian.
private struct PlainBox {
    let west: Double
    let south: Double
    let east: Double
    let north: Double

    func isCrossed(by ring: [LonLat]) -> Bool {
        zip(ring, ring.dropFirst()).contains { isCrossed(from: $0, to: $1) }
    }

    /// Source: Y.-D. Liang, B. Barsky, "A new concept and method for line clipping", ACM TOG 3 (1984),
    /// doi:10.1145/357332.357333
    private func isCrossed(from a: LonLat, to b: LonLat) -> Bool {
        var (enters, leaves) = (0.0, 1.0)
        let (dx, dy) = (b.longitude - a.longitude, b.latitude - a.latitude)
        for (step, room) in [
            (-dx, a.longitude - west), (dx, east - a.longitude), (-dy, a.latitude - south), (dy, north - a.latitude),
        ] {
            if step == 0 {
                if room < 0 { return false }
            } else if step < 0 {
                enters = max(enters, room / step)
            } else {
                leaves = min(leaves, room / step)
            }
        }
        return enters <= leaves
    }
}
