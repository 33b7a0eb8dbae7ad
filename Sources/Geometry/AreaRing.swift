import Foundation

/// A simple area on the map: a closed ring of places whose edges are straight in longitude and latitude, each the short
/// way round. Either winding.
public struct AreaRing: Sendable, Hashable {
    /// Not closed: the last joins the first. Longitudes run on across the antimeridian, so that no edge jumps.
    private let corners: [Corner]

    struct Corner: Sendable, Hashable {
        var longitude: Double
        var latitude: Double
    }

    /// Positions that a ring may have, the closing one included: what upstreams take.
    ///
    /// Source: SkyPath corridor reference (at most 250 vertices); RFC 7946 section 3.1.6 (at least 4)
    public static let positions = 4...250

    /// Why a ring can't be used.
    public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        case count(Int)
        case open
        case aroundThePole

        public var description: String {
            switch self {
            case .count(let count): "the ring has \(count) positions; it must have 4 to 250"
            case .open: "the ring's last position must equal its first"
            case .aroundThePole: "the ring runs around a pole"
            }
        }
    }

    /// A closed ring: its last place equals its first.
    public init(_ places: [LonLat]) throws(Failure) {
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
        self.corners = corners
    }

    private init(corners: [Corner]) { self.corners = corners }

    /// The closed ring, longitudes −180…180.
    public var places: [LonLat] {
        (corners + corners.prefix(1)).map {
            LonLat(uncheckedLongitude: LonLat.wrap($0.longitude), latitude: $0.latitude)
        }
    }

    /// Whether a place lies inside.
    ///
    /// Source: the crossing number, W. R. Franklin's PNPOLY
    public func contains(_ place: LonLat) -> Bool {
        [-360.0, 0, 360].contains { containsUnrolled(longitude: place.longitude + $0, latitude: place.latitude) }
    }

    private func containsUnrolled(longitude: Double, latitude: Double) -> Bool {
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
    public var areaKm2: Double {
        guard var previous = corners.last else { return 0 }
        var sum = 0.0
        for corner in corners {
            sum += (corner.longitude - previous.longitude) * .pi / 180
                * (2 + sin(previous.latitude * .pi / 180) + sin(corner.latitude * .pi / 180))
            previous = corner
        }
        let radiusKm = 6_371.008_8
        return abs(sum) * radiusKm * radiusKm / 2
    }

    /// The ring cut into pieces of at most an area each, by halving across the longer side again and again. Together the
    /// pieces cover the ring, and share nothing but edges.
    public func pieces(maximumAreaKm2: Double) -> [AreaRing] {
        guard areaKm2 > maximumAreaKm2, maximumAreaKm2 > 0 else { return corners.count >= 3 ? [self] : [] }
        let longitudes = corners.map(\.longitude)
        let latitudes = corners.map(\.latitude)
        guard let west = longitudes.min(), let east = longitudes.max(), let south = latitudes.min(),
            let north = latitudes.max()
        else { return [] }
        let width = (east - west) * cos((south + north) / 2 * .pi / 180)
        let halves: (AreaRing, AreaRing)
        if width > north - south {
            halves = cut(at: (west + east) / 2, by: \.longitude)
        } else {
            halves = cut(at: (south + north) / 2, by: \.latitude)
        }
        return halves.0.pieces(maximumAreaKm2: maximumAreaKm2) + halves.1.pieces(maximumAreaKm2: maximumAreaKm2)
    }

    private func cut(at limit: Double, by axis: KeyPath<Corner, Double>) -> (AreaRing, AreaRing) {
        (
            AreaRing(corners: clipped(at: limit, by: axis) { $0 <= $1 }),
            AreaRing(corners: clipped(at: limit, by: axis) { $0 >= $1 })
        )
    }

    /// Source: I. Sutherland, G. Hodgman, "Reentrant polygon clipping", CACM 17 (1974)
    private func clipped(at limit: Double, by axis: KeyPath<Corner, Double>, keeps: (Double, Double) -> Bool) -> [Corner] {
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
