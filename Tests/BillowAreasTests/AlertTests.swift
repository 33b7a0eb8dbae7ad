import Geometry
import Testing
import Turbulence

@testable import BillowAreas
@testable import BillowSnapshot

private let start = Instant(clamping: 1_790_000_000)

private func degrees(_ longitude: Double, _ latitude: Double) throws -> LonLat {
    try #require(LonLat(longitude: longitude, latitude: latitude))
}

private func record(_ place: LonLat, _ severity: Severity, altitude: Int = 38, minute: Int = 0) throws -> StandingRecord
{
    let instant = start.advanced(by: minute * 60)
    let row = ObservationRow(
        key: ObservationKey(observedAt: instant, tag: 1), cell: H3.cell(at: place),
        altitude: AltitudeBand(try #require(AltitudeBlock(thousands: altitude))),
        intensity: .reported(severity, edr: nil), observedAt: instant, category: nil,
        source: SourceNumber(rawValue: 0), kind: .inSitu, since: Version(rawValue: 1))
    return StandingRecord(
        row: row, source: try #require(SourceID("skypath")), severity: severity, basis: .reported)
}

/// On the equator, eastward, at FL380 and 480 kt: a degree is 60.1 NM and 7.5 min.
private func flight(_ longitude: Double = 0, _ latitude: Double = 0, track: Double? = 90, speed: Double? = 480) throws
    -> FlightState
{
    FlightState(
        place: try degrees(longitude, latitude), altitudeFeet: 38_000, track: track, groundSpeed: speed)
}

@Suite("Alerts")
struct AlertTests {
    @Test("a beam reaches 100 NM ahead and opens by 15°")
    func beam() throws {
        let area = AlertArea(AlertQuery(), of: try flight())
        #expect(area.kind == .beam)
        let beam = try #require(area.area)
        // 100 NM are 1.664° here; half of 15° at 1.5° is 0.197°.
        for (longitude, latitude, isInside) in [
            (1.6, 0, true), (1.7, 0, false), (1.5, 0.19, true), (1.5, 0.21, false), (-0.1, 0, false),
            (1.5, -0.19, true),
        ] {
            #expect(beam.contains(try degrees(longitude, latitude)) == isInside, "\(longitude), \(latitude)")
        }
    }

    @Test("a beam's sides are geodesics however long it is, and it reaches over a pole and from it")
    func farBeam() throws {
        func beam(_ flight: FlightState, _ distance: Double) throws -> MultiPolygon {
            var query = AlertQuery()
            query.distance = distance
            return try #require(AlertArea(query, of: flight).area)
        }
        func place(_ flight: FlightState, _ bearing: Double, _ miles: Double) -> LonLat {
            Geodesic.place(
                from: flight.place, bearing: bearing, metres: miles * Geodesic.metresPerNauticalMile
            ).place
        }
        for (flight, distance) in try [
            (flight(-30, 60, track: 80), 2_000.0), (flight(20, 89, track: 10), 100), (flight(0, 90, track: 30), 100),
            (flight(179.9, -50, track: 90), 600),
        ] {
            let area = try beam(flight, distance)
            let track = try #require(flight.track)
            for share in stride(from: 0.05, to: 1, by: 0.1) {
                for side in [-1.0, 1] {
                    // Half a degree within its side, and as much outside.
                    #expect(area.contains(place(flight, track + side * 7, share * distance)), "\(track) \(share)")
                    #expect(!area.contains(place(flight, track + side * 8, share * distance)), "\(track) \(share)")
                }
            }
            #expect(area.contains(place(flight, track, distance * 0.99)))
            #expect(!area.contains(place(flight, track, distance * 1.01)))
        }
    }

    @Test("at a route's end nothing lies ahead on it, and where no corridor follows it a beam is looked along")
    func routeEnds() throws {
        var query = AlertQuery()
        query.search = .route(try Route([try degrees(-5, 0), try degrees(0, 0)]))
        let arrived = AlertArea(query, of: try flight())
        #expect(arrived.kind == .route)
        #expect(arrived.area == nil)
        query.widthAround = 0.5
        query.distance = 2_000
        query.search = .route(try Route(try (0..<250).map { try degrees(Double($0) * 0.05, 0.05 * Double($0 % 2)) }))
        #expect(AlertArea(query, of: try flight()).kind == .beam)
        #expect(AlertArea(query, of: try flight(track: nil)).kind == .none)
    }

    @Test("thousands of items are grouped in a moment, each into one cluster that keeps its rules")
    func many() throws {
        let cells = H3.disk(around: H3.cell(at: try degrees(10, 50)), distance: 40)
        let items = try cells.map { cell in
            AlertItem(
                record: try record(H3.center(of: cell), .light), distance: Double(cell.dense % 1_000), bearing: 0,
                timeTo: nil)
        }
        var clusters = AlertClusters()
        let found = clusters.update(items)
        #expect(items.count > 4_000)
        #expect(found.reduce(0) { $0 + $1.members.count } == items.count)
        #expect(found.allSatisfy { $0.diameter <= AlertClusters.farthest })
        #expect(clusters.update(items).map(\.id) == found.map(\.id))
    }

    @Test("without a track there is nothing ahead, and speed 0 takes the distance in place of the time")
    func missing() throws {
        #expect(AlertArea(AlertQuery(), of: try flight(track: nil)).kind == .none)
        var query = AlertQuery()
        query.timeFrame = 600
        let fast = try #require(AlertArea(query, of: try flight(speed: 480)).area?.box)
        let parked = try #require(AlertArea(query, of: try flight(speed: 0)).area?.box)
        // 80 NM and 100 NM.
        #expect(abs(fast.east - 1.331) < 0.01)
        #expect(abs(parked.east - 1.664) < 0.01)
    }

    @Test("four blocks are looked at: 2,000 ft below to 2,000 ft above")
    func altitudes() throws {
        let range = AlertQuery().altitudes(of: try flight())
        #expect(range.minimum == 36)
        #expect(range.maximum == 40)
        var low = try flight()
        low.altitudeFeet = 0
        #expect(AlertQuery().altitudes(of: low).minimum == 0)
        var high = try flight()
        high.altitudeFeet = 60_000
        #expect(AlertQuery().altitudes(of: high).maximum == 60)
    }

    @Test("a route is searched beside what is left of it, and in a beam where it is over 20 NM off")
    func route() throws {
        var query = AlertQuery()
        query.search = .route(try Route([try degrees(0, 0), try degrees(2, 0), try degrees(2, 5)]))
        let near = AlertArea(query, of: try flight(1, 0.1))
        #expect(near.kind == .route)
        let area = try #require(near.area)
        #expect(area.contains(try degrees(2, 0.5)), "around the bend")
        #expect(!area.contains(try degrees(0.3, 0)), "behind")
        #expect(!area.contains(try degrees(2, 1.5)), "beyond 100 NM")
        #expect(AlertArea(query, of: try flight(1, 0.4)).kind == .beam)
    }

    @Test("items are a cell each, the worst of it, the nearest first, with distance, bearing and time")
    func items() throws {
        let query = AlertQuery()
        let flight = try flight()
        let records = [
            try record(try degrees(1.5, 0), .light), try record(try degrees(1, 0), .light, altitude: 36),
            try record(try degrees(1, 0), .moderate, minute: -30),
        ]
        let items = AlertItem.items(of: records, query, in: AlertArea(query, of: flight), of: flight)
        #expect(items.map(\.record.severity) == [.moderate, .light])
        let first = try #require(items.first)
        #expect(abs(first.distance - 60) < 6)
        #expect(abs(first.bearing - 90) < 8)
        #expect(abs(try #require(first.timeTo) - first.distance / 480 * 3_600) < 1e-6)
    }

    @Test("clusters keep their ids, drop what is gone, and hold nothing beyond 30 and 60 NM")
    func clusters() throws {
        let query = AlertQuery()
        let flight = try flight()
        let area = AlertArea(query, of: flight)
        func items(_ longitudes: [Double], _ severity: Severity = .light) throws -> [AlertItem] {
            AlertItem.items(
                of: try longitudes.map { try record(try degrees($0, 0), severity) }, query, in: area, of: flight)
        }
        var clusters = AlertClusters()
        // 0.35° are 21 NM: each is near the next, but the last over 60 NM from the first.
        let first = clusters.update(try items([0.5, 0.85, 1.2, 1.6]))
        #expect(first.map(\.id) == [1, 2])
        #expect(first.map(\.members.count) == [3, 1])
        #expect(first[0].newCells.count == 3)
        #expect(first[0].timeTo.map { Int($0 / 60) } == 3)
        let second = clusters.update(try items([0.85, 1.2, 1.6, 1.9], .moderate))
        #expect(second.map(\.id) == [1, 2])
        #expect(second.map(\.members.count) == [2, 2])
        #expect(second[0].newCells.isEmpty, "told before")
        #expect(second[1].newCells.count == 1)
        #expect(second[0].severity == .moderate)
        let third = clusters.update(try items([3]))
        #expect(third.map(\.id) == [3])
        #expect(clusters.update([]).isEmpty)
    }
}
