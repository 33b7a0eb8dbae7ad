package import Datasets
import BillowExchange
package import Geometry
package import Turbulence

/// A route by which features are ordered: what is met first comes first.
package struct AlongRoute: Sendable {
    let locator: RouteLocator
    /// Knots over ground; nil where no times are asked for.
    package let groundSpeed: Double?
    /// When the start is left.
    package let departure: Instant

    package init(locator: RouteLocator, groundSpeed: Double? = nil, departure: Instant) {
        self.locator = locator
        self.groundSpeed = groundSpeed
        self.departure = departure
    }

    private static let decimals = 1

    /// What a place on the way adds to its feature's properties.
    package func properties(of place: LonLat) -> [(name: StaticString, value: PropertyValue)] {
        let location = locator.locate(place)
        let along = location.along / Geodesic.metresPerNauticalMile
        let off = location.off / Geodesic.metresPerNauticalMile
        let arrival = groundSpeed.map { departure.advanced(by: Int((along / $0 * 3_600).rounded())) }
        return [
            ("distanceAlong", .decimal(along, decimals: Self.decimals)),
            ("distanceOff", .decimal(off, decimals: Self.decimals)),
        ] + (arrival.map { [("eta", .instant($0))] } ?? [])
    }
}
