import BillowRaster
import Foundation
public import Geometry

/// A region of the map: the shown part of the world and the size in pixels. Regions of one scale onto the web
/// mercator map fit together, because their corners lie on whole pixels of the world, unless they are made `exactly`.
public struct MapRegion: Sendable, Hashable {
    /// The map that the region is a part of.
    let world: WorldMap
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// The pixel of the world in the north-west corner. x may lie one or more worlds to either side.
    let originX: Int
    let originY: Int

    /// The projection of the region.
    public var projection: MapProjection { world.projection }
    /// The pixels per point, 1…3. Symbols, lines and text scale with it.
    public var scale: Int { world.scale }
    /// The width of the world in pixels.
    var worldPixels: Double { world.pixels }
    /// The height in pixels of a square as wide as the world. It equals `worldPixels` if pixels are square.
    var worldRows: Double { world.rows }
    /// The offset of the corner from its pixel's corner, −0.5…0.5 pixels.
    var offset: SIMD2<Double> { world.offset }

    /// The permitted widths and heights in pixels.
    public static let sides = 1...4_096
    /// The most copies of the world in a region.
    private static let maximumWorlds = 3.0

    private init(
        width: Int, height: Int, scale: Int, worldPixels: Double, originX: Int, originY: Int,
        projection: MapProjection = .mercator, worldRows: Double? = nil, offset: SIMD2<Double> = .zero
    ) {
        world = WorldMap(
            projection: projection, scale: scale, pixels: worldPixels, rows: worldRows ?? worldPixels, offset: offset)
        self.width = width
        self.height = height
        self.originX = originX
        self.originY = originY
    }

    /// The region of a tile.
    public init(_ coord: TileCoord, scale: TileScale, size: TileSize = .standard) {
        let side = size.pixels(scale)
        self.init(
            width: side, height: side, scale: scale.rawValue, worldPixels: Double(side << coord.z),
            originX: coord.x * side, originY: coord.y * side)
    }

    /// The smallest region of a size that shows a whole box, centered on the box. It is no finer than zoom 22 and shows
    /// at most three worlds. nil for a side outside `sides`, or a scale outside 1…3.
    public init?(_ box: BoundingBox, width: Int, height: Int, scale: Int = 1) {
        guard MapRegion.sides.contains(width), MapRegion.sides.contains(height), (1...3).contains(scale) else {
            return nil
        }
        let unit = MapRegion.unitBox(box)
        let finest = Double(256 * scale << TileCoord.maximumZoom)
        func pixels(_ side: Int, _ span: Double) -> Double { span > 0 ? Double(side) / span : finest }
        let fitting = min(pixels(width, unit.maxX - unit.minX), pixels(height, unit.maxY - unit.minY), finest)
        let world = max(fitting, Double(width) / MapRegion.maximumWorlds, 1)
        let x = ((unit.minX + unit.maxX) / 2 * world - Double(width) / 2).rounded()
        let y = ((unit.minY + unit.maxY) / 2 * world - Double(height) / 2).rounded()
        self.init(width: width, height: height, scale: scale, worldPixels: world, originX: Int(x), originY: Int(y))
    }

    /// The finest permitted resolution: the width of the world at zoom 22, in pixels of scale 1.
    private static let finestWorld = Double(256 << TileCoord.maximumZoom)
    /// A corner that is nearer than this to a pixel of tiles, in pixels, is taken to lie on it.
    private static let snap = 0.01

    /// The region with the edges of a rectangle, whose pixels need not be square. If the edges lie on pixels of tiles,
    /// apart from rounding, the region has the pixels of tiles.
    ///
    /// nil for a side outside `sides`, a scale outside 1…3, and pixels smaller than those of zoom 22.
    package init?(
        _ projection: MapProjection, exactly box: PlaneBox, width: Int, height: Int, scale: Int = 1
    ) {
        guard MapRegion.sides.contains(width), MapRegion.sides.contains(height), (1...3).contains(scale) else {
            return nil
        }
        let tile = Double(256 * scale)
        func world(_ side: Int, _ span: Double) -> Double {
            let exact = Double(side) / span
            let ofTiles = exp2(log2(exact / tile).rounded()) * tile
            return abs(ofTiles * span - Double(side)) < MapRegion.snap ? ofTiles : exact
        }
        func corner(_ place: Double) -> (whole: Double, offset: Double) {
            let whole = place.rounded()
            return (whole, abs(place - whole) < MapRegion.snap ? 0 : place - whole)
        }
        let (columns, rows) = (world(width, box.maxX - box.minX), world(height, box.maxY - box.minY))
        let finest = MapRegion.finestWorld * Double(scale) * (1 + 1e-9)
        guard columns <= finest, rows <= finest else { return nil }
        let (x, y) = (corner(box.minX * columns), corner(box.minY * rows))
        self.init(
            width: width, height: height, scale: scale, worldPixels: columns, originX: Int(x.whole),
            originY: Int(y.whole), projection: projection, worldRows: rows, offset: SIMD2(x.offset, y.offset))
    }

    /// The region of a zoom, centered on a place. nil for a side outside `sides`, a scale outside 1…3 or a zoom outside
    /// 0…22.
    public init?(center: LonLat, zoom: Int, width: Int, height: Int, scale: Int = 1) {
        guard MapRegion.sides.contains(width), MapRegion.sides.contains(height), (1...3).contains(scale),
            (0...TileCoord.maximumZoom).contains(zoom)
        else { return nil }
        let world = Double(256 * scale << zoom)
        let latitude = min(max(center.latitude, -UnitMercator.maximumLatitude), UnitMercator.maximumLatitude)
        let (x, y) = (UnitMercator.x(longitude: center.longitude), UnitMercator.y(latitude: latitude))
        self.init(
            width: width, height: height, scale: scale, worldPixels: world,
            originX: Int((x * world - Double(width) / 2).rounded()),
            originY: Int((y * world - Double(height) / 2).rounded()))
    }

    /// The height for a width, with which a box fills the region.
    public static func height(of box: BoundingBox, width: Int) -> Int {
        let unit = unitBox(box)
        let (across, down) = (unit.maxX - unit.minX, unit.maxY - unit.minY)
        guard across > 0, down > 0 else { return width }
        return Int(min(max((Double(width) * down / across).rounded(), 1), Double(sides.upperBound)))
    }

    /// The width for a height, with which a box fills the region.
    public static func width(of box: BoundingBox, height: Int) -> Int {
        let unit = unitBox(box)
        let (across, down) = (unit.maxX - unit.minX, unit.maxY - unit.minY)
        guard across > 0, down > 0 else { return height }
        return Int(min(max((Double(height) * across / down).rounded(), 1), Double(sides.upperBound)))
    }

    private static func unitBox(_ box: BoundingBox) -> (minX: Double, minY: Double, maxX: Double, maxY: Double) {
        let limit = UnitMercator.maximumLatitude
        let east = box.crossesAntimeridian ? box.east + 360 : box.east
        return (
            UnitMercator.x(longitude: box.west), UnitMercator.y(latitude: min(max(box.north, -limit), limit)),
            UnitMercator.x(longitude: east), UnitMercator.y(latitude: min(max(box.south, -limit), limit))
        )
    }

    /// The shown part of the earth.
    package var region: GeographicRegion {
        let x = (Double(originX) + offset.x) / worldPixels
        let y = (Double(originY) + offset.y) / worldRows
        let bottom = y + Double(height) / worldRows
        return GeographicRegion(
            unitX: x...x + Double(width) / worldPixels, south: projection.latitude(y: projection.onEarth(bottom)),
            north: projection.latitude(y: projection.onEarth(y)))
    }

    /// A part of the region.
    func part(x: Int, y: Int, width: Int, height: Int) -> MapRegion {
        MapRegion(
            width: width, height: height, scale: scale, worldPixels: worldPixels, originX: originX + x,
            originY: originY + y, projection: projection, worldRows: worldRows, offset: offset)
    }

    /// The zoom whose tiles have this resolution, rounded. It determines the detail of the picture.
    public var zoom: Int { world.zoom }

    /// The shown part of the world in grid units, extended by some pixels on each side.
    func box(margin: Int = 0) -> GridBox {
        let units = Double(Grid.world) / worldPixels
        func column(_ pixel: Int, _ rule: FloatingPointRoundingRule) -> Int64 {
            Int64(((Double(pixel) + offset.x) * units).rounded(rule)) - Grid.half
        }
        func row(_ pixel: Int, _ rule: FloatingPointRoundingRule) -> Int64 {
            switch projection {
            case .mercator:
                return Int64(
                    ((Double(pixel) + offset.y) * (Double(Grid.world) / worldRows)).rounded(rule)) - Grid.half
            case .geographic:
                let latitude = projection.latitude(y: (Double(pixel) + offset.y) / worldRows)
                return Int64((UnitMercator.y(latitude: latitude) * Double(Grid.world)).rounded(rule)) - Grid.half
            }
        }
        return GridBox(
            minX: column(originX - margin, .down), minY: row(originY - margin, .down),
            maxX: column(originX + width + margin, .up), maxY: row(originY + height + margin, .up))
    }

    /// The width of a pixel in metres in the center of the region.
    ///
    /// Source: EPSG:3857 on the sphere of 6,378,137 m
    public var metresPerPixel: Double {
        let latitude = projection.latitude(y: (Double(originY) + offset.y + Double(height) / 2) / worldRows)
        return 2 * .pi * 6_378_137 * cos(latitude * .pi / 180) / worldPixels
    }

    // MARK: - Places

    /// The position of a place in pixels of the first copy of the world.
    @inline(__always)
    func worldPoint(_ place: LonLat) -> Point { world.point(place) }

    /// The longitude in degrees of a column's center, which may lie one or more worlds to either side.
    @inline(__always)
    func longitude(column: Int) -> Double {
        UnitMercator.longitude(x: (Double(originX + column) + offset.x + 0.5) / worldPixels)
    }

    /// The latitude in degrees of a row's center. Values beyond ±90 lie outside the world.
    @inline(__always)
    func latitude(row: Int) -> Double {
        projection.latitude(y: (Double(originY + row) + offset.y + 0.5) / worldRows)
    }

    /// The copies of the world in which an object touches the region. The object extends from one pixel of the world to
    /// another. The region is extended by `margin` pixels.
    ///
    /// A margin counts up to one world. Otherwise, in a picture of a few pixels, a symbol would be drawn a hundred
    /// times on top of itself.
    func copies(from minX: Double, to maxX: Double, margin: Double) -> Range<Int> {
        let margin = min(margin, worldPixels)
        let first = ((Double(originX) - margin - maxX) / worldPixels).rounded(.up)
        let last = ((Double(originX + width) + margin - minX) / worldPixels).rounded(.down)
        guard first <= last, abs(first) < 100, abs(last) < 100 else { return 0..<0 }
        return Int(first)..<Int(last) + 1
    }

    /// Converts the world's pixels to the region's.
    @inline(__always)
    func local(_ point: Point, copy: Int) -> Point {
        Point(x: point.x + Double(copy) * worldPixels - Double(originX), y: point.y - Double(originY))
    }

    /// Converts grid units to subpixels from the region's corner. A grid point has the same position in the world's
    /// subpixels in every region, so rounding never depends on where a region begins.
    @inline(__always)
    func subpixels(_ point: GridPoint, copy: Int64) -> SIMD2<Int64> {
        let perPixel = Double(CoverageRaster.subpixels)
        let perUnit = worldPixels * perPixel / Double(Grid.world)
        let x = (Double(Int64(point.x) + Grid.half + copy << 31) * perUnit - offset.x * perPixel + 0.5).rounded(.down)
        let y: Double
        switch projection {
        case .mercator:
            let perRow = worldRows * perPixel / Double(Grid.world)
            y = Double(Int64(point.y) + Grid.half) * perRow
        case .geographic: y = projection.y(latitude: Grid.latitude(point)) * worldRows * perPixel
        }
        return SIMD2(
            Int64(x) &- Int64(originX) &* CoverageRaster.subpixels,
            Int64((y - offset.y * perPixel + 0.5).rounded(.down)) &- Int64(originY) &* CoverageRaster.subpixels)
    }
}
