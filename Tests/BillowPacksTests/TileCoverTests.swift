import BillowTiles
import Geometry
import Testing

@testable import BillowPacks

@Suite("Tiles of a pack")
struct TileCoverTests {
    /// Source: PMTiles 3 section 4.1, its table of numbers
    @Test(
        "a tile has the number of the specification",
        arguments: [
            (0, 0, 0, 0), (1, 0, 0, 1), (1, 0, 1, 2), (1, 1, 1, 3), (1, 1, 0, 4), (2, 0, 0, 5),
            (12, 3423, 1763, 19_078_479),
        ] as [(Int, Int, Int, UInt64)])
    func numbers(z: Int, x: Int, y: Int, number: UInt64) throws {
        #expect(TileID.of(try #require(TileCoord(z: z, x: x, y: y))) == number)
    }

    @Test("the tiles of a zoom have all its numbers, each once", arguments: 0...6)
    func all(z: Int) throws {
        let cover = try TileCover(.world, zooms: z...z, limit: 10_000)
        let first = TileID.before(zoom: z)
        #expect(cover.tiles.map(TileID.of) == Array(first..<first + UInt64(1 << (2 * z))))
    }

    private static func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> BoundingBox {
        try #require(BoundingBox(west: west, south: south, east: east, north: north))
    }

    @Test("a box across the antimeridian has tiles at both ends, and each once")
    func antimeridian() throws {
        let box = try Self.box(170, -10, -170, 10)
        let cover = try TileCover(box, zooms: 0...4, limit: 1_000)
        let columns = Set(cover.tiles.filter { $0.z == 4 }.map(\.x))
        #expect(columns == [15, 0])
        #expect(Set(cover.tiles).count == cover.tiles.count)
        #expect(cover.tiles.filter { $0.z == 0 }.count == 1)
    }

    @Test("a box that ends on a border of tiles has none beyond it")
    func borders() throws {
        let cover = try TileCover(try Self.box(-180, 0, 0, 85.05112877980659), zooms: 1...1, limit: 10)
        #expect(cover.tiles == [TileCoord(z: 1, x: 0, y: 0)].compactMap(\.self))
    }

    @Test("an area has the tiles that a test of every tile finds")
    func area() throws {
        let ring = [(-80.0, 40.0), (-20.0, 50.0), (0.0, 52.0), (-30.0, 45.0), (-80.0, 40.0)].compactMap {
            LonLat(longitude: $0.0, latitude: $0.1)
        }
        let area = try #require(AreaIndex(MultiPolygon(polygons: [[ring]])))
        let cover = try TileCover(area, zooms: 2...6, limit: 10_000)
        for z in 2...6 {
            let expected = try TileCover(.world, zooms: z...z, limit: 10_000).tiles.filter { coord in
                guard case .box(let box) = coord.region else { return true }
                return area.area.intersects(box)
            }
            #expect(cover.tiles.filter { $0.z == z } == expected)
        }
    }

    @Test("too many tiles are refused with their number")
    func limit() throws {
        #expect(throws: TileCover.TooManyTiles(tiles: 87_381, limit: 87_380)) {
            try TileCover(.world, zooms: 0...8, limit: 87_380)
        }
        #expect(try TileCover(.world, zooms: 0...8, limit: 87_381).tiles.count == 87_381)
    }
}
