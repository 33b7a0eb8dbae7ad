import Foundation
import Geometry
import Testing

@Suite("Definitions of grids")
struct GridDefinitionTests {
    private static let mesh = GridDefinition.Mesh(
        longitude: 237.280_472, latitude: 21.138_123, corner: .northEast, dx: 3_000, dy: 2_500)

    static let grids: [GridDefinition] = [
        .turbulenceGuidance,
        try! GridDefinition(
            shape: .wgs84, columns: 7, rows: 3, projection: .lonLat(west: -180, south: -90, dx: 0.1, dy: 1.0 / 3)),
        try! GridDefinition(
            shape: .wgs84, columns: 60, rows: 50,
            projection: .polarStereographic(orientation: 20, trueLatitude: -71, isSouth: true, mesh: mesh)),
    ]

    @Test("come back from JSON as they were", arguments: grids)
    func json(_ grid: GridDefinition) throws {
        let text = try JSONEncoder().encode(grid)
        #expect(try JSONDecoder().decode(GridDefinition.self, from: text) == grid)
    }

    @Test(
        "are refused where they give no grid",
        arguments: [
            (0, 1, GridDefinition.Projection.lonLat(west: 0, south: 0, dx: 1, dy: 1), "0 × 1"),
            (1, 1 << 40, .lonLat(west: 0, south: 0, dx: 1, dy: 1), "1 × 1099511627776"),
            (2, 2, .lonLat(west: .nan, south: 0, dx: 1, dy: 1), "nan°"),
            (2, 2, .lonLat(west: 0, south: 91, dx: 1, dy: 1), "91.0°"),
            (2, 2, .lonLat(west: 0, south: 0, dx: 0, dy: 1), "steps of 0.0°"),
            (2, 2, .lonLat(west: 0, south: 0, dx: 1, dy: .infinity), "inf°"),
            (2, 2, .polarStereographic(orientation: 0, trueLatitude: 91, isSouth: false, mesh: mesh), "91.0°"),
            (2, 2, .lambertConformal(orientation: 0, firstParallel: 30, secondParallel: -30, mesh: mesh), "-30.0°"),
            (2, 2, .lambertConformal(orientation: 0, firstParallel: 90, secondParallel: 30, mesh: mesh), "90.0°"),
            (2, 2, .lambertConformal(orientation: 361, firstParallel: 30, secondParallel: 30, mesh: mesh), "361.0°"),
            (
                2, 2,
                .lambertConformal(
                    orientation: 0, firstParallel: 30, secondParallel: 30,
                    mesh: GridDefinition.Mesh(longitude: 0, latitude: -90, dx: 1, dy: 1)), "-90.0°"
            ),
        ])
    func refused(columns: Int, rows: Int, projection: GridDefinition.Projection, says words: String) {
        do throws(GridError) {
            let grid = try GridDefinition(shape: .wgs84, columns: columns, rows: rows, projection: projection)
            Issue.record("\(grid) was taken")
        } catch {
            #expect(error.description.contains(words), "\(error)")
        }
    }

    @Test("in JSON are refused where they give no grid")
    func refusedJSON() throws {
        let text = String(decoding: try JSONEncoder().encode(GridDefinition.turbulenceGuidance), as: UTF8.self)
        let wrong = text.replacingOccurrences(of: "\"columns\":1799", with: "\"columns\":0")
        #expect(wrong != text)
        #expect(throws: GridError.self) { try JSONDecoder().decode(GridDefinition.self, from: Data(wrong.utf8)) }
    }
}
