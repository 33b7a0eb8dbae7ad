import CoreMetrics
import Synchronization

/// Ended spans that wait for their export. A full queue drops new ones and counts them, so that a slow receiver delays
/// nothing.
package final class SpanQueue: Sendable {
    private let spans: Mutex<[EndedSpan]> = Mutex([])
    private let limit: Int
    private let dropped = Counter(label: SpanExporter.metric, dimensions: [("result", "dropped")])

    /// - Parameter limit: the most waiting spans, of about 1 kB each.
    package init(limit: Int = 8_192) { self.limit = limit }

    func add(_ span: EndedSpan) {
        let isAdded = spans.withLock { spans in
            guard spans.count < limit else { return false }
            spans.append(span)
            return true
        }
        if !isAdded { dropped.increment() }
    }

    /// Removes the oldest spans.
    func take(_ most: Int) -> [EndedSpan] {
        spans.withLock { spans in
            let taken = Array(spans.prefix(most))
            spans.removeFirst(taken.count)
            return taken
        }
    }
}
