package import BillowEngine
package import BillowAreas
package import Geometry
import Turbulence

/// The body of an alert request: the position of the aircraft and the search options. Missing members have defaults.
package struct AlertBody: Decodable, Sendable {
    package var position: [Double]?
    /// Pressure altitude in feet.
    var altitude: Double?
    /// The track in degrees, and the speed over ground in knots.
    package var track: Double?
    var speed: Double?
    /// A route, in the form of corridors.
    private var shape: ShapeBody?
    private var polygon: ShapeBody?
    var cells: [String]?
    /// The distance to search, in nautical miles.
    package var distance: Double?
    /// The time to search, in seconds.
    var timeFrame: Double?
    /// The angle in degrees.
    var angle: Double?
    var widthAround: Double?
    var switchToBeam: Double?
    var severity: [Int]?
    var minSeverity: Int?
    var minAltitude: Int?
    var maxAltitude: Int?
    var hours: Double?
    package var category: String?
    private var source: [String]?
    /// The client's own aircraft, named as in observations, and the minutes for which its reports are excluded.
    var aircraft: String?
    var excludeOwn: Double?
    /// The aircraft to follow in traffic data.
    var icao24: String?
    package var callsign: String?
    /// The searched instant, and the instant at which the aircraft is at its position; for `/alerts` only.
    private var time: String?
    private var departure: String?

    package static let longest = 256 << 10
    private static let maximumCells = 10_000

    private enum Keys: String, CodingKey, CaseIterable {
        case position, altitude, track, speed, route, polygon, cells, distance, timeFrame, angle, widthAround,
            switchToBeam,
            severity, minSeverity, minAltitude, maxAltitude, hours, category, source, aircraft, excludeOwn, icao24,
            callsign,
            time, departure
    }

    /// A coding key with any name.
    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// - Throws: `ParameterProblem` for an unknown member, because ignoring a misspelt one would give a wrong answer.
    ///   Also for more than one shape.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Keys.self)
        let names = try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue).sorted()
        if let unknown = names.first(where: { Keys(rawValue: $0) == nil }) {
            throw ParameterProblem(
                .unknownMember, detail: "There is no member '\(unknown.prefix(100))' here.",
                parameter: String(unknown.prefix(100)), value: String(unknown.prefix(100)),
                allowed: Keys.allCases.map(\.rawValue).sorted().joined(separator: ", "))
        }
        let places = [Keys.route, .polygon, .cells].filter(members.contains)
        guard places.count < 2 else {
            throw ParameterProblem(
                .severalAreas,
                detail: "Only one area can be given: 'route', 'polygon' or 'cells'.",
                parameter: places[1].rawValue, value: places.map(\.rawValue).joined(separator: ", "),
                allowed: "one of them")
        }
        position = try members.decodeIfPresent([Double].self, forKey: .position)
        altitude = try members.decodeIfPresent(Double.self, forKey: .altitude)
        track = try members.decodeIfPresent(Double.self, forKey: .track)
        speed = try members.decodeIfPresent(Double.self, forKey: .speed)
        if members.contains(.route) { shape = try ShapeBody(partOf: decoder) }
        if members.contains(.polygon) { polygon = try ShapeBody(partOf: decoder) }
        cells = try members.decodeIfPresent([String].self, forKey: .cells)
        distance = try members.decodeIfPresent(Double.self, forKey: .distance)
        timeFrame = try members.decodeIfPresent(Double.self, forKey: .timeFrame)
        angle = try members.decodeIfPresent(Double.self, forKey: .angle)
        widthAround = try members.decodeIfPresent(Double.self, forKey: .widthAround)
        switchToBeam = try members.decodeIfPresent(Double.self, forKey: .switchToBeam)
        severity = try members.decodeIfPresent([Int].self, forKey: .severity)
        minSeverity = try members.decodeIfPresent(Int.self, forKey: .minSeverity)
        minAltitude = try members.decodeIfPresent(Int.self, forKey: .minAltitude)
        maxAltitude = try members.decodeIfPresent(Int.self, forKey: .maxAltitude)
        hours = try members.decodeIfPresent(Double.self, forKey: .hours)
        category = try members.decodeIfPresent(String.self, forKey: .category)
        source = try members.decodeIfPresent([String].self, forKey: .source)
        aircraft = try members.decodeIfPresent(String.self, forKey: .aircraft)
        excludeOwn = try members.decodeIfPresent(Double.self, forKey: .excludeOwn)
        icao24 = try members.decodeIfPresent(String.self, forKey: .icao24)
        callsign = try members.decodeIfPresent(String.self, forKey: .callsign)
        time = try members.decodeIfPresent(String.self, forKey: .time)
        departure = try members.decodeIfPresent(String.self, forKey: .departure)
    }

    // MARK: - Values

    /// The aircraft's position, altitude, track and speed.
    package func flight() throws(ParameterProblem) -> FlightState {
        guard let position, position.count >= 2,
            let place = LonLat(longitude: position[0], latitude: position[1])
        else {
            throw Self.invalid(
                "position", position.map { "\($0.prefix(4))" } ?? "missing", "[longitude, latitude] in degrees")
        }
        guard let altitude else { throw Self.invalid("altitude", "missing", "feet from 0 to 60000") }
        return FlightState(
            place: place, altitudeFeet: try Self.number("altitude", altitude, 0...60_000),
            track: try track.map { value throws(ParameterProblem) in try Self.number("track", value, 0...360) },
            groundSpeed: try speed.map { value throws(ParameterProblem) in try Self.number("speed", value, 0...2_000) })
    }

    /// The source of the flight's positions.
    func positionSource() throws(ParameterProblem) -> FlightMonitor.PositionSource {
        if let icao24 {
            guard let aircraft = ICAO24(icao24) else {
                throw Self.invalid("icao24", icao24, "six hexadecimal digits")
            }
            return .aircraft(aircraft)
        }
        guard let callsign else { return .posted }
        guard (1...8).contains(callsign.count) else { throw Self.invalid("callsign", callsign, "1 to 8 characters") }
        return .callsign(callsign.uppercased())
    }

    package func request(_ airports: AirportTable, areaLimitKm2: Double) throws(ParameterProblem) -> AlertRequest {
        var request = AlertRequest(aircraft: aircraft, time: try QueryReader.time(time ?? "latest"))
        if let departure {
            guard let instant = Instant(departure, fraction: true) else {
                throw Self.invalid("departure", departure, "an instant in whole seconds with a zone")
            }
            request.departure = instant
        }
        if let shape {
            request.query.search = .route(try RouteReader(airports).read(QueryReader([:]), shape).route)
        } else if let polygon {
            guard case .polygons(let polygons)? = polygon.shape else {
                throw Self.invalid("polygon", "something else", "a ring of [longitude, latitude]")
            }
            request.query.search = .area(try AreaReader.area(polygons, limitKm2: areaLimitKm2, parameter: "polygon"))
        } else if let cells {
            request.query.search = .cells(try Self.cells(cells))
        }
        if let distance { request.query.distance = try Self.number("distance", distance, 1...AlertQuery.longestRoute) }
        if let timeFrame { request.query.timeFrame = try Self.number("timeFrame", timeFrame, 60...86_400) }
        if let angle { request.query.angleSpan = try Self.number("angle", angle, 1...360) }
        request.query.areaLimitKm2 = areaLimitKm2
        if let widthAround { request.query.widthAround = try Self.number("widthAround", widthAround, 1...125) }
        try Self.checkDistance(request.query, distance)
        if let switchToBeam { request.query.switchToBeam = try Self.number("switchToBeam", switchToBeam, 0...500) }
        if let excludeOwn {
            request.query.excludeOwnSeconds = Int(try Self.number("excludeOwn", excludeOwn, 0...1_440) * 60)
        }
        request.query.severities = try severities()
        if minAltitude != nil || maxAltitude != nil {
            do {
                request.query.altitudes = try AltitudeRange(minimumFeet: minAltitude, maximumFeet: maxAltitude)
            } catch { throw ParameterProblem(error) }
        }
        if let hours {
            guard let history = History.allCases.first(where: { $0.hours == hours }) else {
                throw Self.invalid("hours", String(hours), "0.5, 1, 2, 4 or 6")
            }
            request.query.history = history
        }
        if let category {
            guard let known = AircraftCategory(category) else {
                throw Self.invalid("category", category, "C10, C20 … C110")
            }
            request.query.category = known
        }
        if let source { request.query.sources = try Self.sources(source) }
        return request
    }

    /// - Throws: `ParameterProblem` for a beam or corridor above the area limit. Polygons and cells have their own
    ///   limits.
    private static func checkDistance(_ query: AlertQuery, _ distance: Double?) throws(ParameterProblem) {
        guard let distance else { return }
        let (shape, farthest, other): (String, Double, String)
        switch query.search {
        case .area, .cells: return
        case .beam:
            _ = try number("distance", distance, 1...AlertQuery.longestBeam)
            (shape, farthest, other) = ("A beam of \(query.angleSpan) degrees", query.farthestBeam, "angle")
        case .route:
            (shape, farthest, other) = (
                "A corridor of \(query.widthAround) NM to each side", query.farthestOnRoute, "widthAround"
            )
        }
        guard distance > farthest else { return }
        throw ParameterProblem(
            .areaTooLarge,
            detail: "\(shape) and \(distance) NM is larger than \(Int(query.areaLimitKm2)) km².",
            parameter: "distance", value: String(distance),
            allowed: "1 to \(Int(farthest.rounded(.down))) NM at this \(other), or a smaller \(other)")
    }

    private func severities() throws(ParameterProblem) -> SeveritySet {
        var set = minSeverity == nil && severity == nil ? SeveritySet.atLeast(.light) : .all
        if let severity {
            var listed: [Severity] = []
            for number in severity { listed.append(try self.severity("severity", number)) }
            set = SeveritySet(listed)
        }
        if let minSeverity { set = set.intersection(.atLeast(try self.severity("minSeverity", minSeverity))) }
        return set
    }

    private func severity(_ name: String, _ number: Int) throws(ParameterProblem) -> Severity {
        guard let severity = UInt8(exactly: number).flatMap(Severity.init(rawValue:)) else {
            throw Self.invalid(name, String(number), "0 to 4")
        }
        return severity
    }

    private static func sources(_ names: [String]) throws(ParameterProblem) -> Set<SourceID> {
        guard names.count <= QueryReader.maximumNames else {
            throw invalid("source", "\(names.count) names", "a list of at most \(QueryReader.maximumNames) names")
        }
        return try QueryReader.sources(names, String(names.joined(separator: ",").prefix(100)))
    }

    private static func cells(_ texts: [String]) throws(ParameterProblem) -> Set<Cell> {
        guard texts.count <= maximumCells else {
            throw invalid("cells", "\(texts.count) cells", "at most \(maximumCells) cells")
        }
        var cells = Set<Cell>()
        for text in texts {
            guard let cell = Cell(h3String: text) else {
                throw invalid("cells", text, "H3 cells of resolution 5")
            }
            cells.insert(cell)
        }
        return cells
    }

    private static func number(_ name: String, _ value: Double, _ range: ClosedRange<Double>) throws(ParameterProblem)
        -> Double
    {
        guard range.contains(value) else {
            throw invalid(name, String(value), "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    private static func invalid(_ name: String, _ value: String, _ expected: String) -> ParameterProblem {
        ParameterProblem(ParameterError(parameter: name, value: value, expected: expected))
    }
}
