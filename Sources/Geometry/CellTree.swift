import Foundation

/// The bounding boxes of all resolution-5 descendants of every cell of resolution 0…3, by which a search skips whole
/// regions. (Below resolution 3, `CellChunk.touching` checks the cells themselves.)
package final class CellTree: Sendable {
    /// The boxes of resolutions 0…3 in sequence, by dense index. A pentagon's gap has an empty box (min > max).
    private let boxes: [GridBox32]

    package static let shared = CellTree()

    /// By resolution 0…3: the maximum distance of a resolution-5 descendant's vertex from the cell's centre, in degrees
    /// of arc. Measured with the official library (12.92, 4.95, 1.87, 0.703) and rounded up.
    private static let reach = [13.4, 5.2, 1.95, 0.74]
    /// The number of resolutions with boxes, from 0 on.
    static let resolutions = reach.count
    /// The finest resolution with boxes.
    package static let deepest = reach.count - 1

    private init() {
        boxes = (0..<Self.resolutions).flatMap { resolution in
            (0..<Cell.baseCells * H3Bits.powerOfSeven(resolution)).map { dense in
                guard !H3Bits.isDeleted(dense: dense, resolution: resolution) else { return GridBox32.empty }
                let center = H3.center(h3: H3Bits.index(dense: dense, resolution: resolution))
                return CellTree.box(around: center, degrees: CellTree.reach[resolution])
            }
        }
    }

    /// The index of a cell's box. The boxes of all coarser resolutions come before it: 122 × (1 + 7 + … ).
    @inline(__always)
    private static func position(_ resolution: Int, _ dense: Int) -> Int {
        Cell.baseCells * (H3Bits.powerOfSeven(resolution) - 1) / 6 + dense
    }

    /// The box around a circle on the sphere.
    ///
    /// A meridian touches the circle where sin Δλ = sin ρ / cos φ.
    ///
    /// Source: J. P. Matuschek, "Finding Points Within a Distance of a Latitude/Longitude Using Bounding Coordinates",
    /// section 3.3, http://janmatuschek.de/LatitudeLongitudeBoundingCoordinates
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

    /// The position of a cell's descendants relative to a box.
    package enum Relation: Sendable {
        /// None shares a point with the box, in this world or an adjacent one.
        case apart
        /// Some may share a point with it.
        case touching
        /// All lie inside the box, in this world.
        case inside
    }

    /// The position of the descendants of a cell of resolution 0…3 relative to a box. It is conservative: `apart` and
    /// `inside` are never wrong.
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

    /// Whether any of a cell's descendants may meet a box, in this world or an adjacent one.
    package func mayIntersect(resolution: Int, dense: Int, _ box: GridBox) -> Bool {
        relation(resolution: resolution, dense: dense, to: box) != .apart
    }
}

/// A box with edges of 32 bits.
private struct GridBox32: Sendable {
    var minX: Int32
    var minY: Int32
    var maxX: Int32
    var maxY: Int32

    static let empty = GridBox32(minX: 1, minY: 1, maxX: 0, maxY: 0)
}
