import Foundation
import Geometry

/// A point on the unit sphere, or any direction: x towards 0° E on the equator, z towards the north pole.
struct Vector: Sendable {
    var x: Double
    var y: Double
    var z: Double

    init(x: Double, y: Double, z: Double) {
        self.x = x
        self.y = y
        self.z = z
    }

    init(_ place: LonLat) {
        let longitude = place.longitude * .pi / 180
        let latitude = place.latitude * .pi / 180
        self.init(
            x: cos(latitude) * cos(longitude), y: cos(latitude) * sin(longitude), z: sin(latitude))
    }

    static func + (a: Vector, b: Vector) -> Vector {
        Vector(x: a.x + b.x, y: a.y + b.y, z: a.z + b.z)
    }
    static func * (a: Vector, k: Double) -> Vector { Vector(x: a.x * k, y: a.y * k, z: a.z * k) }

    func dot(_ b: Vector) -> Double { x * b.x + y * b.y + z * b.z }

    func cross(_ b: Vector) -> Vector {
        Vector(x: y * b.z - z * b.y, y: z * b.x - x * b.z, z: x * b.y - y * b.x)
    }

    var length: Double { dot(self).squareRoot() }

    var normalized: Vector {
        let length = length
        return length > 0 ? self * (1 / length) : Vector(x: 1, y: 0, z: 0)
    }

    /// The place in degrees. nil can't occur for a finite vector, but is returned instead of trapping.
    var place: LonLat? {
        LonLat(
            longitude: atan2(y, x) * 180 / .pi,
            latitude: atan2(z, (x * x + y * y).squareRoot()) * 180 / .pi)
    }
}

/// The mean radius of the earth in metres (IUGG).
let earthRadiusMetres = 6_371_008.8
