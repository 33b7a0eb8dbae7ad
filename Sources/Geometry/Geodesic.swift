import CGeodesic
import Foundation

/// Geodesics (shortest paths) on the WGS 84 ellipsoid between any two places, by GeographicLib.
///
/// Source: C. F. F. Karney, "Algorithms for geodesics", Journal of Geodesy 87 (2013), doi:10.1007/s00190-012-0578-z
public enum Geodesic {
    /// Metres in a nautical mile.
    ///
    /// Source: NIST SP 811, https://www.nist.gov/pml/special-publication-811
    public static let metresPerNauticalMile = 1_852.0

    private static let a = 6_378_137.0
    private static let f = 1 / 298.257_223_563

    /// The length and initial bearing of a geodesic between two places.
    public struct Path: Sendable, Hashable {
        /// The length in metres.
        public var metres: Double
        /// The initial bearing in degrees clockwise from north, 0 ..< 360.
        public var bearing: Double
    }

    /// The shortest path. Between opposite places, where several are equally short, it is one of them.
    public static func path(from start: LonLat, to end: LonLat) -> Path {
        var bearing = 0.0
        let metres = billow_geodesic_length(
            start.longitude, start.latitude, end.longitude, end.latitude, &bearing)
        return Path(metres: metres, bearing: compass(bearing))
    }

    /// A place on a geodesic, and the bearing there.
    package typealias Point = (place: LonLat, bearing: Double)

    /// The place at a distance along a geodesic, and the bearing there.
    package static func place(from start: LonLat, bearing: Double, metres: Double) -> Point {
        var point = BillowGeodesicPoint()
        withUnsafePointer(to: metres) {
            billow_geodesic_points(start.longitude, start.latitude, bearing, $0, 1, &point)
        }
        return Self.point(point)
    }

    /// The places at several distances along one geodesic, with the bearings there. It takes a third of the time of
    /// separate calls.
    package static func places(from start: LonLat, bearing: Double, metres: [Double]) -> [Point] {
        var points = [BillowGeodesicPoint](repeating: BillowGeodesicPoint(), count: metres.count)
        billow_geodesic_points(start.longitude, start.latitude, bearing, metres, metres.count, &points)
        return points.map(point)
    }

    private static func point(_ point: BillowGeodesicPoint) -> Point {
        let place = LonLat(uncheckedLongitude: LonLat.wrap(point.longitude), latitude: point.latitude)
        return (place, compass(point.bearing))
    }

    /// Converts a bearing from −180…180 to 0..<360.
    private static func compass(_ bearing: Double) -> Double { bearing < 0 ? bearing + 360 : bearing }

    /// A place in space: metres from the centre of the earth, z towards the north pole. Straight lines between two
    /// vectors approximate paths of some hundred kilometres anywhere, including poles and antimeridian.
    ///
    /// Source: EPSG guidance note 7-2, method 9602
    package static func vector(_ place: LonLat) -> SIMD3<Double> {
        let (longitude, latitude) = (place.longitude * .pi / 180, place.latitude * .pi / 180)
        let e2 = f * (2 - f)
        let n = a / (1 - e2 * sin(latitude) * sin(latitude)).squareRoot()
        return SIMD3(
            n * cos(latitude) * cos(longitude), n * cos(latitude) * sin(longitude), n * (1 - e2) * sin(latitude))
    }

    /// The mean radius of the earth, in metres.
    ///
    /// Source: H. Moritz, "Geodetic Reference System 1980", Journal of Geodesy 74 (2000)
    static let meanRadius = 6_371_008.8

    /// The length of the arc over a chord, in metres, on the sphere of mean radius. The error is 0.01 % up to 1,000 km.
    package static func arc(chord: Double) -> Double {
        2 * meanRadius * asin(min(chord / (2 * meanRadius), 1))
    }

    /// The chord under an arc, in metres: the inverse of `arc(chord:)`.
    package static func chord(arc: Double) -> Double { 2 * meanRadius * sin(min(arc / (2 * meanRadius), .pi / 2)) }

    /// The area within a distance of a place, in square metres, on the sphere of mean radius.
    package static func area(within metres: Double) -> Double {
        2 * .pi * meanRadius * meanRadius * (1 - cos(min(metres / meanRadius, .pi)))
    }

    /// The radius in metres of a circle with the given area: the inverse of `area(within:)`.
    package static func distance(around squareMetres: Double) -> Double {
        meanRadius * acos(max(1 - squareMetres / (2 * .pi * meanRadius * meanRadius), -1))
    }
}
