import Foundation
import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowAreas
@testable import BillowSnapshot

private let start = Instant(clamping: 1_790_000_000)

private func degrees(_ longitude: Double, _ latitude: Double) throws -> LonLat {
    try #require(LonLat(longitude: longitude, latitude: latitude))
}

private func record(_ place: LonLat, _ severity: Severity, altitude: Int = 38, minute: Int = 0) throws
    -> CurrentObservation
{
    let instant = start.advanced(by: minute * 60)
    let row = ObservationRow(
        key: ObservationKey(observedAt: instant, tag: 1), cell: H3.cell(at: place),
        altitude: AltitudeBand(try #require(AltitudeBlock(thousands: altitude))),
        intensity: .reported(severity, edr: nil), observedAt: instant, category: nil,
        source: SourceNumber(rawValue: 0), kind: .inSitu, since: Version(rawValue: 1))
    return CurrentObservation(
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

    @Test("at a route's end nothing lies ahead on it, and where no corridor follows it a beam is searched")
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

    @Test("tens of thousands of items are grouped, each into one cluster that obeys the rules")
    func many() throws {
        let cells = H3.disk(around: H3.cell(at: try degrees(10, 50)), distance: 100)
        let items = try cells.map { cell in
            AlertItem(
                record: try record(H3.center(of: cell), .light), distance: Double(cell.dense % 1_000), bearing: 0,
                timeTo: nil)
        }
        var clusters = AlertClusters()
        let found = try clusters.update(items)
        #expect(items.count > 30_000)
        #expect(found.reduce(0) { $0 + $1.members.count } == items.count)
        #expect(found.allSatisfy { $0.diameter <= AlertClusters.farthest })
        #expect(try clusters.update(items).map(\.id) == found.map(\.id))
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

    @Test("four blocks are searched: 2,000 ft below to 2,000 ft above")
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
        let items = try AlertItem.items(of: records, query, in: AlertArea(query, of: flight), of: flight)
        #expect(items.map(\.record.severity) == [.moderate, .light])
        let first = try #require(items.first)
        #expect(abs(first.distance - 60) < 6)
        #expect(abs(first.bearing - 90) < 8)
        #expect(abs(try #require(first.timeTo) - first.distance / 480 * 3_600) < 1e-6)
    }

    @Test("clusters keep their ids, drop removed items, and hold nothing beyond 30 and 60 NM")
    func clusters() throws {
        let query = AlertQuery()
        let flight = try flight()
        let area = AlertArea(query, of: flight)
        func items(_ longitudes: [Double], _ severity: Severity = .light) throws -> [AlertItem] {
            try AlertItem.items(
                of: try longitudes.map { try record(try degrees($0, 0), severity) }, query, in: area, of: flight)
        }
        var clusters = AlertClusters()
        // 0.35° are 21 NM: each is near the next, but the last over 60 NM from the first.
        let first = try clusters.update(try items([0.5, 0.85, 1.2, 1.6]))
        #expect(first.map(\.id) == [1, 2])
        #expect(first.map(\.members.count) == [3, 1])
        #expect(first[0].newCells.count == 3)
        #expect(first[0].timeTo.map { Int($0 / 60) } == 3)
        let second = try clusters.update(try items([0.85, 1.2, 1.6, 1.9], .moderate))
        #expect(second.map(\.id) == [1, 2])
        #expect(second.map(\.members.count) == [2, 2])
        #expect(second[0].newCells.isEmpty, "told before")
        #expect(second[1].newCells.count == 1)
        #expect(second[0].severity == .moderate)
        let third = try clusters.update(try items([3]))
        #expect(third.map(\.id) == [3])
        #expect(try clusters.update([]).isEmpty)
    }

    @Test("the grid groups as a search through all clusters does, from one evaluation to the next", arguments: 0..<8)
    func oracle(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (clusters, slow) = (AlertClusters(), SlowClusters())
        let middle = [(10.0, 50.0), (179.9, -20), (0, 89.5), (-100, 0)][Int(seed) % 4]
        let cells = H3.disk(around: H3.cell(at: try degrees(middle.0, middle.1)), distance: [5, 12, 25][Int(seed) % 3])
        for round in 0..<6 {
            // Some stay, some go, some come.
            let share = UInt64(2 + round % 3)
            let items = try cells.filter { _ in random.next() % 5 < share }.shuffled(using: &random).enumerated().map {
                AlertItem(
                    record: try record(
                        H3.center(of: $0.element), try #require(Severity(rawValue: UInt8(random.next() % 5)))),
                    distance: Double($0.offset), bearing: 0, timeTo: Double($0.offset))
            }
            let found = try clusters.update(items)
            let expected = slow.update(items)
            #expect(found.map(\.id) == expected.map(\.id))
            #expect(found.map { $0.members.map(\.cell) } == expected.map(\.cells))
            for (cluster, oracle) in zip(found, expected) {
                #expect(abs(cluster.diameter - oracle.diameter) < 1e-9)
                #expect(cluster.newCells == oracle.new)
                #expect(cluster.severity == cluster.members.map(\.record.severity).max())
            }
            // Stored clusters continue as unstored ones do.
            if round == 3 {
                let stored = try JSONEncoder().encode(clusters)
                clusters = try JSONDecoder().decode(AlertClusters.self, from: stored)
            }
        }
    }

    @Test("of too many items the most severe stay, of those the nearest, in their order")
    func prefix() throws {
        let severities: [Severity] = [.light, .moderate, .light, .moderateSevere, .light, .moderate]
        let items = try severities.enumerated().map { number, severity in
            AlertItem(
                record: try record(try degrees(Double(number), 0), severity), distance: Double(number), bearing: 0,
                timeTo: nil)
        }
        #expect(AlertItem.prefix(items, most: 4).map(\.distance) == [0, 1, 3, 5])
        #expect(AlertItem.prefix(items, most: 6) == items)
        #expect(AlertItem.prefix(items, most: 1).map(\.distance) == [3])
    }

    @Test("a beam reaches no farther than the area limit allows at its angle, nor than 2,000 NM")
    func largest() throws {
        var query = AlertQuery()
        #expect(query.farthestBeam == AlertQuery.longestBeam)
        query.angleSpan = 360
        // 10 million km² are a circle of 1,784 km on the plane, and somewhat more on the globe.
        #expect(abs(query.farthestBeam - 966) < 5)
        query.timeFrame = 36_000
        let area = try #require(AlertArea(query, of: try flight()).area)
        #expect(area.areaKm2 < 10_000_000 * 1.01)
        #expect(area.areaKm2 > 9_800_000)
    }

    @Test("a route is searched for 12,000 NM, or as far as the area limit allows at its width")
    func longRoute() throws {
        let places = [(0.0, 10.0), (60, 20), (120, 10)].map { LonLat(longitude: $0.0, latitude: $0.1) }
        let route = try Route(places.compactMap { $0 })
        var query = AlertQuery()
        (query.search, query.distance) = (.route(route), 12_000)
        var flight = try flight()
        flight.place = route.positions[0]
        let whole = AlertArea(query, of: flight)
        #expect(whole.kind == .route && whole.reachMiles == 12_000)
        let miles = route.metres / Geodesic.metresPerNauticalMile
        let squareKm = 1.852 * 1.852
        #expect(abs((whole.area?.areaKm2 ?? 0) / (miles * 40 * squareKm) - 1) < 0.01)
        query.areaLimitKm2 = 400_000
        let part = AlertArea(query, of: flight)
        #expect(abs((part.area?.areaKm2 ?? 0) / 400_000 - 1) < 0.02)
        #expect(abs(part.reachMiles - 400_000 / squareKm / 40) < 1)
        // Off the route a beam is searched, no farther than beams reach.
        flight.place = try degrees(-20, 60)
        let beam = AlertArea(query, of: flight)
        #expect(beam.kind == .beam && beam.reachMiles == query.farthestBeam)
    }

    @Test("smooth air is excluded unless it is requested")
    func smooth() {
        #expect(AlertQuery().severities == .atLeast(.light))
    }
}

/// The rule of `AlertClusters` as it is written down: every item against every member of every cluster.
private struct SlowClusters {
    struct NotedCluster {
        var id: Int
        var cells: [Cell]
        var diameter: Double
        var new: [Cell]
    }

    private var clusters: [(id: Int, cells: Set<Cell>)] = []
    private var last = 0
    private var notified: Set<Cell> = []

    mutating func update(_ items: [AlertItem]) -> [NotedCluster] {
        let present = Set(items.map(\.cell))
        clusters = clusters.map { (id: $0.id, cells: $0.cells.intersection(present)) }.filter { !$0.cells.isEmpty }
        for item in items where !clusters.contains(where: { $0.cells.contains(item.cell) }) {
            let fitting = clusters.firstIndex { cluster in
                let miles = cluster.cells.map { Self.miles($0, item.cell) }
                return miles.allSatisfy { $0 <= AlertClusters.farthest }
                    && miles.contains { $0 <= AlertClusters.nearest }
            }
            if let fitting {
                clusters[fitting].cells.insert(item.cell)
            } else {
                last += 1
                clusters.append((id: last, cells: [item.cell]))
            }
        }
        defer { notified.formUnion(present) }
        return clusters.map { id, members in
            let cells = items.map(\.cell).filter(members.contains)
            let diameter = cells.flatMap { a in cells.map { Self.miles(a, $0) } }.max() ?? 0
            return NotedCluster(id: id, cells: cells, diameter: diameter, new: cells.filter { !notified.contains($0) })
        }
    }

    private static func miles(_ a: Cell, _ b: Cell) -> Double {
        let apart = Geodesic.vector(H3.center(of: a)) - Geodesic.vector(H3.center(of: b))
        return Geodesic.arc(chord: (apart * apart).sum().squareRoot()) / 1_852
    }
}
