package import BillowEngine
package import BillowSnapshot
package import Datasets
package import Geometry
package import Turbulence

/// The parameters of `/collections/{id}/position`.
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
/// | `crs` | any text | | ignored |
/// | `f` | format | json or geojson | geojson |
///
/// Source: OGC 19-086r6 (OGC API EDR) section 8.2.1
package struct FieldPositionParameters: Sendable {
    package let place: LonLat
    package let levels: FieldLevelSelection
    package let filter: Filter
    private let time: RequestedTime
    private let isDatetime: Bool

    package static let names: Set<String> = [
        "coords", "z", "datetime", "time", "product", "run", "smoothing", "source", "category", "crs", "f",
    ]

    package init(_ reader: QueryReader) throws(ParameterProblem) {
        try reader.requireJSON("geojson")
        let coords = try reader.required("coords")
        guard let place = WellKnownText.point(reader.phrase("coords") ?? coords) else {
            throw reader.invalid("coords", coords, "POINT(longitude latitude)")
        }
        self.place = place
        levels = try Self.levels(reader)
        filter = try reader.filter()
        isDatetime = reader.has("datetime")
        switch try reader.datetime() {
        case nil: time = try reader.time()
        case .instant(let instant): time = .instant(instant)
        case .interval: throw reader.invalid("datetime", reader.text("datetime") ?? "", "an instant")
        }
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
        try frames.instant(
            time, in: snapshot, parameter: isDatetime ? "datetime" : "time",
            within: frames.reach(of: collection, in: snapshot))
    }

    private static let allowed = "feet from 0 to 65000, low/high, or a list of at most 60"

    private static func levels(_ reader: QueryReader) throws(ParameterProblem) -> FieldLevelSelection {
        guard let text = reader.text("z") else { return .all }
        func feet(_ part: Substring) throws(ParameterProblem) -> Int {
            guard let number = QueryReader.decimal(part), (0...65_000).contains(number) else {
                throw reader.invalid("z", text, allowed)
            }
            return Int(number.rounded())
        }
        let ends = text.split(separator: "/", omittingEmptySubsequences: false)
        if ends.count == 2 {
            let (low, high) = (try feet(ends[0]), try feet(ends[1]))
            guard low <= high else { throw reader.invalid("z", text, allowed) }
            return .within(low...high)
        }
        let parts = text.split(separator: ",", maxSplits: 60, omittingEmptySubsequences: false)
        guard ends.count == 1, parts.count <= 60 else { throw reader.invalid("z", text, allowed) }
        var list: [Int] = []
        for part in parts { list.append(try feet(part)) }
        return .nearest(list)
    }
}
