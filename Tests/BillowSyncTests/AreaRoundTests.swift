import BillowStore
import Datasets
import Foundation
import Geometry
import JSONKit
import Logging
import SkyPath
import Synchronization
import TestSupport
import Testing
import Turbulence
import UpstreamKit
import UpstreamSimulator

@testable import BillowSync

/// Each area of a query has its own rounds, waits and failures.
@Suite("Areas of a query that are fetched apart", .timeLimit(.minutes(20)))
struct AreaRoundTests {
    private func loop(_ upstream: SkyPathUpstream, _ rig: Rig) -> (SourceLoop, SourceStates) {
        let clock = rig.clock
        let states = SourceStates()
        let loop = SourceLoop(
            upstream: upstream, update: .fast, states: states, control: rig.store, now: { clock.now },
            uptime: { .seconds(clock.seconds1970) }, random: { 0.5 },
            logger: Logger(label: "sync", factory: { _ in SwiftLogNoOpLogHandler() }))
        return (loop, states)
    }

    /// The upstream refuses the viewport, whose area is above its limit.
    @Test("a viewport that fails never holds up the corridor")
    func aViewportThatFailsNeverHoldsUpTheCorridor() async throws {
        try await withRig(flights: 200, areaLimitKm2: 5_000_000) { rig in
            let (corridor, screen) = (try box(-60, 40, -30, 60), try box(-30, 25, 40, 70))
            let upstream = try rig.upstream(.v5, DataQuery(polygon: corridor, viewport: screen)) {
                $0.limits.corridorAreaKm2 = nil
            }
            let (loop, states) = loop(upstream, rig)
            func state() throws -> SourceState { try states.all.first.orMissing() }
            for failures in 1...3 {
                _ = await loop.round()
                let (good, bad) = (try state().areas[.corridor].orMissing(), try state().areas[.viewport].orMissing())
                #expect(good.lastError == nil && good.lastSuccess == rig.clock.now)
                #expect(good.nextAttempt == rig.clock.now.advanced(by: 60))
                #expect(bad.lastError?.code == .upstream(.queryRefused) && bad.consecutiveFailures == failures)
                #expect(bad.failedParts == [SourceState.AreaCollection(area: .viewport, collection: "turbulence")])
                #expect(bad.nextAttempt == rig.clock.now.advanced(by: 60 << (failures - 1)))
                // A source is as new as the area that has waited longest.
                #expect(try await rig.store.source().fetchedAt == nil && state().lastSuccess == nil)
                rig.clock.advance(60)
            }
            let query = DataQuery(polygon: corridor)
            #expect(try await !rig.fresh(.v5, query).isEmpty)
            // Without it nothing fails, and the corridor need not be fetched for that.
            let calls = rig.simulator.calls
            try await loop.change(loop.settings(changedBy: ["viewport": .null]))
            #expect(try state().areas.keys.sorted() == [.corridor] && state().lastError == nil)
            #expect(rig.simulator.calls == calls)
            _ = await loop.round()
            #expect(try await rig.store.source().fetchedAt == rig.clock.now)
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(.v5, query))
        }
    }

    /// The query that the documents call the standard one: hexagons of the corridor, polygons of the world.
    @Test("hexagons of the corridor and polygons of the world are one query")
    func hexagonsOfTheCorridorAndPolygonsOfTheWorldAreOneQuery() async throws {
        try await withRig(flights: 60) { rig in
            let ring = try box(-40, 25, 0, 70)
            let (loop, states) = loop(
                try rig.upstream(.v5, DataQuery(types: [.turbulence, .polygons], polygon: ring)), rig)
            _ = await loop.round()
            #expect(rig.simulator.calls == 2)
            let rows = try await rig.store.allRows()
            #expect(!rows.isEmpty && rows.allSatisfy { ring.touches($0.cell) })
            let areas = try await rig.store.areas(
                .polygons, from: rig.clock.now, to: rig.clock.now.advanced(by: 60), asOf: nil)
            let inside = try AreaIndex(MultiPolygon(outline: ring.places).orMissing()).orMissing()
            #expect(areas.contains { !inside.intersects($0.geometry.polygons) })
            #expect(states.all.first?.lastError == nil)
            // Said otherwise, they are of the corridor too.
            try await loop.change(loop.settings(changedBy: ["scope": .object(["polygons": .string("areas")])]))
            rig.clock.advance(60)
            _ = await loop.round()
            let few = try await rig.store.areas(
                .polygons, from: rig.clock.now.advanced(by: 1), to: rig.clock.now.advanced(by: 60), asOf: nil)
            #expect(!few.isEmpty && few.count < areas.count)
            #expect(few.allSatisfy { inside.intersects($0.geometry.polygons) })
        }
    }

    /// The contiguous United States, the largest viewport that SkyPath's documents advise.
    @Test("a large viewport is fetched by the bulk calls of its base cells")
    func aLargeViewportIsFetchedByTheBulkCallsOfItsBaseCells() async throws {
        try await withRig(flights: 60, areaLimitKm2: 7_500) { rig in
            let screen = try box(-125, 24, -66, 50)
            let (loop, states) = loop(try rig.upstream(.v5, DataQuery(global: false)), rig)
            try await loop.change(
                loop.settings(changedBy: [
                    "viewport": .array(
                        screen.places.map { .array([.number($0.longitude), .number($0.latitude)]) })
                ]))
            _ = await loop.round()
            #expect(states.all.first?.lastError == nil)
            #expect((1..<30).contains(rig.simulator.calls))
            let rows = try await rig.store.allRows()
            #expect(!rows.isEmpty && rows.allSatisfy { screen.touches($0.cell) })
            let fresh = try await rig.fresh(.v4, DataQuery(global: false, viewport: screen))
            // The other call takes a cell by its centre.
            let picture = try await rig.store.picture(at: rig.clock.now)
                .filter { screen.contains(H3.center(of: $0.cell)) }
            #expect(Set(picture.map(\.cell)) == Set(fresh.map(\.cell)) && picture.count == fresh.count)
            #expect(states.all.first?.skipped.isEmpty == true)
            // A second answer takes nothing away that lies beside the area.
            rig.clock.advance(60)
            _ = await loop.round()
            #expect(try await rig.store.allRows().count >= rows.count)
        }
    }

    @Test("a change that can't be asked is refused as in the file", arguments: [SkyPathUpstream.API.v5, .v4])
    func aChangeThatCantBeAskedIsRefusedAsInTheFile(
        api: SkyPathUpstream.API
    ) async throws {
        try await withRig(flights: 0, areaLimitKm2: 7_500) { rig in
            let upstream = try rig.upstream(api, DataQuery())
            let (loop, _) = loop(upstream, rig)
            let large: JSONValue = .array(
                try box(-80, 25, 40, 70).places.map { .array([.number($0.longitude), .number($0.latitude)]) })
            let cases: [(members: [String: JSONValue], member: String, area: DataQuery.Area?)] = [
                (["category": .string("C20")], "category", nil),
                (["category": .string("C20"), "polygon": large], "polygon", .corridor),
                (["category": .string("C20"), "viewport": large, "global": .bool(false)], "viewport", .viewport),
            ]
            for test in cases {
                guard api == .v5 else {
                    _ = try await loop.settings(changedBy: test.members)
                    continue
                }
                let problem = await #expect(throws: SourceSettings.Problem.self) {
                    try await loop.settings(changedBy: test.members)
                }
                #expect(problem?.member == test.member && problem?.area == test.area && problem?.reason != nil)
            }
            #expect(await loop.settings.query == DataQuery() && rig.simulator.calls == 0)
        }
    }
}
