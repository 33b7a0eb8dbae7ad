import Foundation

/// Boxes around all the resolution-5 descendants of every cell of resolution 0…3, by which a search skips whole
/// regions. (Below them `CellChunk.touching` looks at the cells themselves.)
package final class CellTree: Sendable {
    /// Of resolution 0…3, one after the other, by dense index. An empty box (min > max) stands for a pentagon's gap.
    private let boxes: [GridBox32]

    package static let shared = CellTree()

    /// The farthest that a vertex of a resolution-5 descendant lies from the centre of its ancestor of resolution 0…3,
    /// in degrees of arc: measured with the official library (12.92, 4.95, 1.87, 0.703) and rounded up.
    private static let reach = [13.4, 5.2, 1.95, 0.74]
    /// The resolutions that there are boxes of, from 0 on.
    static let resolutions = reach.count

    private init() {
        boxes = (0..<Self.resolutions).flatMap { resolution in
            (0..<Cell.baseCells * H3Bits.powerOfSeven(resolution)).map { dense in
                guard !H3Bits.isDeleted(dense: dense, resolution: resolution) else { return GridBox32.empty }
                let center = H3.center(h3: H3Bits.index(dense: dense, resolution: resolution))
                return CellTree.box(around: center, degrees: CellTree.reach[resolution])
            }
        }
    }

    /// Where the box of a cell lies: after those of all coarser resolutions, 122 × (1 + 7 + … ).
    @inline(__always)
    private static func position(_ resolution: Int, _ dense: Int) -> Int {
        Cell.baseCells * (H3Bits.powerOfSeven(resolution) - 1) / 6 + dense
    }

    /// The box around a circle on the sphere.
    ///
    /// Source: the meridian tangent to a small circle: sin Δλ = sin ρ / cos φ
    private static func box(around center: LonLat, degrees: Double) -> GridBox32 {
        let north = center.latitude + degrees
        let south = center.latitude - degrees
        let minY = Int32(clamping: Int64(Grid.units(UnitMercator.y(latitude: min(north, 90))).rounded(.down)))
        let maxY = Int32(clamping: Int64(Grid.units(UnitMercator.y(latitude: max(south, -90))).rounded(.up)))
        guard north < 90, south > -90 else {
            return GridBox32(minX: Int32.min / 2, minY: minY, maxX: Int32.max / 2, maxY: maxY)
        }
        let ratio = sin(degrees * .pi / 180) / cos(center.latitude * .pi / 180)
        let span = ratio >= 1 ? 180 : asin(ratio) * 180 / .pi
        return GridBox32(
            minX: Int32(clamping: Int64(Grid.units(UnitMercator.x(longitude: center.longitude - span)).rounded(.down))),
            minY: minY,
            maxX: Int32(clamping: Int64(Grid.units(UnitMercator.x(longitude: center.longitude + span)).rounded(.up))),
            maxY: maxY)
    }

    /// How a cell's descendants lie to a box.
    package enum Relation: Sendable {
        /// None shares a point with it, in this world or one beside it.
        case apart
        /// Some may.
        case touching
        /// All lie in it, in this world.
        case inside
    }

    /// How the descendants of a cell of resolution 0…3 lie to a box; generous, so `touching` is never wrong.
    package func relation(resolution: Int, dense: Int, to box: GridBox) -> Relation {
        let own = boxes[Self.position(resolution, dense)]
        let (minX, maxX, minY, maxY) = (Int64(own.minX), Int64(own.maxX), Int64(own.minY), Int64(own.maxY))
        guard minY <= box.maxY, box.minY <= maxY, minX <= maxX else { return .apart }
        if minX <= box.maxX, box.minX <= maxX {
            let isInside = minX >= box.minX && maxX <= box.maxX && minY >= box.minY && maxY <= box.maxY
            return isInside ? .inside : .touching
        }
        let isBeside =
            minX + Grid.world <= box.maxX && box.minX <= maxX + Grid.world
            || minX - Grid.world <= box.maxX && box.minX <= maxX - Grid.world
        return isBeside ? .touching : .apart
    }

    /// Whether something of a cell's descendants may lie in a box, in this world or one beside it.
    package func mayIntersect(resolution: Int, dense: Int, _ box: GridBox) -> Bool {
        relation(resolution: resolution, dense: dense, to: box) != .apart
    }
}

/// Four 32-bit edges.
private struct GridBox32: Sendable {
    var minX: Int32
    var minY: Int32
    var maxX: Int32
    var maxY: Int32

    static let empty = GridBox32(minX: 1, minY: 1, maxX: 0, maxY: 0)
}
