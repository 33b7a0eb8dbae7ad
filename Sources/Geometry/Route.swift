import Foundation

/// A route of geodesics from position to position.
public struct Route: Sendable, Hashable {
    /// At least two positions, without consecutive repeats.
    public let positions: [LonLat]
    /// The distance from the start to each position, in metres.
    public let distances: [Double]
    /// The bearing at the start of each leg, in degrees.
    private let bearings: [Double]

    /// The maximum number of positions of a route.
    public static let positionLimit = 250
    /// The maximum length: twice around the earth.
    public static let longestNauticalMiles = 43_200.0

    /// Why positions can't make a route.
    public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
        /// There are fewer than two different consecutive positions.
        case tooFew(Int)
        /// There are more positions than `positionLimit`.
        case tooMany(Int)
        /// The route is longer than `longestNauticalMiles`.
        case tooLong(nauticalMiles: Int)

        public var description: String {
            switch self {
            case .tooFew(let count):
                "the route has \(count) different position\(count == 1 ? "" : "s"); it must have at least 2"
            case .tooMany(let count): "the route has \(count) positions; it must have at most \(Route.positionLimit)"
            case .tooLong(let miles):
                "the route is \(miles) NM long; it must be at most \(Int(Route.longestNauticalMiles)) NM"
            }
        }
    }

    /// Makes a route; consecutive repeated positions are dropped.
    public init(_ places: [LonLat]) throws(Failure) {
        guard places.count <= Route.positionLimit else { throw .tooMany(places.count) }
        var positions: [LonLat] = []
        var distances: [Double] = []
        var bearings: [Double] = []
        for place in places {
            guard let last = positions.last, let distance = distances.last else {
                positions.append(place)
                distances.append(0)
                continue
            }
            let path = Geodesic.path(from: last, to: place)
            guard path.metres > 1 else { continue }
            positions.append(place)
            distances.append(distance + path.metres)
            bearings.append(path.bearing)
        }
        guard positions.count >= 2, let metres = distances.last else { throw .tooFew(positions.count) }
        let miles = metres / Geodesic.metresPerNauticalMile
        guard miles <= Route.longestNauticalMiles else { throw .tooLong(nauticalMiles: Int(miles.rounded(.up))) }
        self.positions = positions
        self.distances = distances
        self.bearings = bearings
    }

    /// The length in metres.
    public var metres: Double { distances.last ?? 0 }

    /// A point of a route.
    public struct Station: Sendable, Hashable {
        /// The position of the point.
        public var place: LonLat
        /// The distance from the start in metres.
        public var distance: Double
        /// The bearing on which the route leaves, in degrees; at a bend, that of the next leg.
        public var bearing: Double
        /// The bearing on which the route arrives, in degrees.
        public var arrival: Double
    }

    /// The positions, and points between them at most a step apart.
    public func stations(every step: Double) -> [Station] {
        var stations: [Station] = []
        var arrival = bearings.first ?? 0
        for leg in bearings.indices {
            let length = distances[leg + 1] - distances[leg]
            let parts = max(1, Int(min((length / max(step, 1)).rounded(.up), 100_000)))
            let points = Geodesic.places(
                from: positions[leg], bearing: bearings[leg],
                metres: (0...parts).map { length * Double($0) / Double(parts) })
            stations.append(
                Station(
                    place: positions[leg], distance: distances[leg], bearing: bearings[leg], arrival: arrival))
            for part in 1..<parts {
                stations.append(
                    Station(
                        place: points[part].place,
                        distance: distances[leg] + length * Double(part) / Double(parts),
                        bearing: points[part].bearing, arrival: points[part].bearing))
            }
            arrival = points[parts].bearing
        }
        if let last = positions.last {
            stations.append(Station(place: last, distance: metres, bearing: arrival, arrival: arrival))
        }
        return stations
    }
}

extension Route {
    /// The place at a distance from the start in metres, clamped to the route.
    public func place(at distance: Double) -> LonLat {
        let distance = min(max(distance, 0), metres)
        let leg = max((distances.firstIndex { $0 > distance } ?? distances.count) - 1, 0)
        guard leg < bearings.count else { return positions[positions.count - 1] }
        return Geodesic.place(from: positions[leg], bearing: bearings[leg], metres: distance - distances[leg]).place
    }

    /// The part between two distances from the start, in metres; nil if it is empty.
    public func part(from start: Double, to end: Double) -> Route? {
        let between = zip(positions, distances).filter { $0.1 > start && $0.1 < end }.map(\.0)
        return try? Route([place(at: start)] + between + [place(at: end)])
    }
}

/// Finds the positions of places relative to a route.
package struct RouteLocator: Sendable {
    private let stations: [Route.Station]
    private let vectors: [SIMD3<Double>]

    /// The length of the straight pieces that approximate the route, in metres. In the middle, they are 5 m below the
    /// surface.
    private static let step = 15_000.0

    package init(_ route: Route) {
        stations = route.stations(every: max(Self.step, route.metres / 2_000))
        vectors = stations.map { Geodesic.vector($0.place) }
    }

    /// The position of a place relative to a route.
    package struct Location: Sendable, Hashable {
        /// The distance from the start to the nearest point of the route, in metres.
        package var along: Double
        /// The distance from there in metres, positive to the right.
        package var off: Double
    }

    /// Finds the nearest point of the route; the first one if several are equally near.
    /// - Complexity: O(length of the route)
    package func locate(_ place: LonLat) -> Location {
        let point = Geodesic.vector(place)
        var best = (squared: Double.infinity, segment: 0, share: 0.0)
        for segment in 0..<max(vectors.count - 1, 0) {
            let edge = vectors[segment + 1] - vectors[segment]
            let length = (edge * edge).sum()
            let toPoint = point - vectors[segment]
            let share = min(max((toPoint * edge).sum() / length, 0), 1)
            let offset = toPoint - edge * share
            let squared = (offset * offset).sum()
            if squared < best.squared { best = (squared, segment, share) }
        }
        let (a, b) = (stations[best.segment], stations[min(best.segment + 1, stations.count - 1)])
        let edge = vectors[min(best.segment + 1, vectors.count - 1)] - vectors[best.segment]
        let toPoint = point - vectors[best.segment]
        let normal = SIMD3(
            edge.y * toPoint.z - edge.z * toPoint.y, edge.z * toPoint.x - edge.x * toPoint.z,
            edge.x * toPoint.y - edge.y * toPoint.x)
        // Seen from above, a place on the left is counter-clockwise.
        let isLeft = (normal * vectors[best.segment]).sum() > 0
        let off = Geodesic.arc(chord: best.squared.squareRoot())
        return Location(along: a.distance + (b.distance - a.distance) * best.share, off: isLeft ? -off : off)
    }
}
