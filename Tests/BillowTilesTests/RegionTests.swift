import Geometry
import Testing

@testable import BillowTiles

@Suite("What a picture shows of the earth")
struct RegionTests {
    private func box(_ region: GeographicRegion) throws -> BoundingBox {
        guard case .box(let box) = region else { throw NoBox() }
        return box
    }

    private struct NoBox: Error {}

    private func isNear(_ box: BoundingBox, _ expected: (Double, Double, Double, Double), by most: Double) -> Bool {
        zip([box.west, box.south, box.east, box.north], [expected.0, expected.1, expected.2, expected.3])
            .allSatisfy { abs($0 - $1) <= most }
    }

    @Test("a tile's box is its part of the world")
    func tiles() throws {
        let edge = UnitMercator.maximumLatitude
        #expect(isNear(try box(TileCoord(z: 0, x: 0, y: 0).region()), (-180, -edge, 180, edge), by: 1e-9))
        #expect(isNear(try box(TileCoord(z: 1, x: 1, y: 0).region()), (0, 0, 180, edge), by: 1e-9))
        #expect(isNear(try box(TileCoord(z: 2, x: 0, y: 2).region()), (-180, -66.513_260, -90, 0), by: 1e-6))
    }

    @Test("a map shows at least its box, over the antimeridian too, and never more than the world")
    func maps() throws {
        for (west, south, east, north) in [
            (-10.0, 40.0, 5.0, 50.0), (170, -10, -170, 10), (-180, -85, 180, 85), (20, 0, 20.01, 0.01),
        ] {
            let asked = try #require(BoundingBox(west: west, south: south, east: east, north: north))
            let height = MapRegion.height(of: asked, width: 500)
            let map = try #require(MapRegion(asked, width: 500, height: height))
            let shown = try box(map.region)
            let pixel = (east < west ? east + 360 - west : east - west) / 500
            #expect(isNear(shown, (west, south, east, north), by: 2 * pixel), "\(asked) \(shown)")
        }
        let wide = try #require(MapRegion(.world, width: 3_000, height: 500))
        let shown = try box(wide.region)
        #expect(shown.west == -180 && shown.east == 180)
    }
}

extension TileCoord? {
    fileprivate func region() throws -> GeographicRegion { try #require(self).region }
}
