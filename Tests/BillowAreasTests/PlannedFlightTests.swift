import Geometry
import Testing
import Turbulence

@testable import BillowAreas

@Suite("A flight along a route in time")
struct PlannedFlightTests {
    private static let noon = Instant(clamping: 1_800_014_400)
    private static let mile = 1_852.0

    /// Along the equator, 600 NM to a metre.
    private static func flight(
        speed: Double? = nil, level: Double? = nil, climb: Double? = nil, descent: Double? = nil
    ) throws -> PlannedFlight {
        let start = try #require(LonLat(longitude: 0, latitude: 0))
        let end = Geodesic.place(from: start, bearing: 90, metres: 600 * mile).place
        return PlannedFlight(
            route: try Route([start, end]), departure: noon, groundSpeed: speed, levelFeet: level, climb: climb,
            descent: descent)
    }

    @Test("without a speed all of it is at the departure, and with one an hour is as many miles as it says")
    func times() throws {
        #expect(try Self.flight().arrival == Self.noon)
        let flight = try Self.flight(speed: 480)
        #expect(flight.time(at: 480 * Self.mile) == Self.noon.advanced(by: 3_600))
        #expect(flight.time(at: 4 * Self.mile) == Self.noon.advanced(by: 30))
        #expect(flight.arrival == Self.noon.advanced(by: 4_500))
    }

    @Test(
        "it climbs from the ground to its level, stays, and descends to the ground",
        arguments: [
            // NM flown at 300 kt, so 5 NM a minute: feet
            (0.0, 0.0), (5, 2_000), (50, 20_000), (90, 36_000), (300, 36_000), (420, 36_000), (510, 18_000),
            (600, 0),
        ])
    func altitudes(miles: Double, feet: Double) throws {
        let flight = try Self.flight(speed: 300, level: 36_000, climb: 2_000, descent: 1_000)
        let altitude = try #require(flight.altitudeFeet(at: miles * Self.mile))
        #expect(abs(altitude - feet) < 0.1)
    }

    @Test("on a route too short for its level the descent begins where it meets the climb")
    func short() throws {
        let flight = try Self.flight(speed: 600, level: 60_000, climb: 1_000, descent: 1_000)
        #expect(abs((flight.altitudeFeet(at: 300 * Self.mile) ?? 0) - 30_000) < 0.1)
        #expect(abs((flight.altitudeFeet(at: 150 * Self.mile) ?? 0) - 15_000) < 0.1)
    }

    @Test("without rates it begins and ends at its level, and without a level it has none")
    func level() throws {
        let flight = try Self.flight(speed: 300, level: 36_000)
        #expect(flight.altitudeFeet(at: 0) == 36_000 && flight.altitudeFeet(at: 600 * Self.mile) == 36_000)
        #expect(try Self.flight(speed: 300).altitudeFeet(at: 0) == nil)
        #expect(try Self.flight().points(every: 20_000).allSatisfy { $0.altitudeFeet == nil })
    }

    @Test("its points reach from the start to the end, no further apart than asked")
    func points() throws {
        let flight = try Self.flight(speed: 300, level: 36_000)
        let points = flight.points(every: 20_000)
        #expect(points.first?.distance == 0 && points.last?.distance == flight.route.metres)
        #expect(zip(points, points.dropFirst()).allSatisfy { $1.distance - $0.distance <= 20_000.1 })
        #expect(points.last?.time == flight.arrival)
    }
}
