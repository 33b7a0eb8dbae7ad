import BillowRaster
import Foundation
import Geometry
import Synchronization

/// The map of the whole world in one projection, at one resolution and at one position of its pixels. Pictures of the
/// same `WorldMap` fit together: what lies where on it doesn't depend on their edges.
struct WorldMap: Sendable, Hashable {
    let projection: MapProjection
    /// The pixels per point, 1…3.
    let scale: Int
    /// The width of the world in pixels.
    let pixels: Double
    /// The height in pixels of a square as wide as the world. It equals `pixels` if pixels are square.
    let rows: Double
    /// The offset of the pixels' corners from the world's corner, −0.5…0.5 pixels.
    let offset: SIMD2<Double>

    /// The zoom whose tiles have this resolution, rounded.
    var zoom: Int {
        let zoom = log2(pixels / Double(256 * scale)).rounded()
        return Int(min(max(zoom, 0), Double(TileCoord.maximumZoom)))
    }

    /// The zoom of tiles with the same pixels; nil if there is none.
    var zoomOfTiles: Int? {
        let zoom = zoom
        guard projection == .mercator, offset == .zero, rows == pixels, pixels == Double(256 * scale << zoom) else {
            return nil
        }
        return zoom
    }

    /// The position of a place in pixels of the first copy of the world.
    @inline(__always)
    func point(_ place: LonLat) -> Point {
        Point(
            x: UnitMercator.x(longitude: place.longitude) * pixels - offset.x,
            y: projection.y(latitude: place.latitude) * rows - offset.y)
    }
}

/// What some data become on the maps of tiles, made once for each map. Other maps have positions of their own, which
/// rarely come again, so nothing is held for them.
final class WorldMapCache<Value: Sendable>: Sendable {
    /// More than the zooms of a tile source at one scale, which are the usual ones.
    private static var maximum: Int { 24 }
    private let known = Mutex<[WorldMap: Value]>([:])

    /// The value of a map.
    /// - Parameter make: makes it of the map alone, so it can't depend on a picture's edges.
    func value(on world: WorldMap, _ make: (WorldMap) -> Value) -> Value {
        guard world.zoomOfTiles != nil else { return make(world) }
        if let value = known.withLock({ $0[world] }) { return value }
        let value = make(world)
        known.withLock { known in
            if known.count >= Self.maximum { known.removeAll() }
            known[world] = value
        }
        return value
    }
}
