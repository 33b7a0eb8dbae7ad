import Foundation
import Geometry

/// All ordered pairs of airports with possible flights, drawn at random by weight.
struct Routes: Sendable {
    struct Route: Sendable {
        let origin: Int
        let destination: Int
        let distanceMetres: Double
    }

    private static let shortestMetres = 450_000.0
    private static let longestMetres = 14_000_000.0
    /// The decrease of demand with distance.
    private static let typicalMetres = 3_800_000.0

    private let routes: [Route]
    private let cumulative: [Double]
    /// The mean duration of a flight in seconds.
    let meanDuration: Double

    init(airports: [Airport]) {
        var routes: [Route] = []
        var cumulative: [Double] = []
        var total = 0.0
        var weightedDuration = 0.0
        let vectors = airports.map { Vector($0.place) }
        for origin in airports.indices {
            for destination in airports.indices where destination != origin {
                let angle = atan2(
                    vectors[origin].cross(vectors[destination]).length,
                    vectors[origin].dot(vectors[destination]))
                let distance = angle * earthRadiusMetres
                guard distance >= Routes.shortestMetres, distance <= Routes.longestMetres else { continue }
                let weight =
                    airports[origin].weight * airports[destination].weight
                    * exp(-distance / Routes.typicalMetres)
                total += weight
                weightedDuration +=
                    weight * SimulatedFlight.duration(metres: distance, speed: SimulatedFlight.typicalSpeed)
                routes.append(Route(origin: origin, destination: destination, distanceMetres: distance))
                cumulative.append(total)
            }
        }
        self.routes = routes
        self.cumulative = cumulative
        meanDuration = total > 0 ? weightedDuration / total : 3_600
    }

    /// Draws a route; nil if there are none.
    func draw(_ random: inout SeededRandom) -> Route? {
        guard let total = cumulative.last else { return nil }
        let target = random.unit() * total
        var low = 0
        var high = cumulative.count - 1
        while low < high {
            let middle = (low + high) / 2
            if cumulative[middle] > target { high = middle } else { low = middle + 1 }
        }
        return routes[low]
    }
}
