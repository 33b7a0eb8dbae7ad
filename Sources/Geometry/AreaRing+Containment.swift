/// Containment and intersection with a tolerance of a decimetre, so that an area lies inside itself.
extension AreaRing {
    /// The tolerance in degrees.
    private static let tolerance = 1e-6

    /// Whether the whole box lies inside the ring.
    ///
    /// - Complexity: O(corners)
    package func contains(_ box: BoundingBox) -> Bool {
        let width = box.width
        guard box.south >= south - Self.tolerance, box.north <= north + Self.tolerance else { return false }
        let start = turned(box.west)
        guard start + width <= east + Self.tolerance else { return false }
        let inner = PlainBox(west: start, east: start + width, south: box.south, north: box.north)
            .inset(by: Self.tolerance)
        return containsUnrolled(longitude: inner.center.longitude, latitude: inner.center.latitude)
            && !isCrossing(inner)
    }

    /// Whether a box shares a point with the ring.
    ///
    /// - Complexity: O(corners)
    package func touches(_ box: BoundingBox) -> Bool {
        guard box.south <= north, box.north >= south else { return false }
        let width = box.width
        // The box, shifted by multiples of 360°, for each shift at which it may meet the ring.
        var start = box.west + ((west - width - box.west) / 360).rounded(.up) * 360
        while start <= east {
            let inner = PlainBox(west: start, east: start + width, south: box.south, north: box.north)
                .inset(by: Self.tolerance)
            if isCrossing(inner) { return true }
            if containsUnrolled(longitude: inner.center.longitude, latitude: inner.center.latitude) { return true }
            start += 360
        }
        return false
    }

    /// Whether the whole area lies inside the ring; its holes count as parts of it.
    ///
    /// - Complexity: O(corners of the ring × corners of the area)
    package func contains(_ area: MultiPolygon) -> Bool {
        area.polygons.allSatisfy { rings in rings.first.map(contains(exterior:)) ?? true }
    }

    /// Whether an area shares a point with the ring; its holes count as parts of it.
    ///
    /// - Complexity: O(corners of the ring × corners of the area)
    package func touches(_ area: MultiPolygon) -> Bool {
        area.polygons.contains { rings in rings.first.map(touches(exterior:)) ?? false }
    }

    private func contains(exterior: [LonLat]) -> Bool {
        let latitudes = exterior.map(\.latitude)
        guard let low = exterior.map(\.longitude).min(), let southern = latitudes.min(), let northern = latitudes.max(),
            southern >= south - Self.tolerance, northern <= north + Self.tolerance
        else { return false }
        let shift = turned(low) - low
        let places = exterior.map { Corner(longitude: $0.longitude + shift, latitude: $0.latitude) }
        return zip(places, places.dropFirst()).allSatisfy { a, b in
            let middle = Corner(longitude: (a.longitude + b.longitude) / 2, latitude: (a.latitude + b.latitude) / 2)
            return isInsideOrOnRim(a) && isInsideOrOnRim(middle) && !crosses(a, b)
        }
    }

    private func touches(exterior: [LonLat]) -> Bool {
        guard let low = exterior.map(\.longitude).min(), let high = exterior.map(\.longitude).max() else {
            return false
        }
        var shift = ((west - high) / 360).rounded(.up) * 360
        while low + shift <= east {
            let places = exterior.map { Corner(longitude: $0.longitude + shift, latitude: $0.latitude) }
            if zip(places, places.dropFirst()).contains(where: { crosses($0, $1) }) { return true }
            if let first = places.first, isInsideOrOnRim(first) { return true }
            if let corner = corners.first, AreaRing(uncheckedCorners: places).isInsideOrOnRim(corner) { return true }
            shift += 360
        }
        return false
    }

    /// A longitude shifted by a multiple of 360° to the range that begins with the ring.
    private func turned(_ longitude: Double) -> Double {
        longitude + ((west - Self.tolerance - longitude) / 360).rounded(.up) * 360
    }

    /// Whether an edge shares a point with a box.
    private func isCrossing(_ box: PlainBox) -> Bool {
        guard var previous = corners.last else { return false }
        for corner in corners {
            if box.isCrossed(from: previous, to: corner) { return true }
            previous = corner
        }
        return false
    }

    /// Whether an edge crosses a line from one of its sides to the other.
    private func crosses(_ a: Corner, _ b: Corner) -> Bool {
        guard var previous = corners.last else { return false }
        for corner in corners {
            if Self.side(a, b, previous) * Self.side(a, b, corner) < 0,
                Self.side(previous, corner, a) * Self.side(previous, corner, b) < 0
            {
                return true
            }
            previous = corner
        }
        return false
    }

    /// The side of a line on which a corner lies: 1, −1, or 0 within the tolerance.
    private static func side(_ a: Corner, _ b: Corner, _ c: Corner) -> Int {
        let (x, y) = (b.longitude - a.longitude, b.latitude - a.latitude)
        let area = x * (c.latitude - a.latitude) - y * (c.longitude - a.longitude)
        let length = (x * x + y * y).squareRoot()
        if abs(area) <= tolerance * length { return 0 }
        return area > 0 ? 1 : -1
    }

    private func isInsideOrOnRim(_ place: Corner) -> Bool {
        if containsUnrolled(longitude: place.longitude, latitude: place.latitude) { return true }
        guard var previous = corners.last else { return false }
        for corner in corners {
            if Self.distance(from: place, to: previous, corner) <= Self.tolerance { return true }
            previous = corner
        }
        return false
    }

    /// The distance from a place to an edge, in degrees.
    private static func distance(from place: Corner, to a: Corner, _ b: Corner) -> Double {
        let (x, y) = (b.longitude - a.longitude, b.latitude - a.latitude)
        let squared = x * x + y * y
        let along =
            squared > 0 ? ((place.longitude - a.longitude) * x + (place.latitude - a.latitude) * y) / squared : 0
        let share = min(max(along, 0), 1)
        let (dx, dy) = (a.longitude + share * x - place.longitude, a.latitude + share * y - place.latitude)
        return (dx * dx + dy * dy).squareRoot()
    }
}

/// A box whose longitudes continue beyond ±180 across the antimeridian.
private struct PlainBox {
    var west: Double
    var east: Double
    var south: Double
    var north: Double

    var center: (longitude: Double, latitude: Double) { ((west + east) / 2, (south + north) / 2) }

    /// A smaller box around the same centre. A side that isn't longer than twice the distance shrinks to nothing.
    func inset(by distance: Double) -> PlainBox {
        let (x, y) = (min(distance, (east - west) / 2), min(distance, (north - south) / 2))
        return PlainBox(west: west + x, east: east - x, south: south + y, north: north - y)
    }

    /// Source: Y.-D. Liang, B. Barsky, "A new concept and method for line clipping", ACM TOG 3 (1984),
    /// doi:10.1145/357332.357333
    func isCrossed(from a: AreaRing.Corner, to b: AreaRing.Corner) -> Bool {
        if max(a.longitude, b.longitude) < west || min(a.longitude, b.longitude) > east { return false }
        if max(a.latitude, b.latitude) < south || min(a.latitude, b.latitude) > north { return false }
        var (enters, leaves) = (0.0, 1.0)
        let (dx, dy) = (b.longitude - a.longitude, b.latitude - a.latitude)
        return Self.clip(-dx, a.longitude - west, &enters, &leaves)
            && Self.clip(dx, east - a.longitude, &enters, &leaves)
            && Self.clip(-dy, a.latitude - south, &enters, &leaves)
            && Self.clip(dy, north - a.latitude, &enters, &leaves) && enters <= leaves
    }

    private static func clip(_ step: Double, _ room: Double, _ enters: inout Double, _ leaves: inout Double) -> Bool {
        if step == 0 { return room >= 0 }
        if step < 0 { enters = max(enters, room / step) } else { leaves = min(leaves, room / step) }
        return true
    }
}

extension BoundingBox {
    /// The width in degrees of longitude.
    fileprivate var width: Double { crossesAntimeridian ? east + 360 - west : east - west }
}
