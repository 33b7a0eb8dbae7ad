package import BillowEngine
package import Geometry
package import Turbulence

/// The parameters of `/collections/{id}/corridor`, beside `EDRParameters`: those of a route (`RouteReader`), and these.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `corridor-height` | from edge to edge, around `z`, `level` or the Z of `coords` | above 0 | all altitudes |
/// | `height-units` | ft, m, km | | ft |
package struct CorridorParameters: Sendable {
    package let requested: RouteReader.RequestedRoute
    package let area: AreaIndex?
    /// The altitudes in feet that `corridor-height` selects, and its name.
    package let heights: (feet: ClosedRange<Double>, parameter: String)?

    package static let names = RouteReader.names.union(["corridor-height", "height-units"])

    package init(_ reader: QueryReader, body: ShapeBody?, airports: AirportTable) throws(ParameterProblem) {
        requested = try RouteReader(airports).read(reader, body)
        let corridor = try AreaReader.corridor(around: requested)
        area = AreaIndex(corridor.area)
        heights = try Self.heights(reader).map { (feet: $0, parameter: "corridor-height") }
    }

    private static func heights(_ reader: QueryReader) throws(ParameterProblem) -> ClosedRange<Double>? {
        let feet = try reader.choice("height-units", [("ft", 1.0), ("m", 1 / 0.3048), ("km", 1_000 / 0.3048)]) ?? 1
        guard let text = reader.text("corridor-height") else { return nil }
        guard let height = QueryReader.decimal(text).map({ $0 * feet }), height > 0, height <= 130_000 else {
            throw reader.invalid("corridor-height", text, "a height above 0 and at most 130000 ft")
        }
        guard let middle = try Self.middle(reader) else {
            throw reader.invalid("corridor-height", text, "left out without z, level and the Z of coords")
        }
        return max(middle.lowerBound - height / 2, 0)...min(middle.upperBound + height / 2, 65_000)
    }

    /// The altitudes of the route itself.
    private static func middle(_ reader: QueryReader) throws(ParameterProblem) -> ClosedRange<Double>? {
        switch try reader.levels() {
        case .within(let range): return Double(range.lowerBound)...Double(range.upperBound)
        case .nearest(let list):
            if let low = list.min(), let high = list.max() { return Double(low)...Double(high) }
        case .all: break
        }
        if let level = try reader.number("level", in: 0...60_000) { return level...level }
        guard let heights = reader.phrase("coords").flatMap(WellKnownText.measuredLine)?.heights,
            let low = heights.min(), let high = heights.max(), low >= 0, high <= 65_000
        else { return nil }
        return low...high
    }

    /// The route along which features are ordered.
    package func along(from instant: Instant) -> RouteOrder {
        RouteOrder(requested.flight(from: instant))
    }
}

/// The parameters of `POST /corridors`; a member of the body overrides the parameter of the same name.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `width` | nautical miles, edge to edge | 1…250 | 100 |
/// | `tolerance` | degrees | 0…5 | 0.1 |
/// | `simplify` | true or false | | true |
/// | `f` | format | json, geojson | geojson |
package struct CorridorShapeParameters: Sendable {
    package let requested: RouteReader.RequestedRoute
    /// The tolerance in degrees; nil keeps every position within the limit.
    package let tolerance: Double?

    package static let names: Set<String> = ["f", "width", "tolerance", "simplify"]
    private static let tolerances = 0.0...5.0

    package init(_ reader: QueryReader, body: ShapeBody, airports: AirportTable) throws(ParameterProblem) {
        try reader.requireJSON("geojson")
        requested = try RouteReader(airports).read(reader, body)
        var tolerance: Double? = Corridor.defaultTolerance
        let inQuery = try reader.number("tolerance", in: Self.tolerances)
        if let wanted = body.tolerance ?? inQuery {
            guard Self.tolerances.contains(wanted) else {
                throw reader.invalid("tolerance", String(wanted), "a number of degrees from 0 to 5")
            }
            tolerance = wanted
        }
        let simplifies = if let wanted = body.simplify { wanted } else { try reader.boolean("simplify") ?? true }
        if !simplifies { tolerance = nil }
        self.tolerance = tolerance
    }
}
