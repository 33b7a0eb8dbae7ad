import Geometry
import SkyPath
import Testing
import UpstreamSimulator

@Suite("Calls of SkyPath")
struct CallTests {
    @Test("the three calls show the same picture")
    func theThreeCallsShowTheSamePicture() async throws {
        try await withRig { rig in
            let corridor = try await rig.client.corridor(
                SkyPathCorridorQuery(ring: try atlantic(), hours: 4))
            let map = try await rig.client.map(SkyPathMapQuery(.hours(4), ring: try atlantic()))
            #expect(corridor.records.count > 500)
            #expect(corridor.counts.accepted == corridor.records.count && corridor.counts.skippedTotal == 0)
            #expect(corridor.records.allSatisfy { $0.edr != nil })
            #expect(severities(corridor.records) == severities(map.records))

            let world = try await rig.client.map(SkyPathMapQuery(.hours(4)))
            var bulk: [SkyPathRecord] = []
            for parent in H3.cells(resolution: 0) {
                bulk += try await rig.client.hexagons(SkyPathHexagonsQuery(parent: parent, hours: 4))
                    .records
            }
            #expect(bulk.count == world.records.count)
            #expect(severities(bulk) == severities(world.records))
        }
    }

    @Test("an answer that is made up says so")
    func anAnswerThatIsMadeUpSaysSo() async throws {
        try await withRig(flights: 0) { rig in
            let parent = try unwrap(H3.cells(resolution: 0).first)
            let corridor = try await rig.client.corridor(SkyPathCorridorQuery(ring: try atlantic()))
            let map = try await rig.client.map(SkyPathMapQuery(.hours(2)))
            let bulk = try await rig.client.hexagons(SkyPathHexagonsQuery(parent: parent))
            #expect(corridor.isSimulated && map.isSimulated && bulk.isSimulated)
        }
        try await withRig(flights: 0, configure: { $0.wire.simulatedHeader = "x-other" }) { rig in
            let reply = try await rig.client.map(SkyPathMapQuery(.hours(2)))
            #expect(!reply.isSimulated)
        }
    }

    @Test("merged deltas equal a whole fetch")
    func mergedDeltasEqualAWholeFetch() async throws {
        try await withRig { rig in
            let ring = try atlantic()
            let first = try await rig.client.corridor(SkyPathCorridorQuery(ring: ring, hours: 2))
            let firstMap = try await rig.client.map(SkyPathMapQuery(.hours(2)))
            var merged = first.records
            var mergedMap = firstMap.records
            var cursor = try unwrap(first.lastUpdatedAt)
            var tick = try unwrap(firstMap.tick)
            // Odd steps, so that the boundary falls everywhere; late reports come in too.
            for step in [1, 59, 61, 7, 300, 60, 60, 433] {
                rig.clock.advance(step)
                let delta = try await rig.client.corridor(
                    SkyPathCorridorQuery(ring: ring, hours: 2, updatedSince: cursor))
                #expect(delta.records.count < first.records.count)
                merged += delta.records
                #expect(try unwrap(delta.lastUpdatedAt) >= cursor)
                cursor = try unwrap(delta.lastUpdatedAt)
                let mapDelta = try await rig.client.map(SkyPathMapQuery(.since(tick: tick)))
                mergedMap += mapDelta.records
                #expect(try unwrap(mapDelta.tick) >= tick)
                tick = try unwrap(mapDelta.tick)
            }
            let oldest = rig.clock.now - 7_200
            let whole = try await rig.client.corridor(SkyPathCorridorQuery(ring: ring, hours: 2))
            #expect(picture(merged).filter { $0.value.observedAt > oldest } == picture(whole.records))
            let wholeMap = try await rig.client.map(SkyPathMapQuery(.hours(2)))
            #expect(
                severities(mergedMap.filter { $0.observedAt > oldest }) == severities(wholeMap.records))
            #expect(picture(whole.records) != picture(first.records))
        }
    }

    @Test("exactly inclusive deltas lose nothing")
    func exactlyInclusiveDeltasLoseNothing() async throws {
        try await withRig(configure: {
            $0.limits.cursorOverlapSeconds = 0
            $0.limits.tickOverlap = 0
        }) { rig in
            let ring = try atlantic()
            let first = try await rig.client.corridor(SkyPathCorridorQuery(ring: ring))
            var merged = first.records
            var cursor = try unwrap(first.lastUpdatedAt)
            for _ in 0..<40 {
                rig.clock.advance(3)
                let delta = try await rig.client.corridor(
                    SkyPathCorridorQuery(ring: ring, updatedSince: cursor))
                merged += delta.records
                cursor = try unwrap(delta.lastUpdatedAt)
            }
            let whole = try await rig.client.corridor(SkyPathCorridorQuery(ring: ring))
            let oldest = rig.clock.now - 7_200
            #expect(picture(merged).filter { $0.value.observedAt > oldest } == picture(whole.records))
        }
    }

    @Test("six hours are served by the map and four by the corridor")
    func sixHoursAreServedByTheMapAndFourByTheCorridor() async throws {
        try await withRig { rig in
            let map = try await rig.client.map(SkyPathMapQuery(.hours(6)))
            let ages = map.records.map { rig.clock.now - $0.observedAt }
            #expect(try unwrap(ages.max()) > 5 * 3_600 + 1_800)
            #expect(try unwrap(ages.max()) < 6 * 3_600)
            #expect(try unwrap(ages.min()) >= 0)
            await #expect(throws: UpstreamError.self) {
                try await rig.client.corridor(SkyPathCorridorQuery(ring: try atlantic(), hours: 6))
            }
        }
    }

    @Test("altitudes, severities and categories filter")
    func altitudesSeveritiesAndCategoriesFilter() async throws {
        try await withRig { rig in
            let ring = try atlantic()
            let whole = try await rig.client.corridor(SkyPathCorridorQuery(ring: ring, hours: 4))
            let band = try await rig.client.corridor(
                SkyPathCorridorQuery(ring: ring, hours: 4, altitudesThousands: 34...36))
            #expect(
                picture(band.records)
                    == picture(whole.records).filter { (34...36).contains($0.key.altitude) })
            #expect(!band.records.isEmpty)

            let rough = try await rig.client.map(
                SkyPathMapQuery(.hours(4), ring: ring, severities: [3, 4]))
            #expect(severities(rough.records) == severities(whole.records.filter { $0.severity >= 3 }))

            let light = try await rig.client.corridor(
                SkyPathCorridorQuery(ring: ring, hours: 4, aircraftCategory: "C10"))
            let heavy = try await rig.client.corridor(
                SkyPathCorridorQuery(ring: ring, hours: 4, aircraftCategory: "C110"))
            let felt = { (reply: SkyPathCorridorReply) in
                reply.records.reduce(0) { $0 + Int($1.severity) }
            }
            #expect(felt(light) > felt(whole) && felt(whole) > felt(heavy))
        }
    }

    @Test("a corridor over the antimeridian holds both sides", arguments: [true, false])
    func aCorridorOverTheAntimeridianHoldsBothSides(unrolled: Bool) async throws {
        try await withRig(configure: { $0.wire.unrollsAntimeridian = unrolled }) { rig in
            let west = H3.cell(at: try unwrap(LonLat(longitude: 179.5, latitude: 50)))
            let east = H3.cell(at: try unwrap(LonLat(longitude: -179.5, latitude: 50)))
            let outside = H3.cell(at: try unwrap(LonLat(longitude: 0, latitude: 50)))
            for cell in [west, east, outside] {
                rig.simulator.inject(cell: cell, altitudeThousands: 36, edr: 0.3)
            }
            let ring = try box(west: 178, south: 48, east: 182, north: 52)
            let reply = try await rig.client.corridor(SkyPathCorridorQuery(ring: ring))
            let cells = Set(reply.records.filter { $0.edr == 0.3 }.map(\.cell))
            #expect(cells == [west, east])
        }
    }

    @Test("positions under a pentagon skip what it lacks")
    func positionsUnderAPentagonSkipWhatItLacks() async throws {
        // Base cell 4 is a pentagon: of its 16,807 slots 14,006 are cells.
        for resolution in [0, 1] {
            let parent = H3.index(dense: resolution == 0 ? 4 : 4 * 7, resolution: resolution)
            let span = resolution == 0 ? 16_807 : 2_401
            // The oracle: the dense slots in order, without the gaps.
            let cells = (4 * 16_807..<4 * 16_807 + span).compactMap { Cell(dense: $0) }
            #expect(cells.count == (resolution == 0 ? 14_006 : 2_001))
            let disagreements = cells.enumerated().filter { position, cell in
                H3.cell(childPosition: position, of: parent) != cell
                    || H3.childPosition(of: cell, parentResolution: resolution) != position
            }
            #expect(disagreements.isEmpty)
            #expect(H3.cell(childPosition: cells.count, of: parent) == nil)
            #expect(H3.cell(childPosition: -1, of: parent) == nil)
            try await withRig(flights: 2) { rig in
                let chosen = [0, 1, 399, 400, 401, 1_999, cells.count - 1]
                for position in chosen {
                    rig.simulator.inject(cell: cells[position], altitudeThousands: 33, edr: 0.5)
                }
                let reply = try await rig.client.hexagons(
                    SkyPathHexagonsQuery(parent: parent, minSeverity: 4))
                #expect(reply.records.map(\.cell) == Set(chosen).sorted().map { cells[$0] })
                #expect(
                    reply.records.allSatisfy {
                        $0.severity == 4 && $0.edr == nil && $0.altitudeThousands == 33
                    })
            }
        }
    }

    @Test("positions under a hexagon are dense")
    func positionsUnderAHexagonAreDense() {
        let parent = H3.index(dense: 20, resolution: 0)
        for position in stride(from: 0, to: 16_807, by: 101) {
            #expect(H3.cell(childPosition: position, of: parent) == Cell(dense: 20 * 16_807 + position))
        }
        #expect(H3.cell(childPosition: 16_807, of: parent) == nil)
        #expect(H3.cell(childPosition: 0, of: 0) == nil)
    }

    @Test("a falling severity comes with the next delta")
    func aFallingSeverityComesWithTheNextDelta() async throws {
        try await withRig(flights: 2) { rig in
            let cell = H3.cell(at: try unwrap(LonLat(longitude: -30, latitude: 50)))
            let ring = try box(west: -32, south: 48, east: -28, north: 52)
            rig.simulator.inject(cell: cell, altitudeThousands: 36, edr: 0.3)
            let before = try await rig.client.corridor(SkyPathCorridorQuery(ring: ring))
            let place = Place(cell: cell, altitude: 36)
            #expect(picture(before.records)[place]?.severity == 3)
            rig.clock.advance(60)
            rig.simulator.inject(cell: cell, altitudeThousands: 36, edr: 0.02)
            let delta = try await rig.client.corridor(
                SkyPathCorridorQuery(ring: ring, updatedSince: before.lastUpdatedAt))
            #expect(picture(before.records + delta.records)[place]?.severity == 0)
            // A report from before it can't bring the old value back.
            rig.simulator.inject(
                cell: cell, altitudeThousands: 36, edr: 0.6, observedAt: rig.clock.now - 30)
            let whole = try await rig.client.corridor(SkyPathCorridorQuery(ring: ring))
            #expect(picture(whole.records)[place]?.severity == 0)
        }
    }
}
