import BillowAreas
import BillowExchange
import Geometry

/// Prepared features in the order in which a route meets them.
extension FeatureSource {
    /// - Complexity: O(features × (stations of the route + corners))
    static func ordered(_ made: [PreparedFeature], along route: RouteOrder?) -> [PreparedFeature] {
        guard let route else { return made }
        let stations = route.stations
        let order = made.map { (made: $0, along: route.distance(to: $0.feature.geometry, stations)) }
            .sorted { ($0.along, $0.made.id) < ($1.along, $1.made.id) }
        return order.enumerated().map { number, entry in
            // A page continues after the id of its last feature, so ids are in the order of the list.
            var made = entry.made
            let digits = String(number)
            made.id = String(repeating: "0", count: max(0, placeDigits - digits.utf8.count)) + "\(digits) \(made.id)"
            return made
        }
    }

    private static let placeDigits = 9
}

extension RouteOrder {
    /// The distance in metres between the places at which areas are searched.
    private static let step = 5_000.0
    private static let maximumStations = 4_000.0
    /// If an area contains no such place, about this many of its corners are searched for the nearest one.
    private static let maximumCorners = 500

    fileprivate var stations: [Route.Station] {
        flight.route.stations(every: max(Self.step, flight.route.metres / Self.maximumStations))
    }

    /// The flown distance in metres at which the route first meets a geometry, to some kilometres.
    fileprivate func distance(to geometry: FeatureGeometry, _ stations: [Route.Station]) -> Double {
        switch geometry {
        case .point(let place): return locator.locate(place).along
        case .polygon(let rings): return distance(to: MultiPolygon(polygons: [rings]), stations)
        case .multiPolygon(let polygons): return distance(to: MultiPolygon(polygons: polygons), stations)
        case .lineString(let line): return distance(toNearestOf: line)
        case .multiLineString(let lines): return distance(toNearestOf: Array(lines.joined()))
        case .encoded: return 0
        }
    }

    private func distance(to area: MultiPolygon, _ stations: [Route.Station]) -> Double {
        guard let index = AreaIndex(area) else { return 0 }
        let first = stations.first { index.box.contains($0.place) && index.contains($0.place) }
        return first?.distance ?? distance(toNearestOf: Array(area.polygons.joined().joined()))
    }

    private func distance(toNearestOf places: [LonLat]) -> Double {
        let every = max(1, places.count / Self.maximumCorners)
        let locations = stride(from: 0, to: places.count, by: every).map { locator.locate(places[$0]) }
        return locations.min { abs($0.off) < abs($1.off) }?.along ?? 0
    }
}
