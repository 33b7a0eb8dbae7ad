import Foundation
import TestSupport
import Testing

@testable import Geometry

@Suite("An area's ring")
struct AreaRingTests {
    private static func place(_ longitude: Double, _ latitude: Double) throws -> LonLat {
        try #require(LonLat(longitude: longitude, latitude: latitude))
    }

    /// Corners in order, not closed; longitudes may run beyond ±180.
    private static func ring(_ corners: [(Double, Double)]) throws -> AreaRing {
        try AreaRing((corners + corners.prefix(1)).map { try place($0.0, $0.1) })
    }

    private static func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> AreaRing {
        try ring([(west, south), (east, south), (east, north), (west, north)])
    }

    /// A star around a centre: simple, usually concave.
    private static func star(corners: Int, longitude: Double, latitude: Double, _ random: inout SeededGenerator)
        -> [(Double, Double)]
    {
        (0..<corners).map { index in
            let angle = 2 * Double.pi * Double(index) / Double(corners)
            let radius = Double.random(in: 2...15, using: &random)
            return (longitude + radius * 2 * cos(angle), latitude + radius * sin(angle))
        }
    }

    /// Winding by angles summed on the plane, a method of its own: inside where they make a full turn.
    private static func windsAround(_ corners: [(Double, Double)], _ x: Double, _ y: Double) -> Bool {
        var turn = 0.0
        for (a, b) in zip(corners, corners.dropFirst() + corners.prefix(1)) {
            var step = atan2(b.1 - y, b.0 - x) - atan2(a.1 - y, a.0 - x)
            if step > .pi { step -= 2 * .pi }
            if step < -.pi { step += 2 * .pi }
            turn += step
        }
        return abs(turn) > .pi
    }

    @Test("contains what its angles wind around, over the antimeridian too", arguments: [0.0, 95, 178, -179.5])
    func contains(longitude: Double) throws {
        var random = SeededGenerator(seed: 3)
        var found = 0
        for corners in [3, 4, 9, 60, 249] {
            let star = Self.star(corners: corners, longitude: longitude, latitude: 20, &random)
            let ring = try Self.ring(star)
            let reversed = try Self.ring(star.reversed())
            for _ in 0..<400 {
                let x = longitude + Double.random(in: -32...32, using: &random)
                let y = 20 + Double.random(in: -16...16, using: &random)
                let expected = Self.windsAround(star, x, y)
                let place = try Self.place(x, y)
                #expect(ring.contains(place) == expected)
                #expect(reversed.contains(place) == expected)
                found += expected ? 1 : 0
            }
        }
        #expect(found > 200)
    }

    @Test(
        "a ring that crosses or touches itself, or encloses nothing, is none",
        arguments: [
            ([(0, 0), (10, 10), (10, 0), (0, 10)], .crossing(0, 2)), ([(0, 0), (9, 0), (0, 0)], .withoutArea),
            ([(0, 0), (4, 4), (8, 8)], .crossing(0, 2)), ([(0, 0), (10, 0), (5, 0), (5, 5)], .crossing(0, 1)),
            ([(175, 0), (-175, 10), (-175, 0), (175, 10)], .crossing(0, 2)),
        ] as [([(Double, Double)], AreaRing.Failure)])
    func simple(corners: [(Double, Double)], failure: AreaRing.Failure) {
        #expect(throws: failure) { try Self.ring(corners) }
    }

    @Test("a ring across the antimeridian, whichever way its longitudes are written")
    func antimeridian() throws {
        let wrapped = try Self.ring([(170, -5), (-170, -5), (-170, 5), (170, 5)])
        let unrolled = try Self.ring([(170, -5), (190, -5), (190, 5), (170, 5)])
        for ring in [wrapped, unrolled] {
            for inside in [(180.0, 0.0), (-180, 0), (175, 1), (-175, -1), (185, 4)] {
                #expect(ring.contains(try Self.place(inside.0, inside.1)), "\(inside)")
            }
            for outside in [(0.0, 0.0), (169, 0), (-169, 0), (180, 6)] {
                #expect(!ring.contains(try Self.place(outside.0, outside.1)), "\(outside)")
            }
        }
        #expect(abs(wrapped.areaKm2 / unrolled.areaKm2 - 1) < 1e-12)
        #expect(wrapped.places.allSatisfy { abs($0.longitude) <= 180 })
        #expect(wrapped.places.count == 5 && wrapped.places.first == wrapped.places.last)
    }

    @Test("the area of a box of degrees is that of the zone between its parallels")
    func area() throws {
        // 2πR²·(sin north − sin south)·width ÷ 360
        let radius = 6_371.008_8
        let expected = 2 * Double.pi * radius * radius * sin(30 * Double.pi / 180) * 60 / 360
        #expect(abs(try Self.box(10, 0, 70, 30).areaKm2 / expected - 1) < 1e-12)
    }

    @Test("positions are 4 to 250, the last one the first")
    func limits() throws {
        var random = SeededGenerator(seed: 1)
        for count in [3, 249] {
            _ = try Self.ring(Self.star(corners: count, longitude: 0, latitude: 0, &random))
        }
        for count in [0, 1, 2, 250, 10_000] {
            let corners = Self.star(corners: count, longitude: 0, latitude: 0, &random)
            let expected = AreaRing.Failure.count(count == 0 ? 0 : count + 1)
            #expect(throws: expected) { try Self.ring(corners) }
        }
        #expect(throws: AreaRing.Failure.open) {
            try AreaRing([(0.0, 0.0), (1, 0), (1, 1), (0, 1)].map { try Self.place($0.0, $0.1) })
        }
        #expect("\(AreaRing.Failure.count(3))" == "the ring has 3 positions; it must have 4 to 250")
    }

    @Test("a ring around a pole is refused", arguments: [60.0, -60, 0])
    func pole(latitude: Double) throws {
        #expect(throws: AreaRing.Failure.aroundThePole) {
            try Self.ring([(-150, latitude), (-60, latitude), (30, latitude), (120, latitude)])
        }
    }

    // MARK: - Pieces

    private static func rings() throws -> [(corners: [(Double, Double)], maximumAreaKm2: Double)] {
        var random = SeededGenerator(seed: 11)
        // 249 corners up and down: a cut along it would add a corner on each edge.
        let teeth = (0..<124).map { (Double($0) / 4, $0 % 2 == 0 ? 1.0 : 20) }
        let comb = [(-1.0, 0.0), (32, 0)] + teeth.reversed()
        return [
            (star(corners: 7, longitude: 0, latitude: 45, &random), 7_500),
            (star(corners: 249, longitude: 178, latitude: -40, &random), 20_000),
            (star(corners: 60, longitude: -120, latitude: 70, &random), 7_500),
            (comb, 7_500), (comb, .infinity), (comb.map { ($0.1 * 2 + 170, $0.0) }, 50_000),
            // A corridor over the Atlantic, 300 km wide and 5,000 long.
            ([(-60, 45), (-10, 52), (-10, 55), (-60, 48)], 7_500),
            // Half around the world and more.
            ([(-170, 10), (-60, 10), (60, 10), (150, 10), (150, 12), (60, 12), (-60, 12), (-170, 12)], 500_000),
            ([(-170, 80), (-60, 80), (60, 80), (150, 80), (150, 89), (60, 89), (-60, 89), (-170, 89)], 50_000),
        ]
    }

    @Test("pieces are within the limits and cover the ring once", arguments: 0..<9)
    func pieces(index: Int) throws {
        let (corners, maximum) = try Self.rings()[index]
        let ring = try Self.ring(corners)
        let pieces = ring.pieces(maximumAreaKm2: maximum)
        #expect(pieces.allSatisfy { $0.areaKm2 <= maximum })
        #expect(pieces.allSatisfy { AreaRing.positions.contains($0.places.count) })
        let total = pieces.reduce(0) { $0 + $1.areaKm2 }
        #expect(Double(pieces.count) <= 4 * max(total / maximum, 1) + 8, "\(pieces.count)")
        // As they go over the wire: wrapped, and read back by the short way.
        let sent = try pieces.map { try AreaRing(closed: $0.places) }
        #expect(abs(sent.reduce(0) { $0 + $1.areaKm2 } / total - 1) < 1e-9)

        var random = SeededGenerator(seed: UInt64(index))
        let west = corners.map(\.0).min() ?? 0
        let east = corners.map(\.0).max() ?? 0
        let south = corners.map(\.1).min() ?? 0
        let north = corners.map(\.1).max() ?? 0
        var inside = 0
        for _ in 0..<1_500 {
            let place = try Self.place(
                .random(in: west - 1...east + 1, using: &random),
                min(90, .random(in: south - 1...north + 1, using: &random)))
            let count = sent.count { $0.contains(place) }
            let expected = ring.contains(place) ? 1 : 0
            inside += expected
            #expect(count == expected, "\(place)")
        }
        #expect(inside > 100)
    }

    @Test("the areas of the pieces make up the whole", arguments: [0, 1, 2, 6])
    func pieceAreas(index: Int) throws {
        // An edge between two corners is straight on the map while its area is taken by its ends' parallels. Cut edges
        // are taken more exactly, so the sum may differ a little.
        let (corners, maximum) = try Self.rings()[index]
        let ring = try Self.ring(corners)
        let total = ring.pieces(maximumAreaKm2: maximum).reduce(0) { $0 + $1.areaKm2 }
        #expect(abs(total / ring.areaKm2 - 1) < 0.02, "\(total) \(ring.areaKm2)")
        // A box has no slanted edge.
        let box = try Self.box(170, -20, 200, 33)
        let pieces = box.pieces(maximumAreaKm2: 100_000)
        #expect(pieces.count >= 150)
        #expect(abs(pieces.reduce(0) { $0 + $1.areaKm2 } / box.areaKm2 - 1) < 1e-12)
    }

    @Test("a small ring is its own piece; limits that make no sense cut nothing")
    func uncut() throws {
        let box = try Self.box(0, 0, 1, 1)
        for maximum in [1e6, .infinity, 0, -1, .nan] { #expect(box.pieces(maximumAreaKm2: maximum) == [box]) }
        // Without any area.
        let point = try AreaRing(closed: Array(repeating: try Self.place(5, 5), count: 4))
        #expect(point.pieces(maximumAreaKm2: 1) == [point])
        #expect(!point.contains(try Self.place(5, 5)) || point.areaKm2 == 0)
    }

    @Test("the same ring is cut in the same way every time")
    func stable() throws {
        for (corners, maximum) in try Self.rings() {
            let ring = try Self.ring(corners)
            #expect(ring.pieces(maximumAreaKm2: maximum) == ring.pieces(maximumAreaKm2: maximum))
        }
    }
}
