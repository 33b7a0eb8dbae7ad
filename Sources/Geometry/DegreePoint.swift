/// A place in whole units of 10⁻⁷ degrees, about a centimetre, which is precise enough for GeoJSON. x is longitude,
/// eastward, and y is latitude, northward. Planar geometry with it is exact, and results are written without rounding.
///
/// Source: RFC 7946 section 11.2 (precision)
package typealias DegreePoint = SIMD2<Int32>

extension DegreePoint {
    /// The number of units in a degree.
    package static let unitsPerDegree = 1e7

    package init(_ place: LonLat) {
        self.init(DegreePoint.units(place.longitude), DegreePoint.units(place.latitude))
    }

    /// - Parameter degrees: −180…180, so at most 1.8 × 10⁹ units.
    @inline(__always)
    static func units(_ degrees: Double) -> Int32 { Int32((degrees * DegreePoint.unitsPerDegree).rounded()) }

    /// The place; values beyond ±180° or ±90° are clamped.
    package var place: LonLat {
        LonLat(
            uncheckedLongitude: Swift.min(Swift.max(Double(x) / DegreePoint.unitsPerDegree, -180), 180),
            latitude: Swift.min(Swift.max(Double(y) / DegreePoint.unitsPerDegree, -90), 90))
    }

    /// Whether it lies on the meridian 180°, on either side of the map.
    package var isOnAntimeridian: Bool { x == 1_800_000_000 || x == -1_800_000_000 }
}
