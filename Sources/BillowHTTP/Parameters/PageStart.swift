package import BillowEngine
import BillowExchange
import BillowSnapshot
package import BillowStore
import Datasets
import Turbulence

/// The start of a page, encoded in `next` links: after a feature, in the log at a version.
package struct PageStart: Sendable {
    package var head: Head
    package var cursor: FeatureSource.Cursor

    package var text: String { "\(head.version)-\(head.log)-\(cursor.text)" }

    package init(head: Head, cursor: FeatureSource.Cursor) {
        self.head = head
        self.cursor = cursor
    }

    package init(_ text: String) throws(EngineError) {
        let parts = text.split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let version = PlainInteger.parse(parts[0]) else {
            throw FeatureSource.badCursor(FeatureSource.Cursor(text: text))
        }
        head = Head(version: Version(rawValue: Int64(version)), log: String(parts[1]))
        cursor = FeatureSource.Cursor(text: String(parts[2]))
    }
}

extension FeatureQuery {
    /// The query of the next page: the same parameters at the same version, with a fixed instant.
    package func nextQuery(_ reader: QueryReader, after start: PageStart) -> String {
        var parameters = reader.all
        parameters["after"] = start.text
        if collection.isHexagons || collection.isPicture && !isInterval {
            parameters["time"] = nil
            let start = reader.text("datetime").flatMap {
                $0.contains("/") ? instant.advanced(by: -filter.lookBackSeconds) : nil
            }
            parameters["datetime"] = start.map { "\($0)/\(instant)" } ?? instant.description
        } else if reader.has("hours"), !reader.has("datetime") {
            parameters["time"] = instant.description
        }
        return QueryReader.query(parameters)
    }
}
