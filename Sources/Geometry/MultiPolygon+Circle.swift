extension MultiPolygon {
    /// The area within a distance of a place along geodesics. Its boundary is off by at most 0.01 % of the distance.
    ///
    /// - Parameter metres: above 0 and at most half of the way to the opposite place.
    package init?(around centre: LonLat, metres: Double) {
        self.init(outline: GeodesicCircle(centre: centre, metres: metres).ring)
    }
}

/// The places at a distance from a centre.
private struct GeodesicCircle {
    let centre: LonLat
    let metres: Double

    private struct Point {
        var bearing: Double
        var place: LonLat
    }

    /// Chords of this many points are at most 0.01 % of the radius inside the circle.
    private static let points = 240
    /// The longest edge in degrees of longitude, because edges are straight in degrees and not on the ground.
    private static let longestEdge = 1.0
    /// How often an edge is halved, for a circle that passes a pole at a few metres.
    private static let maximumHalves = 12

    /// Clockwise and not closed.
    var ring: [LonLat] {
        let step = 360 / Double(Self.points)
        var ring: [LonLat] = []
        var start = point(0)
        for number in 1...Self.points {
            let end = point(Double(number) * step)
            add(from: start, to: end, halves: 0, to: &ring)
            start = end
        }
        return ring
    }

    private func point(_ bearing: Double) -> Point {
        Point(bearing: bearing, place: Geodesic.place(from: centre, bearing: bearing, metres: metres).place)
    }

    /// Adds the start of an edge and what lies between its ends.
    private func add(from start: Point, to end: Point, halves: Int, to ring: inout [LonLat]) {
        let apart = end.place.longitude - start.place.longitude
        let span = abs(apart - (apart / 360).rounded() * 360)
        guard span > Self.longestEdge, halves < Self.maximumHalves else { return ring.append(start.place) }
        let middle = point((start.bearing + end.bearing) / 2)
        add(from: start, to: middle, halves: halves + 1, to: &ring)
        add(from: middle, to: end, halves: halves + 1, to: &ring)
    }
}
