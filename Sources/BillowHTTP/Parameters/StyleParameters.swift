import Datasets
package import Geometry
import Turbulence

/// The parameters of `/styles/{id}.json`: those of a filter (`FeatureParameters`) and these, which are passed on to its
/// tiles.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `f` | form of the tiles | png, mvt, json | png |
/// | `time` | instant or `latest` | | `latest` |
/// | `opacity` | number | 0…1 | 1 |
/// | `labels`, `incomplete` | as for tiles, for `png` | | |
package struct StyleParameters: Sendable {
    /// The query of the tiles' addresses; empty for none.
    package let passedOn: Substring
    /// Whether the document draws vector tiles instead of pictures.
    package let hasVectorTiles: Bool
    /// The factor of all opacities, which pictures take from their addresses.
    package let opacity: Double

    /// The parameters that are read. Others are ignored.
    package static let names = QueryReader.filterNames.union(pictureNames).union(["f"])
    private static let pictureNames = QueryReader.conditionNames.union(["opacity", "time", "labels", "incomplete"])
    private static let vectorNames = QueryReader.conditionNames.union(["time", "mode"])

    package init(_ query: QueryReader) throws(ParameterProblem) {
        hasVectorTiles = try query.choice("f", [("png", false), ("mvt", true), ("json", false)]) ?? false
        // Values that the tiles would reject are rejected here.
        _ = try query.filter(of: Catalogue.layers, for: .pictures)
        _ = try query.time()
        opacity = try query.number("opacity", in: 0...1) ?? 1
        _ = try query.labels()
        _ = try query.hatchesIncomplete()
        passedOn = query.passedOn(hasVectorTiles ? Self.vectorNames : Self.pictureNames).dropFirst()
    }
}

/// The parameters of `/events`.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `flight` | a monitored flight's id | of the request's key | none |
/// | `lastEventId` | an event's id, where the header `Last-Event-ID` can't be sent | | none |
package struct EventParameters: Sendable {
    package let flight: String?
    package let lastEventID: String?
    /// The squares whose changes the client gets; nil for all.
    package let squares: DegreeSquares?

    package static let names = OwnAreaParameters.names.union(["flight", "lastEventId"])

    /// - Parameter limitKm2: the largest area of a request in km².
    package init(_ reader: QueryReader, airports: AirportTable, limitKm2: Double) throws(ParameterProblem) {
        flight = reader.text("flight")
        lastEventID = reader.text("lastEventId")
        squares = try OwnAreaParameters(reader, airports: airports, limitKm2: limitKm2).squares
    }
}

/// The parameters of `POST /admin/sources/{id}/refresh`.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `full` | true or false | | false |
package struct RefreshParameters: Sendable {
    package let isFull: Bool

    package static let names: Set<String> = ["full"]

    package init(_ reader: QueryReader) throws(ParameterProblem) { isFull = try reader.boolean("full") ?? false }
}
