package import BillowAreas
import BillowExchange
package import Datasets
package import Geometry
import Turbulence

/// Orders features by their distance along a flight: the features that it meets first come first.
package struct RouteOrder: Sendable {
    let locator: RouteLocator
    let flight: PlannedFlight

    package init(_ flight: PlannedFlight) {
        locator = RouteLocator(flight.route)
        self.flight = flight
    }

    private static let decimals = 1

    /// The properties that a place on the route adds to its feature.
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
