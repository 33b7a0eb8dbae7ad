import BillowFields
import Geometry
import TestSupport
import Testing
import Turbulence

@Suite("A field by H3 cells")
struct FieldCellsTests {
    /// A part of GTG's grid.
    static func grid() throws -> GridDefinition {
        try GridDefinition(
            shape: .sphere, columns: 150, rows: 120,
            projection: .lambertConformal(
                orientation: 262.5, firstParallel: 38.5, secondParallel: 38.5,
                mesh: GridDefinition.Mesh(longitude: -106, latitude: 38, dx: 3_000, dy: 3_000)))
    }

    static func plane(_ grid: GridDefinition) throws -> FieldPlane {
        var random = SeededGenerator(seed: 3)
        let values = (0..<grid.count).map { point -> UInt8 in
            let bits = random.next()
            // A corner without any value.
            return point % grid.columns < 30 || bits % 9 == 0 ? FieldPlane.missing : UInt8(bits >> 8 % 255)
        }
        return try #require(FieldPlane(width: grid.columns, height: grid.rows, values: values))
    }

    @Test("has the largest value and the mean of the points in each cell", arguments: 0...5)
    func cells(resolution: Int) throws {
        let grid = try Self.grid()
        let plane = try Self.plane(grid)
        let projection = GridProjection(grid)
        var expected: [UInt64: [UInt8]] = [:]
        for point in 0..<grid.count where plane.values[point] != FieldPlane.missing {
            let position = GridPosition(x: Double(point % grid.columns), y: Double(point / grid.columns))
            let cell = H3.cell(at: try #require(projection.lonLat(position)))
            let index = resolution == Cell.resolution ? cell.h3 : H3.parent(of: cell, resolution: resolution)
            expected[index, default: []].append(plane.values[point])
        }
        let found = FieldCells(plane, try GridCells(grid)).coarsened(to: resolution)
        #expect(found.resolution == resolution)
        #expect(found.entries.count == expected.count)
        #expect(zip(found.entries, found.entries.dropFirst()).allSatisfy { $0.dense < $1.dense })
        for entry in found.entries {
            let values = try #require(expected[H3.index(dense: Int(entry.dense), resolution: resolution)])
            #expect(entry.largest == values.max())
            #expect(entry.count == UInt32(values.count))
            #expect(entry.sum == values.reduce(0) { $0 + UInt32($1) })
        }
    }

    @Test("of a plane without values has no cell")
    func empty() throws {
        let grid = try Self.grid()
        let values = [UInt8](repeating: FieldPlane.missing, count: grid.count)
        let plane = try #require(FieldPlane(width: grid.columns, height: grid.rows, values: values))
        #expect(FieldCells(plane, try GridCells(grid)).coarsened(to: 2).entries.isEmpty)
    }
}
