/// A ring whose longitudes continue across the antimeridian without wrapping, with either winding. It isn't closed: the
/// last corner is joined to the first.
struct UnrolledRing {
    struct Corner: Hashable {
        var longitude: Double
        var latitude: Double
    }

    private(set) var corners: [Corner]

    init(corners: [Corner]) { self.corners = corners }

    /// Joins places by the shorter way, starting with a longitude near `start`. A ring around a pole is extended to it
    /// along the antimeridian. The pole is the one on the ring's side of the equator.
    init(_ places: [LonLat], from start: Double) {
        let path = RingPath(places, from: start)
        let corners = path.corners.map(\.corner)
        self.init(corners: path.isAroundPole ? UnrolledRing.extendedToPole(corners, to: path.end) : corners)
    }

    /// Cuts a ring around a pole at the antimeridian, and extends it along that to the pole and back. If the ring meets
    /// the antimeridian several times, the cut is at the place nearest to the pole.
    private static func extendedToPole(_ corners: [Corner], to end: Corner) -> [Corner] {
        let pole: Double = corners.reduce(0) { $0 + $1.latitude } > 0 ? 90 : -90
        var cut: (edge: Int, corner: Corner)?
        for (edge, (a, b)) in zip(corners, corners.dropFirst() + [end]).enumerated() {
            // An edge is shorter than 180°, so it meets at most one antimeridian.
            let meridian = ((max(a.longitude, b.longitude) - 180) / 360).rounded(.down) * 360 + 180
            guard min(a.longitude, b.longitude) < meridian else { continue }
            let share = (meridian - a.longitude) / (b.longitude - a.longitude)
            let met = Corner(longitude: meridian, latitude: a.latitude + (b.latitude - a.latitude) * share)
            if abs(met.latitude - pole) < abs((cut?.corner.latitude ?? -pole) - pole) { cut = (edge, met) }
        }
        guard let (edge, met) = cut else { return corners }
        let turn: Double = end.longitude > corners[0].longitude ? 360 : -360
        // It begins and ends at the cut, from one side of the map to the other.
        let shift = -turn / 2 - met.longitude
        func moved(_ corner: Corner, by turns: Double) -> Corner {
            Corner(longitude: corner.longitude + shift + turns, latitude: corner.latitude)
        }
        var ring = [moved(met, by: 0)] + corners[(edge + 1)...].map { moved($0, by: 0) }
        ring += corners[...edge].map { moved($0, by: turn) }
        ring.append(moved(met, by: turn))
        ring.append(Corner(longitude: turn / 2, latitude: pole))
        ring.append(Corner(longitude: -turn / 2, latitude: pole))
        return zip(ring, ring.dropFirst() + [ring[0]]).filter { $0 != $1 }.map(\.0)
    }

    /// The parts between meridians of 180°, each a closed ring with longitudes −180…180 and the same winding. If a
    /// meridian cuts the ring several times, each piece is a separate ring.
    ///
    /// Source: RFC 7946 section 3.1.9
    var homeRings: [[LonLat]] {
        [-360.0, 0, 360].flatMap { turn in
            UnrolledRing.pieces(of: corners, eastOf: turn - 180)
                .flatMap { UnrolledRing.pieces(of: $0, westOf: turn + 180) }
                .compactMap { part -> [LonLat]? in
                    guard part.count >= 3, abs(UnrolledRing.signedArea(part)) > 1e-12 else { return nil }
                    let ring = part.map { LonLat(uncheckedLongitude: $0.longitude - turn, latitude: $0.latitude) }
                    return ring + ring.prefix(1)
                }
        }
    }

    /// The area in square degrees, positive for a counter-clockwise ring.
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

    private static func pieces(of corners: [Corner], eastOf limit: Double) -> [[Corner]] {
        pieces(of: corners, at: limit) { $0 > $1 }
    }

    private static func pieces(of corners: [Corner], westOf limit: Double) -> [[Corner]] {
        pieces(of: corners, at: limit) { $0 < $1 }
    }

    /// The parts of a simple ring on one side of a meridian. Sorted along the meridian, its crossings bound the
    /// interior in pairs. So each end of a piece is joined to the other end of its pair.
    private static func pieces(of corners: [Corner], at limit: Double, keeps: (Double, Double) -> Bool) -> [[Corner]] {
        guard let start = corners.indices.first(where: { !keeps(corners[$0].longitude, limit) }) else {
            return [corners]
        }
        var stretches: [[Corner]] = []
        var open: [Corner]?
        var previous = corners[start]
        for offset in 1...corners.count {
            let corner = corners[(start + offset) % corners.count]
            if keeps(corner.longitude, limit) != keeps(previous.longitude, limit) {
                let share = (limit - previous.longitude) / (corner.longitude - previous.longitude)
                let cut = Corner(
                    longitude: limit, latitude: previous.latitude + (corner.latitude - previous.latitude) * share)
                if let stretch = open {
                    stretches.append(stretch + [cut])
                    open = nil
                } else {
                    open = [cut]
                }
            }
            if keeps(corner.longitude, limit) { open?.append(corner) }
            previous = corner
        }
        let ends = stretches.indices.flatMap { [(stretch: $0, isEntry: true), (stretch: $0, isEntry: false)] }.sorted {
            latitude($0, stretches) < latitude($1, stretches)
        }
        var partner: [Int: Int] = [:]
        for pair in stride(from: 0, to: ends.count - 1, by: 2) {
            let (a, b) = (ends[pair], ends[pair + 1])
            if a.isEntry != b.isEntry { partner[a.isEntry ? b.stretch : a.stretch] = a.isEntry ? a.stretch : b.stretch }
        }
        var rings: [[Corner]] = []
        var isTaken = [Bool](repeating: false, count: stretches.count)
        for first in stretches.indices where !isTaken[first] {
            var ring: [Corner] = []
            var current: Int? = first
            while let stretch = current, !isTaken[stretch] {
                isTaken[stretch] = true
                ring += stretches[stretch]
                current = partner[stretch]
            }
            rings.append(ring)
        }
        return rings
    }

    private static func latitude(_ end: (stretch: Int, isEntry: Bool), _ stretches: [[Corner]]) -> Double {
        let stretch = stretches[end.stretch]
        return (end.isEntry ? stretch.first : stretch.last)?.latitude ?? 0
    }
}
