import Foundation

/// Shortest ways on the WGS 84 ellipsoid.
///
/// Source: T. Vincenty, "Direct and inverse solutions of geodesics on the ellipsoid with application of nested
/// equations", Survey Review 23 (1975)
public enum Geodesic {
    /// Metres in a nautical mile.
    ///
    /// Source: International Hydrographic Bureau, 1929
    public static let metresPerNauticalMile = 1_852.0

    private static let a = 6_378_137.0
    private static let f = 1 / 298.257_223_563
    private static let b = a * (1 - f)
    private static let rounds = 100

    /// The way from one place to another.
    public struct Way: Sendable, Hashable {
        public var metres: Double
        /// Degrees clockwise from north, at the start.
        public var bearing: Double
    }

    /// nil for places on opposite sides of the earth, to about 0.5°, between which the iteration does not settle on
    /// one way.
    public static func way(from start: LonLat, to end: LonLat) -> Way? {
        let l = (end.longitude - start.longitude) * .pi / 180
        let u1 = atan((1 - f) * tan(start.latitude * .pi / 180))
        let u2 = atan((1 - f) * tan(end.latitude * .pi / 180))
        let (s1, c1, s2, c2) = (sin(u1), cos(u1), sin(u2), cos(u2))
        var lambda = l
        for _ in 0..<rounds {
            let (sl, cl) = (sin(lambda), cos(lambda))
            let across = c2 * sl
            let along = c1 * s2 - s1 * c2 * cl
            let sinSigma = (across * across + along * along).squareRoot()
            if sinSigma == 0 { return cl > 0 || s1 == s2 ? Way(metres: 0, bearing: 0) : nil }
            let cosSigma = s1 * s2 + c1 * c2 * cl
            let sigma = atan2(sinSigma, cosSigma)
            let sinAlpha = c1 * c2 * sl / sinSigma
            let cos2Alpha = 1 - sinAlpha * sinAlpha
            let cos2M = cos2Alpha > 1e-15 ? cosSigma - 2 * s1 * s2 / cos2Alpha : 0
            let c = f / 16 * cos2Alpha * (4 + f * (4 - 3 * cos2Alpha))
            let next =
                l + (1 - c) * f * sinAlpha
                * (sigma + c * sinSigma * (cos2M + c * cosSigma * (2 * cos2M * cos2M - 1)))
            guard abs(next - lambda) > 1e-12 else {
                let metres = arc(sigma, sinSigma, cosSigma, cos2M, cos2Alpha)
                let bearing = atan2(c2 * sin(next), c1 * s2 - s1 * c2 * cos(next)) * 180 / .pi
                return Way(metres: metres, bearing: bearing < 0 ? bearing + 360 : bearing)
            }
            // Beyond π the iteration runs away: opposite sides of the earth.
            guard abs(next) <= .pi + abs(l) + 1e-9, abs(next) < 3.2 || abs(l) > .pi else { return nil }
            lambda = next
        }
        return nil
    }

    private static func series(_ cos2Alpha: Double) -> (a: Double, b: Double) {
        let u = cos2Alpha * (a * a - b * b) / (b * b)
        return (
            1 + u / 16_384 * (4_096 + u * (-768 + u * (320 - 175 * u))),
            u / 1_024 * (256 + u * (-128 + u * (74 - 47 * u)))
        )
    }

    private static func deltaSigma(_ b: Double, _ sinSigma: Double, _ cosSigma: Double, _ cos2M: Double) -> Double {
        let outer = cosSigma * (2 * cos2M * cos2M - 1)
        let inner = b / 6 * cos2M * (4 * sinSigma * sinSigma - 3) * (4 * cos2M * cos2M - 3)
        return b * sinSigma * (cos2M + b / 4 * (outer - inner))
    }

    private static func arc(
        _ sigma: Double, _ sinSigma: Double, _ cosSigma: Double, _ cos2M: Double, _ cos2Alpha: Double
    ) -> Double {
        let (factor, series) = series(cos2Alpha)
        return b * factor * (sigma - deltaSigma(series, sinSigma, cosSigma, cos2M))
    }

    /// Where one is after some metres, and the bearing there.
    public static func place(from start: LonLat, bearing: Double, metres: Double) -> (place: LonLat, bearing: Double) {
        let alpha = bearing * .pi / 180
        let (sa, ca) = (sin(alpha), cos(alpha))
        let tanU = (1 - f) * tan(start.latitude * .pi / 180)
        let cosU = 1 / (1 + tanU * tanU).squareRoot()
        let sinU = tanU * cosU
        let sigma1 = atan2(tanU, ca)
        let sinAlpha = cosU * sa
        let cos2Alpha = 1 - sinAlpha * sinAlpha
        let (factor, series) = series(cos2Alpha)
        let whole = metres / (b * factor)
        var sigma = whole
        var cos2M = cos(2 * sigma1 + sigma)
        for _ in 0..<rounds {
            cos2M = cos(2 * sigma1 + sigma)
            let next = whole + deltaSigma(series, sin(sigma), cos(sigma), cos2M)
            let change = abs(next - sigma)
            sigma = next
            if change < 1e-12 { break }
        }
        cos2M = cos(2 * sigma1 + sigma)
        let (ss, cs) = (sin(sigma), cos(sigma))
        let x = sinU * ss - cosU * cs * ca
        let latitude = atan2(
            sinU * cs + cosU * ss * ca, (1 - f) * (sinAlpha * sinAlpha + x * x).squareRoot())
        let lambda = atan2(ss * sa, cosU * cs - sinU * ss * ca)
        let c = f / 16 * cos2Alpha * (4 + f * (4 - 3 * cos2Alpha))
        let longitude =
            lambda - (1 - c) * f * sinAlpha
            * (sigma + c * ss * (cos2M + c * cs * (2 * cos2M * cos2M - 1)))
        let onward = atan2(sinAlpha, -x) * 180 / .pi
        return (
            LonLat(
                uncheckedLongitude: LonLat.wrap(start.longitude + longitude * 180 / .pi),
                latitude: min(max(latitude * 180 / .pi, -90), 90)),
            onward < 0 ? onward + 360 : onward
        )
    }

    /// A place in space: metres from the centre of the earth, z towards the north pole. Straight lines between two of
    /// them are good for distances of some hundred kilometres anywhere, poles and antimeridian included.
    ///
    /// Source: EPSG guidance note 7-2, method 9602
    public static func vector(_ place: LonLat) -> SIMD3<Double> {
        let (longitude, latitude) = (place.longitude * .pi / 180, place.latitude * .pi / 180)
        let e2 = f * (2 - f)
        let n = a / (1 - e2 * sin(latitude) * sin(latitude)).squareRoot()
        return SIMD3(
            n * cos(latitude) * cos(longitude), n * cos(latitude) * sin(longitude), n * (1 - e2) * sin(latitude))
    }

    /// The mean radius of the earth, in metres.
    ///
    /// Source: H. Moritz, "Geodetic Reference System 1980", Journal of Geodesy 74 (2000)
    private static let meanRadius = 6_371_008.8

    /// The arc over a chord, in metres, on the sphere of mean radius; to 0.01 % up to 1,000 km.
    public static func arc(chord: Double) -> Double {
        2 * meanRadius * asin(min(chord / (2 * meanRadius), 1))
    }

    /// The chord under an arc, in metres: what `arc(chord:)` undoes.
    public static func chord(arc: Double) -> Double { 2 * meanRadius * sin(min(arc / (2 * meanRadius), .pi / 2)) }

    /// The area within a distance of a place, in square metres, on the sphere of mean radius.
    public static func area(within metres: Double) -> Double {
        2 * .pi * meanRadius * meanRadius * (1 - cos(min(metres / meanRadius, .pi)))
    }

    /// The distance within which an area lies: what `area(within:)` undoes.
    public static func distance(around squareMetres: Double) -> Double {
        meanRadius * acos(max(1 - squareMetres / (2 * .pi * meanRadius * meanRadius), -1))
    }
}
