package import BillowEngine
import BillowExchange
package import BillowSnapshot
package import Datasets
package import Geometry
import Turbulence

/// The parameters of `/changes/{collection}`: those of `FeatureParameters` without times, those of
/// `OwnAreaParameters`, and these.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `since` | a cursor of an earlier answer | | all features |
/// | `geometry` | true or false | | false where a feature names its cell |
/// | `mirror` | true or false | | false |
package struct ChangeParameters: Sendable {
    package let since: String?
    package let hasGeometry: Bool
    /// Whether the response is for a server that mirrors this one.
    package let isForMirror: Bool
    /// The identity of the query.
    package let name: String
    private let collection: Dataset
    private let features: FeatureParameters
    private let area: AreaIndex?

    package static func names(_ collection: Dataset) -> Set<String> {
        FeatureParameters.names(collection).subtracting(["time", "datetime"])
            .union(OwnAreaParameters.names).union(["since", "geometry", "mirror"])
    }

    /// - Parameter limitKm2: the largest area of a request in km².
    package init(
        _ reader: QueryReader, of collection: Dataset, airports: AirportTable, limitKm2: Double
    ) throws(ParameterProblem) {
        try reader.requireJSON("geojson")
        self.collection = collection
        since = reader.text("since")
        // A hexagon's shape is that of the cell in its properties, and most of its bytes.
        let isNamedByCell = collection.content == .history(.observations)
        hasGeometry = try reader.boolean("geometry") ?? !isNamedByCell
        isForMirror = try reader.boolean("mirror") ?? false
        var parameters = reader.all
        // A collection of the log is limited to the history too, not to everything stored.
        if parameters["hours"] == nil { parameters["hours"] = History.default.text }
        for name in ["since", "f", "geometry", "crs", "mirror"] { parameters[name] = nil }
        features = try FeatureParameters(QueryReader(parameters), of: collection, for: .changes)
        area = try OwnAreaParameters(reader, airports: airports, limitKm2: limitKm2).area
        // Only its default applies to hexagons, and other collections have nothing to aggregate.
        parameters["aggregate"] = nil
        parameters["geometry"] = String(hasGeometry)
        parameters["mirror"] = String(isForMirror)
        name = "\(collection.id)?\(QueryReader.query(parameters))"
    }

    /// The query for these parameters at a snapshot.
    package func query(_ frames: FrameSource, in snapshot: Snapshot) throws(EngineError) -> FeatureQuery {
        var query = try features.query(frames, in: snapshot)
        query.area = area
        query.isForMirror = isForMirror
        if isForMirror, collection.areas != nil {
            // Offline, a mirror shows the areas that begin later.
            query.isInterval = true
            query.from = snapshot.publication.asOf
            query.to = .distantFuture
        }
        return query
    }
}
