import Foundation
import TestSupport
import Testing

@testable import Geometry

@Suite("The region of an answer")
struct GeographicRegionTests {
    private static func place(_ longitude: Double, _ latitude: Double) throws -> LonLat {
        try #require(LonLat(longitude: longitude, latitude: latitude))
    }

    private static func ring(_ corners: [(Double, Double)]) throws -> AreaRing {
        try AreaRing((corners + corners.prefix(1)).map { try place($0.0, $0.1) })
    }

    private static func boxRing(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> AreaRing {
        try ring([(west, south), (east, south), (east, north), (west, north)])
    }

    private static func region(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws
        -> GeographicRegion
    {
        .box(try #require(BoundingBox(west: west, south: south, east: east, north: north)))
    }

    private static func region(_ corners: [(Double, Double)]) throws -> GeographicRegion {
        .area(try #require(MultiPolygon(outline: corners.map { try place($0.0, $0.1) })))
    }

    @Test("the world is inside nothing but the world, and everything is inside that")
    func world() throws {
        let large = try Self.ring([
            (-170, -80), (-60, -80), (60, -80), (170, -80), (170, 80), (60, 80), (-60, 80), (-170, 80),
        ])
        #expect(GeographicRegion.everywhere.isInside(nil) && !GeographicRegion.everywhere.isInside(large))
        #expect(GeographicRegion.everywhere.touches(large) && GeographicRegion.everywhere.touches(nil))
        #expect(try Self.region(-1, -1, 1, 1).isInside(nil) && Self.region(-1, -1, 1, 1).touches(nil))
        #expect(!GeographicRegion.box(.world).isInside(large) && GeographicRegion.box(.world).touches(large))
        #expect(try Self.region(-100, -70, 100, 70).isInside(large))
    }

    /// Of the box 170…190, 10…30: a region, whether it lies inside and whether it shares a point.
    @Test(
        "boxes lie inside a ring over the antimeridian, share a point with it, or neither",
        arguments: [
            ((170.0, 10.0, -170.0, 30.0), true, true), ((175, 15, 179, 20), true, true),
            ((-179, 15, -175, 20), true, true), ((179, 15, -179, 20), true, true), ((180, 15, 185, 20), true, true),
            ((169, 15, 175, 20), false, true), ((175, 15, -165, 20), false, true), ((160, 0, -160, 40), false, true),
            ((-170, 10, -160, 30), false, false), ((160, 10, 169, 30), false, false),
            ((175, 31, 179, 40), false, false),
            ((175, 15, 175, 15), true, true), ((0, 15, 10, 20), false, false), ((-180, -90, 180, 90), false, true),
        ])
    func boxes(box: (Double, Double, Double, Double), isInside: Bool, touches: Bool) throws {
        let ring = try Self.boxRing(170, 10, 190, 30)
        let region = try Self.region(box.0, box.1, box.2, box.3)
        #expect(region.isInside(ring) == isInside)
        #expect(region.touches(ring) == touches)
        guard box.0 != box.2, box.2 - box.0 < 360 else { return }
        let east = box.2 < box.0 ? box.2 + 360 : box.2
        let area = try Self.region([(box.0, box.1), (east, box.1), (east, box.3), (box.0, box.3)])
        #expect(area.isInside(ring) == isInside)
        #expect(area.touches(ring) == touches || !touches)
    }

    @Test("a concave ring doesn't hold what lies in its bay")
    func bay() throws {
        // A U.
        let ring = try Self.ring([(0, 0), (30, 0), (30, 30), (20, 30), (20, 10), (10, 10), (10, 30), (0, 30)])
        #expect(try Self.region(1, 1, 29, 9).isInside(ring) && Self.region(1, 1, 9, 29).isInside(ring))
        #expect(try !Self.region(1, 1, 29, 29).isInside(ring) && Self.region(1, 1, 29, 29).touches(ring))
        #expect(try !Self.region(11, 12, 19, 29).isInside(ring) && !Self.region(11, 12, 19, 29).touches(ring))
        // All corners inside, and an edge across the bay.
        let chord: [(Double, Double)] = [(5, 28), (5, 5), (25, 5), (25, 28)]
        #expect(try !Self.region(chord).isInside(ring) && Self.region(chord).touches(ring))
        #expect(try Self.region([(2, 2), (8, 2), (8, 28), (2, 28)]).isInside(ring))
    }

    /// A star whose rim stands between 2 and 15 degrees from its middle.
    private static func star(_ longitude: Double, _ latitude: Double, _ random: inout SeededGenerator) -> [(
        Double, Double
    )] {
        let count = Int.random(in: 5...40, using: &random)
        return (0..<count).map { index in
            let angle = 2 * Double.pi * Double(index) / Double(count)
            let radius = Double.random(in: 2...15, using: &random)
            return (longitude + radius * 2 * cos(angle), latitude + radius * sin(angle))
        }
    }

    @Test("an area lies inside itself and holds all that is smaller; what grows never comes inside", arguments: 1...60)
    func monotonous(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let longitude = Double.random(in: -180...180, using: &random)
        let corners = Self.star(longitude, Double.random(in: -40...40, using: &random), &random)
        let ring = try Self.ring(corners)
        #expect(try Self.region(corners).isInside(ring) && Self.region(corners).touches(ring))
        for _ in 0..<40 {
            let (x, y) = (
                longitude + Double.random(in: -40...40, using: &random), Double.random(in: -60...60, using: &random)
            )
            let (width, height) = (
                Double.random(in: 0.01...30, using: &random), Double.random(in: 0.01...20, using: &random)
            )
            var wasInside = true
            var touched = false
            for scale in [0.1, 0.4, 1] {
                let (west, east) = (x - width * scale / 2, x + width * scale / 2)
                let (south, north) = (y - height * scale / 2, y + height * scale / 2)
                let region = try Self.region(LonLat.wrap(west), south, LonLat.wrap(east), north)
                let (isInside, touches) = (region.isInside(ring), region.touches(ring))
                #expect(wasInside || !isInside)
                #expect(touches || !touched)
                #expect(touches || !isInside)
                // Places of it agree.
                if isInside || !touches {
                    for _ in 0..<10 {
                        let place = try Self.place(
                            LonLat.wrap(Double.random(in: west...east, using: &random)),
                            Double.random(in: south...north, using: &random))
                        #expect(ring.contains(place) == isInside)
                    }
                }
                // As an area it says the same.
                let area = try Self.region([(west, south), (east, south), (east, north), (west, north)])
                #expect(area.isInside(ring) == isInside && area.touches(ring) == touches)
                (wasInside, touched) = (isInside, touches)
            }
        }
    }
}
