import BillowEngine
import BillowExchange
package import Datasets
import Turbulence

/// The parameters of `/changes/{collection}`: those of `FeatureParameters` without times and `aggregate`, and these.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `since` | a cursor of an earlier answer | | all features |
/// | `geometry` | true or false | | false where a feature names its cell |
package struct ChangeParameters: Sendable {
    package let since: String?
    package let hasGeometry: Bool
    /// What tells the query from others.
    package let name: String
    package let features: FeatureParameters

    package static func names(_ collection: Dataset) -> Set<String> {
        FeatureParameters.names(collection).subtracting(["time", "datetime", "aggregate"]).union(["since", "geometry"])
    }

    package init(_ reader: QueryReader, of collection: Dataset) throws(ParameterProblem) {
        try reader.requireJSON("geojson")
        since = reader.text("since")
        // A hexagon's shape is that of the cell in its properties, and most of its bytes.
        let isNamedByCell = collection.isHexagons || collection == .observations
        hasGeometry = try reader.boolean("geometry") ?? !isNamedByCell
        var parameters = reader.all
        // Of a log, too, what was observed in the history: not all that is stored.
        if parameters["hours"] == nil { parameters["hours"] = History.default.text }
        for name in ["since", "f", "geometry"] { parameters[name] = nil }
        features = try FeatureParameters(QueryReader(parameters), of: collection)
        parameters["geometry"] = String(hasGeometry)
        name = "\(collection.id)?\(QueryReader.query(parameters))"
    }
}
