package import BillowRaster
import BillowTiles

/// Draws legends one at a time, and caches them: each takes some milliseconds.
package actor LegendPainter {
    private struct Key: Hashable, Sendable {
        var legend: Legend
        var options: LegendOptions
    }

    private var renderer: LegendRenderer?
    private let pngs: SharedCache<Key, [UInt8], Never>
    private let sizes: SharedCache<Key, Size, Never>

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
    package func size(_ legend: Legend, options: LegendOptions) throws(EngineError) -> Size {
        let key = Key(legend: legend, options: options)
        if let size = sizes.cachedValue(for: key) { return size }
        let renderer = try ready()
        let made: (width: Int, height: Int)
        do { made = try renderer.size(legend, options: options) } catch { throw .picture(.legend(error)) }
        let size = Size(width: made.width, height: made.height)
        sizes.insert(size, for: key)
        return size
    }

    package func png(_ legend: Legend, options: LegendOptions) throws(EngineError) -> [UInt8] {
        let key = Key(legend: legend, options: options)
        if let png = pngs.cachedValue(for: key) { return png }
        WorkExecutor.assertIsJob()
        let renderer = try ready()
        let png: [UInt8]
        do { png = try renderer.png(legend, options: options) } catch { throw .picture(.legend(error)) }
        pngs.insert(png, for: key)
        return png
    }

    package func svg(_ legend: Legend, options: LegendOptions) throws(EngineError) -> String {
        let renderer = try ready()
        do { return try renderer.svg(legend, options: options) } catch { throw .picture(.legend(error)) }
    }

    private func ready() throws(EngineError) -> LegendRenderer {
        if let renderer { return renderer }
        let made: LegendRenderer
        do { made = try LegendRenderer() } catch { throw .picture(.text(error)) }
        renderer = made
        return made
    }
}
