/// A point of the web mercator plane in whole grid units. The world is 2³¹ units wide (1.9 cm at the equator). The
/// origin is in its middle (0° N 0° E), x grows eastward and y southward. The unit square is −2³⁰…2³⁰ on both axes. The
/// outline of a cell across the antimeridian isn't wrapped, so x may lie slightly outside.
public typealias GridPoint = SIMD2<Int32>

/// Conversions between grid units and other spaces.
public enum Grid {
    /// The units around the world.
    public static let world = Int64(1) << 31
    /// The units from the middle to an edge.
    @inlinable package static var half: Int64 { 1 << 30 }

    static func units(_ unit: Double) -> Double { (unit - 0.5) * Double(world) }

    /// The latitude of a grid point in degrees; the edges of the plane are the poles.
    @inlinable package static func latitude(_ point: GridPoint) -> Double {
        if point.y <= -Int32.max { return 90 }
        if point.y == Int32.max { return -90 }
        return UnitMercator.latitude(y: (Double(point.y) + Double(half)) / Double(world))
    }

    /// The place of a grid point, with its longitude wrapped to −180…180.
    package static func place(_ point: GridPoint) -> LonLat {
        let scale = 1 / Double(world)
        let longitude = UnitMercator.longitude(x: Double(point.x) * scale + 0.5)
        let latitude = UnitMercator.latitude(y: Double(point.y) * scale + 0.5)
        return LonLat(uncheckedLongitude: LonLat.wrap(longitude), latitude: latitude)
    }
}

/// A box of grid points, edges included.
@usableFromInline package struct GridBox: Sendable, Hashable {
    @usableFromInline package var minX: Int64
    @usableFromInline package var minY: Int64
    @usableFromInline package var maxX: Int64
    @usableFromInline package var maxY: Int64

    @inlinable package init(minX: Int64, minY: Int64, maxX: Int64, maxY: Int64) {
        self.minX = minX
        self.minY = minY
        self.maxX = maxX
        self.maxY = maxY
    }

    @inlinable
    package func intersects(_ other: GridBox) -> Bool {
        minX <= other.maxX && other.minX <= maxX && minY <= other.maxY && other.minY <= maxY
    }

    /// The box shifted east by a number of worlds.
    @inlinable
    package func shifted(worlds: Int64) -> GridBox {
        GridBox(minX: minX + worlds << 31, minY: minY, maxX: maxX + worlds << 31, maxY: maxY)
    }
}
