package import Geometry
package import Turbulence

/// A flight along a route in time: where the aircraft is at each distance flown, when, and how high.
package struct PlannedFlight: Sendable, Hashable {
    package let route: Route
    /// When the start is left.
    package let departure: Instant
    /// Knots over ground; nil where all of the route is looked at as of `departure`.
    package let groundSpeed: Double?
    /// Feet of pressure altitude; nil where no level is planned.
    package let levelFeet: Double?
    /// Feet a minute from the ground to the level, and back; nil where the flight begins, or ends, at its level.
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

    /// When the aircraft has flown so many metres, to the second.
    package func time(at metres: Double) -> Instant {
        departure.advanced(by: minutes(metres).map { Int(($0 * 60).rounded()) } ?? 0)
    }

    /// When the end is reached.
    package var arrival: Instant { time(at: route.metres) }

    /// How high the aircraft is when it has flown so many metres; nil where no level is planned. Where the route is too
    /// short for its level the descent begins where it meets the climb.
    package func altitudeFeet(at metres: Double) -> Double? {
        guard var altitude = levelFeet else { return nil }
        if let climb, let flown = minutes(metres) { altitude = min(altitude, climb * max(flown, 0)) }
        if let descent, let left = minutes(route.metres - metres) { altitude = min(altitude, descent * max(left, 0)) }
        return altitude
    }

    private func minutes(_ metres: Double) -> Double? {
        groundSpeed.map { metres / Geodesic.metresPerNauticalMile / $0 * 60 }
    }

    /// The aircraft at some point of the route.
    package struct Point: Sendable, Hashable {
        package let place: LonLat
        /// Metres flown.
        package let distance: Double
        package let time: Instant
        /// nil where no level is planned.
        package let altitudeFeet: Double?
    }

    /// Points no further from each other than a step in metres, from the start to the end.
    package func points(every step: Double) -> [Point] {
        route.stations(every: step).map { station in
            Point(
                place: station.place, distance: station.distance, time: time(at: station.distance),
                altitudeFeet: altitudeFeet(at: station.distance))
        }
    }
}
