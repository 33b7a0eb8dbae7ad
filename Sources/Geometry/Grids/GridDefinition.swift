/// A grid of points on a map projection, or of longitudes and latitudes: everything needed to find a place on it.
///
/// Points are counted from the south-west of the plane: columns eastward, rows northward. Every valid definition can be
/// projected.
package struct GridDefinition: Sendable, Hashable {
    package let shape: EarthShape
    /// The number of points in a row and in a column, at least 1 each.
    package let columns: Int
    package let rows: Int
    package let projection: Projection

    /// The projection, with values in degrees, and in metres in its plane.
    package enum Projection: Sendable, Hashable, Codable {
        /// The first column's longitude, the first row's latitude, and the steps.
        case lonLat(west: Double, south: Double, dx: Double, dy: Double)
        /// The steps are true to scale at `trueLatitude`; `orientation` is the meridian along y.
        case polarStereographic(orientation: Double, trueLatitude: Double, isSouth: Bool, mesh: Mesh)
        /// The steps are those in the plane, true to scale at the standard parallels.
        case lambertConformal(orientation: Double, firstParallel: Double, secondParallel: Double, mesh: Mesh)
    }

    /// The position of a plane's points.
    package struct Mesh: Sendable, Hashable, Codable {
        /// The point at a corner of the grid, in degrees.
        package var longitude: Double
        package var latitude: Double
        package var corner: Corner
        /// The steps in metres, above 0.
        package var dx: Double
        package var dy: Double

        package init(longitude: Double, latitude: Double, corner: Corner = .southWest, dx: Double, dy: Double) {
            self.longitude = longitude
            self.latitude = latitude
            self.corner = corner
            self.dx = dx
            self.dy = dy
        }
    }

    package enum Corner: String, Sendable, Hashable, Codable {
        case southWest, southEast, northWest, northEast

        package init(isEast: Bool, isNorth: Bool) {
            self = isNorth ? (isEast ? .northEast : .northWest) : (isEast ? .southEast : .southWest)
        }

        var isEast: Bool { self == .southEast || self == .northEast }
        var isNorth: Bool { self == .northWest || self == .northEast }
    }

    /// - Throws: `GridError` if the values don't give a grid of the Earth.
    package init(shape: EarthShape, columns: Int, rows: Int, projection: Projection) throws(GridError) {
        self.shape = shape
        self.columns = columns
        self.rows = rows
        self.projection = projection
        guard columns >= 1, rows >= 1, columns <= Self.longestSide, rows <= Self.longestSide else {
            throw GridError("a grid of \(columns) × \(rows) points")
        }
        switch projection {
        case .lonLat(let west, let south, let dx, let dy):
            guard west.isFinite, abs(west) <= 720, abs(south) <= 90 else {
                throw GridError("a first point at \(west)°, \(south)°")
            }
            guard dx > 0, dx.isFinite, dy > 0, dy.isFinite else { throw GridError("steps of \(dx)° and \(dy)°") }
        case .polarStereographic(let orientation, let trueLatitude, _, let mesh):
            guard abs(trueLatitude) <= 90 else {
                throw GridError("a polar projection that is true at \(trueLatitude)°")
            }
            try check(orientation, mesh)
        case .lambertConformal(let orientation, let first, let second, let mesh):
            guard abs(first) < 90, abs(second) < 90, abs(first + second) > 1e-6 else {
                throw GridError("standard parallels at \(first)° and \(second)°")
            }
            try check(orientation, mesh)
        }
    }

    /// The maximum number of points along a side; no published grid has more.
    package static let longestSide = 1 << 20

    private func check(_ orientation: Double, _ mesh: Mesh) throws(GridError) {
        guard mesh.dx > 0, mesh.dx.isFinite, mesh.dy > 0, mesh.dy.isFinite, abs(orientation) <= 360 else {
            throw GridError("steps of \(mesh.dx) and \(mesh.dy) m, orientation \(orientation)°")
        }
        guard abs(mesh.latitude) <= 90, abs(mesh.longitude) <= 720 else {
            throw GridError("a first point at \(mesh.longitude)°, \(mesh.latitude)°")
        }
        guard let cone = ProjectionCone(self), cone.isUsable else {
            throw GridError(
                "a first point at \(mesh.longitude)°, \(mesh.latitude)°, which the projection doesn't reach")
        }
    }

    package var count: Int { columns * rows }

    /// The grid of GTG and GTGN, which is that of the HRRR model: 1799 × 1059 points, 3 km apart.
    package static let turbulenceGuidance: GridDefinition = {
        let mesh = Mesh(longitude: 237.280_472, latitude: 21.138_123, dx: 3_000, dy: 3_000)
        return try! GridDefinition(
            shape: .sphere, columns: 1_799, rows: 1_059,
            projection: .lambertConformal(orientation: 262.5, firstParallel: 38.5, secondParallel: 38.5, mesh: mesh))
    }()
}

/// Why a grid is invalid.
package struct GridError: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension GridDefinition: Codable {
    private struct Coded: Codable {
        var semiMajorAxis: Double
        var semiMinorAxis: Double
        var columns: Int
        var rows: Int
        var projection: Projection
    }

    /// - Throws: `DecodingError`, and `GridError` for an invalid grid.
    package init(from decoder: any Decoder) throws {
        let coded = try Coded(from: decoder)
        guard let shape = EarthShape(semiMajorAxis: coded.semiMajorAxis, semiMinorAxis: coded.semiMinorAxis) else {
            throw GridError("an Earth with axes of \(coded.semiMajorAxis) and \(coded.semiMinorAxis) m")
        }
        try self.init(shape: shape, columns: coded.columns, rows: coded.rows, projection: coded.projection)
    }

    package func encode(to encoder: any Encoder) throws {
        try Coded(
            semiMajorAxis: shape.semiMajorAxis, semiMinorAxis: shape.semiMinorAxis, columns: columns, rows: rows,
            projection: projection
        ).encode(to: encoder)
    }
}
