import Foundation
import Geometry

/// A flight along a great circle, displaced slightly to one side, as real tracks are.
struct SimulatedFlight: Sendable {
    /// Unique over all time: minute of departure × 1,000 + its index in that minute.
    let id: Int
    /// The times in Unix seconds.
    let departure: Int
    let arrival: Int
    /// The cruising level in thousands of feet.
    let cruise: Int
    /// The cruising level in the second half, in thousands of feet: long flights climb as they become lighter.
    let laterCruise: Int
    /// The ICAO location indicators.
    let origin: String
    let destination: String

    private let from: Vector
    /// The direction perpendicular to `from`, towards the destination.
    private let towards: Vector
    /// The pole of the great circle.
    private let pole: Vector
    /// The angle from origin to destination in radians.
    private let angle: Double
    /// The displacement of the track's middle from the great circle, as a share of the earth's radius.
    private let bulge: Double
    /// The cruising speed in metres per second.
    private let speed: Double

    static let typicalSpeed = 236.0
    /// The maximum duration of a flight in seconds.
    static let longestDuration = 20 * 3_600
    /// The duration of climb and of descent, during which it moves at `slowFactor` of its cruising speed.
    private static let edgeSeconds = 900.0
    private static let slowFactor = 0.65
    private static let climbFeetPerSecond = 33.0
    private static let descentFeetPerSecond = 30.0
    private static let longHaulMetres = 4_500_000.0

    static func duration(metres: Double, speed: Double) -> Double {
        metres / speed + 2 * edgeSeconds * (1 - slowFactor)
    }

    init(
        id: Int, departure: Int, route: Routes.Route, airports: [Airport], random: inout SeededRandom
    ) {
        self.id = id
        self.departure = departure
        origin = airports[route.origin].icao
        destination = airports[route.destination].icao
        from = Vector(airports[route.origin].place)
        let to = Vector(airports[route.destination].place)
        pole = from.cross(to).normalized
        towards = pole.cross(from)
        angle = route.distanceMetres / earthRadiusMetres
        bulge = random.bell() * min(0.02, angle * 0.03)
        // Tail wind eastward, head wind westward.
        let eastward = pole.z > 0
        speed = SimulatedFlight.typicalSpeed + (eastward ? 14 : -10) + random.bell() * 5
        arrival = departure + Int(SimulatedFlight.duration(metres: route.distanceMetres, speed: speed))
        // Semicircular rule: odd levels eastward, even ones westward; FL290 to FL410.
        let short = route.distanceMetres < 900_000
        let lowest = eastward ? 29 : 30
        let step = Int(random.between(0, short ? 4 : 7)) * 2
        cruise = min(lowest + step, eastward ? 41 : 40)
        laterCruise =
            route.distanceMetres > SimulatedFlight.longHaulMetres ? min(cruise + 2, eastward ? 41 : 40) : cruise
    }

    /// The place and altitude in feet at a Unix second between departure and arrival.
    func state(at time: Int) -> (place: LonLat, altitudeFeet: Double)? {
        let elapsed = Double(time - departure)
        let total = Double(arrival - departure)
        guard elapsed >= 0, elapsed <= total, total > 2 * SimulatedFlight.edgeSeconds else { return nil }
        let part = min(1, distance(elapsed: elapsed, total: total) / (angle * earthRadiusMetres))
        let turned = part * angle
        let onCircle = from * cos(turned) + towards * sin(turned)
        guard let place = (onCircle + pole * (bulge * sin(part * .pi))).normalized.place else {
            return nil
        }
        let level = Double(part < 0.5 ? cruise : laterCruise) * 1_000
        let climb = elapsed * SimulatedFlight.climbFeetPerSecond
        let descent = (total - elapsed) * SimulatedFlight.descentFeetPerSecond
        return (place, min(level, climb, descent))
    }

    /// The flown distance in metres: slower in the first and the last quarter of an hour.
    private func distance(elapsed: Double, total: Double) -> Double {
        let slow = speed * SimulatedFlight.slowFactor
        let edge = SimulatedFlight.edgeSeconds
        if elapsed < edge { return slow * elapsed }
        let beforeDescent = slow * edge + speed * (min(elapsed, total - edge) - edge)
        return elapsed <= total - edge
            ? beforeDescent : beforeDescent + slow * (elapsed - (total - edge))
    }
}
