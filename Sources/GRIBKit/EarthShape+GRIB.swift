import Geometry

extension EarthShape {
    /// Parses octets 15 to 30 of a grid definition section.
    ///
    /// - Throws: `unknownValue` for codes that aren't a figure of the Earth: 10 (geomagnetic coordinates), 11 (the Sun)
    ///   and reserved ones.
    ///
    /// Source: WMO FM 92 GRIB edition 2, code table 3.2
    init(_ section: GRIBSection) throws(GRIBError) {
        let code = try section.octet(15)
        let shape: EarthShape?
        switch code {
        case 0: shape = EarthShape(semiMajorAxis: 6_367_470, semiMinorAxis: 6_367_470)
        case 1:
            let radius = try section.scaled(factor: 16, value: 17...20)
            shape = radius.flatMap { EarthShape(semiMajorAxis: $0, semiMinorAxis: $0) }
        case 2: shape = EarthShape(semiMajorAxis: 6_378_160, semiMinorAxis: 6_356_775)
        case 3, 7:
            let unit = code == 3 ? 1_000.0 : 1
            let major = try section.scaled(factor: 21, value: 22...25)
            let minor = try section.scaled(factor: 26, value: 27...30)
            if let major, let minor {
                shape = EarthShape(semiMajorAxis: major * unit, semiMinorAxis: minor * unit)
            } else {
                shape = nil
            }
        case 4: shape = EarthShape(semiMajorAxis: 6_378_137, semiMinorAxis: 6_356_752.314)
        case 5: shape = .wgs84
        case 6: shape = .sphere
        case 8: shape = EarthShape(semiMajorAxis: 6_371_200, semiMinorAxis: 6_371_200)
        case 9: shape = EarthShape(semiMajorAxis: 6_377_563.396, semiMinorAxis: 6_356_256.909)
        default: throw .unknownValue("shape of the Earth", code)
        }
        guard let shape else { throw .invalid("shape of the Earth \(code) without usable axes") }
        self = shape
    }
}
