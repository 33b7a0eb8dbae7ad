package import BillowEngine
import Turbulence

/// The parameters of a page of features, beside `FeatureParameters`: of `/collections/{id}/items`, `…/area` and
/// `…/corridor`.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `limit` | whole number of features | from 1; above 10000 it is 10000 | 1000 |
/// | `after` | what a `next` link says | | the first page |
package struct PageParameters: Sendable {
    package let limit: Int
    /// nil for the first page.
    package let start: PageStart?
    private let reader: QueryReader

    package static let names: Set<String> = ["limit", "after"]
    package static let defaultLimit = 1_000
    package static let maximumLimit = 10_000

    package init(_ reader: QueryReader) throws {
        try reader.requireJSON("geojson")
        self.reader = reader
        limit = try reader.count("limit", upTo: Self.maximumLimit) ?? Self.defaultLimit
        start = try reader.text("after").map { (text) throws(EngineError) in try PageStart(text) }
    }

    /// The query of the page that starts at a place.
    package func next(_ start: PageStart, of query: FeatureQuery) -> String { query.nextQuery(reader, after: start) }
}
