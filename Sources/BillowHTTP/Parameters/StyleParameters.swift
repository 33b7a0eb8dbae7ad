package import Datasets
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
/// | `collections` | list of collections | those of `Catalogue.all` | all events |
/// | `lastEventId` | an event's id, where the header `Last-Event-ID` can't be sent | | none |
package struct EventParameters: Sendable {
    package let flight: String?
    package let lastEventID: String?
    /// The datasets whose changes the client gets, and no other events but those of its flight; nil for all events.
    package let datasets: [Dataset]?
    /// The squares whose changes the client gets; nil for all.
    package let squares: DegreeSquares?

    package static let names = OwnAreaParameters.names.union(["flight", "lastEventId", "collections"])

    /// - Parameter limitKm2: the largest area of a request in km².
    package init(_ reader: QueryReader, airports: AirportTable, limitKm2: Double) throws(ParameterProblem) {
        flight = reader.text("flight")
        lastEventID = reader.text("lastEventId")
        datasets = try reader.datasets()
        squares = try OwnAreaParameters(reader, airports: airports, limitKm2: limitKm2).squares
    }
}

extension QueryReader {
    /// The datasets of the parameter `collections`; nil without it.
    fileprivate func datasets() throws(ParameterProblem) -> [Dataset]? {
        guard let text = text("collections") else { return nil }
        let ids = text.split(separator: ",", maxSplits: Self.maximumNames, omittingEmptySubsequences: false)
        let datasets = ids.compactMap { id in Catalogue.all.first { $0.id == id } }
        guard datasets.count == ids.count else {
            let names = Catalogue.all.map(\.id).joined(separator: ", ")
            throw invalid("collections", String(text.prefix(100)), "a list of some of \(names)")
        }
        return datasets
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
