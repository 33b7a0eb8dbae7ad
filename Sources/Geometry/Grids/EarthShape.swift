/// The figure of the Earth that a grid is projected from. Longitudes and latitudes aren't converted between figures:
/// models treat those of their sphere as those of WGS 84, and so do their users.
package struct EarthShape: Sendable, Hashable {
    /// The axes in metres.
    package let semiMajorAxis: Double
    package let semiMinorAxis: Double

    /// Returns nil unless both are finite, 1,000 to 100,000 km long, with a flattening below a tenth.
    package init?(semiMajorAxis: Double, semiMinorAxis: Double) {
        guard (1e6...1e8).contains(semiMajorAxis), semiMinorAxis <= semiMajorAxis, semiMinorAxis > 0.9 * semiMajorAxis
        else { return nil }
        self.semiMajorAxis = semiMajorAxis
        self.semiMinorAxis = semiMinorAxis
    }

    private init(known semiMajorAxis: Double, _ semiMinorAxis: Double) {
        self.semiMajorAxis = semiMajorAxis
        self.semiMinorAxis = semiMinorAxis
    }

    /// The sphere of NCEP's models, 6,371,229 m.
    package static let sphere = EarthShape(known: 6_371_229, 6_371_229)
    package static let wgs84 = EarthShape(known: 6_378_137, 6_356_752.314_245_179)

    package var isSphere: Bool { semiMajorAxis == semiMinorAxis }

    /// The first eccentricity: √(1 − b²/a²).
    package var eccentricity: Double {
        let ratio = semiMinorAxis / semiMajorAxis
        return ((1 - ratio) * (1 + ratio)).squareRoot()
    }
}
