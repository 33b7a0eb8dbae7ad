import Foundation
import Geometry

/// One flight along a great circle, bulged a little to one side as real tracks are.
struct Flight: Sendable {
    /// Unique over all time: minute of departure × 1,000 + its place in that minute.
    let id: Int
    /// Unix seconds.
    let departure: Int
    let arrival: Int
    /// Thousands of feet.
    let cruise: Int
    /// Thousands of feet from halfway on: long flights climb as they grow lighter.
    let laterCruise: Int
    /// ICAO location indicators.
    let origin: String
    let destination: String

    private let from: Vector
    /// The direction at right angles to `from`, towards the destination.
    private let towards: Vector
    /// The pole of the great circle.
    private let pole: Vector
    /// Radians from origin to destination.
    private let angle: Double
    /// How far the middle of the track lies off the great circle, as a part of the earth's radius.
    private let bulge: Double
    /// Metres a second, cruising.
    private let speed: Double

    static let typicalSpeed = 236.0
    /// No flight of the table lasts longer: seconds.
    static let longestDuration = 20 * 3_600
    /// The time of climbing out and of coming down, in which it moves at `slowFactor` of its cruising speed.
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
        speed = Flight.typicalSpeed + (eastward ? 14 : -10) + random.bell() * 5
        arrival = departure + Int(Flight.duration(metres: route.distanceMetres, speed: speed))
        // Semicircular rule: odd levels eastward, even ones westward; FL290 to FL410.
        let short = route.distanceMetres < 900_000
        let lowest = eastward ? 29 : 30
        let step = Int(random.between(0, short ? 4 : 7)) * 2
        cruise = min(lowest + step, eastward ? 41 : 40)
        laterCruise =
            route.distanceMetres > Flight.longHaulMetres ? min(cruise + 2, eastward ? 41 : 40) : cruise
    }

    /// Where it is at a Unix second between departure and arrival: the place and the altitude in feet.
    func state(at time: Int) -> (place: LonLat, altitudeFeet: Double)? {
        let elapsed = Double(time - departure)
        let total = Double(arrival - departure)
        guard elapsed >= 0, elapsed <= total, total > 2 * Flight.edgeSeconds else { return nil }
        let part = min(1, distance(elapsed: elapsed, total: total) / (angle * earthRadiusMetres))
        let turned = part * angle
        let onCircle = from * cos(turned) + towards * sin(turned)
        guard let place = (onCircle + pole * (bulge * sin(part * .pi))).normalized.place else {
            return nil
        }
        let level = Double(part < 0.5 ? cruise : laterCruise) * 1_000
        let climb = elapsed * Flight.climbFeetPerSecond
        let descent = (total - elapsed) * Flight.descentFeetPerSecond
        return (place, min(level, climb, descent))
    }

    /// Metres flown: slower in the first and the last quarter of an hour.
    private func distance(elapsed: Double, total: Double) -> Double {
        let slow = speed * Flight.slowFactor
        let edge = Flight.edgeSeconds
        if elapsed < edge { return slow * elapsed }
        let beforeDescent = slow * edge + speed * (min(elapsed, total - edge) - edge)
        return elapsed <= total - edge
            ? beforeDescent : beforeDescent + slow * (elapsed - (total - edge))
    }
}
