import BillowRaster
import Geometry

/// Thins symbols out where they would cover each other, and places what is left in a window.
///
/// The map is laid out in squares of some points, counted from the world's north-west corner; of those whose places lie in
/// one square, one is shown. So which are shown depends on the zoom alone, not on the picture, and the two halves of a
/// symbol on the edge of two tiles are halves of the same. From `wholeZoom` on the squares are so small that only what
/// lies in the same place is left out, which bounds a picture's cost whatever the data.
struct SymbolGrid {
    let region: MapRegion
    /// The side of a square in pixels.
    private let spacing: Double
    /// How far outside of the window what is found may lie, in pixels.
    private let margin: Double

    /// From here on nothing is thinned out but what lies in the same place.
    static let wholeZoom = 10
    /// Labels are numbered by squares of a tile's size.
    private static let blockPoints = 256

    /// - Parameters:
    ///   - points: the side of a square below `wholeZoom`.
    ///   - reach: how far a symbol with its label reaches from its place, in points.
    init(_ region: MapRegion, points: Double, reach: Double) {
        self.region = region
        spacing = (region.zoom >= SymbolGrid.wholeZoom ? 2 : points) * Double(region.scale)
        margin = reach * Double(region.scale)
    }

    /// A symbol of a picture.
    struct Found<Item> {
        let item: Item
        /// In the window's pixels.
        let at: Point
        let hasLabel: Bool
    }

    /// The items to draw, in the order of `items`; one whose place is shown in several copies of the world comes as often.
    /// - Parameters:
    ///   - labels: how many of a block of 256 × 256 points get one, the first of its items.
    ///   - isBetter: which of two items of one square is shown; must not depend on their order.
    func found<Item>(
        _ items: [Item], labels: Int, place: (Item) -> LonLat, isBetter: (Item, Item) -> Bool
    ) -> [Found<Item>] {
        let block = Double(SymbolGrid.blockPoints * region.scale)
        var best: [SIMD2<Int32>: Int] = [:]
        var points: [Point] = []
        points.reserveCapacity(items.count)
        for (index, item) in items.enumerated() {
            let point = region.worldPoint(place(item))
            points.append(point)
            // What shares a square or a block with something shown must be looked at too.
            guard isNear(point, margin + block + spacing) else { continue }
            let square = SIMD2(Int32((point.x / spacing).rounded(.down)), Int32((point.y / spacing).rounded(.down)))
            if let other = best[square], !isBetter(item, items[other]) { continue }
            best[square] = index
        }
        let kept = best.values.sorted()
        let labelled = labels > 0 ? self.labelled(kept, points, block: block, most: labels) : []
        var found: [Found<Item>] = []
        for index in kept where isNear(points[index], margin) {
            for copy in region.copies(from: points[index].x, to: points[index].x, margin: margin) {
                found.append(
                    Found(
                        item: items[index], at: region.local(points[index], copy: copy),
                        hasLabel: labelled.contains(index)))
            }
        }
        return found
    }

    private func labelled(_ kept: [Int], _ points: [Point], block: Double, most: Int) -> Set<Int> {
        var counts: [SIMD2<Int32>: Int] = [:]
        var labelled: Set<Int> = []
        for index in kept {
            let point = points[index]
            let key = SIMD2(Int32((point.x / block).rounded(.down)), Int32((point.y / block).rounded(.down)))
            let count = counts[key, default: 0]
            if count < most {
                counts[key] = count + 1
                labelled.insert(index)
            }
        }
        return labelled
    }

    private func isNear(_ point: Point, _ margin: Double) -> Bool {
        point.y >= Double(region.originY) - margin && point.y <= Double(region.originY + region.height) + margin
            && !region.copies(from: point.x, to: point.x, margin: margin).isEmpty
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
