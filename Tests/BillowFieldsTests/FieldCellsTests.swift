import BillowFields
import Geometry
import TestSupport
import Testing

@Suite("Hexagons of a field")
struct FieldCellsTests {
    /// A grid as GTG's is, of fewer points.
    private func lambert(_ columns: Int, _ rows: Int, step: Double) throws -> GridDefinition {
        try GridDefinition(
            shape: .sphere, columns: columns, rows: rows,
            projection: .lambertConformal(
                orientation: 262.5, firstParallel: 38.5, secondParallel: 38.5,
                mesh: .init(longitude: 250, latitude: 35, dx: step, dy: step)))
    }

    private func grids() throws -> [GridDefinition] {
        [
            try lambert(90, 70, step: 3_000), try lambert(40, 40, step: 60_000),
            // Across the antimeridian, and up to the pole.
            try GridDefinition(
                shape: .sphere, columns: 60, rows: 41, projection: .lonLat(west: 165, south: 50, dx: 0.5, dy: 1)),
        ]
    }

    @Test("each cell has the points that libh3 says lie in it, their maximum and their mean", arguments: 0...2, 0...5)
    func oracle(number: Int, resolution: Int) throws {
        let grid = try grids()[number]
        let projection = GridProjection(grid)
        var random = SeededGenerator(seed: UInt64(number))
        let values = (0..<grid.count).map { _ in
            Bool.random(using: &random) ? UInt8.random(in: 0...254, using: &random) : FieldPlane.missing
        }
        let plane = try #require(FieldPlane(width: grid.columns, height: grid.rows, values: values))
        var found: [UInt64: [UInt8]] = [:]
        for (point, value) in values.enumerated() {
            let (row, column) = point.quotientAndRemainder(dividingBy: grid.columns)
            let place = try #require(projection.lonLat(GridPosition(x: Double(column), y: Double(row))))
            found[H3.parent(of: H3.cell(at: place), resolution: resolution), default: []].append(value)
        }
        let hexagons = FieldCells(grid).hexagons(of: plane, resolution: resolution)
        #expect(hexagons.map(\.dense) == hexagons.map(\.dense).sorted())
        var seen = Set<UInt64>()
        for hexagon in hexagons {
            let index = H3.index(dense: Int(hexagon.dense), resolution: resolution)
            #expect(seen.insert(index).inserted)
            let all = try #require(found[index])
            let present = all.filter { $0 != FieldPlane.missing }
            let sum = present.reduce(0) { $0 + Int($1) }
            #expect(hexagon.maximum == present.max() && Int(hexagon.count) == present.count)
            #expect(abs(Double(hexagon.mean) - Double(sum) / Double(present.count)) < 1e-3)
            #expect(Int(hexagon.points) == all.count)
        }
        // Cells without any value are none.
        #expect(seen == Set(found.filter { !$0.value.allSatisfy { $0 == FieldPlane.missing } }.keys))
    }

    @Test("a plane without a value has no hexagon")
    func missing() throws {
        let grid = try grids()[0]
        let values = [UInt8](repeating: FieldPlane.missing, count: grid.count)
        let plane = try #require(FieldPlane(width: grid.columns, height: grid.rows, values: values))
        #expect(FieldCells.of(grid).hexagons(of: plane, resolution: 5).isEmpty)
    }
}
