import Foundation

/// A simple area on the map: a closed ring of places with either winding. Edges are straight in longitude and latitude,
/// and each takes the shorter way around the earth.
package struct AreaRing: Sendable, Hashable {
    /// The corners without a repeated last one. Longitudes continue beyond ±180 across the antimeridian, so that no
    /// edge wraps around.
    let corners: [Corner]
    /// The box around the corners, in the same longitudes.
    let west: Double
    let east: Double
    let south: Double
    let north: Double

    /// The box around the ring.
    package var box: BoundingBox? { BoundingBox(west: west, south: south, east: east, north: north) }

    struct Corner: Sendable, Hashable {
        var longitude: Double
        var latitude: Double
    }

    /// The number of positions that a ring may have, including the closing one: the limits of the upstreams.
    ///
    /// Source: docs/upstreams/skypath.md, "Areas" (at most 250 positions); RFC 7946 section 3.1.6 (at least 4)
    package static let positions = 4...250

    /// Why a ring can't be used.
    package enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        case count(Int)
        case open
        case aroundThePole
        /// Two edges cross or touch, by the indices of their first places.
        case crossing(Int, Int)
        case withoutArea

        package var description: String {
            switch self {
            case .count(let count): "the ring has \(count) positions; it must have 4 to 250"
            case .open: "the ring's last position must equal its first"
            case .aroundThePole: "the ring runs around a pole"
            case .crossing(let a, let b): RingRules.Failure.crossing(a, b).description
            case .withoutArea: "the ring encloses no area"
            }
        }
    }

    /// Makes a closed ring, whose last place equals its first and which doesn't cross or touch itself.
    package init(_ places: [LonLat]) throws(Failure) {
        try self.init(closed: places)
        if let (a, b) = RingRules.crossing(of: places) { throw .crossing(a, b) }
        guard areaKm2 > AreaRing.sliverKm2 else { throw .withoutArea }
    }

    /// Makes a closed ring that may touch itself, as the parts of a jagged one do.
    init(closed places: [LonLat]) throws(Failure) {
        guard AreaRing.positions.contains(places.count) else { throw .count(places.count) }
        guard places.first == places.last else { throw .open }
        var corners: [Corner] = []
        var longitude = places[0].longitude
        for place in places {
            let step = place.longitude - longitude
            longitude += step - (step / 360).rounded() * 360
            corners.append(Corner(longitude: longitude, latitude: place.latitude))
        }
        guard abs(corners[corners.count - 1].longitude - corners[0].longitude) < 180 else { throw .aroundThePole }
        corners.removeLast()
        self.init(corners: corners)
    }

    /// Makes a ring from the result of `coordinates`; nil for values that can't be a ring.
    package init?(coordinates: [Double]) {
        guard coordinates.count % 2 == 0, coordinates.count >= 6, coordinates.allSatisfy(\.isFinite) else { return nil }
        self.init(
            corners: stride(from: 0, to: coordinates.count, by: 2).map {
                Corner(longitude: coordinates[$0], latitude: coordinates[$0 + 1])
            })
    }

    /// The longitude and latitude of each corner in turn, not closed. Longitudes continue beyond ±180 across the
    /// antimeridian.
    package var coordinates: [Double] { corners.flatMap { [$0.longitude, $0.latitude] } }

    /// Makes a ring of any corners, closed or not, without validation.
    init(uncheckedCorners corners: [Corner]) { self.init(corners: corners) }

    private init(corners: [Corner]) {
        self.corners = corners
        west = corners.map(\.longitude).min() ?? 0
        east = corners.map(\.longitude).max() ?? 0
        south = corners.map(\.latitude).min() ?? 0
        north = corners.map(\.latitude).max() ?? 0
    }

    /// The closed ring, longitudes −180…180.
    package var places: [LonLat] {
        (corners + corners.prefix(1)).map {
            LonLat(uncheckedLongitude: LonLat.wrap($0.longitude), latitude: $0.latitude)
        }
    }

    /// Whether a place lies inside.
    ///
    /// Source: the crossing number, W. R. Franklin's PNPOLY, https://wrfranklin.org/Research/Short_Notes/pnpoly.html
    package func contains(_ place: LonLat) -> Bool {
        guard place.latitude >= south, place.latitude <= north else { return false }
        // The place, shifted by multiples of 360°, for each shift at which it may lie within the box.
        var longitude = place.longitude + ((west - place.longitude) / 360).rounded(.up) * 360
        while longitude <= east {
            if containsUnrolled(longitude: longitude, latitude: place.latitude) { return true }
            longitude += 360
        }
        return false
    }

    func containsUnrolled(longitude: Double, latitude: Double) -> Bool {
        var inside = false
        guard var previous = corners.last else { return false }
        for corner in corners {
            if (corner.latitude > latitude) != (previous.latitude > latitude) {
                let share = (latitude - corner.latitude) / (previous.latitude - corner.latitude)
                if longitude < corner.longitude + share * (previous.longitude - corner.longitude) { inside.toggle() }
            }
            previous = corner
        }
        return inside
    }

    /// The area in km² on the sphere of mean radius.
    ///
    /// Source: R. Chamberlain, W. Duquette, "Some algorithms for polygons on a sphere", JPL 07-03 (2007)
    package var areaKm2: Double {
        guard var previous = corners.last else { return 0 }
        var sum = 0.0
        for corner in corners {
            sum +=
                (corner.longitude - previous.longitude) * .pi / 180
                * (2 + sin(previous.latitude * .pi / 180) + sin(corner.latitude * .pi / 180))
            previous = corner
        }
        let radiusKm = 6_371.008_8
        return abs(sum) * radiusKm * radiusKm / 2
    }

    /// The ring in parts of at most a maximum area and 250 positions each. It is cut in halves repeatedly, along
    /// meridians and parallels. The parts cover the ring together and share only edges.
    ///
    /// - Complexity: O(corners × pieces); there are about 1.5 × area ÷ maximum of them.
    package func pieces(maximumAreaKm2: Double) -> [AreaRing] {
        pieces(maximumAreaKm2: maximumAreaKm2, cuts: AreaRing.maximumCuts)
    }

    /// The maximum depth of cuts. 2⁴⁰ pieces of the world are smaller than any requested area.
    private static let maximumCuts = 40
    /// The maximum width of a piece in degrees. An edge takes the shorter way around the earth, so an edge along a cut
    /// must stay well below 180°.
    private static let widest = 170.0
    /// Pieces smaller than a square metre are rounding errors of a cut.
    private static let sliverKm2 = 1e-6

    private func pieces(maximumAreaKm2: Double, cuts: Int) -> [AreaRing] {
        guard corners.count >= 3 else { return [] }
        let area = areaKm2
        let hasTooMany = corners.count >= AreaRing.positions.upperBound
        let isTooLarge = maximumAreaKm2 > 0 && area > maximumAreaKm2
        guard isTooLarge || hasTooMany, cuts > 0 else { return [self] }
        let alongMeridian = cut(at: (west + east) / 2, by: \.longitude)
        let alongParallel = cut(at: (south + north) / 2, by: \.latitude)
        let width = (east - west) * cos((south + north) / 2 * .pi / 180)
        var halves = width > north - south || east - west > AreaRing.widest ? alongMeridian : alongParallel
        // A jagged edge along the cut would add corners, so choose the cut with fewer.
        if hasTooMany, east - west <= AreaRing.widest {
            halves = [alongMeridian, alongParallel].min { $0.maximumCorners < $1.maximumCorners } ?? halves
        }
        return halves.parts.filter { $0.areaKm2 > AreaRing.sliverKm2 }.flatMap {
            $0.pieces(maximumAreaKm2: maximumAreaKm2, cuts: cuts - 1)
        }
    }

    private struct Halves {
        var parts: [AreaRing]
        var maximumCorners: Int { parts.map(\.corners.count).max() ?? 0 }
    }

    private func cut(at limit: Double, by axis: KeyPath<Corner, Double>) -> Halves {
        Halves(parts: [
            AreaRing(corners: clipped(at: limit, by: axis) { $0 <= $1 }),
            AreaRing(corners: clipped(at: limit, by: axis) { $0 >= $1 }),
        ])
    }

    /// Source: I. Sutherland, G. Hodgman, "Reentrant polygon clipping", CACM 17 (1974), doi:10.1145/360767.360802
    private func clipped(at limit: Double, by axis: KeyPath<Corner, Double>, keeps: (Double, Double) -> Bool)
        -> [Corner]
    {
        var result: [Corner] = []
        guard var previous = corners.last else { return [] }
        for corner in corners {
            let isInside = keeps(corner[keyPath: axis], limit)
            if isInside != keeps(previous[keyPath: axis], limit) {
                let share = (limit - previous[keyPath: axis]) / (corner[keyPath: axis] - previous[keyPath: axis])
                result.append(
                    Corner(
                        longitude: previous.longitude + (corner.longitude - previous.longitude) * share,
                        latitude: previous.latitude + (corner.latitude - previous.latitude) * share))
            }
            if isInside { result.append(corner) }
            previous = corner
        }
        return result
    }
}
