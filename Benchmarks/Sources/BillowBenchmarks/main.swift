import BillowSnapshot
import BillowTiles
import Foundation
import Geometry
import Turbulence

enum BenchmarkError: Error, CustomStringConvertible {
    case usage(String)

    var description: String {
        switch self {
        case .usage(let text): text
        }
    }
}

/// data FOLDER: what the peer reads. worker: see `Worker`. micro, tiles, levels: see `Micro`. areas: see `Areas`.
func run(_ arguments: [String]) throws {
    guard arguments.count >= 2 else {
        throw BenchmarkError.usage("usage: BillowBenchmarks STYLES data FOLDER|worker|micro|tiles|levels|areas")
    }
    if arguments[1] == "areas" { return Areas().run() }
    let scene = try Scene(styles: arguments[0])
    switch (arguments[1], arguments.dropFirst(2).first) {
    case ("data", let path?): try writeData(scene, to: URL(filePath: path, directoryHint: .isDirectory))
    case ("worker", nil): try Worker(scene: scene).run()
    case ("micro", nil): try Micro(scene: scene).run()
    case ("tiles", nil): try Micro(scene: scene).tiles()
    case ("tiles", let zoom?):
        // One zoom, long enough for a profiler.
        guard let zoom = Int(zoom), Scene.zooms.contains(zoom) else { throw BenchmarkError.usage("tiles: \(zoom)") }
        let rounds = arguments.dropFirst(3).first.flatMap(Int.init) ?? 200
        try Micro(scene: scene).tiles(rounds: max(rounds, 1), zooms: zoom...zoom)
    case ("levels", nil): try Micro(scene: scene).levels()
    default: throw BenchmarkError.usage("unknown: \(arguments.joined(separator: " "))")
    }
}

/// The hexagons, their parents as they are drawn at zoom 4, and the list of tiles.
func writeData(_ scene: Scene, to folder: URL) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Shapefile.write(
        scene.world.cells.map { (Int($0.cell.dense), $0.severity) }, resolution: Cell.resolution, to: folder,
        name: "hexagons")
    let parents = (0..<Cell.slots / 7).compactMap { dense in
        scene.plane.severity(resolution: 4, dense: dense).map { (dense, $0) }
    }
    try Shapefile.write(parents, resolution: 4, to: folder, name: "parents")
    let tiles = Scene.zooms.flatMap { scene.tiles[$0] ?? [] }.map { "\($0.z) \($0.x) \($0.y)\n" }.joined()
    try Data(tiles.utf8).write(to: folder.appending(path: "tiles.txt"))
    let counts = Dictionary(grouping: scene.world.cells, by: \.severity).mapValues(\.count)
    let shares = Severity.allCases.map { "\($0.name) \(counts[$0] ?? 0)" }.joined(separator: ", ")
    print("\(scene.world.cells.count) hexagons (\(shares)), \(parents.count) parents")
}

do { try run(Array(CommandLine.arguments.dropFirst())) } catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
