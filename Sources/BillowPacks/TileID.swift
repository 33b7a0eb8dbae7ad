package import BillowTiles

/// The number of a tile in a PMTiles archive: the count of all tiles of lower zooms, plus the tile's position on the
/// Hilbert curve of its zoom. So tiles near each other have similar numbers.
///
/// Source: PMTiles 3 section 4.1, https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md
package enum TileID {
    package static func of(_ coord: TileCoord) -> UInt64 {
        var place: UInt64 = 0
        var (x, y) = (coord.x, coord.y)
        var side = (1 << coord.z) / 2
        while side > 0 {
            let (right, lower) = (x & side > 0 ? 1 : 0, y & side > 0 ? 1 : 0)
            place += UInt64(side) * UInt64(side) * UInt64((3 * right) ^ lower)
            if lower == 0 {
                if right == 1 { (x, y) = (side - 1 - x, side - 1 - y) }
                (x, y) = (y, x)
            }
            side >>= 1
        }
        return before(zoom: coord.z) + place
    }

    /// The number of all tiles of lower zooms.
    static func before(zoom: Int) -> UInt64 { ((1 << UInt64(2 * zoom)) - 1) / 3 }
}
