import BillowStore
import Geometry
import Logging
import Testing
import Turbulence
import UpstreamSimulator

@testable import BillowSync

/// What a viewport leaves behind. Pictures of its time stay as they were drawn, and data that is no longer requested is
/// known not to be covered.
@Suite("The end of a viewport")
struct ViewportTests {
    private func start(_ rig: Rig, _ api: SkyPathUpstream.API, _ query: DataQuery) async throws -> SourceLoop {
        let clock = rig.clock
        let loop = SourceLoop(
            upstream: try rig.upstream(api, query), update: .fast, states: SourceStates(), control: rig.store,
            now: { clock.now }, uptime: { .seconds(clock.seconds1970) }, random: { 0.5 },
            logger: Logger(label: "sync", factory: { _ in SwiftLogNoOpLogHandler() }))
        await loop.restore()
        return loop
    }

    private func spain() throws -> AreaRing { try box(-12, 40, 0, 50) }
    private func west() throws -> AreaRing { try box(-80, 25, -40, 70) }
    private func east() throws -> AreaRing { try box(0, 25, 40, 70) }

    private func ask(_ loop: SourceLoop, viewport: AreaRing?) async throws {
        var settings = await loop.settings
        settings.query?.viewport = viewport
        try await loop.change(settings)
    }

    private func areas(_ rig: Rig) async throws -> [CoveredArea] { try await rig.store.source().coveredAreas }

    enum End: String, Sendable, CaseIterable { case another, none, restart, restartAndAnother }

    @Test(
        "pictures of its time are the same after it ended, and from then on have nothing of it",
        arguments: End.allCases, [SkyPathUpstream.API.v4, .v5])
    func past(end: End, api: SkyPathUpstream.API) async throws {
        try await withRig(flights: 60, areaLimitKm2: 30_000_000) { rig in
            let query = DataQuery(global: false, polygon: try spain())
            let loop = try await start(rig, api, query)
            _ = await loop.round()
            rig.clock.advance(60)
            try await ask(loop, viewport: east())
            _ = await loop.round()
            rig.clock.advance(30)
            _ = await loop.round()
            let times = [rig.clock.now, rig.clock.now.advanced(by: -20), rig.clock.now.advanced(by: -600)]
            var before: [Set<StandingObservation>] = []
            for time in times { before.append(try await rig.store.picture(at: time)) }
            let view = try east()
            #expect(before.allSatisfy { $0.contains { view.contains(H3.center(of: $0.cell)) } })
            let version = try await rig.store.head().version

            rig.clock.advance(10)
            let ended = rig.clock.now
            switch end {
            case .another:
                try await ask(loop, viewport: west())
                _ = await loop.round()
            case .none:
                try await ask(loop, viewport: nil)
                _ = await loop.round()
            case .restart: _ = try await start(rig, api, query)
            case .restartAndAnother:
                let second = try await start(rig, api, query)
                try await ask(second, viewport: west())
                _ = await second.round()
            }
            // Nothing that stood in them is closed, and no more than the part of the new viewport was added.
            #expect(try await rig.store.changes(since: version).closed.isEmpty)
            let other = try west()
            for (time, picture) in zip(times, before) {
                let after = try await rig.store.picture(at: time)
                #expect(after.filter { !other.touches($0.cell) } == picture.filter { !other.touches($0.cell) })
            }
            let corridor = try spain()
            let now = try await rig.store.picture(at: ended)
            #expect(now.allSatisfy { corridor.touches($0.cell) || other.touches($0.cell) })
            // The area is covered up to the last fetch, and no longer.
            let covered = try await areas(rig).filter { $0.ring == view }
            #expect(covered.count == 1 && covered.first?.until == ended.advanced(by: -10))
            #expect(covered.first.map { $0.since <= times[0].advanced(by: -7_200) } == true)
        }
    }

    @Test("a viewport that comes back shows what stands there, and ends again")
    func again() async throws {
        try await withRig(flights: 60) { rig in
            let query = DataQuery(global: false, polygon: try spain())
            let loop = try await start(rig, .v4, query)
            _ = await loop.round()
            var looking = query
            looking.viewport = try east()
            for _ in 0..<3 {
                rig.clock.advance(20)
                try await ask(loop, viewport: east())
                _ = await loop.round()
                #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(.v4, looking))
                rig.clock.advance(20)
                try await ask(loop, viewport: nil)
                _ = await loop.round()
                #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(.v4, query))
            }
        }
    }

    @Test("a corridor over what a viewport left behind shows it again")
    func corridor() async throws {
        try await withRig(flights: 60) { rig in
            let loop = try await start(rig, .v4, DataQuery(global: false, polygon: try spain()))
            _ = await loop.round()
            try await ask(loop, viewport: east())
            _ = await loop.round()
            rig.clock.advance(20)
            try await ask(loop, viewport: nil)
            _ = await loop.round()
            rig.clock.advance(20)
            let query = DataQuery(global: false, polygon: try east())
            var settings = await loop.settings
            settings.query = query
            try await loop.change(settings)
            _ = await loop.round()
            let view = try east()
            let fresh = try await rig.fresh(.v4, query)
            let shown = try await rig.store.picture(at: rig.clock.now).filter { view.contains(H3.center(of: $0.cell)) }
            #expect(!fresh.isEmpty && shown == fresh.filter { view.contains(H3.center(of: $0.cell)) })
        }
    }

    @Test("the areas of a source are stored with their time, whatever is requested next and after a restart")
    func history() async throws {
        try await withRig(flights: 10) { rig in
            let start = rig.clock.now
            let (spain, west) = (try spain(), try west())
            let first = try await self.start(rig, .v4, DataQuery(global: false, polygon: spain))
            for _ in 0..<2 {
                _ = await first.round()
                rig.clock.advance(60)
            }
            func area(_ ring: AreaRing?, _ since: Int, _ until: Int?) -> CoveredArea {
                CoveredArea(
                    kind: .observations, ring: ring, since: start.advanced(by: since),
                    until: until.map { start.advanced(by: $0) })
            }
            #expect(try await areas(rig) == [area(spain, -7_200, nil)])
            var settings = await first.settings
            settings.query?.polygon = west
            try await first.change(settings)
            _ = await first.round()
            let moved = [area(spain, -7_200, 60), area(west, -7_080, nil)]
            #expect(try await areas(rig) == moved)
            // The same query continues after a restart; another one in the file ends it.
            rig.clock.advance(60)
            _ = await first.round()
            let second = try await self.start(rig, .v4, DataQuery(global: false, polygon: spain))
            #expect(await second.settings.query?.polygon == west)
            #expect(try await areas(rig) == moved)
            let third = try await self.start(rig, .v4, DataQuery())
            let ended = [area(spain, -7_200, 60), area(west, -7_080, 180)]
            #expect(try await areas(rig) == ended)
            rig.clock.advance(60)
            _ = await third.round()
            #expect(try await areas(rig) == ended + [area(nil, -6_960, nil)])
        }
    }

    @Test("after an outage longer than the history an area is covered anew, and not in between")
    func outage() async throws {
        try await withRig(flights: 10) { rig in
            let start = rig.clock.now
            let loop = try await self.start(rig, .v4, DataQuery())
            _ = await loop.round()
            rig.simulator.setFault(.serverError)
            rig.clock.advance(600)
            _ = await loop.round()
            #expect(try await areas(rig).map(\.until) == [nil])
            rig.clock.advance(10_000)
            rig.simulator.setFault(nil)
            _ = await loop.round()
            #expect(
                try await areas(rig) == [
                    CoveredArea(kind: .observations, ring: nil, since: start.advanced(by: -7_200), until: start),
                    CoveredArea(kind: .observations, ring: nil, since: start.advanced(by: 3_400), until: nil),
                ])
        }
    }

    @Test("types that come whole are covered where they are wanted")
    func products() async throws {
        try await withRig(flights: 20) { rig in
            let spain = try spain()
            let query = DataQuery(
                types: [.turbulence, .pireps, .flights], global: false, scopes: [.flights: .global], polygon: spain)
            try await rig.round(rig.upstream(.v4, query))
            let now = rig.clock.now
            let areas = try await areas(rig)
            #expect(areas.filter { $0.kind == .reports }.map(\.ring) == [spain])
            #expect(areas.filter { $0.kind == .reports }.map(\.since) == [now.advanced(by: -7_200)])
            #expect(
                areas.filter { $0.kind == .positions } == [
                    CoveredArea(kind: .positions, ring: nil, since: now, until: nil)
                ])
        }
    }
}
