package import BillowAreas
import BillowExchange
package import Datasets
package import Geometry
import Turbulence

/// A flight by whose route features are ordered: what is met first comes first.
package struct AlongRoute: Sendable {
    let locator: RouteLocator
    let flight: PlannedFlight

    package init(_ flight: PlannedFlight) {
        locator = RouteLocator(flight.route)
        self.flight = flight
    }

    private static let decimals = 1

    /// What a place on the way adds to its feature's properties.
    package func properties(of place: LonLat) -> [(name: StaticString, value: PropertyValue)] {
        let location = locator.locate(place)
        let along = location.along / Geodesic.metresPerNauticalMile
        let off = location.off / Geodesic.metresPerNauticalMile
        let arrival = flight.groundSpeed.map { _ in flight.time(at: location.along) }
        return [
            ("distanceAlong", .decimal(along, decimals: Self.decimals)),
            ("distanceOff", .decimal(off, decimals: Self.decimals)),
        ] + (arrival.map { [("eta", .instant($0))] } ?? [])
    }
}
