import GRIBKit
import Geometry
import TestSupport
import Testing

@Suite("Projections of grids")
struct GridProjectionTests {
    struct Question: Encodable {
        var proj: String
        var places: [[Double]]
        var plane: [[Double]]
    }

    struct Answer: Decodable {
        var plane: [[Double]]
        var places: [[Double]]
    }

    static func steps(_ grid: GRIBGrid) -> (first: LonLat, dx: Double, dy: Double)? {
        switch grid.template {
        case .lonLat: nil
        case .polarStereographic(let first, _, _, _, let dx, let dy),
            .lambertConformal(let first, _, _, let dx, let dy):
            (first, dx, dy)
        }
    }

    @Test("agree with PROJ to 10⁻⁹ of a cell, both ways", arguments: Samples.grids.filter { $0.proj != nil })
    func oracle(_ sample: Samples.Named) throws {
        let grid = sample.grid
        let projection = try GridProjection(grid)
        let (first, dx, dy) = try #require(Self.steps(grid))
        var random = SeededGenerator(seed: 15)
        let positions = (0..<500).map { _ in
            GridPosition(
                x: Double.random(in: -0.5...Double(grid.columns) - 0.5, using: &random),
                y: Double.random(in: -0.5...Double(grid.rows) - 0.5, using: &random))
        }
        let places = try positions.map { try #require(projection.lonLat($0)) }
        var question = Question(
            proj: try #require(sample.proj), places: ([first] + places).map { [$0.longitude, $0.latitude] }, plane: [])
        let forward = try Oracle.ask("grids.py", question, answer: Answer.self).plane
        let origin = forward[0]
        for ((place, position), plane) in zip(zip(places, positions), forward.dropFirst()) {
            let (x, y) = ((plane[0] - origin[0]) / dx, (plane[1] - origin[1]) / dy)
            let found = projection.position(of: place)
            #expect(abs(found.x - x) < 1e-9 && abs(found.y - y) < 1e-9, "\(found) for \(x), \(y)")
            // And back again.
            #expect(abs(found.x - position.x) < 1e-9 && abs(found.y - position.y) < 1e-9)
        }
        question.plane = positions.map { [origin[0] + $0.x * dx, origin[1] + $0.y * dy] }
        let back = try Oracle.ask("grids.py", question, answer: Answer.self).places
        for (place, found) in zip(places, back) {
            #expect(abs((place.longitude - found[0]).remainder(dividingBy: 360)) < 1e-9)
            #expect(abs(place.latitude - found[1]) < 1e-9)
        }
    }

    @Test(
        "put the first point of a message at the corner that its scanning mode says", arguments: ScanningMode.allCases)
    func corners(_ mode: ScanningMode) throws {
        for sample in Samples.grids {
            let grid = try Samples.scanned(sample.grid, mode)
            let (projection, normalised) = (try GridProjection(grid), try GridProjection(sample.grid))
            for (x, y) in [(0.0, 0.0), (3.25, 1.5), (Double(grid.columns - 1), Double(grid.rows - 1))] {
                let position = GridPosition(x: x, y: y)
                let place = try #require(normalised.lonLat(position))
                let found = projection.position(of: place)
                // At a pole every longitude is right.
                guard abs(place.latitude) < 89.999 else { continue }
                #expect(abs(found.x - x) < 1e-8 && abs(found.y - y) < 1e-8, "\(sample.name): \(found)")
            }
        }
    }

    @Test("are the same place by place and in rows and columns", arguments: Samples.grids)
    func separable(_ sample: Samples.Named) throws {
        let projection = try GridProjection(sample.grid)
        let longitudes = stride(from: -180.0, through: 180, by: 2.5).map { $0 }
        let latitudes = stride(from: -90.0, through: 90, by: 2.5).map { $0 }
        let columns = projection.columns(longitudes: longitudes)
        let rows = projection.rows(latitudes: latitudes)
        var cells = [Int32](repeating: 0, count: columns.count)
        var positions = [GridPosition](repeating: GridPosition(x: 0, y: 0), count: columns.count)
        var inside = 0
        for (row, latitude) in zip(rows, latitudes) {
            cells.withUnsafeMutableBufferPointer { projection.nearestCells(row, columns, into: $0) }
            positions.withUnsafeMutableBufferPointer { projection.positions(row, columns, into: $0) }
            for (place, longitude) in longitudes.enumerated() {
                let position = projection.position(of: Samples.place(longitude, latitude))
                // Neither is a number at the other pole of a polar projection.
                #expect(positions[place] == position || (positions[place].x.isNaN && position.x.isNaN))
                guard let index = projection.index(of: Samples.place(longitude, latitude)) else {
                    #expect(cells[place] == -1)
                    continue
                }
                inside += 1
                let nearest =
                    Int((index.y + 0.5).rounded(.down)) * sample.grid.columns
                    + Int((index.x + 0.5).rounded(.down))
                #expect(Int(cells[place]) == nearest)
            }
        }
        #expect(inside > 10)
    }

    @Test("cover the area that GTG's grid is known to cover")
    func guidance() throws {
        let projection = GridProjection(GridDefinition.turbulenceGuidance)
        var (west, east, south, north) = (180.0, -180.0, 90.0, -90.0)
        for x in 0..<1_799 {
            for y in [0, 1_058] {
                let place = try #require(projection.lonLat(GridPosition(x: Double(x), y: Double(y))))
                (west, east) = (min(west, place.longitude), max(east, place.longitude))
                (south, north) = (min(south, place.latitude), max(north, place.latitude))
            }
        }
        #expect(abs(south - 21.14) < 0.005 && abs(north - 52.62) < 0.005)
        #expect(abs(west + 134.10) < 0.005 && abs(east + 60.92) < 0.005)
        // The middle meridian runs along a column.
        let middle = projection.position(of: Samples.place(-97.5, 30))
        #expect(abs(projection.position(of: Samples.place(-97.5, 45)).x - middle.x) < 1e-9)
        #expect(projection.index(of: Samples.place(-40, 40)) == nil)
        #expect(projection.index(of: Samples.place(82.5, -45)) == nil)
    }

    @Test("take every longitude to a grid around the world, in both conventions")
    func world() throws {
        let projection = try GridProjection(Samples.grids[7].grid)
        #expect(projection.wrapsAround)
        for step in -720...720 {
            let longitude = Double(step) / 2
            let position = try #require(projection.index(of: Samples.place(longitude, 10)))
            #expect(position.x >= -0.5 && position.x < 71.5)
            let back = try #require(projection.lonLat(position))
            #expect(abs((back.longitude - longitude).remainder(dividingBy: 360)) < 1e-9)
        }
        #expect(projection.position(of: Samples.place(-2.5, 0)).x == -0.5)
        #expect(projection.position(of: Samples.place(-2.6, 0)).x > 71)
        #expect(projection.position(of: Samples.place(180, 90)) == GridPosition(x: 36, y: 36))
        #expect(projection.position(of: Samples.place(-180, 90)) == GridPosition(x: 36, y: 36))
        // A grid that lists its first meridian again at the end.
        var closed = Samples.grids[7].grid
        closed.columns = 73
        closed.template = .lonLat(first: Samples.place(0, -90), last: Samples.place(360, 90))
        #expect(try GridProjection(closed).position(of: Samples.place(5, 0)).x == 1)
    }

    @Test("end half a cell beyond the outermost points")
    func edges() throws {
        let projection = try GridProjection(Samples.grids[6].grid)
        #expect(!projection.wrapsAround)
        #expect(projection.index(of: Samples.place(169.5, 0))?.x == -0.5)
        #expect(projection.index(of: Samples.place(169.49, 0)) == nil)
        #expect(projection.index(of: Samples.place(-169.51, 0)) != nil)
        #expect(projection.index(of: Samples.place(-169.49, 0)) == nil)
        #expect(projection.index(of: Samples.place(180, 11.01)) == nil)
        #expect(projection.index(of: Samples.place(-180, 10.99)) != nil)
    }
}
