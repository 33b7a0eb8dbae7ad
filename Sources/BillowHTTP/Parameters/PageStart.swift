package import BillowEngine
import BillowExchange
import BillowSnapshot
package import BillowStore
import Datasets
import Turbulence

/// Where a page of features starts, as `next` links say it: behind a feature, in the log as of a version.
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
        guard parts.count == 3, let version = Digits.integer(parts[0]) else {
            throw FeatureSource.badCursor(FeatureSource.Cursor(text: text))
        }
        head = Head(version: Version(rawValue: Int64(version)), log: String(parts[1]))
        cursor = FeatureSource.Cursor(text: String(parts[2]))
    }
}

extension FeatureQuery {
    /// The parameters of the next page: the same of the same version, with the instant held fast.
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
