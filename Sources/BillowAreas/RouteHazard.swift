public import Geometry
public import Turbulence

/// An issued area on the route, and the intervals of the route inside it.
public struct RouteHazard: Sendable, Hashable {
    /// The hazard.
    public let area: IssuedArea
    /// The flown distances in metres at which the route enters and leaves the area. There are several if the route
    /// returns.
    public let stretches: [ClosedRange<Double>]

    /// The minimum distance in metres between sampled places along the route.
    private static let step = 10_000.0
    /// The offsets of sampled places beside the route, as shares of the distance to each side.
    private static let across = [-1.0, -0.5, 0, 0.5, 1]

    /// - Parameters:
    ///   - areas: those that share a point with the corridor. An area so small that no sampled place is inside is
    ///     placed at
    ///     its nearest corner.
    ///   - half: metres to each side of the route.
    ///   - route: the route.
    public static func all(_ areas: [IssuedArea], along route: Route, half: Double) -> [RouteHazard] {
        guard !areas.isEmpty else { return [] }
        let rows = route.stations(every: max(step, route.metres / 1_000)).map { station in
            let places = Geodesic.places(
                from: station.place, bearing: station.bearing + 90, metres: across.map { $0 * half }
            ).map(\.place)
            return (distance: station.distance, places: places)
        }
        let locator = RouteLocator(route)
        return areas.map { area in
            let box = area.geometry.box
            var stretches: [ClosedRange<Double>] = []
            var open: ClosedRange<Double>?
            for row in rows {
                let isInside = row.places.contains { box?.contains($0) ?? true && area.geometry.contains($0) }
                if isInside {
                    open = (open?.lowerBound ?? row.distance)...row.distance
                } else if let done = open {
                    stretches.append(done)
                    open = nil
                }
            }
            if let open { stretches.append(open) }
            if stretches.isEmpty {
                let corners = area.geometry.polygons.joined().joined().map(locator.locate)
                let near = corners.filter { abs($0.off) <= half }.map(\.along)
                let nearest = corners.min { abs($0.off) < abs($1.off) }?.along ?? 0
                stretches = [(near.min() ?? nearest)...(near.max() ?? nearest)]
            }
            return RouteHazard(area: area, stretches: stretches)
        }
    }
}
