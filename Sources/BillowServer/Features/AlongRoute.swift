import BillowExchange
import Geometry
import Turbulence

/// A route by which features are ordered: what is met first comes first.
struct AlongRoute: Sendable {
    let locator: RouteLocator
    /// Knots over ground; nil where no times are asked for.
    let groundSpeed: Double?
    /// When the start is left.
    let departure: Instant

    private static let decimals = 1

    /// What a place on the way adds to its feature's properties.
    func properties(of place: LonLat) -> [(name: StaticString, value: PropertyValue?)] {
        let location = locator.locate(place)
        let along = location.along / Geodesic.metresPerNauticalMile
        let off = location.off / Geodesic.metresPerNauticalMile
        let arrival = groundSpeed.map { departure.advanced(by: Int((along / $0 * 3_600).rounded())) }
        return [
            ("distanceAlong", .decimal(along, decimals: Self.decimals)),
            ("distanceOff", .decimal(off, decimals: Self.decimals)), ("eta", arrival.map { .instant($0) }),
        ]
    }
}
