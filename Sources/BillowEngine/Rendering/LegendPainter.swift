package import BillowRaster

/// Draws legends one at a time, and caches them: each takes some milliseconds.
package actor LegendPainter {
    private struct Key: Hashable, Sendable {
        var legend: Legend
        var options: LegendOptions
    }

    private var renderer: LegendRenderer?
    private let pngs: SharedCache<Key, [UInt8]>
    private let sizes: SharedCache<Key, Size>

    /// The size of an image in pixels.
    package struct Size: Sendable, Hashable {
        package let width: Int
        package let height: Int
    }

    package init(_ caches: CacheBudget) {
        pngs = SharedCache(caches, keyBytes: { _ in 2_000 }) { $0.count }
        sizes = SharedCache(caches, keyBytes: { _ in 2_000 }) { _ in 16 }
    }

    /// The size of the image that `png` returns.
    package func size(_ legend: Legend, options: LegendOptions) throws(LegendError) -> Size {
        let key = Key(legend: legend, options: options)
        if let size = sizes.kept(key) { return size }
        let made = try ready().size(legend, options: options)
        let size = Size(width: made.width, height: made.height)
        sizes.insert(size, for: key)
        return size
    }

    package func png(_ legend: Legend, options: LegendOptions) throws(LegendError) -> [UInt8] {
        let key = Key(legend: legend, options: options)
        if let png = pngs.kept(key) { return png }
        WorkExecutor.assertIsJob()
        let png = try ready().png(legend, options: options)
        pngs.insert(png, for: key)
        return png
    }

    package func svg(_ legend: Legend, options: LegendOptions) throws(LegendError) -> String {
        try ready().svg(legend, options: options)
    }

    private func ready() throws(LegendError) -> LegendRenderer {
        if let renderer { return renderer }
        let made: LegendRenderer
        do { made = try LegendRenderer() } catch { throw .text(error) }
        renderer = made
        return made
    }
}
