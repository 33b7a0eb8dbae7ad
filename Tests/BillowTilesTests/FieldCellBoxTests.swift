import BillowFields
import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowTiles

@Suite("The cells of a field in a tile")
struct FieldCellBoxTests {
    /// A grid of the whole world with values in patches.
    private static let world: FieldCells = {
        let grid = try! GridDefinition(
            shape: .sphere, columns: 720, rows: 361, projection: .lonLat(west: -180, south: -90, dx: 0.5, dy: 0.5))
        let values = (0..<grid.count).map { point in
            (point / 31) % 5 == 0 ? FieldPlane.missing : UInt8(point % 100)
        }
        return FieldCells(
            FieldPlane(width: grid.columns, height: grid.rows, values: values)!, try! GridCells(grid))
    }()

    @Test("are those that a search through all cells finds, in the same order", arguments: 0...5)
    func search(resolution: Int) throws {
        let cells = Self.world.coarsened(to: resolution)
        var random = SeededGenerator(seed: 27)
        var coords: [TileCoord] = []
        for z in 0...9 {
            let last = (1 << z) - 1
            // The corners lie at the antimeridian and at the poles.
            let places = [(0, 0), (last, 0), (0, last), (last, last), (last / 2, last / 2), (0, last / 2)]
            coords += places.compactMap { TileCoord(z: z, x: $0.0, y: $0.1) }
            coords += (0..<8).compactMap { _ in
                TileCoord(
                    z: z, x: Int.random(in: 0...last, using: &random), y: Int.random(in: 0...last, using: &random))
            }
        }
        var found = 0
        for coord in coords {
            let box = VectorTile.box(of: coord)
            let expected = cells.entries.filter {
                VectorTile.touches(box, dense: Int($0.dense), resolution: resolution)
            }
            #expect(cells.entries(touching: box) == expected, "\(coord) at resolution \(resolution)")
            found += expected.count
        }
        #expect(found > 1_000)
    }

    @Test("of a field without a value there are none")
    func empty() throws {
        let grid = try GridDefinition(
            shape: .sphere, columns: 4, rows: 4, projection: .lonLat(west: 0, south: 0, dx: 1, dy: 1))
        let values = [UInt8](repeating: FieldPlane.missing, count: grid.count)
        let plane = try #require(FieldPlane(width: 4, height: 4, values: values))
        let cells = FieldCells(plane, try GridCells(grid))
        #expect(cells.entries(touching: VectorTile.box(of: try #require(TileCoord(z: 0, x: 0, y: 0)))).isEmpty)
    }
}
