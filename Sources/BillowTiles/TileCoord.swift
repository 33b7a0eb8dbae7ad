package import Geometry

/// A tile of the web mercator pyramid: z 0…22, x and y 0 ..< 2^z, y from the north.
///
/// Source: OGC 17-083r4 annex D.1 (WebMercatorQuad); the XYZ scheme of TileJSON 3.0.0
public struct TileCoord: Sendable, Hashable {
    /// The zoom, 0…22.
    public let z: Int
    /// The column, from the antimeridian eastwards.
    public let x: Int
    /// The row, from the north southwards.
    public let y: Int

    /// The finest zoom.
    public static let maximumZoom = 22

    /// Returns nil outside the grid.
    public init?(z: Int, x: Int, y: Int) {
        guard (0...TileCoord.maximumZoom).contains(z), (0..<1 << z).contains(x), (0..<1 << z).contains(y) else {
            return nil
        }
        self.z = z
        self.x = x
        self.y = y
    }

    /// The tile's square in grid units.
    package var box: GridBox {
        let size = Grid.world >> Int64(z)
        let minX = Int64(x) * size - Grid.half
        let minY = Int64(y) * size - Grid.half
        return GridBox(minX: minX, minY: minY, maxX: minX + size, maxY: minY + size)
    }

    /// The part of the earth that the tile shows.
    package var region: GeographicRegion {
        let count = Double(1 << z)
        return GeographicRegion(
            unitX: Double(x) / count...Double(x + 1) / count, unitY: Double(y) / count...Double(y + 1) / count)
    }
}

/// The number of pixels of a tile: 256 × 256 times the scale each way.
public enum TileScale: Int, Sendable, Hashable, CaseIterable {
    /// 256 pixels a side.
    case one = 1
    /// 512 pixels a side, `@2x`.
    case two = 2
    /// 768 pixels a side, `@3x`.
    case three = 3

    /// Pixels a side.
    public var pixels: Int { 256 * rawValue }
}

/// The width and height of a tile in points.
public enum TileSize: Int, Sendable, Hashable, CaseIterable {
    /// 256 points.
    case standard = 256
    /// 512 points. The tile shows its square in the detail of the next zoom: what the four tiles there show.
    case double = 512

    /// By how many zooms the detail is finer than that of a standard tile.
    public var addedZooms: Int { self == .double ? 1 : 0 }

    /// The scales that tiles of this size have. Larger pictures would take too much memory.
    public var scales: [TileScale] { self == .double ? [.one, .two] : TileScale.allCases }

    /// Pixels a side.
    public func pixels(_ scale: TileScale) -> Int { rawValue * scale.rawValue }
}

/// The H3 resolution for each zoom: the finest whose mean cell is at least some 3 px wide on a 256 px tile.
package enum DrawnResolution {
    /// By zoom: coarser H3 parents up to zoom 4. From 5 on, cells are drawn at their own resolution.
    private static let byZoom = [1, 2, 3, 3, 4]

    package static func of(zoom: Int) -> Int { zoom < byZoom.count ? byZoom[zoom] : Cell.resolution }
}

extension GeographicRegion {
    /// The region of a rectangle of the unit mercator square; x may be a world or more outside it.
    init(unitX x: ClosedRange<Double>, unitY y: ClosedRange<Double>) {
        self.init(
            unitX: x, south: UnitMercator.latitude(y: min(max(y.upperBound, 0), 1)),
            north: UnitMercator.latitude(y: min(max(y.lowerBound, 0), 1)))
    }

    /// The region between two latitudes and two x of the unit square.
    init(unitX x: ClosedRange<Double>, south: Double, north: Double) {
        let west = UnitMercator.longitude(x: x.lowerBound - x.lowerBound.rounded(.down))
        let box = BoundingBox(
            west: west, south: south, east: west + min((x.upperBound - x.lowerBound) * 360, 360), north: north)
        self = box.map(GeographicRegion.box) ?? .everywhere
    }
}
