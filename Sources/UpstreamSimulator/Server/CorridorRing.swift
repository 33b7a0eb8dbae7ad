import Foundation
import Geometry

/// A corridor's ring whose longitudes aren't wrapped, so that no edge jumps at the antimeridian.
struct CorridorRing: Sendable {
    /// The closed ring in degrees; each longitude is within 180° of the one before.
    let points: [(longitude: Double, latitude: Double)]
    private let south: Double
    private let north: Double

    /// Makes a ring from points in either longitude convention, wrapped or not.
    init(_ points: [(longitude: Double, latitude: Double)]) {
        var unrolled: [(longitude: Double, latitude: Double)] = []
        unrolled.reserveCapacity(points.count)
        for point in points {
            var longitude = point.longitude
            if let last = unrolled.last {
                longitude = last.longitude + LonLat.wrap(longitude - last.longitude)
            }
            unrolled.append((longitude, point.latitude))
        }
        self.points = unrolled
        south = points.map(\.latitude).min() ?? 0
        north = points.map(\.latitude).max() ?? 0
    }

    /// Even-odd rule on the plate carrée, tested at longitudes shifted by ±360° as well.
    func contains(longitude: Double, latitude: Double) -> Bool {
        guard latitude >= south, latitude <= north else { return false }
        return [0, 360, -360].contains { turn in isInside(longitude + turn, latitude) }
    }

    private func isInside(_ x: Double, _ y: Double) -> Bool {
        var inside = false
        for (a, b) in zip(points, points.dropFirst()) where (a.latitude > y) != (b.latitude > y) {
            let crossing =
                a.longitude + (y - a.latitude) / (b.latitude - a.latitude) * (b.longitude - a.longitude)
            if x < crossing { inside.toggle() }
        }
        return inside
    }

    /// The enclosed area on the sphere; lines between vertices are those of the plate carrée's cylinder.
    ///
    /// Source: Chamberlain & Duquette 2007, "Some algorithms for polygons on a sphere", JPL 07-03, equation of section
    /// 3.
    var areaKm2: Double {
        var sum = 0.0
        for (a, b) in zip(points, points.dropFirst()) {
            sum +=
                (b.longitude - a.longitude) * .pi / 180
                * (2 + sin(a.latitude * .pi / 180) + sin(b.latitude * .pi / 180))
        }
        let radiusKm = earthRadiusMetres / 1_000
        return abs(sum) * radiusKm * radiusKm / 2
    }

    /// Whether all its turns have the same direction.
    var isConvex: Bool {
        let corners = Array(points.dropLast())
        var left = false
        var right = false
        for index in corners.indices {
            let a = corners[index]
            let b = corners[(index + 1) % corners.count]
            let c = corners[(index + 2) % corners.count]
            let turn =
                (b.longitude - a.longitude) * (c.latitude - b.latitude)
                - (b.latitude - a.latitude) * (c.longitude - b.longitude)
            if turn > 1e-12 { left = true }
            if turn < -1e-12 { right = true }
        }
        return !(left && right)
    }
}
