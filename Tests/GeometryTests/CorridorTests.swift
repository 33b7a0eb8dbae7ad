import Foundation
import TestSupport
import Testing

@testable import Geometry

private func degrees(_ longitude: Double, _ latitude: Double) throws -> LonLat {
    try #require(LonLat(longitude: longitude, latitude: latitude))
}

@Suite("Routes and corridors")
struct CorridorTests {
    private static let named: [(String, [(Double, Double)])] = [
        ("KJFK–EGLL", [(-73.78, 40.64), (-0.45, 51.47)]), ("RJTT–KLAX", [(139.78, 35.55), (-118.41, 33.94)]),
        ("ENGM–PANC", [(11.1, 60.19), (-149.99, 61.17)]), ("over the pole", [(10, 85), (-160, 86)]),
        ("along the antimeridian", [(180, -40), (180, 40)]), ("there and back", [(0, 0), (10, 0), (0, 0)]),
        ("almost opposite places", [(0, -30), (179.9, 29.9)]), ("opposite places", [(0, 50), (180, -50)]),
        ("a figure of eight", [(0, 40), (10, 50), (10, 40), (0, 50)]), ("a mile", [(0, 50), (0.02, 50)]),
    ]

    @Test("GeographicLib finds the edge half a width from the route, within half a percent, and GEOS a valid ring")
    func geographicLib() throws {
        struct Question: Encodable {
            var name: String
            var route: [[Double]]
            var ring: [[Double]]
            var area: [[[[Double]]]]
            var half: Double
            /// Metres that it may be off.
            var allowed: Double
        }
        struct Answer: Decodable {
            var name: String
            var worst: Double
            var valid: String
        }
        var questions: [Question] = []
        func add(_ name: String, _ places: [LonLat], width: Double, isWinding: Bool = false) throws {
            let route = try Route(places)
            let corridor = try Corridor(around: route, width: width, tolerance: nil)
            #expect(corridor.ring.count <= 250, "\(name)")
            #expect(corridor.ring.first == corridor.ring.last, "\(name)")
            questions.append(
                Question(
                    name: "\(name), \(Int(width)) NM", route: route.positions.map { [$0.longitude, $0.latitude] },
                    ring: corridor.ring.map { [$0.longitude, $0.latitude] },
                    area: corridor.area.polygons.map { $0.map { $0.map { [$0.longitude, $0.latitude] } } },
                    half: width / 2 * Geodesic.metresPerNauticalMile,
                    // A narrow one over an ocean, or one that goes to and fro by a pole, has not enough positions for
                    // that, and says so.
                    allowed: max(
                        0.005 * width * Geodesic.metresPerNauticalMile,
                        width < 50 || isWinding
                            ? corridor.tolerance * 111_700 + 0.002 * width * Geodesic.metresPerNauticalMile : 0))
            )
        }
        for (name, pairs) in Self.named {
            for width in [10.0, 100, 250] { try add(name, try pairs.map { try degrees($0.0, $0.1) }, width: width) }
        }
        var random = SeededGenerator(seed: 11)
        func unit() -> Double { Double(random.next() >> 11) / Double(1 << 53) }
        // Thousands with BILLOW_MEASURE=x: some minutes.
        for number in 0..<(ProcessInfo.processInfo.environment["BILLOW_MEASURE"] == nil ? 40 : 2_000) {
            var places = [try degrees(unit() * 360 - 180, asin(unit() * 1.98 - 0.99) * 180 / .pi)]
            for _ in 0...number % 3 {
                guard let last = places.last else { break }
                places.append(
                    Geodesic.place(from: last, bearing: unit() * 360, metres: (0.1 + unit()) * 1_000_000).place)
            }
            try add("random \(number)", places, width: [50, 100, 250][number % 3])
        }
        // Around a pole and close by it, where most of them come back on themselves.
        for number in 0..<24 {
            let sign: Double = number % 2 == 0 ? 1 : -1
            let places = try (0...1 + number % 4).map { _ in
                try degrees(unit() * 360 - 180, sign * (62 + 28 * unit()))
            }
            try add("polar \(number)", places, width: [50, 100, 250][number % 3], isWinding: true)
        }
        let answers = try Oracle.ask("corridors.py", questions, answer: [Answer].self)
        #expect(answers.count == questions.count)
        for (question, answer) in zip(questions, answers) {
            #expect(answer.worst <= question.allowed, "\(answer.name): \(answer.worst) m")
            #expect(answer.valid == "Valid Geometry", "\(answer.name)")
        }
    }

    @Test(
        "simplification moves the edge by no more than its tolerance, and a narrow corridor's by a tenth of its width")
    func simplification() throws {
        let route = try Route([try degrees(-73.78, 40.64), try degrees(-0.45, 51.47)])
        let fine = try Corridor(around: route, width: 100, tolerance: Corridor.drawingTolerance)
        let coarse = try Corridor(around: route, width: 100)
        #expect(coarse.ring.count < fine.ring.count)
        #expect(coarse.tolerance == 0.1)
        #expect(abs(coarse.area.areaKm2 / fine.area.areaKm2 - 1) < 0.05)
        #expect(try Corridor(around: route, width: 10).tolerance < 0.02)
        let narrow = try Corridor(around: route, width: 10, tolerance: nil)
        #expect(narrow.ring.count <= 250 && narrow.tolerance * 60 <= 0.005 * 10, "half a percent of its width")
    }

    @Test("a route that winds more than a ring can follow is refused, and one that comes back close to itself isn't")
    func winding() throws {
        let zigzag = try (0..<250).map { try degrees(Double($0) * 0.1, 10 + 0.5 * Double($0 % 2)) }
        #expect(throws: Corridor.Failure.tooWinding) { try Corridor(around: try Route(zigzag), width: 1) }
        let wide = try Corridor(around: try Route(zigzag), width: 100, tolerance: nil)
        #expect(wide.ring.count <= 250)
        #expect(RingRules.isSimple(wide.ring))
    }

    @Test("each way of not being a route has its reason")
    func failures() throws {
        let a = try degrees(0, 50)
        #expect(throws: Route.Failure.tooFew(0)) { try Route([]) }
        #expect(throws: Route.Failure.tooFew(1)) { try Route([a, a, a]) }
        #expect(throws: Route.Failure.tooMany(251)) { try Route([LonLat](repeating: a, count: 251)) }
        let world = try [0, 120, -120, 0].map { try degrees($0, 0) }
        let route = try Route(world)
        #expect(throws: Corridor.Failure.aroundTheEarth) { try Corridor(around: route, width: 100) }
        #expect(throws: Route.Failure.self) { try Route(Array(repeating: world, count: 10).flatMap { $0 }) }
        let short = try Route([a, try degrees(1, 50)])
        for width in [0, -1, 0.5, 251, .infinity, .nan] {
            #expect(throws: Corridor.Failure.self) { try Corridor(around: short, width: width) }
        }
    }

    @Test("a place lies along the route where it is met, and right of it where it is")
    func location() throws {
        let locator = RouteLocator(try Route([try degrees(0, 0), try degrees(10, 0)]))
        let right = locator.locate(try degrees(5, -1))
        // A degree of the equator is 111,319.49 m, one of the meridian there 110,574.39 m.
        #expect(abs(right.along - 5 * 111_319.49) < 200)
        #expect(abs(right.off - 110_574.39) < 100)
        #expect(locator.locate(try degrees(5, 1)).off < 0)
        let pastTheEnd = locator.locate(try degrees(11, 0))
        #expect(abs(pastTheEnd.along - 10 * 111_319.49) < 1)
        #expect(abs(abs(pastTheEnd.off) - 111_319.49) < 100)
    }

    @Test("waypoints are read as flight plans write them")
    func waypoints() throws {
        func place(_ text: String) -> LonLat? { Waypoint.place(text, airports: .large) }
        let kennedy = try #require(place("4038N07347W"))
        #expect(abs(kennedy.latitude - (40 + 38.0 / 60)) < 1e-9)
        #expect(abs(kennedy.longitude + (73 + 47.0 / 60)) < 1e-9)
        #expect(place("50N020W") == LonLat(longitude: -20, latitude: 50))
        #expect(
            place("403830S0734700E") == LonLat(longitude: 73 + 47.0 / 60, latitude: -(40 + 38.0 / 60 + 30.0 / 3_600)))
        #expect(place("-73.78, 40.64") == LonLat(longitude: -73.78, latitude: 40.64))
        #expect(place("egll") == LonLat(longitude: -0.45, latitude: 51.47))
        for text in [
            "", "XXXX", "91N000W", "40N181W", "4060N07347W", "1,2,3", "nan,1", "1e5,2", "40N73W", "4038X07347W",
        ] {
            #expect(place(text) == nil, "\(text)")
        }
    }

    @Test("each rule that a ring breaks has its own error")
    func rules() throws {
        func failure(_ pairs: [(Double, Double)], limit: Double? = nil) throws -> RingRules.Failure? {
            let ring = try pairs.map { try degrees($0.0, $0.1) }
            do throws(RingRules.Failure) {
                _ = try RingRules.area(inside: ring, limitKm2: limit)
                return nil
            } catch { return error }
        }
        let square = [(0.0, 0.0), (1, 0), (1, 1), (0, 1), (0, 0)]
        #expect(try failure(square) == nil)
        #expect(try failure(square.reversed()) == nil)
        #expect(try failure([(0, 0), (1, 0), (0, 0)]) == .tooFew(3))
        #expect(try failure(square + Array(repeating: (0, 0), count: 246)) == .tooMany(251))
        #expect(try failure([(0, 0), (1, 0), (1, 1), (0, 1)]) == .open)
        #expect(try failure([(0, 0), (1, 1), (1, 0), (0, 1), (0, 0)]) == .crossing(0, 2))
        guard case .crossing = try failure([(0, 0), (1, 0), (2, 0), (0, 0)]) else {
            Issue.record("a ring that goes back along itself crosses itself")
            return
        }
        #expect(try failure([(0, 0), (0, 0), (0, 0), (0, 0)]) == .withoutArea)
        guard case .tooLarge(let km2, limit: 10_000) = try failure(square, limit: 10_000) else {
            Issue.record("the square is larger than 10,000 km²")
            return
        }
        #expect((12_200...12_400).contains(km2))
        #expect(try failure(square, limit: 13_000) == nil)
    }

    @Test("a cap around a pole is understood with and without the way along the antimeridian that maps write")
    func polarCap() throws {
        func area(_ pairs: [(Double, Double)]) throws -> MultiPolygon {
            try RingRules.area(inside: pairs.map { try degrees($0.0, $0.1) })
        }
        for sign in [1.0, -1] {
            let plain = try area([-180, -90, 0, 90, 180].map { ($0, 75 * sign) })
            let led = try area(
                [(-180.0, 75.0), (-90, 75), (0, 75), (90, 75), (180, 75), (180, 90), (0, 90), (-180, 90), (-180, 75)]
                    .map {
                        ($0.0, $0.1 * sign)
                    })
            let elsewhere = try area(
                [(0.0, 90.0), (30, 90), (30, 75), (120, 75), (-150, 75), (-60, 75), (30, 75), (30, 90), (0, 90)].map {
                    ($0.0, $0.1 * sign)
                })
            #expect(plain == led)
            #expect(plain.polygons.count == 1 && elsewhere.polygons.count == 1)
            #expect(abs(elsewhere.areaKm2 / plain.areaKm2 - 1) < 1e-6)
            let (inside, below) = try (degrees(30, 89 * sign), degrees(30, 74 * sign))
            #expect(elsewhere.contains(inside) && !elsewhere.contains(below))
            let wedge = try area([(20, 80), (0, 90), (-20, 80), (20, 80)].map { ($0.0, $0.1 * sign) })
            #expect(wedge.polygons.count == 1)
            let (within, beside) = try (degrees(-15, 89.9 * sign), degrees(25, 89.9 * sign))
            #expect(wedge.contains(within) && !wedge.contains(beside))
        }
    }

    @Test("a ring across the antimeridian encloses the same in both conventions of longitude")
    func conventions() throws {
        let west = try RingRules.area(
            inside: [(170, 0), (-170, 0), (-170, 10), (170, 10), (170, 0)].map { try degrees($0.0, $0.1) })
        let east = try RingRules.area(
            inside: [(170, 0), (190, 0), (190, 10), (170, 10), (170, 0)].map { try degrees($0.0, $0.1) })
        #expect(west == east)
        #expect(west.polygons.count == 2)
        #expect(west.contains(try degrees(179, 5)))
        #expect(west.contains(try degrees(-179, 5)))
        #expect(!west.contains(try degrees(0, 5)))
    }
}
