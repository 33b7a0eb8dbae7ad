import BillowRaster
import CGEOS

/// Clips polygons to a square and rounds their vertices to whole units, so that the result is valid by OGC's rules.
///
/// No ring intersects itself, no ring shares an edge with another, and holes lie within. Parts with a common edge are
/// merged.
///
/// Rounding the vertices of a clipped ring one by one can break these rules. GEOS rounds while it overlays (snap
/// rounding).
///
/// Source: OGC 06-103r4 (Simple Features), section 6.1.11; libgeos.org, `GEOSIntersectionPrec_r`
final class PolygonCut {
    typealias Place = SIMD2<Int>

    private let context: GEOSContextHandle_t
    private let least: Double
    private let most: Double

    /// Makes the square from `least` to `most` in both directions, in units.
    ///
    /// - Returns: nil if memory can't be allocated.
    init?(least: Double, most: Double) {
        guard let context = GEOS_init_r() else { return nil }
        self.context = context
        self.least = least
        self.most = most
    }

    deinit { GEOS_finish_r(context) }

    /// The intersection of the polygons with the square: the exterior first, then holes. Rings aren't closed and have
    /// any winding.
    ///
    /// - Parameter polygons: in units; rings of fewer than three vertices are ignored.
    /// - Returns: nil if GEOS fails.
    /// - Complexity: O(n log n) in the vertices near the square.
    func cut(_ polygons: [[[Point]]]) -> [[[Place]]]? {
        guard let square = GEOSGeom_createRectangle_r(context, least, least, most, most) else { return nil }
        defer { GEOSGeom_destroy_r(context, square) }
        var parts: [OpaquePointer?] = []
        defer { for part in parts { GEOSGeom_destroy_r(context, part) } }
        for polygon in polygons where reaches(polygon) {
            guard let whole = geometry(polygon) else { continue }
            defer { GEOSGeom_destroy_r(context, whole) }
            guard let part = intersection(whole, square) else { return nil }
            parts.append(part)
        }
        if parts.count < 2 { return parts.first?.map(places(of:)) ?? [] }
        let count = UInt32(parts.count)
        // A collection owns its members.
        guard let all = GEOSGeom_createCollection_r(context, Int32(GEOS_GEOMETRYCOLLECTION.rawValue), &parts, count)
        else { return nil }
        parts = []
        defer { GEOSGeom_destroy_r(context, all) }
        guard let union = GEOSUnaryUnionPrec_r(context, all, 1) else { return nil }
        defer { GEOSGeom_destroy_r(context, union) }
        return places(of: union)
    }

    private func reaches(_ polygon: [[Point]]) -> Bool {
        guard let ring = polygon.first, ring.count > 2 else { return false }
        var (low, high) = (ring[0], ring[0])
        for point in ring {
            low = Point(x: min(low.x, point.x), y: min(low.y, point.y))
            high = Point(x: max(high.x, point.x), y: max(high.y, point.y))
        }
        return high.x > least && low.x < most && high.y > least && low.y < most
    }

    private func intersection(_ polygon: OpaquePointer, _ square: OpaquePointer) -> OpaquePointer? {
        if let part = GEOSIntersectionPrec_r(context, polygon, square, 1) { return part }
        // An upstream's polygon can intersect itself.
        guard let valid = GEOSMakeValid_r(context, polygon) else { return nil }
        defer { GEOSGeom_destroy_r(context, valid) }
        return GEOSIntersectionPrec_r(context, valid, square, 1)
    }

    // MARK: - To GEOS and back

    private func geometry(_ polygon: [[Point]]) -> OpaquePointer? {
        guard let exterior = ring(polygon[0]) else { return nil }
        var holes = polygon.dropFirst().compactMap { ring($0) } as [OpaquePointer?]
        return GEOSGeom_createPolygon_r(context, exterior, &holes, UInt32(holes.count))
    }

    private func ring(_ points: [Point]) -> OpaquePointer? {
        guard points.count > 2 else { return nil }
        var numbers: [Double] = []
        numbers.reserveCapacity(2 * points.count + 2)
        for point in points {
            numbers.append(point.x)
            numbers.append(point.y)
        }
        numbers.append(points[0].x)
        numbers.append(points[0].y)
        guard let sequence = GEOSCoordSeq_copyFromBuffer_r(context, numbers, UInt32(points.count + 1), 0, 0) else {
            return nil
        }
        return GEOSGeom_createLinearRing_r(context, sequence)
    }

    /// The polygons of a geometry. Lines and points, where an area only touches the square, are ignored.
    private func places(of geometry: OpaquePointer) -> [[[Place]]] {
        switch GEOSGeomTypes(UInt32(bitPattern: GEOSGeomTypeId_r(context, geometry))) {
        case GEOS_POLYGON:
            guard let exterior = GEOSGetExteriorRing_r(context, geometry) else { return [] }
            let holes = (0..<max(0, GEOSGetNumInteriorRings_r(context, geometry))).compactMap {
                GEOSGetInteriorRingN_r(context, geometry, $0)
            }
            let rings = ([exterior] + holes).map(places(ofRing:))
            return rings[0].isEmpty ? [] : [rings]
        case GEOS_MULTIPOLYGON, GEOS_GEOMETRYCOLLECTION:
            return (0..<max(0, GEOSGetNumGeometries_r(context, geometry))).flatMap { index in
                GEOSGetGeometryN_r(context, geometry, index).map(places(of:)) ?? []
            }
        default: return []
        }
    }

    private func places(ofRing ring: OpaquePointer) -> [Place] {
        var count: UInt32 = 0
        guard let sequence = GEOSGeom_getCoordSeq_r(context, ring),
            GEOSCoordSeq_getSize_r(context, sequence, &count) == 1, count > 3
        else { return [] }
        var numbers = [Double](repeating: 0, count: 2 * Int(count))
        guard GEOSCoordSeq_copyToBuffer_r(context, sequence, &numbers, 0, 0) == 1 else { return [] }
        // The last vertex repeats the first.
        return (0..<Int(count) - 1).map { Place(Int(numbers[2 * $0].rounded()), Int(numbers[2 * $0 + 1].rounded())) }
    }
}
