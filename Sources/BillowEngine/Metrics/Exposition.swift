/// Metrics in Prometheus' text format.
///
/// Source: Prometheus documentation, "Exposition formats", text-based format 0.0.4
package struct Exposition: Sendable {
    package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    package private(set) var text = ""

    package init() {}

    /// Adds a counter or gauge, unless it has no sample.
    ///
    /// - Parameter samples: each with the values of its labels, in the metric's order.
    package mutating func add(_ metric: MetricDescription, _ samples: [(labels: [String], value: Double)]) {
        guard !samples.isEmpty else { return }
        head(metric)
        for sample in samples { line(metric.name, metric.labels, sample.labels, sample.value) }
    }

    /// Adds a counter or gauge without labels, unless it has no value.
    package mutating func add(_ metric: MetricDescription, _ value: Double?) {
        if let value { add(metric, [(labels: [], value: value)]) }
    }

    package mutating func add(_ metric: MetricDescription, _ value: Int?) { add(metric, value.map { Double($0) }) }

    package mutating func add(_ metric: MetricDescription, _ value: Bool?) { add(metric, value.map { $0 ? 1.0 : 0.0 }) }

    /// Adds a counter with the registry's counts.
    package mutating func add(_ metric: MetricDescription, from registry: MetricRegistry) {
        switch metric.kind {
        case .histogram: histograms(metric, registry.histograms(of: metric))
        case .counter, .gauge:
            add(metric, registry.counters(of: metric).map { (labels: $0.labels, value: Double($0.counter.count)) })
        }
    }

    private mutating func histograms(
        _ metric: MetricDescription, _ all: [(labels: [String], histogram: MetricRegistry.Histogram)]
    ) {
        guard !all.isEmpty else { return }
        head(metric)
        let names = metric.labels + ["le"]
        for (labels, histogram) in all {
            let (counts, seconds) = histogram.cumulative
            for (bound, count) in zip(metric.buckets.map(Self.number) + ["+Inf"], counts) {
                line(metric.name + "_bucket", names, labels + [bound], Double(count))
            }
            line(metric.name + "_sum", metric.labels, labels, seconds)
            line(metric.name + "_count", metric.labels, labels, Double(counts.last ?? 0))
        }
    }

    private mutating func head(_ metric: MetricDescription) {
        let help = metric.help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        text += "# HELP \(metric.name) \(help)\n# TYPE \(metric.name) \(metric.kind.rawValue)\n"
    }

    private mutating func line(_ name: String, _ labels: [String], _ values: [String], _ value: Double) {
        let pairs = zip(labels, values).map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
        text += name + (pairs.isEmpty ? "" : "{\(pairs)}") + " \(Self.number(value))\n"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }

    /// A whole number without a fraction, which `2.0` has in Swift.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map(String.init) ?? "\(value)"
    }
}
