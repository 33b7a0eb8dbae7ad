/// The rules for a ring whose interior is requested.
package enum RingRules {
    /// The rule that a ring breaks.
    package enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        case tooFew(Int)
        case tooMany(Int)
        case open
        /// Two edges cross or touch, by the indices of their first positions.
        case crossing(Int, Int)
        case withoutArea
        case holes(Int)
        case tooLarge(km2: Int, limit: Int)

        package var description: String {
            switch self {
            case .tooFew(let count): "the ring has \(count) positions; it must have 4 to 250"
            case .tooMany(let count): "the ring has \(count) positions; it must have 4 to 250"
            case .open: "the ring's last position must equal its first"
            case .crossing(let a, let b): "the ring's edges from positions \(a + 1) and \(b + 1) cross or touch"
            case .withoutArea:
                "the ring encloses no area: edges take the short way, so those from 180° W to 180° E have no length, "
                    + "and the whole world is requested without a ring"
            case .holes(let count): "the polygon has \(count) hole\(count == 1 ? "" : "s"); it must be one ring"
            case .tooLarge(let km2, let limit): "the ring encloses \(km2) km²; it must enclose at most \(limit) km²"
            }
        }
    }

    /// The area inside a closed ring of 4 to 250 positions that doesn't cross itself. It may have either winding and
    /// either longitude convention. Repeated positions count towards the limit but add no edge.
    ///
    /// - Parameters:
    ///   - limitKm2: the maximum area; nil for no limit.
    ///   - ring: closed.
    package static func area(inside ring: [LonLat], limitKm2: Double? = nil) throws(Failure) -> MultiPolygon {
        guard ring.count >= AreaRing.positions.lowerBound else { throw .tooFew(ring.count) }
        guard ring.count <= AreaRing.positions.upperBound else { throw .tooMany(ring.count) }
        guard let first = ring.first, let last = ring.last, RingPath.isSame(first, last) else { throw .open }
        if let (a, b) = crossing(of: ring) { throw .crossing(a, b) }
        guard let area = MultiPolygon(outline: ring) else { throw .withoutArea }
        if let limitKm2, area.areaKm2 > limitKm2 {
            throw .tooLarge(km2: Int(min(area.areaKm2, 1e9).rounded()), limit: Int(limitKm2))
        }
        return area
    }

    /// Whether a closed ring doesn't cross or touch itself.
    /// - Complexity: O(n²)
    static func isSimple(_ ring: [LonLat]) -> Bool { crossing(of: ring) == nil }

    /// The first two edges of a closed ring that cross or touch, by the indices of their first positions; nil if there
    /// are none.
    /// - Complexity: O(n²)
    static func crossing(of ring: [LonLat]) -> (Int, Int)? {
        let path = RingPath(ring, from: ring.first?.longitude ?? 0)
        let edges = path.corners.count
        guard edges >= 3 else { return nil }
        let corners = (path.corners.map(\.corner) + [path.end]).map { SIMD2($0.longitude, $0.latitude) }
        for i in 0..<edges {
            for j in i + 1..<edges {
                // Shift one edge by a multiple of 360° to where both are nearest.
                let apart = (corners[i].x + corners[i + 1].x - corners[j].x - corners[j + 1].x) / 2
                let turn = SIMD2((apart / 360).rounded() * 360, 0)
                let areNeighbours = j == i + 1 || i == 0 && j == edges - 1
                if touches(corners[i], corners[i + 1], corners[j] + turn, corners[j + 1] + turn, areNeighbours) {
                    return (path.corners[i].index, path.corners[j].index)
                }
            }
        }
        return nil
    }

    private static func touches(
        _ a: SIMD2<Double>, _ b: SIMD2<Double>, _ c: SIMD2<Double>, _ d: SIMD2<Double>, _ areNeighbours: Bool
    ) -> Bool {
        func cross(_ o: SIMD2<Double>, _ p: SIMD2<Double>, _ q: SIMD2<Double>) -> Double {
            (p.x - o.x) * (q.y - o.y) - (p.y - o.y) * (q.x - o.x)
        }
        guard min(a.x, b.x) <= max(c.x, d.x), min(c.x, d.x) <= max(a.x, b.x), min(a.y, b.y) <= max(c.y, d.y),
            min(c.y, d.y) <= max(a.y, b.y)
        else { return false }
        let (c1, d1, a1, b1) = (cross(a, b, c), cross(a, b, d), cross(c, d, a), cross(c, d, b))
        if areNeighbours {
            // They share an end; a reversal along the same line is a touch.
            guard c1 == 0, d1 == 0 else { return false }
            let shared = b == c ? b : a
            let (p, q) = b == c ? (a, d) : (b, c)
            return ((p - shared) * (q - shared)).sum() > 0
        }
        return (c1 > 0) != (d1 > 0) && (a1 > 0) != (b1 > 0) || c1 == 0 && isBetween(a, b, c)
            || d1 == 0 && isBetween(a, b, d) || a1 == 0 && isBetween(c, d, a) || b1 == 0 && isBetween(c, d, b)
    }

    private static func isBetween(_ a: SIMD2<Double>, _ b: SIMD2<Double>, _ point: SIMD2<Double>) -> Bool {
        all(pointwiseMin(a, b) .<= point) && all(point .<= pointwiseMax(a, b))
    }
}
