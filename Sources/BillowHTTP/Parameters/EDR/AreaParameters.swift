package import Geometry

/// The parameters of `/collections/{id}/area`, beside `EDRParameters`.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `coords` | `POLYGON((…))` or `MULTIPOLYGON(((…)))` | at most 250 positions and `areaLimit` | required in a GET |
///
/// A POST has the polygon in its body instead (`ShapeBody`).
package struct AreaParameters: Sendable {
    package let area: AreaIndex

    package static let names: Set<String> = ["coords"]
    private static let text = "POLYGON((longitude latitude, …))"

    package init(_ reader: QueryReader, body: ShapeBody?, limitKm2: Double) throws(ParameterProblem) {
        let shape =
            if let body { body.shape } else { WellKnownText.shape(try reader.required("coords", Self.text)) }
        guard case .polygons(let polygons)? = shape else {
            throw body == nil
                ? reader.invalid("coords", reader.phrase("coords") ?? "", Self.text)
                : ParameterProblem(
                    .invalidBody, detail: "The body has neither a GeoJSON Polygon nor a member 'polygon'.",
                    parameter: "polygon", value: body?.route == nil ? ParameterProblem.missing : "a route",
                    allowed: "a GeoJSON Polygon, or a ring [[longitude, latitude], …]")
        }
        area = try AreaReader.area(
            polygons, limitKm2: limitKm2, parameter: body == nil ? "coords" : "polygon", value: reader.phrase("coords"))
    }
}
