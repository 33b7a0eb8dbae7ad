/// Areas in degrees as in GeoJSON: polygons of rings, the exterior first and counter-clockwise, holes clockwise. Rings
/// are closed, with longitudes −180…180, and split at the antimeridian.
///
/// Source: RFC 7946 sections 3.1.6, 3.1.7 and 3.1.9
public struct MultiPolygon: Sendable, Hashable {
    /// Polygons of rings, the exterior first.
    public let polygons: [[[LonLat]]]

    /// Makes an area of polygons that already meet these rules.
    public init(polygons: [[[LonLat]]]) { self.polygons = polygons }

    /// Makes the area inside one outline of any winding and longitude convention, closed or not. Edges take the shorter
    /// way. Returns nil for fewer than three different places, or no area.
    public init?(outline: [LonLat]) {
        guard let first = outline.first else { return nil }
        var ring = UnrolledRing(outline, from: first.longitude)
        guard ring.corners.count >= 3 else { return nil }
        if ring.signedArea < 0 { ring.reverse() }
        let rings = ring.homeRings
        guard !rings.isEmpty else { return nil }
        self.init(polygons: rings.map { [$0] })
    }

    /// The smallest box around the area; it crosses the antimeridian if that makes it smaller. nil if the area is
    /// empty.
    public var box: BoundingBox? {
        let boxes = polygons.compactMap { $0.first }.compactMap { ring -> (west: Double, east: Double)? in
            guard let west = ring.map(\.longitude).min(), let east = ring.map(\.longitude).max() else { return nil }
            return (west, east)
        }.sorted { $0.west < $1.west }
        let latitudes = polygons.joined().joined().map(\.latitude)
        guard let south = latitudes.min(), let north = latitudes.max(), let first = boxes.first else { return nil }
        // The box excludes the widest interval of longitudes without any part of the area.
        var reach = first.east
        var gap = (width: 0.0, west: 0.0, east: 0.0)
        for box in boxes.dropFirst() {
            if box.west - reach > gap.width { gap = (box.west - reach, reach, box.west) }
            reach = max(reach, box.east)
        }
        let around = first.west + 360 - reach
        return around >= gap.width
            ? BoundingBox(west: first.west, south: south, east: reach, north: north)
            : BoundingBox(west: gap.east, south: south, east: gap.west, north: north)
    }

    /// Whether a place lies inside the area. Edges are straight in degrees.
    ///
    /// Source: the crossing number, W. R. Franklin's PNPOLY, https://wrfranklin.org/Research/Short_Notes/pnpoly.html
    public func contains(_ place: LonLat) -> Bool {
        polygons.contains { rings in
            var inside = false
            for ring in rings {
                for (a, b) in zip(ring, ring.dropFirst())
                where (a.latitude > place.latitude) != (b.latitude > place.latitude) {
                    let share = (place.latitude - a.latitude) / (b.latitude - a.latitude)
                    if place.longitude < a.longitude + share * (b.longitude - a.longitude) { inside.toggle() }
                }
            }
            return inside
        }
    }
}
