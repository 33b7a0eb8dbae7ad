package import BillowTiles
package import Geometry

/// The tiles of a range of zooms that share a point with a region, in rising order of `TileID`.
package struct TileCover: Sendable, Hashable {
    package let tiles: [TileCoord]
    package let zooms: ClosedRange<Int>
    /// The bounding box of the region.
    package let box: BoundingBox

    /// The region has more tiles than permitted.
    package struct TooManyTiles: Error, Sendable, Hashable {
        /// The number of tiles; for an area an estimate, because the search ends above the limit.
        package var tiles: Int
        package var limit: Int
    }

    /// The tiles of a box, clipped to the extent of web mercator.
    package init(_ box: BoundingBox, zooms: ClosedRange<Int>, limit: Int) throws(TooManyTiles) {
        let limits = UnitMercator.maximumLatitude
        let parts =
            box.crossesAntimeridian ? [(box.west, 180.0), (-180.0, box.east)] : [(box.west, box.east)]
        let top = UnitMercator.y(latitude: min(max(box.north, -limits), limits))
        let bottom = UnitMercator.y(latitude: min(max(box.south, -limits), limits))
        /// The range of tiles that an interval of a row or column touches. An interval that ends on a border does not
        /// touch the tile beyond it.
        func indices(_ from: Double, _ to: Double, _ count: Int) -> ClosedRange<Int> {
            let first = min(max(Int((from * Double(count)).rounded(.down)), 0), count - 1)
            let last = min(max(Int((to * Double(count)).rounded(.up)) - 1, first), count - 1)
            return first...last
        }
        var levels: [(z: Int, columns: [ClosedRange<Int>], rows: ClosedRange<Int>)] = []
        var total = 0
        for z in zooms {
            let count = 1 << z
            var columns = parts.map {
                indices(UnitMercator.x(longitude: $0.0), UnitMercator.x(longitude: $0.1), count)
            }
            if columns.count == 2, columns[1].upperBound >= columns[0].lowerBound { columns = [0...count - 1] }
            let rows = indices(top, bottom, count)
            total += columns.reduce(0) { $0 + $1.count } * rows.count
            levels.append((z, columns, rows))
        }
        guard total <= limit else { throw TooManyTiles(tiles: total, limit: limit) }
        let found = levels.flatMap { z, columns, rows in
            columns.flatMap { $0.flatMap { x in rows.compactMap { TileCoord(z: z, x: x, y: $0) } } }
        }
        self.init(found, zooms, box)
    }

    /// The tiles that share a point with an area.
    package init(_ area: AreaIndex, zooms: ClosedRange<Int>, limit: Int) throws(TooManyTiles) {
        var found: [TileCoord] = []
        var level = [TileCoord(z: 0, x: 0, y: 0)].compactMap(\.self)
        for z in 0...zooms.upperBound {
            level = level.filter { coord in
                guard case .box(let box) = coord.region else { return true }
                return area.area.intersects(box)
            }
            guard found.count + level.count <= limit else {
                // Each further zoom has some four times as many.
                let further = (z...zooms.upperBound).reduce(0) { sum, zoom in
                    zooms.contains(zoom) ? sum + level.count << (2 * (zoom - z)) : sum
                }
                throw TooManyTiles(tiles: found.count + further, limit: limit)
            }
            if zooms.contains(z) { found += level }
            level = level.flatMap { coord in
                [(0, 0), (1, 0), (0, 1), (1, 1)].compactMap {
                    TileCoord(z: z + 1, x: 2 * coord.x + $0.0, y: 2 * coord.y + $0.1)
                }
            }
        }
        self.init(found, zooms, area.box)
    }

    private init(_ tiles: [TileCoord], _ zooms: ClosedRange<Int>, _ box: BoundingBox) {
        self.tiles = tiles.map { (TileID.of($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
        self.zooms = zooms
        self.box = box
    }
}
