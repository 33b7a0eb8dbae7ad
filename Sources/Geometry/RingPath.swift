/// A ring on a map whose longitudes aren't wrapped, with each edge taking the shorter way.
///
/// A pole is a point on the earth and a line on the map. A ring with the pole as a corner follows that line from the
/// meridian of its arrival to that of its departure. If these are equal, the detour has no effect; rings that were cut
/// along the antimeridian have such detours.
struct RingPath {
    typealias Corner = UnrolledRing.Corner

    /// The corners without repeats, each with the index of its place.
    let corners: [(corner: Corner, index: Int)]
    /// The first corner reached again: at the same place, or 360° away for a ring around a pole.
    let end: Corner

    /// - Parameter places: not closed, or with the first one repeated at the end.
    init(_ places: [LonLat], from start: Double) {
        let turning = Self.turning(places)
        var corners: [(corner: Corner, index: Int)] = []
        var longitude = start
        func corner(_ meridian: Double, _ latitude: Double) -> Corner {
            longitude = meridian + ((longitude - meridian) / 360).rounded() * 360
            return Corner(longitude: longitude, latitude: latitude)
        }
        for (position, (place, index)) in turning.enumerated() {
            var meridians = [place.longitude]
            if abs(place.latitude) == 90, turning.count > 1 {
                meridians = [turning.count - 1, 1].map { turning[(position + $0) % turning.count].place.longitude }
            }
            for meridian in meridians {
                let corner = corner(meridian, place.latitude)
                if corner != corners.last?.corner { corners.append((corner, index)) }
            }
        }
        end =
            corners.first.map { corner($0.corner.longitude, $0.corner.latitude) }
            ?? Corner(longitude: start, latitude: 0)
        if corners.count > 1, corners.last?.corner == end { corners.removeLast() }
        self.corners = corners
    }

    /// Whether the ring ends 360° from its start.
    var isAroundPole: Bool { abs(end.longitude - (corners.first?.corner.longitude ?? 0)) > 180 }

    /// The places where the ring turns. Consecutive repeats are removed, and poles that are reached and left on one
    /// meridian.
    private static func turning(_ places: [LonLat]) -> [(place: LonLat, index: Int)] {
        var kept: [(place: LonLat, index: Int)] = []
        for (index, place) in places.enumerated() {
            if let last = kept.last, isSame(last.place, place) { continue }
            if kept.count > 1, abs(kept[kept.count - 1].place.latitude) == 90,
                isSameMeridian(kept[kept.count - 2].place, place)
            {
                kept.removeLast()
                if isSame(kept[kept.count - 1].place, place) { continue }
            }
            kept.append((place, index))
        }
        // Remove the same across the end of the ring.
        while kept.count > 1, isSame(kept[0].place, kept[kept.count - 1].place) { kept.removeLast() }
        for pole in [kept.count - 1, 0] where kept.count > 2 && abs(kept[pole].place.latitude) == 90 {
            let (before, after) = (kept[(pole + kept.count - 1) % kept.count], kept[(pole + 1) % kept.count])
            guard isSameMeridian(before.place, after.place) else { continue }
            kept.remove(at: pole)
            if isSame(before.place, after.place) { kept.removeLast() }
        }
        return kept
    }

    private static func isSameMeridian(_ a: LonLat, _ b: LonLat) -> Bool {
        let apart = a.longitude - b.longitude
        return apart == (apart / 360).rounded() * 360
    }

    /// Whether two places are the same point on the earth.
    static func isSame(_ a: LonLat, _ b: LonLat) -> Bool {
        a.latitude == b.latitude && (abs(a.latitude) == 90 || isSameMeridian(a, b))
    }
}
