import CoreMetrics
package import Logging
import ServiceLifecycle
import Synchronization

/// Writes ended spans to their destination, some times a second, and the last ones at the end.
package final class SpanExporter: Service {
    /// The counter of spans by result: exported, failed or dropped.
    package static let metric = "billow_trace_spans_total"

    private let queue: SpanQueue
    private let destination: SpanDestination
    private let resource: [(String, String)]
    private let redact: @Sendable (String) -> String
    private let logger: Logger
    private let exported = Counter(label: metric, dimensions: [("result", "exported")])
    private let failed = Counter(label: metric, dimensions: [("result", "failed")])
    private let loggedAt = Mutex<ContinuousClock.Instant?>(nil)

    private static let pause = Duration.milliseconds(250)
    /// The most spans of one document.
    private static let batch = 512
    /// The pause between two log lines about a destination that fails.
    private static let logPause = Duration.seconds(60)

    /// - Parameters:
    ///   - version: the release of the process.
    ///   - instance: differs for each process.
    ///   - redact: removes secrets from each text.
    package init(
        _ queue: SpanQueue, to destination: SpanDestination, version: String, instance: String,
        redact: @escaping @Sendable (String) -> String, logger: Logger
    ) {
        self.queue = queue
        self.destination = destination
        resource = [("service.name", "billow"), ("service.version", version), ("service.instance.id", instance)]
        self.redact = redact
        self.logger = logger
    }

    package func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.export()
                // The only error is a cancellation, which ends the loop.
                try? await Task.sleep(for: Self.pause)
            }
        }
        await export()
        await destination.shutDown()
    }

    /// Exports what waits. Spans of a batch that fails are lost, because newer ones tell more.
    private func export() async {
        while true {
            let spans = queue.take(Self.batch)
            guard !spans.isEmpty else { return }
            do {
                try await destination.send(OTLPDocument(spans, resource: resource, redact: redact).line())
                exported.increment(by: spans.count)
            } catch {
                failed.increment(by: spans.count)
                if mustLog() { logger.warning("spans can't be exported", metadata: ["error": "\(error)"]) }
                return
            }
        }
    }

    /// Whether the last line is long enough ago.
    private func mustLog() -> Bool {
        loggedAt.withLock { last in
            if let last, ContinuousClock.now < last + Self.logPause { return false }
            last = .now
            return true
        }
    }
}
