package import BillowEngine
package import Geometry
package import Turbulence

/// The parameters of `/collections/{id}/corridor`, beside `FeatureParameters` and `PageParameters`: those of a route
/// (`RouteReader`), and `crs`, which is ignored.
package struct CorridorParameters: Sendable {
    package let asked: RouteReader.Asked
    package let area: AreaIndex?

    package static let names = RouteReader.names.union(["crs"])

    package init(_ reader: QueryReader, body: ShapeBody?, airports: AirportTable) throws(ParameterProblem) {
        asked = try RouteReader(airports).read(reader, body)
        let corridor = try AreaReader.corridor(around: asked.route, width: asked.width, tolerance: nil)
        area = AreaIndex(corridor.area)
    }

    /// The route along which features are ordered.
    package func along(from instant: Instant) -> AlongRoute {
        AlongRoute(asked.flight(from: instant))
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
    package let asked: RouteReader.Asked
    /// The tolerance in degrees; nil keeps every position within the limit.
    package let tolerance: Double?

    package static let names: Set<String> = ["f", "width", "tolerance", "simplify"]
    private static let tolerances = 0.0...5.0

    package init(_ reader: QueryReader, body: ShapeBody, airports: AirportTable) throws(ParameterProblem) {
        asked = try RouteReader(airports).read(reader, body)
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
