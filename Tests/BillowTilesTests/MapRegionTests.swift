import Geometry
import Testing
import Turbulence

@testable import BillowRaster
@testable import BillowTiles

@Suite("Regions of the map")
struct MapRegionTests {
    @Test("a window shows all of its box, in the middle, at the largest scale")
    func fits() throws {
        let box = try #require(BoundingBox(west: -10, south: 40, east: 30, north: 60))
        let region = try #require(MapRegion(box, width: 800, height: 400))
        let northWest = region.local(
            region.worldPoint(try #require(LonLat(longitude: -10, latitude: 60))), copy: 0)
        let southEast = region.local(
            region.worldPoint(try #require(LonLat(longitude: 30, latitude: 40))), copy: 0)
        #expect(abs(northWest.y) <= 1 && abs(southEast.y - 400) <= 1)
        #expect(abs(northWest.x - (800 - southEast.x)) <= 1 && northWest.x > 0)
    }

    @Test("the height that goes with a width fills the window")
    func height() throws {
        let box = try #require(BoundingBox(west: 170, south: -30, east: -170, north: 10))
        let height = MapRegion.height(of: box, width: 500)
        let region = try #require(MapRegion(box, width: 500, height: height))
        let east = region.local(region.worldPoint(try #require(LonLat(longitude: -170, latitude: 10))), copy: 1)
        #expect(abs(east.x - 500) <= 1 && abs(east.y) <= 1.5)
    }

    @Test(
        "whatever the box, a window is no finer than zoom 22 and shows at most three worlds",
        arguments: [
            (-180.0, -90.0, 180.0, 90.0, 4_096, 1), (-180, -90, 180, 90, 1, 4_096), (10, 50, 10, 50, 256, 256),
            (10, 50, 10, 50.000_001, 1, 4_096), (0, 90, 1, 90, 100, 100), (-360, -90, 360, 90, 1, 1),
        ])
    func extremes(west: Double, south: Double, east: Double, north: Double, width: Int, height: Int) throws {
        let box = try #require(BoundingBox(west: west, south: south, east: east, north: north))
        let region = try #require(MapRegion(box, width: width, height: height))
        #expect((0...22).contains(region.zoom))
        #expect(Double(region.width) <= region.worldPixels * 3 + 1)
        let map = try PicturePainter().canvas(
            try LayerList("hazards,pireps"), of: PictureTests.data, in: region, style: TilePainterTests.style)
        #expect(map.width == width && map.height == height)
    }

    @Test("sides outside 1…4096 and scales outside 1…3 make no window")
    func refused() throws {
        let box = try #require(BoundingBox(west: 0, south: 0, east: 1, north: 1))
        #expect(MapRegion(box, width: 0, height: 10) == nil)
        #expect(MapRegion(box, width: 10, height: 4_097) == nil)
        #expect(MapRegion(box, width: 10, height: 10, scale: 4) == nil)
    }
}
