package import Geometry

/// The projection of a picture. In both, longitude is linear in x, and the world's width is 1.
public enum MapProjection: Sendable, Hashable {
    /// Spherical web mercator: y is 0 at 85.0511° N and 1 at 85.0511° S.
    ///
    /// Source: EPSG:3857
    case mercator
    /// Plate carrée: longitude and latitude are linear in x and y. y is 0 at 90° N and 0.5 at 90° S.
    ///
    /// Source: EPSG:4326; OGC 06-042 annex B.3 (CRS:84)
    case geographic

    /// The highest latitude that a picture can show, in degrees north and south of the equator.
    package var maximumLatitude: Double { self == .mercator ? UnitMercator.maximumLatitude : 90 }

    /// The y of a latitude.
    @inline(__always)
    func y(latitude: Double) -> Double {
        self == .mercator ? UnitMercator.y(latitude: latitude) : (90 - latitude) / 360
    }

    /// Degrees, for any finite y. In `geographic`, a y outside the map gives a latitude beyond ±90.
    @inline(__always)
    func latitude(y: Double) -> Double { self == .mercator ? UnitMercator.latitude(y: y) : 90 - y * 360 }

    /// The nearest y on the map.
    func onEarth(_ y: Double) -> Double { min(max(y, 0), self == .mercator ? 1 : 0.5) }
}

/// A rectangle in the plane of a projection. The world spans from x = 0, at the antimeridian, to 1; y grows southward.
package struct PlaneBox: Sendable, Hashable {
    package let minX: Double
    package let minY: Double
    package let maxX: Double
    package let maxY: Double

    /// The maximum width, height and distance from the first world, in worlds.
    private static let maximumWorlds = 3.0

    /// Returns nil for a box without area, of more than three worlds each way, or more than three worlds away.
    package init?(minX: Double, minY: Double, maxX: Double, maxY: Double) {
        let most = PlaneBox.maximumWorlds
        guard minX < maxX, minY < maxY, maxX - minX <= most, maxY - minY <= most,
            [minX, minY, maxX, maxY].allSatisfy({ abs($0) <= 2 * most })
        else { return nil }
        self.minX = minX
        self.minY = minY
        self.maxX = maxX
        self.maxY = maxY
    }

    /// Makes the rectangle around a box in degrees. Latitudes beyond the projection's are cut off; nil if nothing
    /// remains.
    package init?(_ box: BoundingBox, _ projection: MapProjection) {
        let most = projection.maximumLatitude
        func y(_ latitude: Double) -> Double { projection.y(latitude: min(max(latitude, -most), most)) }
        self.init(
            minX: UnitMercator.x(longitude: box.west), minY: y(box.north),
            maxX: UnitMercator.x(longitude: box.crossesAntimeridian ? box.east + 360 : box.east), maxY: y(box.south))
    }
}

extension MapRegion {
    /// The height of a region of a given width that makes its pixels square.
    package static func height(of box: PlaneBox, width: Int) -> Int {
        side((Double(width) * (box.maxY - box.minY) / (box.maxX - box.minX)).rounded())
    }

    /// The width of a region of a given height that makes its pixels square.
    package static func width(of box: PlaneBox, height: Int) -> Int {
        side((Double(height) * (box.maxX - box.minX) / (box.maxY - box.minY)).rounded())
    }

    private static func side(_ pixels: Double) -> Int { Int(min(max(pixels, 1), Double(sides.upperBound))) }

    /// The zoom of tiles with pixels of the same size; nil if there is none.
    var zoomOfTiles: Int? { world.zoomOfTiles }

    /// The tile with the same pixels, its scale and its size; nil if the region is no tile.
    package var tile: (coord: TileCoord, scale: TileScale, size: TileSize)? {
        guard let zoom = zoomOfTiles, let tileScale = TileScale(rawValue: scale),
            let size = TileSize.allCases.first(where: { $0.pixels(tileScale) == width }), height == width,
            originX % width == 0, originY % width == 0
        else { return nil }
        return TileCoord(z: zoom - size.addedZooms, x: originX / width, y: originY / width).map {
            ($0, tileScale, size)
        }
    }

    /// The place at a pixel's centre, with columns and rows counted from the north-west; nil outside the map.
    package func place(column: Int, row: Int) -> LonLat? {
        let longitude = longitude(column: column)
        let turns = ((longitude + 180) / 360).rounded(.down)
        return LonLat(longitude: longitude - turns * 360, latitude: latitude(row: row))
    }

    /// The box of the given reach, in pixels, around a pixel's centre; nil outside the map.
    package func box(column: Int, row: Int, reach: Double) -> BoundingBox? {
        guard let place = place(column: column, row: row) else { return nil }
        let across = min(reach / worldPixels * 360, 179)
        let y = (Double(originY + row) + offset.y + 0.5) / worldRows
        func latitude(_ y: Double) -> Double { min(max(projection.latitude(y: y), -90), 90) }
        return BoundingBox(
            west: place.longitude - across, south: latitude(y + reach / worldRows), east: place.longitude + across,
            north: latitude(y - reach / worldRows))
    }
}

extension PlaneBox {
    /// The same part of the earth in the plane of another projection; nil if that shows no part of it.
    package func projected(from own: MapProjection, to other: MapProjection) -> PlaneBox? {
        guard own != other else { return self }
        let most = min(own.maximumLatitude, other.maximumLatitude)
        func y(_ y: Double) -> Double { other.y(latitude: min(max(own.latitude(y: y), -most), most)) }
        return PlaneBox(minX: minX, minY: y(minY), maxX: maxX, maxY: y(maxY))
    }
}
