package import BillowAreas
import BillowEngine
package import Geometry
package import Turbulence

/// Routes of requests, and flights along them.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `route`, `coords` | waypoints, `LINESTRING(…)` | | one is required |
/// | `width` | nautical miles, edge to edge | 1…250 | the route's own |
/// | `corridor-width`, `width-units` | the same in `NM`, `nmi`, `km`, `m`, `mi` | | |
/// | `speed` | ground speed in knots | 1…2000 | none: no times |
/// | `departure` | instant | | the answer's instant |
/// | `level` | planned level in feet | 0…60000 | none |
/// | `climb`, `descent` | feet a minute; need `speed` and `level` | 100…10000 | at its level from start to end |
package struct RouteReader: Sendable {
    private let airports: AirportTable

    package static let names: Set<String> = [
        "coords", "route", "width", "corridor-width", "width-units", "speed", "departure", "level", "climb",
        "descent",
    ]
    private static let speeds = 1.0...2_000.0
    private static let levels = 0.0...60_000.0
    private static let rates = 100.0...10_000.0

    /// The route of a request, and the flight along it.
    package struct RequestedRoute: Sendable {
        package var route: Route
        /// The parameter or member that has the route, and its value in the client's words.
        let parameter: String
        let text: String
        /// The width in nautical miles, edge to edge.
        package var width: Double
        /// The ground speed in knots.
        var speed: Double?
        package var departure: Instant?
        /// The level in feet, and the rates in feet per minute.
        var level: Double?
        var climb: Double?
        var descent: Double?

        /// Whether the flight takes time.
        var hasSpeed: Bool { speed != nil }

        /// - Parameter instant: the departure if the request names none.
        package func flight(from instant: Instant) -> PlannedFlight {
            PlannedFlight(
                route: route, departure: departure ?? instant, groundSpeed: speed, levelFeet: level, climb: climb,
                descent: descent)
        }
    }

    package init(_ airports: AirportTable) { self.airports = airports }

    package func read(_ reader: QueryReader, _ body: ShapeBody?, defaultWidth: Double = Corridor.defaultWidth)
        throws(ParameterProblem)
        -> RequestedRoute
    {
        let places: [LonLat]
        let (parameter, routeText) = Self.named(reader, body)
        if let body {
            places = try self.places(of: body)
        } else if let text = reader.phrase("coords") {
            if reader.has("route") {
                throw reader.invalid("route", reader.phrase("route") ?? "", "left out where coords is given")
            }
            guard case .line(let line)? = WellKnownText.shape(text) else {
                throw reader.invalid("coords", text, Self.lines)
            }
            places = line
        } else {
            places = try waypoints(
                try reader.required("route", Self.words).split(whereSeparator: \.isWhitespace).map(String.init))
        }
        let route: Route
        do { route = try Route(places) } catch {
            throw ParameterProblem(
                ParameterProblem.Kind(error), detail: "\(AreaReader.capitalized(error.description)).",
                parameter: parameter, value: routeText, allowed: error.allowed)
        }
        let speed = try number("speed", body?.speed, reader, in: Self.speeds)
        let level = try number("level", body?.level, reader, in: Self.levels)
        let climb = try number("climb", body?.climb, reader, in: Self.rates)
        let descent = try number("descent", body?.descent, reader, in: Self.rates)
        for (name, rate) in [("climb", climb), ("descent", descent)] {
            guard let rate, speed == nil || level == nil else { continue }
            throw reader.invalid(name, String(rate), "left out without 'speed' and 'level'")
        }
        return RequestedRoute(
            route: route, parameter: parameter, text: routeText, width: try width(reader, body) ?? defaultWidth,
            speed: speed, departure: try departure(reader, body), level: level, climb: climb, descent: descent)
    }

    private static let words = "waypoints with blanks between them, such as KJFK 4430N05000W EGLL"
    private static let lines = "LINESTRING(longitude latitude, …)"

    /// The parameter or member that has the route, and its value.
    private static func named(_ reader: QueryReader, _ body: ShapeBody?) -> (parameter: String, text: String) {
        if let body {
            if let route = body.route { return ("route", route.joined(separator: " ")) }
            if case .line(let line)? = body.shape { return (body.member, line.brief) }
            return ("body", "no route")
        }
        if let text = reader.phrase("coords") { return ("coords", text) }
        return ("route", reader.phrase("route") ?? ParameterProblem.missing)
    }

    private func places(of body: ShapeBody) throws(ParameterProblem) -> [LonLat] {
        if let route = body.route { return try waypoints(route) }
        guard case .line(let line)? = body.shape else {
            throw ParameterProblem(
                .invalidBody, detail: "The body has neither a GeoJSON LineString nor a member 'route'.",
                parameter: "route", value: body.shape == nil ? ParameterProblem.missing : "a polygon",
                allowed: ShapeBody.routeText)
        }
        return line
    }

    private func waypoints(_ words: [String]) throws(ParameterProblem) -> [LonLat] {
        var places: [LonLat] = []
        for word in words where word != "DCT" {
            guard let place = Waypoint.place(word, airports: airports) else {
                throw ParameterProblem(
                    .unknownWaypoint,
                    detail: "'\(word.prefix(50))' is not a known waypoint.", parameter: "route",
                    value: String(word.prefix(50)),
                    allowed: "4038N07347W, a pair longitude,latitude, or the ICAO code of a large airport")
            }
            places.append(place)
        }
        return places
    }

    private func width(_ reader: QueryReader, _ body: ShapeBody?) throws(ParameterProblem) -> Double? {
        let metres = try reader.choice("width-units", DistanceUnit.allCases.map { ($0.rawValue, $0.metres) })
        let range = Corridor.widths
        if let text = reader.text("corridor-width") {
            if reader.has("width") {
                throw reader.invalid("width", reader.text("width") ?? "", "left out where corridor-width is given")
            }
            let width = QueryReader.decimal(text).map { $0 * (metres ?? 1_852) / 1_852 }
            guard let width, range.contains(width) else {
                throw reader.invalid("corridor-width", text, "a width of 1 to 250 NM, edge to edge")
            }
            return width
        }
        return try number("width", body?.width, reader, in: range)
    }

    private func departure(_ reader: QueryReader, _ body: ShapeBody?) throws(ParameterProblem) -> Instant? {
        guard let text = body?.departure ?? reader.text("departure") else { return nil }
        guard let instant = Instant(text, fraction: true) else {
            throw reader.invalid("departure", text, "an instant in whole seconds with a zone")
        }
        return instant
    }

    /// A number from the body, or else from the query.
    private func number(
        _ name: String, _ value: Double?, _ reader: QueryReader, in range: ClosedRange<Double>
    ) throws(ParameterProblem) -> Double? {
        guard let value else { return try reader.number(name, in: range) }
        guard range.contains(value) else {
            throw ParameterProblem(
                ParameterError(
                    parameter: name, value: String(value),
                    expected: "a number from \(range.lowerBound) to \(range.upperBound)"))
        }
        return value
    }
}

extension Route.Failure {
    /// What a route may be, as a phrase that follows "must be".
    fileprivate var allowed: String {
        switch self {
        case .tooFew: "at least 2 different positions"
        case .tooMany: "at most \(Route.positionLimit) positions"
        case .tooLong: "at most \(Int(Route.longestNauticalMiles)) NM long"
        }
    }
}

extension Corridor.Failure {
    /// What a route and its width may be, as a phrase that follows "must be".
    var allowed: String {
        switch self {
        case .width: "a width of \(Corridor.widths.lowerBound) to \(Corridor.widths.upperBound) NM"
        case .tooWinding: "a route that a ring of \(AreaRing.positions.upperBound) positions can follow at this width"
        case .aroundTheEarth: "a route with a single ring around it: a shorter one, or in parts"
        }
    }
}

extension [LonLat] {
    /// The first positions as text, for error messages.
    var brief: String {
        let first = prefix(4).map { "\($0.longitude),\($0.latitude)" }.joined(separator: " ")
        return count > 4 ? first + " …" : first
    }
}
