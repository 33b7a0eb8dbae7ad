import BillowRaster
import Geometry

/// Thins out symbols that would overlap, and places the remaining ones in regions of a map.
///
/// The map is divided into squares of some points, counted from the world's north-west corner. One symbol of each
/// square is shown. So the choice depends only on the zoom, not on the region, and a symbol on the edge between two
/// tiles is drawn in both.
///
/// From `wholeZoom` on, the squares are so small that only symbols at the same place are left out. This bounds the cost
/// of a picture for any data.
struct SymbolGrid {
    private let world: WorldMap
    /// The side of a square in pixels.
    private let spacing: Double
    /// The distance outside the region up to which symbols are found, in pixels.
    private let margin: Double

    /// The lowest zoom at which only symbols at the same place are thinned out.
    static let wholeZoom = 10
    /// The side of the squares in which labels are counted: that of a tile, in points.
    private static let blockPoints = 256

    /// - Parameters:
    ///   - points: the side of a square below `wholeZoom`.
    ///   - reach: how far a symbol extends from its place, in points.
    init(_ world: WorldMap, points: Double, reach: Double) {
        self.world = world
        spacing = (world.zoom >= SymbolGrid.wholeZoom ? 2 : points) * Double(world.scale)
        margin = reach * Double(world.scale)
    }

    /// The index of a shown item, and its place in the world's pixels.
    struct PlacedSymbol: Sendable {
        let index: Int
        let point: Point
    }

    /// The items that are shown, in the order of `items`.
    /// - Parameter isBetter: decides which of two items in a square is shown; must not depend on their order.
    func thinned<Item>(_ items: [Item], place: (Item) -> LonLat, isBetter: (Item, Item) -> Bool) -> [PlacedSymbol] {
        var best: [SIMD2<Int32>: PlacedSymbol] = [:]
        for (index, item) in items.enumerated() {
            let point = world.point(place(item))
            let square = SIMD2(Int32((point.x / spacing).rounded(.down)), Int32((point.y / spacing).rounded(.down)))
            if let other = best[square], !isBetter(item, items[other.index]) { continue }
            best[square] = PlacedSymbol(index: index, point: point)
        }
        return best.values.sorted { $0.index < $1.index }
    }

    /// The items that reach into a region of the map, once for each visible copy of the world.
    func copies(of symbols: [PlacedSymbol], in region: MapRegion) -> [(index: Int, at: Point)] {
        symbols.filter { isNear($0.point, region, margin) }.flatMap { symbol in
            region.copies(from: symbol.point.x, to: symbol.point.x, margin: margin).map { copy in
                (symbol.index, region.local(symbol.point, copy: copy))
            }
        }
    }

    /// The first `most` items of each block of 256 × 256 points of the map.
    func first(_ most: Int, ofEachBlock symbols: [PlacedSymbol]) -> [PlacedSymbol] {
        let block = Double(SymbolGrid.blockPoints * world.scale)
        var counts: [SIMD2<Int32>: Int] = [:]
        return symbols.filter { symbol in
            let key = SIMD2(
                Int32((symbol.point.x / block).rounded(.down)), Int32((symbol.point.y / block).rounded(.down)))
            counts[key, default: 0] += 1
            return counts[key, default: 0] <= most
        }
    }

    private func isNear(_ point: Point, _ region: MapRegion, _ margin: Double) -> Bool {
        point.y >= Double(region.originY) - margin && point.y <= Double(region.originY + region.height) + margin
            && !region.copies(from: point.x, to: point.x, margin: margin).isEmpty
    }
}

extension Point {
    /// Mixes in the exact position: the drawing isn't rounded, so the fingerprint must not be either.
    func mix(into fingerprint: inout Fingerprint) {
        fingerprint.mix(x.bitPattern)
        fingerprint.mix(y.bitPattern)
    }
}

/// A position in a picture in sixteenths of a pixel. It is exact enough for drawing, and the same number on every
/// machine.
struct PicturePosition: Sendable, Hashable {
    let x: Int32
    let y: Int32

    init(_ point: Point) {
        func sixteenths(_ value: Double) -> Int32 { Int32(min(max((value * 16).rounded(), -1e9), 1e9)) }
        x = sixteenths(point.x)
        y = sixteenths(point.y)
    }

    var point: Point { Point(x: Double(x) / 16, y: Double(y) / 16) }

    func mix(into fingerprint: inout Fingerprint) {
        fingerprint.mix(UInt64(UInt32(bitPattern: x)) << 32 | UInt64(UInt32(bitPattern: y)))
    }
}
