import BillowRaster
import BillowSnapshot
import Foundation
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

    /// A star of many deep notches: valid, and cut by a tile into parts that touch its border many times.
    private static func star(_ generator: inout SeededGenerator, middle: Point, radius: Double) -> [Point] {
        let count = Int.random(in: 5...400, using: &generator)
        return (0..<count).map { index in
            let angle = 2 * Double.pi * Double(index) / Double(count)
            let length = radius * Double.random(in: 0.02...1, using: &generator)
            return Point(x: middle.x + length * cos(angle), y: middle.y + length * sin(angle))
        }
    }

    private static func polygons(_ feature: DecodedVectorTile.Feature) -> [[[[Double]]]] {
        var polygons: [[[[Double]]]] = []
        for part in feature.parts {
            let ring = (part + part.prefix(1)).map { [Double($0.x), Double($0.y)] }
            if area(part) > 0 { polygons.append([ring]) } else { polygons[polygons.count - 1].append(ring) }
        }
        return polygons
    }

    @Test("areas that a tile cuts into parts stay valid, as GEOS in a process of its own says")
    func valid() throws {
        struct Question: Encodable {
            var sets: [String: [[[[Double]]]]] = [:]
        }
        var generator = SeededGenerator(seed: 17)
        var question = Question()
        for number in 0..<150 {
            let coord = try #require(TileCoord(z: number % 7, x: 0, y: 0))
            // In tiles, so that each zoom cuts alike; some reach far out, some are smaller than a unit.
            let scale = 1 / Double(1 << coord.z)
            let radius = [2, 0.7, 0.1, 0.004, 0.000_1][number % 5]
            func coordinate() -> Double { Double.random(in: -0.1...1.1, using: &generator) }
            let middle = Point(x: coordinate(), y: coordinate())
            let exterior = Self.star(&generator, middle: middle, radius: radius)
            // Within the least distance of the star from its middle.
            let hole = Self.star(&generator, middle: middle, radius: radius * 0.019)
            let shape = VectorTile.Shape.polygons([
                [exterior, hole].map { $0.map { Point(x: $0.x * scale, y: $0.y * scale) } }
            ])
            let tile = try Self.decoded(coord, [VectorTile.Feature(id: 1, shape: shape, properties: [])])
            guard let feature = tile.layers.first?.features.first else { continue }
            #expect(
                feature.parts.allSatisfy { ring in
                    ring.allSatisfy { (-64...4_160).contains($0.x) && (-64...4_160).contains($0.y) }
                })
            question.sets["\(number), radius \(radius)"] = Self.polygons(feature)
        }
        #expect(question.sets.count > 60)
        let wrong = try Oracle.ask("polygons.py", question, answer: [String].self)
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
    }

    @Test("halves of an area that was cut at the antimeridian are one in the tiles there")
    func seam() throws {
        // 170° E to 180° and 180° to 170° W, each a polygon.
        let (west, east) = (170.0 / 360 + 0.5, 1.0)
        func box(_ from: Double, _ to: Double) -> [[Point]] {
            [[(from, 0.4), (to, 0.4), (to, 0.45), (from, 0.45)].map { Point(x: $0.0, y: $0.1) }]
        }
        let shape = VectorTile.Shape.polygons([box(west, east), box(0, 1 - west)])
        for x in [0, 7] {
            let coord = try #require(TileCoord(z: 3, x: x, y: 3))
            let tile = try Self.decoded(coord, [VectorTile.Feature(id: 1, shape: shape, properties: [])])
            let parts = try #require(tile.layers.first?.features.first).parts
            #expect(parts.count == 1)
            // No edge runs along the antimeridian.
            let seam = x == 0 ? 0 : 4_096
            let ring = parts[0]
            #expect(!zip(ring, ring.dropFirst() + ring.prefix(1)).contains { $0.x == seam && $1.x == seam })
        }
    }

    @Test("a polygon that crosses itself comes as the parts that it encloses")
    func crossing() throws {
        let bow = [(0.1, 0.1), (0.9, 0.9), (0.9, 0.1), (0.1, 0.9)].map { Point(x: $0.0, y: $0.1) }
        let feature = VectorTile.Feature(id: 1, shape: .polygons([[bow]]), properties: [])
        let tile = try Self.decoded(Self.world, [feature])
        #expect(try #require(tile.layers.first?.features.first).parts.map { Self.area($0) > 0 } == [true, true])
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

    @Test("an outline's edges are the edges of cells whose reverse is no edge, in rings", arguments: 0..<24)
    func outlineOfAnyCells(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        // Also beside poles, the antimeridian and a pentagon, and at each resolution.
        let places = [(10.0, 50.0), (179.9, -20), (-122, 89.5), (58, 10.4), (0.1, 0.1), (-180, 66)]
        let (longitude, latitude) = places[Int(seed) % places.count]
        let middle = H3.cell(at: try #require(LonLat(longitude: longitude, latitude: latitude)))
        let resolution = 5 - Int(seed) / places.count
        // A dense index has a digit of seven for each resolution.
        let children = (resolution..<5).reduce(1) { number, _ in number * 7 }
        let all = Set(H3.disk(around: middle, distance: 14).map { Int($0.dense) / children })
        let cells = all.sorted().filter { _ in Int.random(in: 0..<10, using: &random) < 6 }
        let table = CellTable.of(resolution: resolution)
        var expected: Set<[GridPoint]> = []
        for cell in cells {
            let ring = Array(table.vertices(dense: cell))
            for (from, to) in zip(ring, ring.dropFirst() + ring.prefix(1)) where expected.remove([to, from]) == nil {
                expected.insert([from, to])
            }
        }
        var found: [[GridPoint]] = []
        for ring in CellUnion(cells.shuffled(using: &random), resolution: resolution).rings {
            #expect(ring.count > 2 && Set(ring).count <= ring.count)
            found += zip(ring, ring.dropFirst() + ring.prefix(1)).map { [$0, $1] }
        }
        #expect(found.count == expected.count && Set(found) == expected)
    }

    @Test("a ring in a tile is the same whether it is clipped by itself or by the general overlay", arguments: 0..<200)
    func rings(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let coord = try #require(TileCoord(z: 2, x: Int(seed % 4), y: 1))
        // A convex ring around a place in or beside the tile, on both sides of the antimeridian for some.
        let middle = Point(
            x: (Double(coord.x) + Double.random(in: -0.3...1.3, using: &random)) / 4,
            y: (1 + Double.random(in: -0.3...1.3, using: &random)) / 4)
        let radius = Double.random(in: 0.001...0.2, using: &random)
        let count = Int.random(in: 3...10, using: &random)
        let ring = (0..<count).map { corner in
            let angle = Double(corner) / Double(count) * 2 * .pi
            return Point(x: middle.x + radius * cos(angle), y: middle.y + radius * sin(angle))
        }
        // With more corners than the short path takes, on the same lines.
        let long = zip(ring, ring.dropFirst() + ring.prefix(1)).flatMap { from, to in
            (0..<4).map { part in
                let share = Double(part) / 4
                return Point(x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share)
            }
        }
        func area(_ shape: VectorTile.Shape) throws -> (Int, Int) {
            let tile = try Self.decoded(coord, [VectorTile.Feature(id: nil, shape: shape, properties: [])])
            let parts = tile.layers.first?.features.first?.parts ?? []
            return (parts.count, parts.reduce(0) { $0 + Self.area($1) })
        }
        let (parts, own) = try area(.ring(ring))
        let (expectedParts, expected) = try area(.polygons([[long]]))
        // A sliver of less than a unit may be in one of them only.
        #expect(parts == expectedParts || abs(own - expected) < 8_400)
        #expect(abs(own - expected) <= 8_400, "\(own), \(expected)")
    }
}
