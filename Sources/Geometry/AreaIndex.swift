/// An area indexed for repeated containment queries: its edges by bands of latitude.
public struct AreaIndex: Sendable, Hashable {
    /// The area that is indexed.
    public let area: MultiPolygon
    /// The smallest box around the area.
    package let box: BoundingBox
    private let bands: [[Edge]]

    private struct Edge: Sendable, Hashable {
        var a: LonLat
        var b: LonLat
    }

    /// The height of a band in degrees of latitude.
    private static let bandHeight = 1.0

    /// Returns nil for an empty area.
    public init?(_ area: MultiPolygon) {
        guard let box = area.box else { return nil }
        self.area = area
        self.box = box
        var bands = [[Edge]](repeating: [], count: AreaIndex.band(90) + 1)
        for ring in area.polygons.joined() {
            for (a, b) in zip(ring, ring.dropFirst()) {
                let edge = Edge(a: a, b: b)
                for band in AreaIndex.band(min(a.latitude, b.latitude))...AreaIndex.band(max(a.latitude, b.latitude)) {
                    bands[band].append(edge)
                }
            }
        }
        self.bands = bands
    }

    public static func == (a: AreaIndex, b: AreaIndex) -> Bool { a.area == b.area }
    public func hash(into hasher: inout Hasher) { hasher.combine(area) }

    private static func band(_ latitude: Double) -> Int { Int(((latitude + 90) / bandHeight).rounded(.down)) }

    /// Whether a place lies inside the area, whose edges are straight in degrees.
    ///
    /// Source: the crossing number, W. R. Franklin's PNPOLY, https://wrfranklin.org/Research/Short_Notes/pnpoly.html
    public func contains(_ place: LonLat) -> Bool {
        var inside = false
        for edge in bands[AreaIndex.band(place.latitude)]
        where (edge.a.latitude > place.latitude) != (edge.b.latitude > place.latitude) {
            let share = (place.latitude - edge.a.latitude) / (edge.b.latitude - edge.a.latitude)
            if place.longitude < edge.a.longitude + share * (edge.b.longitude - edge.a.longitude) { inside.toggle() }
        }
        return inside
    }

    /// Whether the area shares a point with the interior of other polygons, such as a cell's.
    package func intersects(_ other: [[[LonLat]]]) -> Bool {
        for rings in other {
            guard let exterior = rings.first else { continue }
            // Either one contains the other, or edges cross.
            if let place = exterior.first, contains(place) { return true }
            for ring in rings {
                for (a, b) in zip(ring, ring.dropFirst()) where crosses(a, b) { return true }
            }
        }
        let others = MultiPolygon(polygons: other)
        return area.polygons.contains { rings in rings.first?.first.map(others.contains) ?? false }
    }

    private func crosses(_ a: LonLat, _ b: LonLat) -> Bool {
        let bandsOfEdge = AreaIndex.band(min(a.latitude, b.latitude))...AreaIndex.band(max(a.latitude, b.latitude))
        return bandsOfEdge.contains { band in
            bands[band].contains { edge in
                AreaIndex.side(a, b, edge.a) != AreaIndex.side(a, b, edge.b)
                    && AreaIndex.side(edge.a, edge.b, a) != AreaIndex.side(edge.a, edge.b, b)
            }
        }
    }

    private static func side(_ a: LonLat, _ b: LonLat, _ place: LonLat) -> Bool {
        (b.longitude - a.longitude) * (place.latitude - a.latitude)
            - (b.latitude - a.latitude) * (place.longitude - a.longitude) > 0
    }
}
