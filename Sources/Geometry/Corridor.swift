import Foundation

/// The area within half a width of a route.
public struct Corridor: Sendable, Hashable {
    /// The closed ring around the area, counter-clockwise, of 4 to 250 positions. Edges are straight in longitude and
    /// latitude and take the shorter way. The area includes any hole that the route encloses.
    public let ring: [LonLat]
    /// The same area for GeoJSON: split at the antimeridian, and extended to a pole inside it.
    public let area: MultiPolygon
    /// The distance by which the ring may differ from the exact one, in degrees.
    public let tolerance: Double

    /// The allowed widths in nautical miles, edge to edge.
    ///
    /// Source: docs/upstreams/skypath.md, "Areas" (never above 250 NM)
    public static let widths = 1.0...250.0
    /// The default width in nautical miles.
    public static let defaultWidth = 100.0
    /// The maximum error of simplification in degrees. `defaultTolerance` is for requests to upstreams,
    /// `drawingTolerance` for drawing.
    ///
    /// Source: docs/upstreams/skypath.md, "Areas" (0.1 for fetching)
    public static let defaultTolerance = 0.1
    package static let drawingTolerance = 0.01

    /// Why a corridor can't be made.
    public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// The width is outside `widths`.
        case width(Double)
        /// The route has so many corners so close together that 250 positions aren't enough.
        case tooWinding
        /// The area spans so much of the earth that a single ring can't bound it.
        case aroundTheEarth

        public var description: String {
            switch self {
            case .width(let width): "the width is \(width) NM; it must be from 1 to 250 NM"
            case .aroundTheEarth:
                "the route runs around the earth or a large part of it: no single ring can border its corridor"
            case .tooWinding: "the route winds too much for its width: no ring of 250 positions follows it"
            }
        }
    }

    /// - Parameters:
    ///   - width: nautical miles, edge to edge.
    ///   - tolerance: the maximum error of the ring, in degrees, to save positions. It is limited to a tenth of the
    ///     width.
    ///     nil uses as many positions as are allowed.
    ///   - route: the route to follow.
    public init(around route: Route, width: Double, tolerance: Double? = defaultTolerance) throws(Failure) {
        guard Corridor.widths.contains(width) else { throw .width(width) }
        let half = width / 2 * Geodesic.metresPerNauticalMile
        let widthDegrees = width / 60
        let exact = CorridorOutline(route, half: half).ring
        let requested = min(max(tolerance ?? 0, 0), widthDegrees / 10)
        let most = widthDegrees / 4
        guard
            var (ring, tolerance) = LineSimplifier.simplified(
                exact, to: AreaRing.positions.upperBound, least: requested, most: most)
        else { throw .tooWinding }
        // Leaving out corners can make a ring cross itself; another tolerance leaves out others.
        while tolerance <= most, ring.count > AreaRing.positions.upperBound || !RingRules.isSimple(ring) {
            tolerance = tolerance * 1.3 + 1e-6
            ring = LineSimplifier.simplified(exact, tolerance: tolerance)
        }
        guard tolerance <= most, let area = MultiPolygon(outline: ring) else { throw .tooWinding }
        let stripKm2 = (route.metres + 2 * half) * 2 * half / 1e6
        guard area.areaKm2 < max(Corridor.enclosedKm2, 4 * stripKm2) else { throw .aroundTheEarth }
        self.ring = ring
        self.area = area
        self.tolerance = tolerance
    }

    /// The maximum area that a route may enclose, in addition to the area along it: a tenth of the earth.
    private static let enclosedKm2 = 51e6
}

/// Draws a line at half the width around the route, and returns the outer boundary of the enclosed area.
///
/// It uses a stereographic plane, projected from the place farthest from the route. So neither the antimeridian nor a
/// pole cuts the route, and the outside surrounds it.
private struct CorridorOutline {
    private let plane: StereographicPlane
    private let points: [SIMD2<Double>]

    /// Degrees between places on the arc of a bend or an end. The chords are at most 0.1 % of the width inside the
    /// circle.
    private static let fan = 7.5
    /// The maximum number of places along the route. With these, the pairwise search for crossings takes some
    /// milliseconds.
    private static let stations = 1_000.0
    /// The maximum longitudes that one edge may span, because straight edges in degrees are not straight on the ground.
    /// The error halfway along an edge from east to west is R λ² sin φ cos φ ∕ 8. The limit is 0.05 % of the width.
    private let longestEdge: Double

    /// The maximum number of parts of an edge: enough for one around a pole.
    private static let maximumParts = 720

    init(_ route: Route, half: Double) {
        longestEdge = min(1, (16 * half / 1_000 / Geodesic.meanRadius).squareRoot() * 180 / .pi)
        let step = max(min(half, 40_000), route.metres / Self.stations, 500)
        let stations = route.stations(every: step)
        plane = StereographicPlane(awayFrom: stations.map(\.place))
        var places: [LonLat] = []
        func add(_ center: LonLat, _ bearing: Double) {
            places.append(Geodesic.place(from: center, bearing: bearing, metres: half).place)
        }
        /// Adds the arc from one bearing to another, clockwise or counter-clockwise.
        func sweep(_ center: LonLat, from start: Double, by angle: Double) {
            let parts = max(1, Int((abs(angle) / Self.fan).rounded(.up)))
            for part in 0...parts { add(center, start + angle * Double(part) / Double(parts)) }
        }
        /// Adds one side of the route, to the left of the direction of flight.
        func side(_ stations: [(place: LonLat, arrival: Double, bearing: Double)]) {
            for station in stations {
                var turn = station.bearing - station.arrival
                turn -= (turn / 360).rounded() * 360
                sweep(station.place, from: station.arrival - 90, by: turn)
            }
        }
        side(stations.map { ($0.place, $0.arrival, $0.bearing) })
        if let last = stations.last { sweep(last.place, from: last.arrival - 90, by: 180) }
        side(stations.reversed().map { ($0.place, $0.bearing + 180, $0.arrival + 180) })
        if let first = stations.first { sweep(first.place, from: first.bearing + 90, by: 180) }
        var points: [SIMD2<Double>] = []
        for place in places {
            let point = plane.point(place)
            if point != points.last { points.append(point) }
        }
        if points.count > 1, points.first == points.last { points.removeLast() }
        self.points = points
    }

    /// The closed ring, counter-clockwise on the earth.
    var ring: [LonLat] {
        let outline = PlanarOutline(points).points
        var places: [LonLat] = []
        for (index, point) in outline.enumerated() {
            let next = outline[(index + 1) % outline.count]
            let start = plane.place(point)
            places.append(start)
            var span = plane.place(next).longitude - start.longitude
            span -= (span / 360).rounded() * 360
            let parts = min(Int((abs(span) / longestEdge).rounded(.up)), Self.maximumParts)
            for part in 1..<max(parts, 1) {
                places.append(plane.place(point + (next - point) * (Double(part) / Double(parts))))
            }
        }
        return places + places.prefix(1)
    }
}

/// The stereographic projection of the sphere, from one of its points to the tangent plane opposite. It preserves
/// winding.
///
/// Source: J. Snyder, "Map projections: a working manual", USGS Professional Paper 1395 (1987), chapter 21
private struct StereographicPlane {
    private let east: SIMD3<Double>
    private let north: SIMD3<Double>
    private let up: SIMD3<Double>
    /// The projection's origin is the one farthest from all the places, of some hundred candidates.
    init(awayFrom places: [LonLat]) {
        let vectors = places.map(Self.vector)
        var best = (distance: -2.0, eye: SIMD3(0.0, 0, 1))
        // Source: R. Swinbank, R. J. Purser, "Fibonacci grids", QJRMS 132 (2006)
        let candidates = 200
        for index in 0..<candidates {
            let z = 1 - (2 * Double(index) + 1) / Double(candidates)
            let angle = Double(index) * .pi * (3 - 5.0.squareRoot())
            let r = (1 - z * z).squareRoot()
            let eye = SIMD3(r * cos(angle), r * sin(angle), z)
            let nearest = vectors.reduce(-1.0) { max($0, (eye * $1).sum()) }
            if 1 - nearest > best.distance { best = (1 - nearest, eye) }
        }
        up = -best.eye
        let helper: SIMD3<Double> = abs(up.z) < 0.9 ? SIMD3(0, 0, 1) : SIMD3(1, 0, 0)
        let across = Self.cross(helper, up)
        east = across / (across * across).sum().squareRoot()
        north = Self.cross(up, east)
    }

    func point(_ place: LonLat) -> SIMD2<Double> {
        let v = Self.vector(place)
        let scale = 2 / (1 + (v * up).sum())
        return SIMD2((v * east).sum() * scale, (v * north).sum() * scale)
    }

    func place(_ point: SIMD2<Double>) -> LonLat {
        let squared = (point * point).sum()
        let scale = 4 / (4 + squared)
        let v = east * (point.x * scale) + north * (point.y * scale) + up * ((4 - squared) / (4 + squared))
        let latitude = asin(min(max(v.z, -1), 1)) * 180 / .pi
        return LonLat(uncheckedLongitude: atan2(v.y, v.x) * 180 / .pi, latitude: latitude)
    }

    private static func vector(_ place: LonLat) -> SIMD3<Double> {
        let (longitude, latitude) = (place.longitude * .pi / 180, place.latitude * .pi / 180)
        return SIMD3(cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude))
    }

    private static func cross(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
    }
}
