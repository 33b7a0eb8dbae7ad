import BillowSnapshot
import BillowTiles
import Foundation

/// The half of the comparison with a peer that runs here: draws the tiles of a zoom on demand, while the peer waits.
///
/// One command a line on the standard input, one line of JSON for each on the standard output:
///
/// - `plane N` → `[thread ns, …]` of making the frame's plane N times;
/// - `draw Z` → `[[thread ns, wall ns, bytes], …]`;
/// - `prepare 1` → `[thread ns]` of a server's work between pictures;
/// - `save Z FOLDER` → `[]` and the tiles as `Z-X-Y.png`.
struct Worker {
    let scene: Scene

    func run() throws {
        let maker = try TileMaker(scene)
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            guard words.count >= 2, let number = Int(words[1]) else {
                throw BenchmarkError.usage("worker: unknown command \(line)")
            }
            let tiles = scene.tiles[number] ?? []
            switch words[0] {
            case "plane":
                let times = (0..<max(number, 0)).map { _ in
                    let start = Clock.thread()
                    _ = scene.frame.plane()
                    return String(Clock.thread() - start)
                }
                answer("[\(times.joined(separator: ","))]")
            case "draw":
                let times = try tiles.map { coord in
                    let wall = Clock.wall()
                    let thread = Clock.thread()
                    let png = try maker.tile(coord)
                    return "[\(Clock.thread() - thread),\(Clock.wall() - wall),\(png.count)]"
                }
                answer("[\(times.joined(separator: ","))]")
            case "prepare":
                let start = Clock.thread()
                maker.prepare()
                answer("[\(Clock.thread() - start)]")
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
