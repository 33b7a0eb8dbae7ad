import Datasets
import BillowTiles
import SpanKit

/// Times the drawing of tiles, by layer and zoom.
package struct RenderMetrics: Sendable {
    /// The format of a tile.
    enum Format: String {
        case png, mvt
    }

    /// The label for pictures of several layers, because the number of such lists is not bounded.
    private static let several = "several"

    private let registry: MetricRegistry

    package init(_ registry: MetricRegistry = MetricRegistry()) { self.registry = registry }

    /// - Complexity: one look into a dictionary behind a lock, where drawing takes a thousand times as long.
    func timed<Value, Failure: Error>(
        _ format: Format, _ layers: LayerList, zoom: Int, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let layer = layers.layers.count == 1 ? layers.layers.first?.id ?? Self.several : Self.several
        let clock = ContinuousClock()
        let start = clock.now
        let value = try Spans.span("render tile") { span throws(Failure) in
            span.set("billow.format", format.rawValue)
            span.set("billow.layer", layer)
            span.set("billow.zoom", zoom)
            return try body()
        }
        let duration = start.duration(to: clock.now)
        registry.histogram(.renderDuration, [format.rawValue, layer, "\(zoom)"]).recordNanoseconds(duration.nanoseconds)
        return value
    }
}

extension Duration {
    /// Whole nanoseconds, as many as fit.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return Int64(clamping: Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000))
    }
}
