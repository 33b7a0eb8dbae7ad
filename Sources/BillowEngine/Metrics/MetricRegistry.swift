package import CoreMetrics
import Synchronization

/// The counters and histograms of a server. Each is created once per combination of labels.
///
/// It is also a factory of swift-metrics. It publishes the metrics of libraries whose names are in
/// `MetricDescription.all`, and drops all others, because their labels are not bounded.
package final class MetricRegistry: MetricsFactory {
    /// A number that only rises. Counting is one atomic addition.
    package final class Counter: CounterHandler {
        private let value = Atomic<Int64>(0)

        fileprivate init() {}

        package func increment(by amount: Int64) { value.add(amount, ordering: .relaxed) }
        package func reset() { value.store(0, ordering: .relaxed) }
        package var count: Int64 { value.load(ordering: .relaxed) }
    }

    /// Durations by buckets. Recording is two atomic additions.
    package final class Histogram: TimerHandler {
        /// Nanoseconds, rising.
        private let bounds: [Int64]
        /// One more than bounds.
        private let counts: [Counter]
        private let sum = Atomic<Int64>(0)

        fileprivate init(seconds bounds: [Double]) {
            self.bounds = bounds.map { Int64(($0 * 1e9).rounded()) }
            counts = (0...bounds.count).map { _ in Counter() }
        }

        package func recordNanoseconds(_ duration: Int64) {
            // A dozen bounds: most durations are in the first few.
            var bucket = 0
            while bucket < bounds.count, duration > bounds[bucket] { bucket += 1 }
            counts[bucket].increment(by: 1)
            sum.add(max(0, duration), ordering: .relaxed)
        }

        /// The count up to each bound, with the total count last, and the sum in seconds.
        package var cumulative: (counts: [Int64], seconds: Double) {
            var total: Int64 = 0
            let counts = counts.map { counter in
                total += counter.count
                return total
            }
            return (counts, Double(sum.load(ordering: .relaxed)) / 1e9)
        }
    }

    private struct Families {
        var counters: [String: [[String]: Counter]] = [:]
        var histograms: [String: [[String]: Histogram]] = [:]
    }

    private let families = Mutex(Families())

    package init() {}

    /// The counter of a metric with these labels. Callers that count often should store it.
    package func counter(_ metric: MetricDescription, _ labels: [String] = []) -> Counter {
        families.withLock { families in
            if let known = families.counters[metric.name]?[labels] { return known }
            let counter = Counter()
            families.counters[metric.name, default: [:]][labels] = counter
            return counter
        }
    }

    /// The histogram of a metric with these labels.
    package func histogram(_ metric: MetricDescription, _ labels: [String] = []) -> Histogram {
        families.withLock { families in
            if let known = families.histograms[metric.name]?[labels] { return known }
            let histogram = Histogram(seconds: metric.buckets)
            families.histograms[metric.name, default: [:]][labels] = histogram
            return histogram
        }
    }

    /// The counters of a metric, in the order of its labels.
    package func counters(of metric: MetricDescription) -> [(labels: [String], counter: Counter)] {
        families.withLock { $0.counters[metric.name] ?? [:] }.map { (labels: $0.key, counter: $0.value) }
            .sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
    }

    package func histograms(of metric: MetricDescription) -> [(labels: [String], histogram: Histogram)] {
        families.withLock { $0.histograms[metric.name] ?? [:] }.map { (labels: $0.key, histogram: $0.value) }
            .sorted { $0.labels.lexicographicallyPrecedes($1.labels) }
    }

    // MARK: - swift-metrics

    /// The metric of a name, with the values of its labels.
    private static func described(
        _ name: String, _ kind: MetricDescription.Kind, _ dimensions: [(String, String)]
    ) -> (MetricDescription, [String])? {
        guard let metric = MetricDescription.all.first(where: { $0.name == name && $0.kind == kind }) else {
            return nil
        }
        return (metric, metric.labels.map { label in dimensions.first { $0.0 == label }?.1 ?? "" })
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        guard let (metric, labels) = Self.described(label, .counter, dimensions) else {
            return NOOPMetricsHandler.instance
        }
        return counter(metric, labels)
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        guard let (metric, labels) = Self.described(label, .histogram, dimensions) else {
            return NOOPMetricsHandler.instance
        }
        return histogram(metric, labels)
    }

    package func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler { NOOPMetricsHandler.instance }

    // The counts stay, because a counter must never decrease.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
}
