import Geometry
import SkyPath
import Testing

@testable import UpstreamSimulator

@Suite("The simulator's world")
struct WorldTests {
    private func served(_ picture: Picture) -> [Report] {
        picture.select { $0.report.observedAt > picture.now - 6 * 3_600 }.map(\.report)
    }

    @Test("the same seed and instant give the same world however it was reached")
    func theSameSeedAndInstantGiveTheSameWorldHoweverItWasReached() {
        let world = World(seed: 3, flights: 12)
        var stepped = Picture(world: world, now: testTime - 5_000)
        for step in [1, 59, 60, 61, 1_000, 3, 600, 3_216] { stepped.advance(to: stepped.now + step) }
        #expect(stepped.now == testTime)
        let built = Picture(world: World(seed: 3, flights: 12), now: testTime)
        #expect(served(stepped) == served(built) && stepped.lastChange == built.lastChange)
        #expect(served(built).count > 1_000)
        // Set back, and forth again.
        stepped.advance(to: testTime - 7_200)
        stepped.advance(to: testTime)
        #expect(served(stepped) == served(built))
        // Far ahead.
        stepped.advance(to: testTime + 86_400)
        #expect(served(stepped) == served(Picture(world: world, now: testTime + 86_400)))
    }

    @Test("a world at ten times the speed has ten times the reports, none of the future, however it is advanced to")
    func speed() {
        let world = World(seed: 3, flights: 12)
        func recent(_ picture: Picture) -> [Report] {
            let reports = picture.select { $0.report.observedAt > testTime - 600 }.map(\.report)
            return reports.sorted { ($0.observedAt, $0.flight) < ($1.observedAt, $1.flight) }
        }
        let fast = recent(Picture(world: world, now: testTime, speed: 10))
        let slow = recent(Picture(world: world, now: testTime))
        #expect(fast.count > 4 * slow.count && !slow.isEmpty)
        #expect(fast.allSatisfy { $0.changedAt <= testTime && $0.observedAt <= $0.changedAt })
        var stepped = Picture(world: world, now: testTime - 100, speed: 10)
        for second in -99...0 { stepped.advance(to: testTime + second) }
        #expect(recent(stepped) == fast)
    }

    @Test("another seed gives another world")
    func anotherSeedGivesAnotherWorld() {
        let one = Picture(world: World(seed: 1, flights: 20), now: testTime)
        let two = Picture(world: World(seed: 2, flights: 20), now: testTime)
        #expect(Set(served(one)).isDisjoint(with: served(two)))
    }

    @Test("two simulators started apart give the same answers")
    func twoSimulatorsStartedApartGiveTheSameAnswers() async throws {
        let first = ManualClock(testTime - 3_000)
        let replies = Replies()
        try await withRig(clock: first) { rig in
            _ = try await rig.client.map(SkyPathMapQuery(.hours(0.5)))
            first.advance(1_234)
            _ = try await rig.client.map(SkyPathMapQuery(.hours(0.5)))
            first.advance(1_766)
            await replies.add(try await rig.client.map(SkyPathMapQuery(.hours(6))))
        }
        try await withRig { rig in
            await replies.add(try await rig.client.map(SkyPathMapQuery(.hours(6))))
        }
        let both = await replies.all
        #expect(both.count == 2 && both[0].records == both[1].records && both[0].tick == both[1].tick)
        #expect(both[0].tick == testTime / 60)
    }

    @Test("the world is believable")
    func theWorldIsBelievable() throws {
        let picture = Picture(world: World(seed: 1, flights: 120), now: testTime)
        let reports = served(picture)
        let levels = reports.map { Int($0.key & 63) }
        #expect(levels.allSatisfy { (5...41).contains($0) })
        #expect(levels.count { $0 >= 29 } > reports.count / 2)
        // Of 120 flights about one report a minute each.
        #expect((120 * 180...120 * 460).contains(reports.count))
        let severities = reports.map { Category.medium.severity(tenThousandths: $0.edr) }
        for severity in 0...4 { #expect(severities.contains(severity), "severity \(severity)") }
        let smooth = severities.count { $0 == 0 }
        #expect(smooth > reports.count * 3 / 4 && smooth < reports.count * 98 / 100)
        #expect(reports.allSatisfy { $0.changedAt <= testTime && $0.changedAt > $0.observedAt })
        #expect(reports.contains { $0.changedAt - $0.observedAt > 100 })
    }

    @Test("a flight moves like one")
    func aFlightMovesLikeOne() throws {
        let world = World(seed: 5, flights: 300)
        let flights = (0..<60).flatMap { world.departures(minute: testTime / 60 + $0) }
        #expect(flights.count > 30)
        for flight in flights {
            #expect(flight.arrival - flight.departure < SimulatedFlight.longestDuration)
            var last = try unwrap(flight.state(at: flight.departure))
            #expect(last.altitudeFeet == 0)
            for time in stride(from: flight.departure + 60, to: flight.arrival, by: 60) {
                let state = try unwrap(flight.state(at: time))
                let a = Vector(last.place)
                let b = Vector(state.place)
                let metres = a.cross(b).length * earthRadiusMetres
                #expect(metres > 60 * 100 && metres < 60 * 290)
                #expect(state.altitudeFeet >= 0 && state.altitudeFeet <= 41_000)
                #expect(abs(state.altitudeFeet - last.altitudeFeet) <= 2_000)
                last = state
            }
            #expect(
                flight.state(at: flight.departure - 1) == nil && flight.state(at: flight.arrival + 1) == nil
            )
        }
    }

    @Test("a patch is soft and drifts eastward")
    func aPatchIsSoftAndDriftsEastward() throws {
        var random = SeededRandom(seed: 1, 9)
        for _ in 0..<50 {
            let patch = Patch(jetBornAt: 1_000_000, random: &random)
            let middle = (patch.birth + patch.death) / 2
            let now = patch.state(at: middle)
            let later = patch.state(at: middle + 600)
            #expect(LonLat.wrap(later.longitude - now.longitude) > 0)
            let core = now.edr(
                longitude: now.longitude, latitude: now.latitude, altitudeFeet: now.altitudeFeet)
            #expect(core == now.strength && core > 0)
            let off = now.edr(
                longitude: now.longitude, latitude: now.latitude + 0.4, altitudeFeet: now.altitudeFeet)
            #expect(off < core)
            #expect(
                now.edr(
                    longitude: now.longitude + 40, latitude: now.latitude, altitudeFeet: now.altitudeFeet)
                    == 0)
            #expect(now.edr(longitude: now.longitude, latitude: now.latitude, altitudeFeet: 5_000) == 0)
            #expect(patch.death - patch.birth <= World.longestPatch)
        }
    }

    @Test("memory is bounded")
    func memoryIsBounded() {
        var picture = Picture(world: World(seed: 1, flights: 20), now: testTime)
        let before = picture.count
        for hour in 1...12 { picture.advance(to: testTime + hour * 3_600) }
        #expect(picture.count < before * 2)
        #expect(picture.select { $0.report.observedAt <= picture.now - Picture.retentionSeconds }.isEmpty)
    }

    @Test("injected data survives a clock that is set back")
    func whatWasPutInSurvivesAClockSetBack() throws {
        var picture = Picture(world: World(seed: 1, flights: 1), now: testTime)
        let cell = H3.cell(at: try unwrap(LonLat(longitude: 1, latitude: 1)))
        let report = Report(
            key: Report.key(cell: cell, level: 30), observedAt: testTime, changedAt: testTime, edr: 5_000,
            flight: 1)
        picture.inject(report)
        picture.advance(to: testTime - 60)
        #expect(!served(picture).contains(report))
        picture.advance(to: testTime)
        #expect(served(picture).contains(report))
    }
}

actor Replies {
    private(set) var all: [SkyPathMapReply] = []
    func add(_ reply: SkyPathMapReply) { all.append(reply) }
}
