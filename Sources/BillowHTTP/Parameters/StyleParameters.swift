import Turbulence

/// The parameters of `/styles/{id}.json`: those of a filter (`FeatureParameters`), `opacity`, `time`, `labels` and
/// `incomplete`, which are passed on to its tiles.
package struct StyleParameters: Sendable {
    /// The query of the tiles' addresses; empty for none.
    package let passedOn: Substring

    package init(_ query: QueryReader) throws(ParameterProblem) {
        _ = try query.filter()
        passedOn = query.passedOn(QueryReader.filterNames.union(["opacity", "time", "labels", "incomplete"]))
            .dropFirst()
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

    package static let names: Set<String> = ["flight", "lastEventId"]

    package init(_ reader: QueryReader) {
        flight = reader.text("flight")
        lastEventID = reader.text("lastEventId")
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
