import BillowEngine
package import Geometry

/// The parameters of `/collections/{id}/position` for areas, beside `EDRParameters`.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `coords` | `POINT(longitude latitude)` | the earth | required |
///
/// Source: OGC 19-086r6 (OGC API EDR) section 8.2.1
package struct PositionParameters: Sendable {
    package let place: LonLat

    package static let names: Set<String> = ["coords"]

    package init(_ reader: QueryReader) throws(ParameterProblem) {
        let coords = try reader.required("coords", "POINT(longitude latitude)")
        guard let place = WellKnownText.point(coords) else {
            throw reader.invalid("coords", coords, "POINT(longitude latitude)")
        }
        self.place = place
    }

    /// Selects the features that contain the place. A `bbox` that excludes the place selects none.
    func restrict(_ query: inout FeatureQuery) {
        if let box = query.box, !box.contains(place) { query.hasNothing = true }
        query.box = BoundingBox(
            west: place.longitude, south: place.latitude, east: place.longitude, north: place.latitude)
    }
}
