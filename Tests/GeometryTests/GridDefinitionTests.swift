import Foundation
import Geometry
import TestSupport
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

    @Test("a domain is the ring around the outermost points", arguments: [grids[0], grids[2]])
    func domain(_ grid: GridDefinition) throws {
        let projection = GridProjection(grid)
        let ring = try #require(grid.domain)
        var random = SeededGenerator(seed: 7)
        let (east, north) = (Double(grid.columns - 1), Double(grid.rows - 1))
        for _ in 0..<2_000 {
            let x = Double.random(in: -0.2...1.2, using: &random) * east
            let y = Double.random(in: -0.2...1.2, using: &random) * north
            let place = try #require(projection.lonLat(GridPosition(x: x, y: y)))
            // The chords of the ring leave the sides by half a cell at most.
            let depth = min(x, y, east - x, north - y)
            if depth > 0.5 { #expect(ring.contains(place), "\(x) \(y)") }
            if depth < -0.5 { #expect(!ring.contains(place), "\(x) \(y)") }
        }
        let places = ring.places
        if grid == .turbulenceGuidance {
            // Source: docs/upstreams/noaa.md
            #expect(abs((places.map(\.latitude).min() ?? 0) - 21.14) < 0.01)
            #expect(abs((places.map(\.latitude).max() ?? 0) - 52.62) < 0.01)
            #expect(abs((places.map(\.longitude).min() ?? 0) + 134.10) < 0.01)
            #expect(abs((places.map(\.longitude).max() ?? 0) + 60.92) < 0.01)
        }
    }

    @Test("a domain around the world is no ring, one around a pole or all longitudes a band within it")
    func domainWithoutRing() throws {
        func lonLat(_ columns: Int, _ rows: Int, south: Double) throws -> GridDefinition {
            try GridDefinition(
                shape: .sphere, columns: columns, rows: rows,
                projection: .lonLat(west: 0, south: south, dx: 1, dy: 1))
        }
        #expect(try lonLat(360, 181, south: -90).domain == nil)
        #expect(try lonLat(360, 180, south: -89.5).domain == nil)
        let tropics = try #require(try lonLat(360, 41, south: -20).domain)
        let box = try #require(BoundingBox(west: 170, south: -20, east: -170, north: 20))
        let taller = try #require(BoundingBox(west: 170, south: -21, east: -170, north: 20))
        #expect(tropics.contains(box) && !tropics.contains(taller))
        // Five by five points, 1,000 km apart, the pole in the middle.
        let corner = GridDefinition.Mesh(longitude: -45, latitude: 64.5, dx: 1_000_000, dy: 1_000_000)
        let pole = try GridDefinition(
            shape: .sphere, columns: 5, rows: 5,
            projection: .polarStereographic(orientation: 0, trueLatitude: 90, isSouth: false, mesh: corner))
        let cap = try #require(pole.domain)
        let projection = GridProjection(pole)
        for longitude in stride(from: -180.0, to: 180, by: 15) {
            for latitude in stride(from: 60.0, through: 89, by: 1) {
                let place = try #require(LonLat(longitude: longitude, latitude: latitude))
                let position = projection.position(of: place)
                if cap.contains(place) {
                    #expect(position.x >= -1e-6 && position.x <= 4 && position.y >= -1e-6 && position.y <= 4)
                } else {
                    #expect(latitude < 75)
                }
            }
        }
    }
}
