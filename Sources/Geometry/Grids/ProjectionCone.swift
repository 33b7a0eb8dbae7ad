import Foundation

/// Lambert's conformal conic projection, and the polar stereographic one, which is its limit: a cone as flat as a
/// plane. Both hemispheres, sphere and ellipsoid, in the plane of a grid.
///
/// With the isometric colatitude t(φ), the radius is ρ = C · tⁿ and the angle θ = |n| · (λ − λ₀). The
/// constant n is positive for a cone around the north pole. It is negative around the south pole, where y grows away
/// from it.
///
/// Source: Snyder (1987), equations 14-15, 15-1, 15-2, 15-8, 15-10, 15-11, 21-33 and 21-34; 7-9 for the way back
struct ProjectionCone: Sendable, Hashable {
    private let eccentricity: Double
    /// n.
    private let exponent: Double
    /// C, in metres.
    private let scale: Double
    /// λ₀, in degrees.
    private let orientation: Double
    /// Metres.
    private let dx: Double
    private let dy: Double
    /// Where the pole lies, in cells.
    let originX: Double
    let originY: Double

    /// nil for a grid of longitudes and latitudes.
    init?(_ grid: GridDefinition) {
        let shape = grid.shape
        let e = shape.eccentricity
        let mesh: GridDefinition.Mesh
        switch grid.projection {
        case .lonLat: return nil
        case .polarStereographic(let meridian, let trueLatitude, let isSouth, let plane):
            // Around the south pole some files give the latitude without its sign.
            let latitude = isSouth ? -abs(trueLatitude) : abs(trueLatitude)
            exponent = isSouth ? -1 : 1
            scale =
                abs(latitude) == 90
                ? 2 * shape.semiMajorAxis / (pow(1 + e, 1 + e) * pow(1 - e, 1 - e)).squareRoot()
                : shape.semiMajorAxis * Self.m(latitude, e) / pow(Self.t(latitude, e), exponent)
            (orientation, mesh) = (meridian, plane)
        case .lambertConformal(let meridian, let first, let second, let plane):
            let (m1, t1) = (Self.m(first, e), Self.t(first, e))
            exponent =
                abs(first - second) < 1e-8
                ? sin(first * .pi / 180)
                : (log(m1) - log(Self.m(second, e))) / (log(t1) - log(Self.t(second, e)))
            scale = shape.semiMajorAxis * m1 / (abs(exponent) * pow(t1, exponent))
            (orientation, mesh) = (meridian, plane)
        }
        eccentricity = e
        (dx, dy) = (mesh.dx, mesh.dy)
        // From the point at the corner the pole's place in cells.
        let corner = GridPosition(
            x: mesh.corner.isEast ? Double(grid.columns - 1) : 0, y: mesh.corner.isNorth ? Double(grid.rows - 1) : 0)
        let radius = scale * pow(Self.t(mesh.latitude, e), exponent)
        let angle = abs(exponent) * Self.turn(mesh.longitude - orientation) * .pi / 180
        originX = corner.x - radius * sin(angle) / dx
        originY = corner.y + (exponent > 0 ? 1 : -1) * radius * cos(angle) / dy
    }

    /// Whether the numbers give a projection, whose pole is near enough for positions to be exact.
    var isUsable: Bool { scale.isFinite && scale > 0 && abs(originX) < 1e9 && abs(originY) < 1e9 }

    func column(longitude: Double) -> GridColumn {
        let angle = abs(exponent) * Self.turn(longitude - orientation) * .pi / 180
        return GridColumn(sine: sin(angle) / dx, cosine: (exponent > 0 ? 1 : -1) * cos(angle) / dy)
    }

    func radius(latitude: Double) -> Double { scale * pow(Self.t(latitude, eccentricity), exponent) }

    func lonLat(_ position: GridPosition) -> LonLat? {
        let east = (position.x - originX) * dx
        let toPole = (originY - position.y) * dy * (exponent > 0 ? 1 : -1)
        let radius = (east * east + toPole * toPole).squareRoot()
        guard radius > 0 else { return LonLat(longitude: Self.turn(orientation), latitude: exponent > 0 ? 90 : -90) }
        let turn = atan2(east, toPole) / abs(exponent) * 180 / .pi
        // Beyond the cut of the cone.
        guard abs(turn) <= 180.000_001 else { return nil }
        let t = pow(radius / scale, 1 / exponent)
        return LonLat(longitude: Self.turn(orientation + turn), latitude: latitude(t))
    }

    /// The latitude of an isometric colatitude, to the last digits: six rounds do for the Earth's flattening.
    private func latitude(_ t: Double) -> Double {
        var phi = .pi / 2 - 2 * atan(t)
        if eccentricity > 0 {
            for _ in 0..<12 {
                let sine = eccentricity * sin(phi)
                phi = .pi / 2 - 2 * atan(t * pow((1 - sine) / (1 + sine), eccentricity / 2))
            }
        }
        return min(max(phi * 180 / .pi, -90), 90)
    }

    /// Degrees brought to −180…180.
    private static func turn(_ degrees: Double) -> Double { degrees.remainder(dividingBy: 360) }

    /// The radius of the parallel, on an Earth whose semi-major axis is 1 (14-15).
    private static func m(_ latitude: Double, _ e: Double) -> Double {
        let phi = latitude * .pi / 180
        let sine = e * sin(phi)
        return cos(phi) / (1 - sine * sine).squareRoot()
    }

    /// The isometric colatitude (15-9): 1 at the equator, 0 at the north pole, and very large at the south pole.
    private static func t(_ latitude: Double, _ e: Double) -> Double {
        let phi = latitude * .pi / 180
        let plain = tan(.pi / 4 - phi / 2)
        guard e > 0 else { return plain }
        let sine = e * sin(phi)
        return plain / pow((1 - sine) / (1 + sine), e / 2)
    }
}
