package import BillowEngine
package import BillowExchange
package import BillowStore
package import Datasets
package import Turbulence

/// The parameters of a page of features, beside `FeatureParameters`: of `/collections/{id}/items`, and of the queries
/// of OGC API EDR.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `limit` | whole number of features | from 1; above 10000 it is 10000 | 1000 |
/// | `after` | what a `next` link says | | the first page |
/// | `properties` | list of properties | those of the collection | all |
package struct PageParameters: Sendable {
    package let limit: Int
    /// nil for the first page.
    package let start: PageStart?
    /// The names of the properties that features have; nil for all.
    package let properties: Set<String>?
    private let reader: QueryReader

    package static let names: Set<String> = ["limit", "after", "properties"]
    package static let defaultLimit = 1_000
    package static let maximumLimit = 10_000

    /// - Parameter defaultLimit: nil for the default of pages for programs.
    package init(_ reader: QueryReader, of collection: Dataset, defaultLimit: Int? = nil) throws {
        self.reader = reader
        properties = try reader.properties(of: collection)
        limit = try reader.count("limit", upTo: Self.maximumLimit) ?? defaultLimit ?? Self.defaultLimit
        start = try PageStart(reader)
    }

    /// The query of the page that starts after a feature. It names a format other than GeoJSON, even where `Accept`
    /// chose it, because a link is also opened elsewhere.
    package func next(
        after cursor: FeatureSource.Cursor, at head: Head, of query: FeatureQuery, dataTime: Instant?,
        as format: ExportFormat = .geojson
    ) -> String {
        query.nextQuery(
            reader, after: cursor, at: head, dataTime: dataTime, format: format == .geojson ? nil : format.rawValue)
    }
}
