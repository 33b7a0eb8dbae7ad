import BillowTiles
import Foundation

/// The half of the comparison with a peer that runs here: draws the tiles of a zoom on demand, while the peer waits.
///
/// One command a line on the standard input, one line of JSON for each on the standard output:
/// `draw Z` → `[[thread ns, wall ns, bytes], …]`, `save Z FOLDER` → `[]` and the tiles as `Z-X-Y.png`.
struct Worker {
    let scene: Scene

    func run() throws {
        let maker = try TileMaker(scene)
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count >= 2, let zoom = Int(words[1]), let tiles = scene.tiles[zoom] else {
                throw BenchmarkError.usage("worker: unknown command \(line)")
            }
            switch words[0] {
            case "draw":
                let times = try tiles.map { coord in
                    let wall = Clock.wall()
                    let thread = Clock.thread()
                    let png = try maker.tile(coord)
                    return "[\(Clock.thread() - thread),\(Clock.wall() - wall),\(png.count)]"
                }
                answer("[\(times.joined(separator: ","))]")
            case "save" where words.count == 3:
                for coord in tiles {
                    try Data(maker.tile(coord)).write(
                        to: URL(filePath: words[2]).appending(path: "\(coord.z)-\(coord.x)-\(coord.y).png"))
                }
                answer("[]")
            default: throw BenchmarkError.usage("worker: unknown command \(line)")
            }
        }
    }

    private func answer(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}
