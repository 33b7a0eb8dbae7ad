package import BillowRaster

/// Draws legends one at a time, and caches those it drew: each takes some milliseconds.
package actor LegendPainter {
    private struct Key: Hashable, Sendable {
        var legend: Legend
        var options: LegendOptions
    }

    private var renderer: LegendRenderer?
    private let pngs: SharedCache<Key, [UInt8]>

    package init(_ caches: CacheBudget) { pngs = SharedCache(caches, keyBytes: { _ in 2_000 }) { $0.count } }

    package func png(_ legend: Legend, options: LegendOptions) throws -> [UInt8] {
        let key = Key(legend: legend, options: options)
        if let png = pngs.kept(key) { return png }
        WorkExecutor.assertIsJob()
        let png = try ready().png(legend, options: options)
        pngs.keep(png, for: key)
        return png
    }

    package func svg(_ legend: Legend, options: LegendOptions) throws -> String {
        try ready().svg(legend, options: options)
    }

    private func ready() throws -> LegendRenderer {
        if let renderer { return renderer }
        let made = try LegendRenderer()
        renderer = made
        return made
    }
}
