package import Geometry

/// The parameters of `/collections/{id}/locations`.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `bbox` | west,south,east,north in degrees | the earth | all locations |
/// | `limit` | whole number of locations | from 1; above 10000 it is 10000 | all |
/// | `datetime` | instant or interval a/b | | no effect: airports don't change |
/// | `crs` | longitude and latitude of WGS 84 | `QueryReader.lonLatNames` | CRS84 |
/// | `f` | format | GeoJSON | GeoJSON |
///
/// Source: OGC 19-086r6 (OGC API EDR) section 8.2.9
package struct LocationParameters: Sendable {
    /// The box in which locations are listed; nil for all.
    package let box: BoundingBox?
    /// The most locations; nil for all.
    package let limit: Int?

    package static let names: Set<String> = ["bbox", "crs", "datetime", "f", "limit"]

    package init(_ reader: QueryReader) throws(ParameterProblem) {
        try reader.requireLonLat()
        _ = try reader.dataFormat([.geoJSON])
        box = try reader.bbox()
        limit = try reader.count("limit", upTo: PageParameters.maximumLimit)
        _ = try reader.datetime()
    }
}
