package import BillowEngine
package import BillowSnapshot
package import Datasets
package import Geometry
package import Turbulence

/// The parameters of `/collections/{id}/position`, and of a location of a turbulence field, without `coords`.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `coords` | `POINT(longitude latitude)` | the earth | required |
/// | `z` | feet, `low/high`, or a list of feet | 0…65000, at most 60 | all levels |
/// | `datetime`, `time` | instant or `latest` | the collection's extent | `latest` |
/// | `product` | gtgn or gtg | | the newest nowcast, else the forecast |
/// | `run` | instant | | the newest |
/// | `smoothing` | true or false | | false |
/// | `source` | list of names | at most 32 | all |
/// | `category` | aircraft category | C10…C110 | C60 |
/// | `crs`, `f`, `parameter-name`, `properties` | as of `EDRParameters` | | |
///
/// Source: OGC 19-086r6 (OGC API EDR) section 8.2.1
package struct FieldPositionParameters: Sendable {
    package let place: LonLat
    package let levels: FieldLevelSelection
    package let filter: Filter
    package let format: DataFormat
    package let properties: Set<String>?
    private let time: FieldTimeParameter

    package static let names = FieldTimeParameter.names.union(EDRParameters.names).union([
        "coords", "product", "run", "smoothing", "source", "category", "properties", "f",
    ])

    /// - Parameter location: the place in place of `coords`.
    package init(
        _ reader: QueryReader, of collection: Dataset, at location: LonLat? = nil, preferring format: DataFormat
    ) throws(ParameterProblem) {
        let offered = EDRQuery.position.formats(of: collection)
        self.format = try reader.dataFormat(offered) ?? format
        try reader.requireLonLat()
        if let location {
            place = location
        } else {
            place = try PositionParameters(reader).place
        }
        levels = try reader.levels()
        filter = try reader.filter(of: [collection], for: .features)
        properties = try reader.properties(of: collection)
        time = try FieldTimeParameter(reader)
    }

    /// The region of the place alone.
    package var region: GeographicRegion {
        let box = BoundingBox(
            west: place.longitude, south: place.latitude, east: place.longitude, north: place.latitude)
        return box.map(GeographicRegion.box) ?? .everywhere
    }

    /// - Throws: `EngineError` if the collection has no data at the time.
    package func instant(_ frames: FrameSource, _ collection: Dataset, in snapshot: Snapshot) throws(EngineError)
        -> Instant
    {
        try time.instant(frames, collection, in: snapshot)
    }
}
