public import BillowSnapshot
public import Geometry
public import Turbulence

/// Where an aircraft is and how it moves.
public struct FlightState: Sendable, Hashable {
    /// Where the aircraft is.
    public var place: LonLat
    /// Pressure altitude.
    public var altitudeFeet: Double
    /// Degrees clockwise from north; nil where it isn't known.
    public var track: Double?
    /// Knots over ground; nil where it isn't known.
    public var groundSpeed: Double?

    /// Where an aircraft is, and what is known of its movement.
    public init(place: LonLat, altitudeFeet: Double, track: Double?, groundSpeed: Double?) {
        self.place = place
        self.altitudeFeet = altitudeFeet
        self.track = track
        self.groundSpeed = groundSpeed
    }
}

/// What turbulence ahead is asked for.
///
/// Source: docs/upstreams/skypath.md, "Alerts" (AlertQuery of the iOS SDK), for parameters and defaults
public struct AlertQuery: Sendable, Hashable {
    /// Where it is looked for.
    public enum Search: Sendable, Hashable {
        /// In a sector along the track.
        case beam
        /// Beside the rest of a route; in a beam where it is too far off.
        case route(Route)
        /// An area.
        case area(AreaIndex)
        /// Some cells.
        case cells(Set<Cell>)
    }

    /// Where is looked.
    public var search = Search.beam
    /// Smooth air is left out unless it is asked for.
    public var severities = SeveritySet.atLeast(.light)
    /// How far ahead, in nautical miles.
    public var distance = 100.0
    /// Seconds of flight that are looked ahead; in place of `distance` where the speed is known.
    public var timeFrame: Double?
    /// The whole opening of the beam, in degrees. The reference leaves open whether it is half of it.
    public var angleSpan = 15.0
    /// Altitudes; nil for 2,000 ft below to 2,000 ft above.
    public var altitudes: AltitudeRange?
    /// Nautical miles to each side of the route.
    public var widthAround = 20.0
    /// Nautical miles off the route from which on the beam is searched.
    public var switchToBeam = 20.0
    /// Seconds for which one's own reports are left out.
    public var excludeOwnSeconds = 3_600
    /// How far back.
    public var history = History.default
    /// The category that measured values are judged for.
    public var category = AircraftCategory.default
    /// The largest beam, in km².
    public var areaLimitKm2 = 10_000_000.0

    /// The beam, with all its defaults.
    public init() {}

    /// Feet around the present altitude.
    private static let band = 2_000.0

    /// The altitudes that it looks at: at FL380 the four blocks from FL360 to below FL400.
    public func altitudes(of flight: FlightState) -> AltitudeRange {
        if let altitudes { return altitudes }
        func thousands(_ feet: Double) -> Int { Int(min(max((feet / 1_000).rounded(), 0), 60)) * 1_000 }
        let low = min(thousands(flight.altitudeFeet - Self.band), 58_000)
        let high = max(thousands(flight.altitudeFeet + Self.band), low + 1_000)
        // Whole thousands of 0…60, the lower below the higher.
        return (try? AltitudeRange(minimumFeet: low, maximumFeet: high)) ?? .all
    }

    /// How the picture is looked through.
    public func filter(of flight: FlightState) -> Filter {
        Filter(history: history, severities: severities, altitudes: altitudes(of: flight), category: category)
    }

    /// Metres looked ahead.
    func reach(_ flight: FlightState) -> Double {
        var miles = distance
        if let timeFrame, let speed = flight.groundSpeed, speed > 0 { miles = timeFrame * speed / 3_600 }
        return min(miles, farthestBeam) * Geodesic.metresPerNauticalMile
    }

    /// Nautical miles that a beam of this opening may look ahead within the area limit.
    public var farthestBeam: Double {
        let circle = areaLimitKm2 * 1e6 * 360 / max(angleSpan, 1)
        return min(Geodesic.distance(around: circle) / Geodesic.metresPerNauticalMile, Self.farthest)
    }

    /// Nautical miles that may be looked ahead.
    public static let farthest = 2_000.0
}

/// How an alert was searched for.
public enum SearchKind: String, Sendable, Hashable {
    /// Nothing was searched; a beam ahead, along a route, an area, or some cells.
    case none, beam, route, polygon, cells
}

/// The area that an alert looks at.
public struct AlertArea: Sendable, Hashable {
    /// How it is searched.
    public let kind: SearchKind
    /// As GeoJSON has it; nil where nothing is looked at.
    public let area: MultiPolygon?
    package let cells: CellArea
    /// Nautical miles ahead that a beam or a route is looked at.
    public let reachMiles: Double
    /// The route that is followed, and how far along it the aircraft is, in metres.
    let followed: Route?
    let along: Double

    /// Degrees between the corners of a beam's rim.
    private static let rim = 2.5

    /// The area of a query for an aircraft's place and movement.
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
                from: location.along, to: min(location.along + query.reach(flight), route.metres))
            if isNear, location.along >= route.metres - 1 {
                // Flown to its end.
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
        // Also where the route winds so much that no corridor follows it.
        if kind == .none, let beam = Self.beam(query, flight), let index = AreaIndex(beam) {
            kind = .beam
            area = beam
            cells = CellArea(index)
        }
        self.kind = kind
        self.area = area
        reachMiles = query.reach(flight) / Geodesic.metresPerNauticalMile
        self.cells = cells
        self.followed = followed
        self.along = along
    }

    /// The sector between two geodesics and the rim. nil without a track.
    private static func beam(_ query: AlertQuery, _ flight: FlightState) -> MultiPolygon? {
        guard let track = flight.track else { return nil }
        let reach = query.reach(flight)
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
        // All around there is no apex, and there are no sides.
        guard query.angleSpan < 360 else { return MultiPolygon(outline: arc.dropLast()) }
        // Edges of areas are straight in degrees, which a geodesic is not.
        let steps = (1..<sideParts).map { reach * Double($0) / Double(sideParts) }
        let left = places(track - query.angleSpan / 2, steps)
        let right = places(track + query.angleSpan / 2, steps.reversed())
        return MultiPolygon(outline: [flight.place] + left + arc + right)
    }

    /// Pieces of a beam's side: at 2,000 NM and 60° N within 0.1 NM of the geodesic.
    private static let sideParts = 48
}
