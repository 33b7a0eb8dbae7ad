/// The figure of the Earth that a grid is projected from. Longitudes and latitudes are taken as they are, whatever the
/// figure: models treat those of their sphere and those of WGS 84 as the same, and so do their readers.
package struct EarthShape: Sendable, Hashable {
    /// In metres.
    package let semiMajorAxis: Double
    package let semiMinorAxis: Double

    /// nil unless both are finite, and of the size of the Earth (1,000 to 100,000 km) with a flattening below a tenth.
    package init?(semiMajorAxis: Double, semiMinorAxis: Double) {
        guard (1e6...1e8).contains(semiMajorAxis), semiMinorAxis <= semiMajorAxis, semiMinorAxis > 0.9 * semiMajorAxis
        else { return nil }
        self.semiMajorAxis = semiMajorAxis
        self.semiMinorAxis = semiMinorAxis
    }

    private init(_ semiMajorAxis: Double, _ semiMinorAxis: Double) {
        self.semiMajorAxis = semiMajorAxis
        self.semiMinorAxis = semiMinorAxis
    }

    /// The sphere of NCEP's models, 6,371,229 m.
    package static let sphere = EarthShape(6_371_229, 6_371_229)
    package static let wgs84 = EarthShape(6_378_137, 6_356_752.314_245_179)

    package var isSphere: Bool { semiMajorAxis == semiMinorAxis }

    /// The first eccentricity: √(1 − b²/a²).
    package var eccentricity: Double {
        let ratio = semiMinorAxis / semiMajorAxis
        return ((1 - ratio) * (1 + ratio)).squareRoot()
    }

    /// Octets 15 to 30 of a grid definition section.
    ///
    /// - Throws: `unknownValue` for the codes that aren't a figure of the Earth: 10 (geomagnetic coordinates), 11 (the
    ///   Sun) and what is reserved.
    ///
    /// Source: WMO FM 92 GRIB edition 2, code table 3.2
    init(_ section: GRIBSection) throws(GRIBRefusal) {
        let code = try section.octet(15)
        let shape: EarthShape?
        switch code {
        case 0: shape = EarthShape(6_367_470, 6_367_470)
        case 1:
            let radius = try section.scaled(factor: 16, value: 17...20)
            shape = radius.flatMap { EarthShape(semiMajorAxis: $0, semiMinorAxis: $0) }
        case 2: shape = EarthShape(6_378_160, 6_356_775)
        case 3, 7:
            let unit = code == 3 ? 1_000.0 : 1
            let major = try section.scaled(factor: 21, value: 22...25)
            let minor = try section.scaled(factor: 26, value: 27...30)
            if let major, let minor {
                shape = EarthShape(semiMajorAxis: major * unit, semiMinorAxis: minor * unit)
            } else {
                shape = nil
            }
        case 4: shape = EarthShape(6_378_137, 6_356_752.314)
        case 5: shape = .wgs84
        case 6: shape = .sphere
        case 8: shape = EarthShape(6_371_200, 6_371_200)
        case 9: shape = EarthShape(6_377_563.396, 6_356_256.909)
        default: throw .unknownValue("shape of the Earth", code)
        }
        guard let shape else { throw .invalid("shape of the Earth \(code) without usable axes") }
        self = shape
    }
}
