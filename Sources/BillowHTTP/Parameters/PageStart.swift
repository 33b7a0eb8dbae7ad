package import BillowEngine
import BillowExchange
import BillowSnapshot
package import BillowStore
import Datasets
import Digests
package import Turbulence

/// The start of a page, encoded in `next` links: after a feature, in the log at a version, for a selection of features.
package struct PageStart: Sendable {
    package var head: Head
    package var cursor: FeatureSource.Cursor
    /// The data time of the first page. Later pages show the same version, so theirs is no later.
    package var dataTime: Instant?
    /// A hash of the other members and of the parameters that select features. A changed start does not match it.
    package var check: String

    package var text: String { "\(head.version)-\(head.log)-\(check)-\(dataTimeText)-\(cursor.text)" }

    private var dataTimeText: String { dataTime.map { String($0.seconds) } ?? "" }

    /// - Parameter parameters: those of the request.
    package init(head: Head, cursor: FeatureSource.Cursor, dataTime: Instant?, of parameters: [String: String]) {
        self.head = head
        self.cursor = cursor
        self.dataTime = dataTime
        check = ""
        check = expectedCheck(of: parameters)
    }

    package init(_ text: String) throws(EngineError) {
        let parts = text.split(separator: "-", maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 5, let version = PlainInteger.parse(parts[0]),
            let seconds = parts[3].isEmpty ? 0 : PlainInteger.parse(parts[3])
        else { throw FeatureSource.badCursor(FeatureSource.Cursor(text: text)) }
        head = Head(version: Version(rawValue: Int64(version)), log: String(parts[1]))
        check = String(parts[2])
        dataTime = parts[3].isEmpty ? nil : Instant(clamping: seconds)
        cursor = FeatureSource.Cursor(text: String(parts[4]))
    }

    /// The start that a request names; nil without one.
    init?(_ reader: QueryReader) throws {
        guard let text = reader.text("after") else { return nil }
        try self.init(text)
        guard matches(reader.all) else {
            // The page would continue another selection, and miss or repeat features.
            throw reader.invalid("after", text, "that of a link next, with the other parameters of the same link")
        }
    }

    /// Whether it is unchanged, and its selection is that of a request.
    package func matches(_ parameters: [String: String]) -> Bool { check == expectedCheck(of: parameters) }

    /// The parameters that say how features are returned, not which. They may differ from page to page.
    private static let presentation: Set<String> = [
        "after", "limit", "f", "properties", "parameter-name", "parameter_names",
    ]

    private func expectedCheck(of parameters: [String: String]) -> String {
        let selection = QueryReader.query(parameters.filter { !Self.presentation.contains($0.key) })
        let text = "\(head.version)-\(head.log)-\(dataTimeText)-\(cursor.text)?\(selection)"
        return Hexadecimal.text(SHA256.hash(text.utf8).prefix(4))
    }
}

extension FeatureQuery {
    /// The query of the next page: the same parameters at the same version, with a fixed instant.
    /// - Parameters:
    ///   - dataTime: the data time of the first page.
    ///   - format: the value of `f`; nil for that of the request.
    package func nextQuery(
        _ reader: QueryReader, after cursor: FeatureSource.Cursor, at head: Head, dataTime: Instant?,
        format: String? = nil
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
        parameters["after"] = PageStart(head: head, cursor: cursor, dataTime: dataTime, of: parameters).text
        return QueryReader.query(parameters)
    }
}
