import BillowEngine
package import Geometry
import Turbulence

/// The parameters of `/collections/{id}/radius`, beside `EDRParameters`; a location has them without `coords`.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `coords` | `POINT(longitude latitude)` | the earth | required |
/// | `within` | a distance | 1 m … what `areaLimit` allows | required; at a location 50 NM |
/// | `within-units` | NM, nmi, km, m, mi | | NM |
///
/// Source: OGC 19-086r6 (OGC API EDR) section 8.2.2
package struct RadiusParameters: Sendable {
    package let area: AreaIndex

    package static let names: Set<String> = ["coords", "within", "within-units"]
    /// The distance around a location, in nautical miles.
    package static let atLocations = 50.0

    package init(_ reader: QueryReader, limitKm2: Double) throws(ParameterProblem) {
        let centre = try PositionParameters(reader).place
        _ = try reader.required("within", "a distance in within-units")
        try self.init(reader, around: centre, limitKm2: limitKm2)
    }

    /// - Parameter centre: a location.
    package init(_ reader: QueryReader, around centre: LonLat, limitKm2: Double) throws(ParameterProblem) {
        let metres = try Self.metres(reader, limitKm2: limitKm2)
        guard let circle = MultiPolygon(around: centre, metres: metres), let area = AreaIndex(circle) else {
            throw reader.invalid("within", reader.text("within") ?? "", "a distance with an area around the place")
        }
        self.area = area
    }

    private static func metres(_ reader: QueryReader, limitKm2: Double) throws(ParameterProblem) -> Double {
        let unit = try reader.choice("within-units", DistanceUnit.allCases.map { ($0.rawValue, $0) }) ?? .nauticalMiles
        guard let text = reader.text("within") else { return atLocations * DistanceUnit.nauticalMiles.metres }
        // A sixth of the way around the earth is more than any limit that a ring has.
        let most = min(max(Geodesic.distance(around: limitKm2 * 1e6), 1), 6_000_000)
        guard let number = QueryReader.decimal(text), (1...most).contains(number * unit.metres) else {
            let isTooLarge = (QueryReader.decimal(text) ?? 0) * unit.metres > most
            let allowed =
                "a distance from \(unit.text(1)) to \(unit.text(most)) \(unit.rawValue)"
            throw ParameterProblem(
                ParameterError(parameter: "within", value: text, expected: allowed),
                isTooLarge ? .areaTooLarge : .invalidParameter)
        }
        return number * unit.metres
    }
}

/// The units of distances in parameters.
package enum DistanceUnit: String, Sendable, CaseIterable {
    case nauticalMiles = "NM"
    case nmi, km, m, mi

    /// Source: NIST SP 811, https://www.nist.gov/pml/special-publication-811
    package var metres: Double {
        switch self {
        case .nauticalMiles, .nmi: Geodesic.metresPerNauticalMile
        case .km: 1_000
        case .m: 1
        case .mi: 1_609.344
        }
    }

    /// A distance in this unit, rounded down to 3 decimals.
    fileprivate func text(_ metres: Double) -> String {
        let thousandths = Int((metres / self.metres * 1_000).rounded(.down))
        guard thousandths % 1_000 > 0 else { return "\(thousandths / 1_000)" }
        let rest = String(1_000 + thousandths % 1_000).dropFirst()
        return "\(thousandths / 1_000).\(rest)"
    }
}
