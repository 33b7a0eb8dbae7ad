/// A point of the web mercator plane in whole grid units: the world is 2³¹ units wide (1.9 cm at the equator), the
/// origin lies in its middle (0° N 0° E), x grows eastward and y southward. The unit square is −2³⁰…2³⁰ on both axes; a
/// cell across the antimeridian is unrolled, so x may lie a little beyond.
public typealias GridPoint = SIMD2<Int32>

/// Conversions between grid units and other spaces.
public enum Grid {
    /// Units around the world.
    public static let world = Int64(1) << 31
    /// From the middle to an edge.
    @inlinable package static var half: Int64 { 1 << 30 }

    static func units(_ unit: Double) -> Double { (unit - 0.5) * Double(world) }

    /// The place of a grid point; longitude is brought to −180…180.
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

    /// The same box some worlds further east.
    @inlinable
    package func shifted(worlds: Int64) -> GridBox {
        GridBox(minX: minX + worlds << 31, minY: minY, maxX: maxX + worlds << 31, maxY: maxY)
    }
}
