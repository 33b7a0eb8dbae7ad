import BillowEngine
package import Geometry

/// The part of the world that a client requests: a box, a route or an area. For `/changes`, `/events` and packs.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `bbox` | west,south,east,north in degrees | the earth | everywhere |
/// | `route` | waypoints | as of `RouteReader` | none |
/// | `coords` | `LINESTRING(…)`, `POLYGON((…))`, `MULTIPOLYGON(((…)))` | as of `RouteReader`, `AreaParameters` | none |
/// | `width`, `corridor-width`, `width-units` | of a route, as of `RouteReader` | | 100 |
/// | `crs` | any text | | ignored |
package struct OwnAreaParameters: Sendable {
    /// nil for the whole world, and if `area` defines the place.
    package let box: BoundingBox?
    /// A corridor or an area.
    package let area: AreaIndex?

    package static let names: Set<String> = [
        "bbox", "route", "coords", "width", "corridor-width", "width-units", "crs",
    ]
    private static let ofRoutes = ["width", "corridor-width", "width-units"]

    /// - Parameter limitKm2: the largest outline that may be requested, in km²; nil if another limit applies.
    package init(_ reader: QueryReader, airports: AirportTable, limitKm2: Double?) throws(ParameterProblem) {
        box = try reader.bbox()
        let text = reader.phrase("coords")
        let isPlaced = reader.has("route") || text != nil
        if isPlaced, reader.has("bbox") {
            throw reader.invalid("bbox", reader.text("bbox") ?? "", "left out where a route or an area is given")
        }
        let shape = text.flatMap(WellKnownText.shape)
        if text != nil, reader.has("route") {
            throw reader.invalid("route", reader.phrase("route") ?? "", "left out where coords is given")
        }
        if case .polygons(let polygons)? = shape {
            try Self.refuseWidth(reader)
            area = try AreaReader.area(polygons, limitKm2: limitKm2, parameter: "coords", value: text)
            return
        }
        if let text, shape == nil {
            throw reader.invalid(
                "coords", text, "LINESTRING(longitude latitude, …) or POLYGON((longitude latitude, …))")
        }
        guard isPlaced else {
            try Self.refuseWidth(reader)
            area = nil
            return
        }
        let requested = try RouteReader(airports).read(reader, nil)
        let corridor = try AreaReader.corridor(around: requested)
        guard let area = AreaIndex(corridor.area) else {
            throw reader.invalid("route", reader.phrase("route") ?? "", "a route with a corridor around it")
        }
        self.area = area
    }

    private static func refuseWidth(_ reader: QueryReader) throws(ParameterProblem) {
        guard let name = ofRoutes.first(where: reader.has) else { return }
        throw reader.invalid(name, reader.text(name) ?? "", "left out without a route")
    }

    /// The squares in which something may concern the client; nil for everywhere.
    package var squares: DegreeSquares? { area.map { DegreeSquares($0) } ?? box.map { DegreeSquares($0) } }
}
