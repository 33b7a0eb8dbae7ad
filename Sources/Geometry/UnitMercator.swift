import Foundation

/// The spherical web mercator square: x and y from 0 to 1, (0, 0) the north-west corner, y grows southward.
/// Latitudes beyond ±85.0511° lie outside the square, at y < 0 or y > 1.
///
/// Source: EPSG:3857; OGC 17-083r4 (Two Dimensional Tile Matrix Set) annex D.1 WebMercatorQuad
public enum UnitMercator {
    /// The latitude of the square's northern edge: atan(sinh π) in degrees.
    public static let maximumLatitude = 85.051_128_779_806_59

    /// The x of a longitude: 0 at −180°, 1 at 180°.
    public static func x(longitude: Double) -> Double { longitude / 360 + 0.5 }

    /// The y of a latitude: 0 at 85.0511° N, 1 at 85.0511° S. Latitudes are clamped to ±89.99° so that the result stays
    /// within −1…2.
    public static func y(latitude: Double) -> Double {
        let phi = min(max(latitude, -89.99), 89.99) * .pi / 180
        return 0.5 - log(tan(.pi / 4 + phi / 2)) / (2 * .pi)
    }

    /// The longitude in degrees, −180…180 for x in 0…1.
    public static func longitude(x: Double) -> Double { (x - 0.5) * 360 }

    /// The latitude in degrees, for any finite y.
    public static func latitude(y: Double) -> Double { atan(sinh(.pi * (1 - 2 * y))) * 180 / .pi }
}
