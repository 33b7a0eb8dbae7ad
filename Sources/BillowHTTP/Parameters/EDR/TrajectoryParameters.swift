package import BillowAreas
package import BillowEngine
package import BillowSnapshot
package import Datasets
package import Geometry
package import Turbulence

/// The parameters of `/collections/{id}/trajectory` of features, beside `EDRParameters`.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `coords`, `route` | `LINESTRING(…)`, also with Z in feet and an ignored M; waypoints | | one is required |
/// | `speed`, `departure` | a flight in time, as of `RouteReader` | | no times |
///
/// Source: OGC 19-086r6 (OGC API EDR) section 8.2.5
package struct TrajectoryParameters: Sendable {
    private let requested: RouteReader.RequestedRoute
    private let area: AreaIndex?
    /// The lowest and the highest Z in feet.
    package let heights: (feet: ClosedRange<Double>, parameter: String)?

    package static let names: Set<String> = ["coords", "route", "speed", "departure"]
    /// The width in nautical miles within which the line meets a place that has no extent.
    package static let widthAtPlaces = 2.0

    package init(_ reader: QueryReader, of collection: Dataset, airports: AirportTable) throws(ParameterProblem) {
        let line = try TrajectoryLine(reader, airports: airports)
        requested = line.requested
        heights = line.heightRange
        if collection.isOfPlaces {
            let corridor = try AreaReader.corridor(around: requested, width: Self.widthAtPlaces)
            area = AreaIndex(corridor.area)
        } else {
            area = AreaIndex(alongLineOf: requested.route)
        }
    }

    /// Restricts a query to the features that the line meets.
    package func restrict(_ query: inout FeatureQuery) {
        query.area = area
        query.route = RouteOrder(requested.flight(from: query.instant))
    }
}

extension Dataset {
    /// Whether its features are selected by places without extent: reports and aircraft.
    fileprivate var isOfPlaces: Bool {
        switch content {
        case .history(.observations), .areas, .polygons, .field: false
        case .history, .positions: true
        }
    }
}

/// A line with the heights and times of its positions.
struct TrajectoryLine {
    let requested: RouteReader.RequestedRoute
    /// Feet and instants of the positions of the route; nil where the line has none.
    let heights: [Double]?
    let times: [Double]?

    /// The lowest and the highest height, and the parameter that names them.
    var heightRange: (feet: ClosedRange<Double>, parameter: String)? {
        guard let low = heights?.min(), let high = heights?.max() else { return nil }
        return (feet: low...high, parameter: "coords")
    }

    private static let lineText =
        "LINESTRING(longitude latitude, …), or LINESTRING Z, M or ZM with feet from 0 to 65000 and Unix seconds"

    init(_ reader: QueryReader, airports: AirportTable) throws(ParameterProblem) {
        guard let text = reader.phrase("coords") else {
            requested = try RouteReader(airports).read(reader, nil)
            (heights, times) = (nil, nil)
            return
        }
        guard let line = WellKnownText.measuredLine(text),
            line.heights?.allSatisfy({ (0...65_000).contains($0) }) ?? true,
            line.measures?.allSatisfy({ (0...Double(Instant.range.upperBound)).contains($0) }) ?? true
        else { throw reader.invalid("coords", text, Self.lineText) }
        if reader.has("route") {
            throw reader.invalid("route", reader.phrase("route") ?? "", "left out where coords is given")
        }
        requested = try RouteReader(airports).read(reader, nil)
        // The route leaves out positions that repeat the one before.
        var kept: [Int] = []
        for (number, place) in line.places.enumerated() where kept.count < requested.route.positions.count {
            if place == requested.route.positions[kept.count] { kept.append(number) }
        }
        heights = line.heights.map { heights in kept.map { heights[$0] } }
        times = line.measures.map { measures in kept.map { measures[$0] } }
        if let times, zip(times, times.dropFirst()).contains(where: { $0 > $1 }) {
            throw reader.invalid("coords", text, "a line whose times (M) don't go back")
        }
    }
}

/// The parameters of `/collections/{id}/trajectory` of a turbulence field.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `coords` | `LINESTRING(…)`, also with Z in feet and M in Unix seconds | as of `RouteReader` | one is required |
/// | `route`, `speed`, `departure`, `level`, `climb`, `descent` | as of `RouteReader` | | |
/// | `z` | feet, or `low/high` | 0…65000 | `minAltitude` and `maxAltitude` |
/// | `datetime`, `time` | instant or `latest` | the collection's extent | `latest` |
/// | `minAltitude`, `maxAltitude`, `product`, `run`, `smoothing` | as of `FeatureParameters` | | |
/// | `source`, `category` | as of `FeatureParameters` | | |
/// | `crs`, `f`, `parameter-name` | as of `EDRParameters` | | |
package struct FieldTrajectoryParameters: Sendable {
    package let format: DataFormat
    package let properties: Set<String>?
    package let filter: Filter
    private let line: TrajectoryLine
    private let time: FieldTimeParameter
    private let level: Double?

    package static let names = FieldTimeParameter.names.union(TrajectoryParameters.names).union(EDRParameters.names)
        .union([
            "level", "climb", "descent", "minAltitude", "maxAltitude", "product", "run", "smoothing", "source",
            "category", "properties", "f",
        ])

    package init(
        _ reader: QueryReader, of collection: Dataset, preferring format: DataFormat, airports: AirportTable
    ) throws(ParameterProblem) {
        let line = try TrajectoryLine(reader, airports: airports)
        self.line = line
        for name in ["datetime", "time", "departure", "speed"] where line.times != nil && reader.has(name) {
            throw reader.invalid(name, reader.text(name) ?? "", "left out where coords has times (M)")
        }
        for name in ["level", "climb", "descent"] where line.heights != nil && reader.has(name) {
            throw reader.invalid(name, reader.text(name) ?? "", "left out where coords has heights (Z)")
        }
        if reader.has("level"), reader.has("z") {
            throw reader.invalid("z", reader.text("z") ?? "", "left out where level is given")
        }
        let edr = try EDRParameters(
            reader, .trajectory, of: collection, preferring: format,
            heights: line.heightRange)
        self.format = edr.format
        properties = try reader.properties(of: collection)
        var filter = try reader.filter(of: [collection], for: .features)
        if let altitudes = edr.altitudes { filter.altitudes = altitudes }
        self.filter = filter
        level = if case .nearest(let levels)? = edr.levels, let one = levels.first { Double(one) } else { nil }
        time = try FieldTimeParameter(reader)
    }

    /// - Throws: `EngineError` if the collection has no data at the time.
    package func instant(_ frames: FrameSource, _ collection: Dataset, in snapshot: Snapshot) throws(EngineError)
        -> Instant
    {
        if let first = line.times?.first { return Instant(clamping: Int(first)) }
        return try time.instant(frames, collection, in: snapshot)
    }

    /// The points at which the field is sampled, in the order of the flight.
    ///
    /// - Parameter instant: the instant of a flight without times.
    package func points(at instant: Instant) -> [PlannedFlight.Point] {
        let flight = line.requested.flight(from: instant)
        return flight.points(every: FieldTrajectory.step(along: flight.route)).map { point in
            PlannedFlight.Point(
                place: point.place, distance: point.distance,
                time: line.times.map { Instant(clamping: Int(between($0, at: point.distance).rounded())) }
                    ?? point.time,
                altitudeFeet: line.heights.map { between($0, at: point.distance) } ?? point.altitudeFeet ?? level)
        }
    }

    /// Whether points have times of their own.
    package var hasTimes: Bool { line.times != nil || line.requested.hasSpeed }

    package var area: MultiPolygon? { AreaIndex(alongLineOf: line.requested.route)?.area }

    /// A value that changes evenly from position to position of the route.
    private func between(_ values: [Double], at distance: Double) -> Double {
        let distances = line.requested.route.distances
        let leg = min(max((distances.firstIndex { $0 > distance } ?? distances.count) - 1, 0), distances.count - 2)
        let share = (distance - distances[leg]) / (distances[leg + 1] - distances[leg])
        return values[leg] + (values[leg + 1] - values[leg]) * min(max(share, 0), 1)
    }
}
