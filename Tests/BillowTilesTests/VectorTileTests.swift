import BillowRaster
import BillowSnapshot
import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowTiles

@Suite("Vector tiles")
struct VectorTileTests {
    static func decoded(_ coord: TileCoord, _ features: [VectorTile.Feature]) throws -> DecodedVectorTile {
        var tile = VectorTile(coord)
        tile.add(layer: "test", features)
        return try DecodedVectorTile(tile.bytes)
    }

    static func area(_ ring: [SIMD2<Int>]) -> Int {
        var doubled = 0
        for (index, a) in ring.enumerated() {
            let b = ring[(index + 1) % ring.count]
            doubled += a.x * b.y - b.x * a.y
        }
        return doubled
    }

    static let world = TileCoord(z: 0, x: 0, y: 0)!

    @Test("every kind of value comes back, and a name stands once for all features")
    func properties() throws {
        let values: [(name: String, value: VectorTile.Value)] = [
            ("text", .text("ü\u{0}\"")), ("whole", .integer(41_000)), ("negative", .integer(-3)), ("zero", .integer(0)),
            ("number", .number(0.25)), ("yes", .flag(true)), ("no", .flag(false)),
            ("largest", .integer(9_007_199_254_740_991)),
        ]
        let feature = VectorTile.Feature(id: 2_050_453, shape: .point(Point(x: 0.5, y: 0.25)), properties: values)
        let layer = try #require(try Self.decoded(Self.world, [feature, feature]).layers.first)
        #expect(layer.name == "test" && layer.version == 2 && layer.extent == 4_096 && layer.features.count == 2)
        for feature in layer.features {
            #expect(feature.id == 2_050_453 && feature.type == 1)
            #expect(feature.parts == [[SIMD2(2_048, 1_024)]])
            #expect(
                feature.properties == [
                    "text": "ü\u{0}\"", "whole": "41000", "negative": "-3", "zero": "0", "number": "0.25",
                    "yes": "true",
                    "no": "false", "largest": "9007199254740991",
                ])
        }
    }

    @Test("nothing in the tile is no bytes at all")
    func empty() throws {
        let coord = try #require(TileCoord(z: 5, x: 3, y: 3))
        var tile = VectorTile(coord)
        tile.add(layer: "a", [])
        tile.add(
            layer: "b", [VectorTile.Feature(id: nil, shape: .point(Point(x: 0.9, y: 0.9)), properties: [])])
        #expect(tile.bytes.isEmpty)
    }

    @Test("a polygon is cut to the tile and its buffer, its exterior wound one way and its holes the other")
    func polygons() throws {
        let coord = try #require(TileCoord(z: 1, x: 0, y: 0))
        func square(_ a: Double, _ b: Double) -> [Point] {
            [(a, a), (b, a), (b, b), (a, b)].map { Point(x: $0.0, y: $0.1) }
        }
        for exterior in [square(0.25, 0.9), square(0.25, 0.9).reversed()] {
            let shape = VectorTile.Shape.polygons([[exterior, square(0.3, 0.4)]])
            let tile = try Self.decoded(coord, [VectorTile.Feature(id: 1, shape: shape, properties: [])])
            let feature = try #require(tile.layers.first?.features.first)
            #expect(feature.type == 3 && feature.parts.count == 2)
            #expect(Self.area(feature.parts[0]) > 0 && Self.area(feature.parts[1]) < 0)
            #expect(feature.parts[0].allSatisfy { (-64...4_160).contains($0.x) && (-64...4_160).contains($0.y) })
            #expect(feature.parts[0].map(\.x).max() == 4_160)
        }
    }

    @Test("a place near the antimeridian is in the tiles on both sides, each within its buffer")
    func antimeridian() throws {
        let place = VectorTile.unit(try #require(LonLat(longitude: 179.99, latitude: 0.01)))
        let feature = VectorTile.Feature(id: nil, shape: .point(place), properties: [])
        let west = try Self.decoded(try #require(TileCoord(z: 3, x: 7, y: 3)), [feature])
        let east = try Self.decoded(try #require(TileCoord(z: 3, x: 0, y: 3)), [feature])
        #expect(try #require(west.layers.first?.features.first?.parts.first?.first).x > 4_090)
        #expect(try #require(east.layers.first?.features.first?.parts.first?.first).x < 0)
    }

    @Test("a line that leaves the tile and comes back is two lines")
    func lines() throws {
        let coord = try #require(TileCoord(z: 1, x: 0, y: 0))
        let line = [(0.1, 0.1), (0.9, 0.1), (0.9, 0.2), (0.1, 0.2)].map { Point(x: $0.0, y: $0.1) }
        let tile = try Self.decoded(coord, [VectorTile.Feature(id: nil, shape: .lines([line]), properties: [])])
        let parts = try #require(tile.layers.first?.features.first).parts
        #expect(parts.count == 2 && parts.allSatisfy { $0.count == 2 })
        #expect(parts[0].last?.x == 4_160 && parts[1].first?.x == 4_160)
    }

    @Test("cells joined have the area of the cells, and a hole where one is missing")
    func outline() throws {
        let center = try #require(LonLat(longitude: 10, latitude: 50))
        let middle = H3.cell(at: center)
        let disk = H3.disk(around: middle, distance: 3)
        let cells = disk.filter { $0 != middle }.map { Int($0.dense) }
        let coord = try #require(TilePainterTests.coord(z: 5, longitude: 10, latitude: 50))
        func parts(_ shape: VectorTile.Shape) throws -> [[SIMD2<Int>]] {
            let tile = try Self.decoded(coord, [VectorTile.Feature(id: nil, shape: shape, properties: [])])
            return try #require(tile.layers.first?.features.first).parts
        }
        let joined = try parts(VectorTile.outline(of: cells, resolution: 5))
        #expect(joined.count == 2 && Self.area(joined[0]) > 0 && Self.area(joined[1]) < 0)
        let single = try cells.reduce(0) { sum, dense in
            sum + Self.area(try parts(VectorTile.shape(dense: dense, resolution: 5))[0])
        }
        let whole = joined.reduce(0) { $0 + Self.area($1) }
        #expect(abs(single - whole) <= single / 100)
        #expect(VectorTile.outline(of: cells.reversed(), resolution: 5) == VectorTile.outline(of: cells, resolution: 5))
    }
}
