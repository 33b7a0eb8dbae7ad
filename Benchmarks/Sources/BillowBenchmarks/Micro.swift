import BillowRaster
import BillowSnapshot
import BillowTiles
import Foundation
import Geometry

/// Each step of a tile by itself.
struct Micro {
    let scene: Scene

    func run() throws {
        print(Spread.heading)
        Spread.line("plane of \(scene.world.cells.count) rows", Spread(times: 20) { _ = scene.frame.plane() })
        let million = Scene.frame(of: scene.world.rows(count: 1_000_000))
        Spread.line("plane of 1000000 rows", Spread(times: 10) { _ = million.plane() })
        try tiles()
    }

    /// Gather, paint and encode, by zoom; and how the pictures came out.
    func tiles(rounds: Int = 10, zooms: ClosedRange<Int> = Scene.zooms) throws {
        let maker = try TileMaker(scene)
        for zoom in zooms {
            let coords = scene.tiles[zoom] ?? []
            let contents = coords.map { maker.content($0) }
            let pictures = zip(contents, coords).map { maker.picture($0, $1) }
            maker.prepare()
            Spread.line("z\(zoom) gather", spread(rounds, coords) { _ = maker.content($0) })
            Spread.line("z\(zoom) paint", spread(rounds, Array(zip(contents, coords))) { _ = maker.picture($0, $1) })
            Spread.line("z\(zoom) encode", try spread(rounds, pictures) { _ = try maker.png($0) })
            let cells = contents.reduce(0) { $0 + $1.count } / max(contents.count, 1)
            let colours = pictures.reduce(0) { $0 + $1.palette.count } / max(pictures.count, 1)
            let bytes = try pictures.reduce(0) { try $0 + maker.png($1).count } / max(pictures.count, 1)
            let steps = Dictionary(grouping: pictures, by: \.shareSteps).mapValues(\.count).sorted { $0.key > $1.key }
            print(
                "   \(cells) cells, \(colours) colours, \(bytes) bytes a tile; tiles by steps of share: "
                    + steps.map { "\($0.key): \($0.value)" }.joined(separator: ", "))
        }
    }

    /// Levels of the compressor: time against bytes, all zooms together.
    func levels() throws {
        let maker = try TileMaker(scene)
        let pictures = Scene.zooms.flatMap { scene.tiles[$0] ?? [] }.map { maker.picture(maker.content($0), $0) }
        for level in 1...9 {
            let encoder = try TileMaker(scene, level: level)
            let spread = try spread(3, pictures) { _ = try encoder.png($0) }
            let bytes = try pictures.reduce(0) { try $0 + encoder.png($1).count } / max(pictures.count, 1)
            Spread.line("level \(level), \(bytes) bytes", spread)
        }
    }

    private func spread<Item>(_ rounds: Int, _ items: [Item], _ body: (Item) throws -> Void) rethrows -> Spread {
        var times: [UInt64] = []
        for _ in 0..<rounds {
            for item in items {
                let start = Clock.thread()
                try body(item)
                times.append(Clock.thread() - start)
            }
        }
        return Spread(times)
    }
}
