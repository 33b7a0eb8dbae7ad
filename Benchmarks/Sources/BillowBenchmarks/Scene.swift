import BillowRaster
import BillowSnapshot
import BillowTiles
import Foundation
import Geometry
import Turbulence

/// What the tile benchmarks share: a frame of the world, its plane, the style, and the tiles to draw.
struct Scene {
    let world: World
    let frame: Frame
    let plane: FramePlane
    let classes: HexagonClasses
    /// By zoom.
    let tiles: [Int: [TileCoord]]

    static let seed: UInt64 = 2_026
    static let zooms = 4...9
    static let tilesPerZoom = 40

    init(styles: String) throws {
        world = World(seed: Scene.seed)
        frame = Scene.frame(of: world.rows())
        plane = frame.plane()
        classes = try HexagonClasses(StyleLibrary(folder: styles).default)
        tiles = Scene.chooseTiles(world)
    }

    static func frame(of rows: [ObservationRow]) -> Frame {
        guard let id = SourceID("benchmark") else { preconditionFailure("a source's id of letters") }
        let window = Window(
            rows: rows, sources: [SourceRecord(number: SourceNumber(rawValue: 0), id: id, merge: .keep)])
        return Frame(window: window, at: World.now, filter: Filter(), table: SeverityTable())
    }

    /// Different tiles around cells of the world, picked by the seed: where there is more data, more tiles.
    private static func chooseTiles(_ world: World) -> [Int: [TileCoord]] {
        var random = SplitMix64(seed: seed)
        var tiles: [Int: [TileCoord]] = [:]
        for zoom in zooms {
            var found: [TileCoord] = []
            let size = Double(1 << zoom)
            while found.count < tilesPerZoom {
                let place = H3.center(of: world.cells[Int(random.next() % UInt64(world.cells.count))].cell)
                let x = Int(UnitMercator.x(longitude: place.longitude) * size)
                let y = Int(UnitMercator.y(latitude: place.latitude) * size)
                guard let coord = TileCoord(z: zoom, x: x, y: y), !found.contains(coord) else { continue }
                found.append(coord)
            }
            tiles[zoom] = found
        }
        return tiles
    }
}

/// Draws tiles from nothing but the plane: no tile is kept.
final class TileMaker {
    private let scene: Scene
    private let painter = TilePainter()
    private let encoder: IndexedPNGEncoder

    init(_ scene: Scene, level: Int = IndexedPNGEncoder.defaultLevel) throws {
        self.scene = scene
        encoder = try IndexedPNGEncoder(level: level)
    }

    func content(_ coord: TileCoord) -> TileContent { TileContent(of: scene.plane, in: coord) }

    func picture(_ content: TileContent, _ coord: TileCoord) -> IndexedPicture {
        painter.paint(content, at: coord, scale: .one, classes: scene.classes)
    }

    /// What a server does while nothing is to be drawn.
    func prepare() { while painter.prepare(sprites: 1_000) {} }

    func png(_ picture: IndexedPicture) throws -> [UInt8] {
        try encoder.encode(
            indices: picture.indices, width: picture.width, height: picture.height, palette: picture.palette)
    }

    func tile(_ coord: TileCoord) throws -> [UInt8] { try png(picture(content(coord), coord)) }
}
