import Geometry
import Testing

private func place(_ longitude: Double, _ latitude: Double) throws -> LonLat {
    try #require(LonLat(longitude: longitude, latitude: latitude))
}

private func holds(_ area: MultiPolygon, _ longitude: Double, _ latitude: Double) throws -> Bool {
    let place = try place(longitude, latitude)
    return area.contains(place)
}

@Suite("Areas from outlines")
struct MultiPolygonTests {
    @Test("either winding becomes counter clockwise and closed", arguments: [false, true])
    func eitherWindingBecomesCounterClockwiseAndClosed(reversed: Bool) throws {
        var outline = try [place(0, 0), place(0, 10), place(10, 10), place(10, 0)]
        if reversed { outline.reverse() }
        let area = try #require(MultiPolygon(outline: outline))
        let ring = try #require(area.polygons.first?.first)
        #expect(area.polygons.count == 1 && ring.count == 5 && ring.first == ring.last)
        let turns = zip(ring, ring.dropFirst()).reduce(0) {
            $0 + $1.0.longitude * $1.1.latitude - $1.1.longitude * $1.0.latitude
        }
        #expect(turns == 200)
        #expect(try holds(area, 5, 5))
        #expect(try !holds(area, 11, 5))
    }

    @Test("the antimeridian is cut in every convention", arguments: [[170.0, -170], [170.0, 190], [-190.0, -170]])
    func theAntimeridianIsCutInEveryConvention(_ sides: [Double]) throws {
        let outline = try [
            place(sides[0], -5), place(sides[1], -5), place(sides[1], 5), place(sides[0], 5), place(sides[0], -5),
        ]
        let area = try #require(MultiPolygon(outline: outline))
        #expect(area.polygons.count == 2)
        #expect(area.polygons.joined().joined().allSatisfy { abs($0.longitude) >= 170 && abs($0.longitude) <= 180 })
        #expect(try holds(area, 175, 0))
        #expect(try holds(area, -175, 0))
        #expect(try !holds(area, 0, 0))
        #expect(area.box == BoundingBox(west: 170, south: -5, east: -170, north: 5))
    }

    @Test("an outline around a pole reaches it")
    func anOutlineAroundAPoleReachesIt() throws {
        let outline = try stride(from: -180.0, to: 180, by: 45).map { try place($0, 70) }
        let area = try #require(MultiPolygon(outline: outline))
        #expect(try holds(area, 12, 89.9))
        #expect(try !holds(area, 12, 69))
    }

    @Test("a polygon without area is dropped")
    func whatHasNoAreaIsNone() throws {
        #expect(MultiPolygon(outline: []) == nil)
        #expect(MultiPolygon(outline: try [place(0, 0), place(1, 1), place(0, 0)]) == nil)
        #expect(MultiPolygon(outline: try [place(0, 0), place(1, 1), place(2, 2)]) == nil)
    }
}
