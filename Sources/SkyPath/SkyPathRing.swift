import Foundation
public import Geometry

/// Functions on rings in SkyPath's requests.
public enum SkyPathRing {
    /// The ring with its first position repeated at the end.
    public static func closed(_ ring: [LonLat]) -> [LonLat] {
        guard let first = ring.first, ring.count > 1, first != ring.last else { return ring }
        return ring + [first]
    }

    /// The area inside a ring in km², on the sphere of mean radius; either winding. A corridor that exceeds the
    /// upstream's limit must be cut into pieces first.
    ///
    /// Source: Chamberlain & Duquette 2007, "Some algorithms for polygons on a sphere", JPL 07-03, section 3
    public static func areaKm2(_ ring: [LonLat]) -> Double {
        let ring = closed(ring)
        var sum = 0.0
        for (a, b) in zip(ring, ring.dropFirst()) {
            sum +=
                LonLat.wrap(b.longitude - a.longitude) * .pi / 180
                * (2 + sin(a.latitude * .pi / 180) + sin(b.latitude * .pi / 180))
        }
        return abs(sum) * earthRadiusKm * earthRadiusKm / 2
    }

    private static let earthRadiusKm = 6_371.008_8

    /// The ring with longitudes that continue beyond ±180, so that no edge wraps around. The result is within −360…360.
    static func unrolled(_ ring: [LonLat]) -> [(longitude: Double, latitude: Double)] {
        var longitude = ring.first?.longitude ?? 0
        var result: [(longitude: Double, latitude: Double)] = []
        for place in ring {
            longitude += LonLat.wrap(place.longitude - longitude)
            result.append((longitude, place.latitude))
        }
        return result
    }
}
