/// A ring whose longitudes run on across the antimeridian, so that no edge jumps; not closed: the last corner joins the
/// first. Either winding.
struct UnrolledRing {
    struct Corner: Hashable {
        var longitude: Double
        var latitude: Double
    }

    private(set) var corners: [Corner]

    init(corners: [Corner]) { self.corners = corners }

    /// Joins places by their short ways, beginning in the turn of the world around a longitude. A ring that runs around a
    /// pole is led over it: the pole on its side of the equator.
    init(_ places: [LonLat], from start: Double) {
        var longitude = start
        var corners: [Corner] = []
        func unroll(_ place: LonLat) -> Corner {
            longitude = place.longitude + ((longitude - place.longitude) / 360).rounded() * 360
            return Corner(longitude: longitude, latitude: place.latitude)
        }
        for place in places { corners.append(unroll(place)) }
        if let first = places.first, let start = corners.first {
            let end = unroll(first)
            if abs(end.longitude - start.longitude) > 180 {
                let sum = corners.reduce(0) { $0 + $1.latitude }
                let pole: Double = sum > 0 ? 90 : -90
                corners.append(end)
                corners.append(Corner(longitude: end.longitude, latitude: pole))
                corners.append(Corner(longitude: start.longitude, latitude: pole))
            }
        }
        self.corners = corners
    }

    /// Its parts between the meridians 180°, each a closed ring with longitudes −180…180, wound as it is.
    ///
    /// Source: RFC 7946 section 3.1.9
    var homeRings: [[LonLat]] {
        [-360.0, 0, 360].compactMap { turn in
            let east = UnrolledRing.clip(corners, at: turn - 180) { $0 >= $1 }
            let part = UnrolledRing.clip(east, at: turn + 180) { $0 <= $1 }
            guard part.count >= 3, abs(UnrolledRing.signedArea(part)) > 1e-12 else { return nil }
            let ring = part.map { LonLat(uncheckedLongitude: $0.longitude - turn, latitude: $0.latitude) }
            return ring + ring.prefix(1)
        }
    }

    /// In square degrees, positive where it is wound counter-clockwise.
    var signedArea: Double { UnrolledRing.signedArea(corners) }

    mutating func reverse() { corners.reverse() }

    private static func signedArea(_ corners: [Corner]) -> Double {
        guard var previous = corners.last else { return 0 }
        var sum = 0.0
        for corner in corners {
            sum += previous.longitude * corner.latitude - corner.longitude * previous.latitude
            previous = corner
        }
        return sum / 2
    }

    /// Source: I. Sutherland, G. Hodgman, "Reentrant polygon clipping", CACM 17 (1974)
    private static func clip(_ corners: [Corner], at limit: Double, keeps: (Double, Double) -> Bool) -> [Corner] {
        guard var previous = corners.last else { return [] }
        var result: [Corner] = []
        for corner in corners {
            let isInside = keeps(corner.longitude, limit)
            if isInside != keeps(previous.longitude, limit) {
                let share = (limit - previous.longitude) / (corner.longitude - previous.longitude)
                result.append(
                    Corner(
                        longitude: limit, latitude: previous.latitude + (corner.latitude - previous.latitude) * share))
            }
            if isInside { result.append(corner) }
            previous = corner
        }
        return result
    }
}
