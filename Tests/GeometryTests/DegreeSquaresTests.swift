import Foundation
import TestSupport
import Testing

@testable import Geometry

@Suite("Squares of a degree")
struct DegreeSquaresTests {
    private static func place(_ longitude: Double, _ latitude: Double) throws -> LonLat {
        try #require(LonLat(longitude: longitude, latitude: latitude))
    }

    private static func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> DegreeSquares {
        DegreeSquares(try #require(BoundingBox(west: west, south: south, east: east, north: north)))
    }

    @Test("what shares a point meets, whatever the area; what lies two degrees off does not", arguments: 0..<40)
    func areas(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        func share() -> Double { Double(random.next() >> 11) / Double(1 << 53) }
        let (longitude, latitude) = (360 * share() - 180, 140 * share() - 70)
        let corners = (0..<Int(3 + 6 * share())).map { number in
            let angle = 2 * Double.pi * (Double(number) + 0.8 * share()) / 9
            return (longitude + 12 * share() * cos(angle), latitude + 12 * share() * sin(angle))
        }
        guard let area = MultiPolygon(outline: try corners.map { try Self.place($0.0, $0.1) }),
            let index = AreaIndex(area)
        else { return }
        let squares = DegreeSquares(index)
        var boxes = DegreeSquares()
        boxes.insert(area)
        var inside = 0
        for _ in 0..<2_000 {
            let place = try Self.place(longitude + 30 * share() - 15, max(-90, min(90, latitude + 30 * share() - 15)))
            var one = DegreeSquares()
            one.insert(place)
            if index.contains(place) {
                inside += 1
                #expect(squares.mayIntersect(one) && one.mayIntersect(squares) && boxes.mayIntersect(one))
            }
            let near = BoundingBox(
                west: place.longitude - 2, south: max(-90, place.latitude - 2), east: place.longitude + 2,
                north: min(90, place.latitude + 2))
            if let near, !area.intersects(near) { #expect(!squares.mayIntersect(one), "\(place)") }
        }
        #expect(inside > 0 || area.areaKm2 < 50_000)
    }

    @Test("neighbours at a whole degree meet, also at the antimeridian and the poles")
    func rims() throws {
        #expect(try Self.box(9, 49, 10, 50).mayIntersect(Self.box(10, 50, 11, 51)))
        #expect(try !Self.box(9, 49, 9.5, 49.5).mayIntersect(Self.box(11.01, 49, 12, 50)))
        #expect(try Self.box(179, 0, 180, 1).mayIntersect(Self.box(-180, 0, -179, 1)))
        #expect(try Self.box(170, -5, -170, 5).mayIntersect(Self.box(-175, 0, -174, 1)))
        #expect(try !Self.box(170, -5, -170, 5).mayIntersect(Self.box(0, 0, 1, 1)))
        #expect(try Self.box(0, 89.5, 1, 90).mayIntersect(Self.box(-180, 89, 180, 90)))
        #expect(try DegreeSquares.everywhere.mayIntersect(Self.box(5, -90, 5, -90)))
        var empty = DegreeSquares()
        #expect(empty.isEmpty && !empty.mayIntersect(.everywhere) && !DegreeSquares.everywhere.mayIntersect(empty))
        empty.insert(try Self.place(180, 90))
        #expect(!empty.isEmpty && empty.mayIntersect(.everywhere))
        #expect(try empty.mayIntersect(Self.box(-180, 89, -179, 90)))
    }
}
