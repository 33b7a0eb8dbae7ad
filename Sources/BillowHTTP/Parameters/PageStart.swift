package import BillowEngine
import BillowExchange
import BillowSnapshot
package import BillowStore
import Datasets
import Digests
import Turbulence

/// The start of a page, encoded in `next` links: after a feature, in the log at a version, for a selection of features.
package struct PageStart: Sendable {
    package var head: Head
    package var cursor: FeatureSource.Cursor
    /// The parameters that select the features, as a short hash.
    package var selection: String

    package var text: String { "\(head.version)-\(head.log)-\(selection)-\(cursor.text)" }

    package init(head: Head, cursor: FeatureSource.Cursor, selection: String) {
        self.head = head
        self.cursor = cursor
        self.selection = selection
    }

    package init(_ text: String) throws(EngineError) {
        let parts = text.split(separator: "-", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let version = PlainInteger.parse(parts[0]) else {
            throw FeatureSource.badCursor(FeatureSource.Cursor(text: text))
        }
        head = Head(version: Version(rawValue: Int64(version)), log: String(parts[1]))
        selection = String(parts[2])
        cursor = FeatureSource.Cursor(text: String(parts[3]))
    }

    /// The parameters that say how features are returned, not which. They may differ from page to page.
    private static let presentation: Set<String> = [
        "after", "limit", "f", "properties", "parameter-name", "parameter_names",
    ]

    /// The hash of the parameters that select features.
    static func selection(_ parameters: [String: String]) -> String {
        let text = QueryReader.query(parameters.filter { !presentation.contains($0.key) })
        return Hexadecimal.text(SHA256.hash(text.utf8).prefix(4))
    }
}

extension FeatureQuery {
    /// The query of the next page: the same parameters at the same version, with a fixed instant.
    /// - Parameter format: the value of `f`; nil for that of the request.
    package func nextQuery(
        _ reader: QueryReader, after cursor: FeatureSource.Cursor, at head: Head, format: String? = nil
    ) -> String {
        var parameters = reader.all
        if let format { parameters["f"] = format }
        if collection.isHexagons || collection.isPicture && !isInterval {
            parameters["time"] = nil
            let start = reader.text("datetime").flatMap {
                $0.contains("/") ? instant.advanced(by: -filter.lookBackSeconds) : nil
            }
            parameters["datetime"] = start.map { "\($0)/\(instant)" } ?? instant.description
        } else if reader.has("hours"), !reader.has("datetime") {
            parameters["time"] = instant.description
        }
        let start = PageStart(head: head, cursor: cursor, selection: PageStart.selection(parameters))
        parameters["after"] = start.text
        return QueryReader.query(parameters)
    }
}
