package import Geometry
package import Turbulence

/// A flight along a route: the aircraft's place, time and altitude at each flown distance.
package struct PlannedFlight: Sendable, Hashable {
    package let route: Route
    /// The time of departure.
    package let departure: Instant
    /// The speed over the ground in knots; nil if the whole route is evaluated at `departure`.
    package let groundSpeed: Double?
    /// The cruising level in feet of pressure altitude; nil if none is planned.
    package let levelFeet: Double?
    /// The rates of climb and descent in feet per minute; nil if the flight begins, or ends, at its level.
    package let climb: Double?
    package let descent: Double?

    /// - Precondition: the speed and the rates are above 0.
    package init(
        route: Route, departure: Instant, groundSpeed: Double? = nil, levelFeet: Double? = nil, climb: Double? = nil,
        descent: Double? = nil
    ) {
        precondition([groundSpeed, climb, descent].allSatisfy { $0.map { $0 > 0 } ?? true }, "a speed of nothing")
        self.route = route
        self.departure = departure
        self.groundSpeed = groundSpeed
        self.levelFeet = levelFeet
        self.climb = climb
        self.descent = descent
    }

    /// The time at a flown distance in metres, rounded to the second.
    package func time(at metres: Double) -> Instant {
        departure.advanced(by: minutes(metres).map { Int(($0 * 60).rounded()) } ?? 0)
    }

    /// The time of arrival.
    package var arrival: Instant { time(at: route.metres) }

    /// The altitude at a flown distance in metres; nil if no level is planned. If the route is too short to reach the
    /// level, the descent begins where it meets the climb.
    package func altitudeFeet(at metres: Double) -> Double? {
        guard var altitude = levelFeet else { return nil }
        if let climb, let flown = minutes(metres) { altitude = min(altitude, climb * max(flown, 0)) }
        if let descent, let left = minutes(route.metres - metres) { altitude = min(altitude, descent * max(left, 0)) }
        return altitude
    }

    private func minutes(_ metres: Double) -> Double? {
        groundSpeed.map { metres / Geodesic.metresPerNauticalMile / $0 * 60 }
    }

    /// The aircraft at a point of the route.
    package struct Point: Sendable, Hashable {
        package let place: LonLat
        /// The flown distance in metres.
        package let distance: Double
        package let time: Instant
        /// The altitude in feet; nil if no level is planned.
        package let altitudeFeet: Double?

        package init(place: LonLat, distance: Double, time: Instant, altitudeFeet: Double?) {
            self.place = place
            self.distance = distance
            self.time = time
            self.altitudeFeet = altitudeFeet
        }
    }

    /// Points at most a step in metres apart, from the start to the end.
    package func points(every step: Double) -> [Point] {
        route.stations(every: step).map { station in
            Point(
                place: station.place, distance: station.distance, time: time(at: station.distance),
                altitudeFeet: altitudeFeet(at: station.distance))
        }
    }
}
