import BillowAreas
import BillowSnapshot
import Datasets
import Geometry
import Turbulence

extension AlertSource {
    /// Warnings of the searched area and altitudes, of those in force at an instant. With a departure they are those in
    /// force then; along a route with a speed, those that are in force where and when the aircraft passes.
    ///
    /// - Complexity: O(warnings), and one corridor per warning that begins or ends during the flight.
    func hazardsAhead(
        _ request: AlertRequest, of flight: FlightState, in area: AlertArea, at instant: Instant, filter: Filter,
        _ snapshot: Snapshot
    ) async throws(EngineError) -> [IssuedArea] {
        guard let looked = area.area, let index = AreaIndex(looked) else { return [] }
        // A filter that excludes only smooth air must not exclude hazards without a severity: no hazard is smooth air.
        var filter = filter
        filter.severities.formUnion(SeveritySet([.smooth]))
        let passage = request.departure.flatMap { Passage(area, of: flight, departure: $0, request.query) }
        let departure = request.departure ?? instant
        let warnings =
            if let passage {
                try await frames.warnings(from: passage.departure, to: passage.end, in: snapshot)
            } else { try await frames.warnings(at: departure, in: snapshot) }
        var found: [IssuedArea] = []
        for hazard in warnings where filter.matches(hazard) && index.intersects(hazard.geometry.polygons) {
            try WorkExecutor.checkCancellation()
            if passage?.meets(hazard) ?? true { found.append(hazard) }
        }
        return found
    }

    /// A flight along the part of a route that an alert searches.
    struct Passage {
        let departure: Instant
        /// The instant after which the aircraft has left the searched part.
        let end: Instant
        private let route: Route
        /// The searched part in metres from the start of the route.
        private let along: ClosedRange<Double>
        private let metresPerSecond: Double
        private let widthMiles: Double

        /// Returns nil without a followed route or without a speed.
        init?(_ area: AlertArea, of flight: FlightState, departure: Instant, _ query: AlertQuery) {
            guard let route = area.followed, let speed = flight.groundSpeed, speed > 0 else { return nil }
            self.route = route
            self.departure = departure
            let end = min(area.along + area.reachMiles * Geodesic.metresPerNauticalMile, route.metres)
            along = area.along...max(area.along, end)
            metresPerSecond = speed * Geodesic.metresPerNauticalMile / 3_600
            widthMiles = 2 * query.widthAround
            let seconds = (along.upperBound - along.lowerBound) / metresPerSecond
            self.end = departure.advanced(by: Int(min(seconds, AlertSource.longestFlight).rounded(.up)) + 1)
        }

        /// Whether a warning of the corridor is in force when the aircraft passes it.
        func meets(_ hazard: IssuedArea) -> Bool {
            if hazard.validFrom <= departure, hazard.validTo >= end { return true }
            func place(at instant: Instant) -> Double {
                along.lowerBound + Double(instant.seconds - departure.seconds) * metresPerSecond
            }
            let from = max(place(at: hazard.validFrom), along.lowerBound)
            let to = min(place(at: hazard.validTo), along.upperBound)
            guard from < to else { return false }
            // A part may be too short for a corridor. It is near enough to the warning, whose area the corridor of the
            // whole flight touches.
            guard let part = route.part(from: from, to: to),
                let corridor = try? Corridor(around: part, width: widthMiles, tolerance: 0.01),
                let index = AreaIndex(corridor.area)
            else { return true }
            return index.intersects(hazard.geometry.polygons)
        }
    }
}
