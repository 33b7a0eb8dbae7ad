public import BillowSnapshot
public import Geometry
public import Turbulence

/// The position and movement of an aircraft.
public struct FlightState: Sendable, Hashable {
    /// The position.
    public var place: LonLat
    /// The pressure altitude in feet.
    public var altitudeFeet: Double
    /// The track in degrees clockwise from north; nil if unknown.
    public var track: Double?
    /// The speed over the ground in knots; nil if unknown.
    public var groundSpeed: Double?

    /// Makes a flight state.
    public init(place: LonLat, altitudeFeet: Double, track: Double?, groundSpeed: Double?) {
        self.place = place
        self.altitudeFeet = altitudeFeet
        self.track = track
        self.groundSpeed = groundSpeed
    }
}

/// The parameters of a query for turbulence ahead.
///
/// Source: docs/upstreams/skypath.md, "Alerts" (AlertQuery of the iOS SDK), for parameters and defaults
public struct AlertQuery: Sendable, Hashable {
    /// The searched area.
    public enum Search: Sendable, Hashable {
        /// A sector along the track.
        case beam
        /// A corridor along the rest of a route; a beam if the aircraft is too far from the route.
        case route(Route)
        /// An area.
        case area(AreaIndex)
        /// Some cells.
        case cells(Set<Cell>)
    }

    /// The kind of the searched area.
    public var search = Search.beam
    /// The severities to report; smooth air is excluded by default.
    public var severities = SeveritySet.atLeast(.light)
    /// The distance ahead in nautical miles.
    public var distance = 100.0
    /// The time ahead in seconds; it replaces `distance` if the speed is known.
    public var timeFrame: Double?
    /// The full angle of the beam in degrees. The reference doesn't say whether it means the full or the half angle.
    public var angleSpan = 15.0
    /// The sources of reports, hazards and fields; nil for every source.
    public var sources: Set<SourceID>?
    /// The altitudes; nil selects 2,000 ft below to 2,000 ft above.
    public var altitudes: AltitudeRange?
    /// The distance to each side of the route in nautical miles.
    public var widthAround = 20.0
    /// The distance from the route in nautical miles from which a beam is searched instead.
    public var switchToBeam = 20.0
    /// The seconds for which the aircraft's own reports are excluded.
    public var excludeOwnSeconds = 3_600
    /// The history of the observations.
    public var history = History.default
    /// The category by whose thresholds measured values are classified.
    public var category = AircraftCategory.default
    /// The maximum area of a beam in km².
    public var areaLimitKm2 = 10_000_000.0

    /// Makes a query for a beam with all defaults.
    public init() {}

    /// The feet below and above the present altitude.
    private static let band = 2_000.0

    /// The searched altitudes: at FL380 the four blocks from FL360 to below FL400.
    public func altitudes(of flight: FlightState) -> AltitudeRange {
        if let altitudes { return altitudes }
        func thousands(_ feet: Double) -> Int { Int(min(max((feet / 1_000).rounded(), 0), 60)) * 1_000 }
        let low = min(thousands(flight.altitudeFeet - Self.band), 58_000)
        let high = max(thousands(flight.altitudeFeet + Self.band), low + 1_000)
        // Whole thousands of 0…60, with the lower below the higher, are always valid.
        return (try? AltitudeRange(minimumFeet: low, maximumFeet: high)) ?? .all
    }

    /// The filter for observations, hazards and fields.
    public func filter(of flight: FlightState) -> Filter {
        Filter(
            history: history, severities: severities, altitudes: altitudes(of: flight), sources: sources,
            category: category)
    }

    /// The distance ahead of a beam, or along a route, in metres.
    func reach(_ kind: SearchKind, _ flight: FlightState) -> Double {
        var miles = distance
        if let timeFrame, let speed = flight.groundSpeed, speed > 0 { miles = timeFrame * speed / 3_600 }
        return min(miles, kind == .route ? farthestOnRoute : farthestBeam) * Geodesic.metresPerNauticalMile
    }

    /// The maximum distance of a beam of this angle within the area limit, in nautical miles.
    public var farthestBeam: Double {
        let circle = areaLimitKm2 * 1e6 * 360 / max(angleSpan, 1)
        return min(Geodesic.distance(around: circle) / Geodesic.metresPerNauticalMile, Self.longestBeam)
    }

    /// The maximum distance along a route with this width within the area limit, in nautical miles.
    public var farthestOnRoute: Double {
        let squareMile = Geodesic.metresPerNauticalMile * Geodesic.metresPerNauticalMile
        return min(areaLimitKm2 * 1e6 / squareMile / (2 * max(widthAround, 1)), Self.longestRoute)
    }

    /// The maximum distance of a beam in nautical miles.
    public static let longestBeam = 2_000.0
    /// The maximum distance along a route in nautical miles. No airliner flies that far.
    public static let longestRoute = 12_000.0
}

/// The kind of an alert's search.
public enum SearchKind: String, Sendable, Hashable {
    /// Nothing, a beam ahead, along a route, an area, or some cells.
    case none, beam, route, polygon, cells
}

/// The searched area of an alert.
public struct AlertArea: Sendable, Hashable {
    /// The kind of the search.
    public let kind: SearchKind
    /// The area for GeoJSON; nil if nothing is searched.
    public let area: MultiPolygon?
    package let cells: CellArea
    /// The distance ahead of a beam or along a route, in nautical miles.
    public let reachMiles: Double
    /// The followed route, and the aircraft's distance along it in metres.
    package let followed: Route?
    package let along: Double

    /// Degrees between the corners of a beam's arc.
    private static let rim = 2.5

    /// Computes the area of a query for an aircraft's position and movement.
    public init(_ query: AlertQuery, of flight: FlightState) {
        var followed: Route?
        var along = 0.0
        var kind = SearchKind.none
        var area: MultiPolygon?
        var cells = CellArea(Set<Cell>())
        switch query.search {
        case .cells(let wanted):
            kind = .cells
            cells = CellArea(wanted)
            area = MultiPolygon(polygons: wanted.sorted().flatMap { CellPolygon.rings(of: $0).map { [$0] } })
        case .area(let index):
            kind = .polygon
            area = index.area
            cells = CellArea(index)
        case .route(let route):
            let location = RouteLocator(route).locate(flight.place)
            let isNear = abs(location.off) <= query.switchToBeam * Geodesic.metresPerNauticalMile
            let ahead = route.part(
                from: location.along, to: min(location.along + query.reach(.route, flight), route.metres))
            if isNear, location.along >= route.metres - 1 {
                // The route has been flown to its end.
                kind = .route
            } else if isNear, let ahead,
                let corridor = try? Corridor(around: ahead, width: 2 * query.widthAround, tolerance: 0.01),
                let index = AreaIndex(corridor.area)
            {
                kind = .route
                area = corridor.area
                cells = CellArea(index)
                followed = route
                along = location.along
            }
        case .beam: break
        }
        // The beam also serves routes with so many turns that no corridor can be made.
        if kind == .none, let beam = Self.beam(query, flight), let index = AreaIndex(beam) {
            kind = .beam
            area = beam
            cells = CellArea(index)
        }
        self.kind = kind
        self.area = area
        reachMiles = query.reach(kind, flight) / Geodesic.metresPerNauticalMile
        self.cells = cells
        self.followed = followed
        self.along = along
    }

    /// The sector between two geodesics and the arc; nil without a track.
    private static func beam(_ query: AlertQuery, _ flight: FlightState) -> MultiPolygon? {
        guard let track = flight.track else { return nil }
        let reach = query.reach(.beam, flight)
        func places(_ bearing: Double, _ metres: [Double]) -> [LonLat] {
            Geodesic.places(from: flight.place, bearing: bearing, metres: metres).map(\.place)
        }
        let parts = max(2, Int((query.angleSpan / rim).rounded(.up)))
        let arc = (0...parts).map { part in
            Geodesic.place(
                from: flight.place, bearing: track + query.angleSpan * (Double(part) / Double(parts) - 0.5),
                metres: reach
            ).place
        }
        // A full circle has no apex and no sides.
        guard query.angleSpan < 360 else { return MultiPolygon(outline: arc.dropLast()) }
        // Edges of areas are straight in degrees, but a geodesic isn't.
        let steps = (1..<sideParts).map { reach * Double($0) / Double(sideParts) }
        let left = places(track - query.angleSpan / 2, steps)
        let right = places(track + query.angleSpan / 2, steps.reversed())
        return MultiPolygon(outline: [flight.place] + left + arc + right)
    }

    /// The number of pieces of a beam's side. At 2,000 NM and 60° N they are within 0.1 NM of the geodesic.
    private static let sideParts = 48
}
