import BillowRaster
import BillowSnapshot
import Datasets
import Geometry
import Testing
import Turbulence

@testable import BillowTiles

@Suite("Regions that are requested exactly")
struct MapProjectionTests {
    private static func box(
        _ west: Double, _ south: Double, _ east: Double, _ north: Double, _ projection: MapProjection
    ) throws -> PlaneBox {
        try #require(
            BoundingBox(west: west, south: south, east: east, north: north).flatMap { PlaneBox($0, projection) })
    }

    @Test("a window that is a tile but for rounding is that tile, at every scale", arguments: TileScale.allCases)
    func tiles(_ scale: TileScale) throws {
        for (z, x, y) in [(0, 0, 0), (3, 5, 2), (9, 131, 203), (14, 8_192, 5_500), (22, 4_194_303, 0)] {
            let count = Double(1 << z)
            for error in [0.0, 1e-13, -1e-13] {
                let box = try #require(
                    PlaneBox(
                        minX: Double(x) / count + error, minY: Double(y) / count - error,
                        maxX: Double(x + 1) / count - error, maxY: Double(y + 1) / count + error))
                let region = try #require(
                    MapRegion(
                        .mercator, exactly: box, width: scale.pixels, height: scale.pixels, scale: scale.rawValue))
                let coord = try #require(TileCoord(z: z, x: x, y: y))
                #expect(region == MapRegion(coord, scale: scale), "\(z)/\(x)/\(y)")
                #expect(region.tile?.coord == coord)
            }
        }
    }

    @Test("a window half a pixel off a tile is not that tile")
    func halfPixel() throws {
        let off = 0.5 / 256 / 8
        let box = try #require(PlaneBox(minX: 0.25 + off, minY: 0.25, maxX: 0.375 + off, maxY: 0.375))
        let region = try #require(MapRegion(.mercator, exactly: box, width: 256, height: 256))
        #expect(region.tile == nil)
        #expect(abs(region.longitude(column: 0) - (-90 + 360 * 1.0 / 256 / 8)) < 1e-9)
    }

    @Test(
        "the middles of pixels lie where the box says, in both projections",
        arguments: [MapProjection.mercator, .geographic])
    func middles(_ projection: MapProjection) throws {
        let region = try #require(
            MapRegion(projection, exactly: try Self.box(-10, 40, 20, 60, projection), width: 300, height: 100))
        #expect(abs(region.longitude(column: 0) - (-10 + 0.05)) < 1e-9)
        #expect(abs(region.longitude(column: 299) - (20 - 0.05)) < 1e-9)
        if projection == .geographic {
            #expect(abs(region.latitude(row: 0) - 59.9) < 1e-9)
            #expect(abs(region.latitude(row: 99) - 40.1) < 1e-9)
        } else {
            let (top, bottom) = (UnitMercator.y(latitude: 60), UnitMercator.y(latitude: 40))
            #expect(abs(UnitMercator.y(latitude: region.latitude(row: 50)) - (top + (bottom - top) * 0.505)) < 1e-12)
        }
        guard case .box(let shown) = region.region else { throw TestFailure() }
        #expect(abs(shown.west + 10) < 1e-9 && abs(shown.east - 20) < 1e-9)
        #expect(abs(shown.south - 40) < 1e-9 && abs(shown.north - 60) < 1e-9)
    }

    private struct TestFailure: Error {}

    @Test("in degrees every pixel well inside a cell has that cell's colour, and every other well outside has none")
    func exact() throws {
        let plane = TilePainterTests.patchwork
        let coord = try #require(TileCoord(z: 6, x: 33, y: 21))
        guard case .box(let box) = coord.region else { throw TestFailure() }
        let plain = try #require(PlaneBox(box, .geographic))
        let region = try #require(MapRegion(.geographic, exactly: plain, width: 512, height: 256))
        let data = PictureData(instant: .distantPast, plane: plane)
        let canvas = try PicturePainter().canvas(
            LayerList(.hexagons), of: data, in: region, style: TilePainterTests.style)
        let cells = TileContent(of: plane, in: coord)
        var severities: [Int: UInt32] = [:]
        for entry in cells.cells { severities[Int(entry >> 3)] = entry & 7 }
        #expect(cells.resolution == Cell.resolution)
        var compared = 0
        for row in stride(from: 1, to: 255, by: 3) {
            for column in stride(from: 1, to: 511, by: 3) {
                let place = try #require(region.place(column: column, row: row))
                let cell = H3.cell(at: place)
                // What has the same cell all around is well inside.
                let isInside = [(-1, -1), (1, -1), (-1, 1), (1, 1)].allSatisfy { step in
                    region.place(column: column + step.0, row: row + step.1).map { H3.cell(at: $0) } == cell
                }
                guard isInside else { continue }
                let alpha = canvas.pixels[row * 512 + column].alpha
                #expect((severities[Int(cell.dense)] != nil) == (alpha > 0), "\(column) \(row)")
                compared += 1
            }
        }
        #expect(compared > 2_000)
    }

    @Test("the poles are drawn in degrees")
    func pole() throws {
        let cell = H3.cell(at: try #require(LonLat(longitude: 0, latitude: 90)))
        #expect(Grid.latitude(GridPoint(0, -Int32.max)) == 90)
        #expect(Grid.latitude(GridPoint(0, Int32.max)) == -90)
        #expect(CellTable.of(resolution: Cell.resolution).vertices(dense: Int(cell.dense)).count > 3)
    }

    @Test(
        "an invalid window is nil",
        arguments: [
            (0.0, 0.0, 0.0, 0.5), (0, 0.5, 0.5, 0.5), (0.5, 0, 0.2, 1), (0, 0, 4, 1), (-8, 0, -7, 1),
            (.nan, 0, 1, 1), (0, 0, .infinity, 1),
        ])
    func refused(_ box: (Double, Double, Double, Double)) {
        #expect(PlaneBox(minX: box.0, minY: box.1, maxX: box.2, maxY: box.3) == nil)
    }

    @Test("pixels smaller than those of zoom 22, and sides beyond 4,096, are refused")
    func tooFine() throws {
        let box = try #require(PlaneBox(minX: 0.5, minY: 0.5, maxX: 0.5 + 1e-9, maxY: 0.5 + 1e-9))
        #expect(MapRegion(.mercator, exactly: box, width: 256, height: 256) == nil)
        let world = try #require(PlaneBox(minX: 0, minY: 0, maxX: 1, maxY: 1))
        for (width, height) in [(0, 1), (4_097, 1), (1, 4_097), (-1, 5)] {
            #expect(MapRegion(.mercator, exactly: world, width: width, height: height) == nil)
        }
        // Any shape of pixels is drawn without a trap.
        for projection in [MapProjection.mercator, .geographic] {
            for (width, height) in [(1, 4_096), (4_096, 1), (1, 1), (3, 2)] {
                let region = try #require(MapRegion(projection, exactly: world, width: width, height: height))
                let data = PictureData(instant: .distantPast, plane: TilePainterTests.patchwork)
                _ = try PicturePainter().canvas(
                    LayerList(.hexagons), of: data, in: region, style: TilePainterTests.style)
            }
        }
    }
}
