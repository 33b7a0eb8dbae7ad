import Datasets
import BillowTiles

/// Times the drawing of tiles, by layer and zoom.
package struct RenderMetrics: Sendable {
    /// What a tile is written as.
    enum Format: String {
        case png, mvt
    }

    /// What stands for a picture of more than one layer: their lists are not bounded.
    private static let several = "several"

    private let registry: MetricRegistry

    package init(_ registry: MetricRegistry = MetricRegistry()) { self.registry = registry }

    /// - Complexity: one look into a dictionary behind a lock, where drawing takes a thousand times as long.
    func timed<Value>(
        _ format: Format, _ layers: LayerList, zoom: Int, _ body: () throws -> Value
    ) rethrows -> Value {
        let clock = ContinuousClock()
        let start = clock.now
        let value = try body()
        let duration = start.duration(to: clock.now)
        let layer = layers.layers.count == 1 ? layers.layers.first?.id ?? Self.several : Self.several
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
