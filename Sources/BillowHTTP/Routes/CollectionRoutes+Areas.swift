import BillowEngine
import BillowExchange
import BillowSnapshot
import Geometry
import HTTPTypes
import Hummingbird
import Turbulence

/// `/collections/{id}/area` and `…/corridor`: what lies inside a polygon, and along a route in the order in which it is met.
///
/// Source: OGC 19-086r6 (OGC API EDR) sections 8.2.5 and 8.2.8
extension CollectionRoutes {
    func addAreas(to router: some RouterMethods<some RequestContext>) {
        router.get("/collections/:id/area") { request, context in
            try await area(request, context.parameters, body: nil)
        }
        router.post("/collections/:id/area") { request, context in
            let body = try await JSONBody.read(ShapeBody.self, of: request, longest: ShapeBody.longest)
            return try await area(request, context.parameters, body: body)
        }
        router.get("/collections/:id/corridor") { request, context in
            try await corridor(request, context.parameters, body: nil)
        }
        router.post("/collections/:id/corridor") { request, context in
            let body = try await JSONBody.read(ShapeBody.self, of: request, longest: ShapeBody.longest)
            return try await corridor(request, context.parameters, body: body)
        }
    }

    private func area(_ request: Request, _ parameters: Parameters, body: ShapeBody?) async throws -> Response {
        let collection = try collection(parameters)
        let reader = try QueryReader(
            request, known: FeatureQuery.names(collection).union(["limit", "after", "coords", "crs"]))
        let snapshot = try frames.snapshot()
        var query = try FeatureQuery(reader, collection: collection, frames: frames, snapshot: snapshot)
        let shape = try body.map { $0.shape } ?? WellKnownText.shape(try reader.required("coords"))
        guard case .polygons(let polygons)? = shape else {
            throw body == nil
                ? reader.invalid("coords", reader.phrase("coords") ?? "", "POLYGON((longitude latitude, …))")
                : Problem(
                    .invalidBody,
                    detail: "The body has neither a GeoJSON Polygon nor a member 'polygon'.")
        }
        query.area = try AreaReader.area(polygons, limitKm2: areaLimitKm2)
        return try await page(of: query, reader, in: snapshot, request)
    }

    private func corridor(_ request: Request, _ parameters: Parameters, body: ShapeBody?) async throws -> Response {
        let collection = try collection(parameters)
        let reader = try QueryReader(
            request, known: FeatureQuery.names(collection).union(["limit", "after", "crs"]).union(RouteReader.names))
        let snapshot = try frames.snapshot()
        var query = try FeatureQuery(reader, collection: collection, frames: frames, snapshot: snapshot)
        let asked = try RouteReader(airports).read(reader, body)
        let corridor = try AreaReader.corridor(around: asked.route, width: asked.width, tolerance: nil)
        query.area = AreaIndex(corridor.area)
        query.route = AlongRoute(
            locator: RouteLocator(asked.route), groundSpeed: asked.speed,
            departure: asked.departure ?? query.instant)
        return try await page(of: query, reader, in: snapshot, request)
    }
}

/// Areas of requests, by the rules that rings must keep.
enum AreaReader {
    /// Polygons without holes: one ring, or the parts of one that the antimeridian cut.
    static func area(_ polygons: [[[LonLat]]], limitKm2: Double?) throws(Problem) -> AreaIndex {
        var parts: [[[LonLat]]] = []
        do throws(RingRules.Failure) {
            for rings in polygons {
                guard rings.count == 1, let ring = rings.first else {
                    throw rings.isEmpty ? .tooFew(0) : .holes(rings.count - 1)
                }
                parts += try RingRules.area(inside: ring).polygons
            }
            let positions = polygons.joined().reduce(0) { $0 + $1.count }
            // A ring of 250 positions gains some where it is cut.
            guard positions <= 2 * AreaRing.positions.upperBound else { throw .tooMany(positions) }
            let area = MultiPolygon(polygons: parts)
            if let limitKm2, area.areaKm2 > limitKm2 {
                throw .tooLarge(km2: Int(min(area.areaKm2, 1e9).rounded()), limit: Int(limitKm2))
            }
            guard let index = AreaIndex(area) else { throw .withoutArea }
            return index
        } catch {
            throw Problem(ProblemCode(error), detail: "\(Self.capitalized(error.description)).")
        }
    }

    static func corridor(around route: Route, width: Double, tolerance: Double?) throws(Problem) -> Corridor {
        do { return try Corridor(around: route, width: width, tolerance: tolerance) } catch {
            throw Problem(ProblemCode(error), detail: "\(capitalized(error.description)).")
        }
    }

    static func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}

/// Routes of requests.
struct RouteReader: Sendable {
    private let airports: AirportTable

    static let names: Set<String> = ["coords", "route", "width", "corridor-width", "width-units", "speed", "departure"]
    private static let speeds = 1.0...2_000.0

    struct Asked: Sendable {
        var route: Route
        /// Nautical miles, edge to edge.
        var width: Double
        /// Knots.
        var speed: Double?
        var departure: Instant?
    }

    init(_ airports: AirportTable) { self.airports = airports }

    func read(_ reader: QueryReader, _ body: ShapeBody?, defaultWidth: Double = Corridor.defaultWidth) throws(Problem)
        -> Asked
    {
        let places: [LonLat]
        if let body {
            places = try self.places(of: body)
        } else if let text = reader.phrase("coords") {
            guard case .line(let line)? = WellKnownText.shape(text) else {
                throw reader.invalid("coords", text, "LINESTRING(longitude latitude, …)")
            }
            places = line
        } else {
            places = try waypoints(
                try reader.required("route").split(whereSeparator: \.isWhitespace).map(String.init))
        }
        let route: Route
        do { route = try Route(places) } catch {
            throw Problem(
                ProblemCode(error), detail: "\(AreaReader.capitalized(error.description)).", parameter: "route")
        }
        return Asked(
            route: route, width: try width(reader, body) ?? defaultWidth,
            speed: try number("speed", body?.speed, reader, in: Self.speeds),
            departure: try departure(reader, body))
    }

    private func places(of body: ShapeBody) throws(Problem) -> [LonLat] {
        if let route = body.route { return try waypoints(route) }
        guard case .line(let line)? = body.shape else {
            throw Problem(
                .invalidBody,
                detail: "The body has neither a GeoJSON LineString nor a member 'route'.")
        }
        return line
    }

    private func waypoints(_ words: [String]) throws(Problem) -> [LonLat] {
        var places: [LonLat] = []
        for word in words where word != "DCT" {
            guard let place = Waypoint.place(word, airports: airports) else {
                throw Problem(
                    .unknownWaypoint,
                    detail: "'\(word.prefix(50))' is no waypoint that is known here.", parameter: "route",
                    value: String(word.prefix(50)),
                    allowed: "4038N07347W, a pair longitude,latitude, or the ICAO code of a large airport")
            }
            places.append(place)
        }
        return places
    }

    private func width(_ reader: QueryReader, _ body: ShapeBody?) throws(Problem) -> Double? {
        let metres = try reader.choice(
            "width-units", [("NM", 1_852.0), ("nmi", 1_852.0), ("km", 1_000.0), ("m", 1.0), ("mi", 1_609.344)])
        let range = Corridor.widths
        if let text = reader.text("corridor-width") {
            let width = QueryReader.decimal(text).map { $0 * (metres ?? 1_852) / 1_852 }
            guard let width, range.contains(width) else {
                throw reader.invalid("corridor-width", text, "a width of 1 to 250 NM, edge to edge")
            }
            return width
        }
        return try number("width", body?.width, reader, in: range)
    }

    private func departure(_ reader: QueryReader, _ body: ShapeBody?) throws(Problem) -> Instant? {
        guard let text = body?.departure ?? reader.text("departure") else { return nil }
        guard let instant = Instant(text) else {
            throw reader.invalid("departure", text, "an instant in whole seconds with a zone")
        }
        return instant
    }

    /// A number of the body, or else of the query.
    private func number(
        _ name: String, _ value: Double?, _ reader: QueryReader, in range: ClosedRange<Double>
    ) throws(Problem) -> Double? {
        guard let value else { return try reader.number(name, in: range) }
        guard range.contains(value) else {
            throw Problem(
                ParameterError(
                    parameter: name, value: String(value),
                    expected: "a number from \(range.lowerBound) to \(range.upperBound)"))
        }
        return value
    }
}

extension QueryReader {
    /// A phrase that must be there.
    func required(_ name: String) throws(Problem) -> String {
        guard let text = phrase(name) else {
            throw Problem(
                .missingParameter, detail: "The parameter '\(name)' is missing.", parameter: name)
        }
        return text
    }
}
