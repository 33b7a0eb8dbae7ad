import BillowRaster
import Geometry

/// Thins symbols out where they would cover each other, and places what is left in a window.
///
/// The map is laid out in squares of some points, counted from the world's north-west corner; of those whose places
/// lie in one square, one is shown. So which are shown depends on the zoom alone, not on the picture, and the two
/// halves of a symbol on the edge of two tiles are halves of the same. From `wholeZoom` on the squares are so small
/// that only what lies in the same place is left out, which bounds a picture's cost whatever the data.
struct SymbolGrid {
    let region: MapRegion
    /// The side of a square in pixels.
    private let spacing: Double
    /// How far outside of the window what is found may lie, in pixels.
    private let margin: Double

    /// From here on nothing is thinned out but what lies in the same place.
    static let wholeZoom = 10
    /// Labels are counted by squares of a tile's size.
    private static let blockPoints = 256

    /// - Parameters:
    ///   - points: the side of a square below `wholeZoom`.
    ///   - reach: how far a symbol reaches from its place, in points.
    init(_ region: MapRegion, points: Double, reach: Double) {
        self.region = region
        spacing = (region.zoom >= SymbolGrid.wholeZoom ? 2 : points) * Double(region.scale)
        margin = reach * Double(region.scale)
    }

    /// An item that is shown, and where in the world's pixels.
    struct Kept {
        let index: Int
        let point: Point
    }

    /// The items that are shown, in their order.
    /// - Parameters:
    ///   - everywhere: whether also those far from the window are wanted.
    ///   - isBetter: which of two items of one square is shown; must not depend on their order.
    func kept<Item>(
        _ items: [Item], everywhere: Bool, place: (Item) -> LonLat, isBetter: (Item, Item) -> Bool
    ) -> [Kept] {
        var best: [SIMD2<Int32>: Kept] = [:]
        for (index, item) in items.enumerated() {
            let point = region.worldPoint(place(item))
            // What shares a square with something shown must be looked at too.
            guard everywhere || isNear(point, margin + spacing) else { continue }
            let square = SIMD2(Int32((point.x / spacing).rounded(.down)), Int32((point.y / spacing).rounded(.down)))
            if let other = best[square], !isBetter(item, items[other.index]) { continue }
            best[square] = Kept(index: index, point: point)
        }
        return best.values.sorted { $0.index < $1.index }
    }

    /// What of it reaches into the window, and where: as often as copies of the world are shown.
    func found(_ kept: [Kept]) -> [(index: Int, at: Point)] {
        kept.filter { isNear($0.point, margin) }.flatMap { kept in
            region.copies(from: kept.point.x, to: kept.point.x, margin: margin).map { copy in
                (kept.index, region.local(kept.point, copy: copy))
            }
        }
    }

    /// The first of each block of 256 × 256 points of the map.
    func first(_ most: Int, ofEachBlock kept: [Kept]) -> [Kept] {
        let block = Double(SymbolGrid.blockPoints * region.scale)
        var counts: [SIMD2<Int32>: Int] = [:]
        return kept.filter { kept in
            let key = SIMD2(
                Int32((kept.point.x / block).rounded(.down)), Int32((kept.point.y / block).rounded(.down)))
            counts[key, default: 0] += 1
            return counts[key, default: 0] <= most
        }
    }

    private func isNear(_ point: Point, _ margin: Double) -> Bool {
        point.y >= Double(region.originY) - margin && point.y <= Double(region.originY + region.height) + margin
            && !region.copies(from: point.x, to: point.x, margin: margin).isEmpty
    }
}

extension Point {
    /// What is drawn exactly where it is must be told apart exactly.
    func mix(into fingerprint: inout Fingerprint) {
        fingerprint.mix(x.bitPattern)
        fingerprint.mix(y.bitPattern)
    }
}

/// A position in a picture in sixteenths of a pixel: exact enough to draw, and the same number wherever it is asked.
struct PicturePlace: Sendable, Hashable {
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
