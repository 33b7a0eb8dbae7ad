import BillowStore
import Geometry
import Logging
import Testing
import Turbulence
import UpstreamSimulator
import JSONKit

@testable import BillowSync

/// Three areas that share nothing but edges, where a small world flies.
private enum Place: String, CaseIterable, Sendable {
    case west
    case middle
    case east

    func ring() throws -> AreaRing {
        switch self {
        case .west: try box(-80, 25, -40, 70)
        case .middle: try box(-40, 25, 0, 70)
        case .east: try box(0, 25, 40, 70)
        }
    }

    func json() throws -> JSONValue {
        .array(try ring().places.map { .array([.number($0.longitude), .number($0.latitude)]) })
    }
}

/// What a source is configured with, and what is changed while it runs.
private struct RestartCase: Sendable, CustomStringConvertible {
    enum File: String, CaseIterable, Sendable {
        case nothing
        case corridor
        case global

        func query() throws -> DataQuery {
            switch self {
            case .nothing: DataQuery(global: false)
            case .corridor: DataQuery(global: false, polygon: try Place.west.ring())
            case .global: DataQuery()
            }
        }
    }

    enum Change: String, CaseIterable, Sendable {
        case nothing
        case corridor
        case viewport
        case corridorAndViewport
        case viewportThenAnother
        case global

        /// Steps, one round after each.
        func steps() throws -> [[String: JSONValue]] {
            let (middle, east) = (try Place.middle.json(), try Place.east.json())
            return switch self {
            case .nothing: []
            case .corridor: [["polygon": middle, "global": .bool(false)]]
            case .viewport: [["viewport": east, "global": .bool(false)]]
            case .corridorAndViewport: [["polygon": middle, "viewport": east, "global": .bool(false)]]
            case .viewportThenAnother:
                [["viewport": middle, "global": .bool(false)], ["viewport": east]]
            case .global: [["polygon": .null, "global": .bool(true)]]
            }
        }
    }

    var file: File
    var change: Change
    /// Whether the upstream answers when the process comes back.
    var isUp: Bool

    var description: String { "\(file) in the file, \(change) by PATCH, upstream \(isUp ? "up" : "down")" }

    static let all = File.allCases.flatMap { file in
        Change.allCases.flatMap { change in [true, false].map { RestartCase(file: file, change: change, isUp: $0) } }
    }
}

@Suite("State that survives a restart")
struct RestartTests {
    private func start(_ rig: Rig, _ api: SkyPathUpstream.API, _ query: DataQuery) async throws -> SourceLoop {
        let clock = rig.clock
        let loop = SourceLoop(
            upstream: try rig.upstream(api, query), update: .fast, states: SourceStates(), control: rig.store,
            now: { clock.now }, uptime: { .seconds(clock.seconds1970) }, random: { 0.5 },
            logger: Logger(label: "sync", factory: { _ in SwiftLogNoOpLogHandler() }))
        await loop.restore()
        return loop
    }

    private func standing(_ rows: [ObservationRow]) -> Set<StandingObservation> {
        Set(
            rows.map {
                StandingObservation(
                    cell: $0.cell, altitude: $0.altitude, intensity: $0.intensity, observedAt: $0.observedAt)
            })
    }

    @Test("data of a query that lasts survives, and only that of the viewport ends", arguments: RestartCase.all)
    private func dataOfAQueryThatLastsSurvivesAndOnlyTheViewportsEnds(
        _ test: RestartCase
    ) async throws {
        try await withRig(flights: 40) { rig in
            let file = try test.file.query()
            let first = try await start(rig, .v4, file)
            /// What areas that last had fetched, and their rings.
            var kept = Set<StandingObservation>()
            var rings = [file.polygon].compactMap { $0 }
            _ = await first.round()
            kept.formUnion(try await lasting(of: first, rig))
            for step in try test.change.steps() {
                rig.clock.advance(30)
                try await first.change(by: step)
                _ = await first.round()
                kept.formUnion(try await lasting(of: first, rig))
                rings += [await first.settings.query?.polygon].compactMap { $0 }
            }
            rig.clock.advance(30)
            _ = await first.round()
            kept.formUnion(try await lasting(of: first, rig))
            // The upstream places a cell by its centre; one that only touches an area may be of either side.
            let corridors = rings
            @Sendable func touches(_ cell: Cell) -> Bool { corridors.contains { $0.touches(cell) } }
            let before = standing(try await rig.store.allRows())
            let asked = try await first.settings.query.orMissing()
            #expect(before.isSuperset(of: kept))
            // A second viewport has left nothing of the first one's, and taken nothing else with it.
            #expect(
                try await rig.store.picture(at: rig.clock.now).subtracting(kept).allSatisfy {
                    touches($0.cell) || asked.viewport?.touches($0.cell) == true
                })

            if !test.isUp { rig.simulator.setFault(.serverError) }
            let second = try await start(rig, .v4, file)
            var expected = asked
            expected.viewport = nil
            #expect(await second.settings.query == expected)
            let after = standing(try await rig.store.allRows())
            #expect(after.isSuperset(of: kept))
            #expect(
                try await rig.store.picture(at: rig.clock.now).subtracting(kept).allSatisfy { touches($0.cell) })
            rig.clock.advance(30)
            _ = await second.round()
            #expect(standing(try await rig.store.allRows()).isSuperset(of: kept))

            rig.simulator.setFault(nil)
            rig.clock.advance(600)
            _ = await second.round()
            guard expected.requestsAnything else { return }
            let fresh = try await rig.fresh(.v4, expected).filter { isInside($0.cell, expected) }
            let picture = try await rig.store.picture(at: rig.clock.now).filter { isInside($0.cell, expected) }
            #expect(!fresh.isEmpty && picture == fresh)
        }
    }

    /// The stored rows of the persistent areas in a source's current query.
    private func lasting(of loop: SourceLoop, _ rig: Rig) async throws -> Set<StandingObservation> {
        var query = try await loop.settings.query.orMissing()
        query.viewport = nil
        let asked = query
        return standing(try await rig.store.allRows().filter { isInside($0.cell, asked) })
    }

    /// Whether the upstream has a cell for a query.
    private func isInside(_ cell: Cell, _ query: DataQuery) -> Bool {
        query.isGlobal(.turbulence)
            || [query.polygon, query.viewport].contains { $0?.contains(H3.center(of: cell)) == true }
    }

    /// The same by corridor calls, whose cursors are one for each piece.
    @Test("the corridor is whole after a restart with a viewport beside it")
    func theCorridorIsWholeAfterARestartWithAViewportBesideIt() async throws {
        try await withRig(flights: 40, areaLimitKm2: 3_000_000) { rig in
            let first = try await start(rig, .v5, RestartCase.File.corridor.query())
            try await first.change(
                first.settings(changedBy: ["polygon": Place.middle.json(), "viewport": Place.east.json()]))
            _ = await first.round()
            let corridor = try Place.middle.ring()
            let query = DataQuery(global: false, polygon: corridor)
            let before = standing(try await rig.store.allRows().filter { isInside($0.cell, query) })
            #expect(before.count > 50)
            rig.simulator.setFault(.serverError)
            let second = try await start(rig, .v5, RestartCase.File.corridor.query())
            _ = await second.round()
            let after = try await rig.store.allRows()
            #expect(standing(after).isSuperset(of: before))
            #expect(try await rig.store.picture(at: rig.clock.now).allSatisfy { corridor.touches($0.cell) })
            rig.simulator.setFault(nil)
            rig.clock.advance(60)
            _ = await second.round()
            #expect(try await rig.store.picture(at: rig.clock.now) == rig.fresh(.v5, query))
            #expect(try await !rig.store.cursors(of: skypath()).keys.contains { $0.hasPrefix("viewport") })
            #expect(try await !rig.store.values(of: skypath()).keys.contains { $0.hasPrefix("viewport") })
        }
    }

    @Test("the world's data stays when a viewport is requested, and another after it")
    func theWorldsDataStaysWhenAViewportIsLookedAtAndAnotherAfterIt() async throws {
        try await withRig(flights: 40) { rig in
            let loop = try await start(rig, .v4, DataQuery())
            _ = await loop.round()
            let world = standing(try await rig.store.allRows())
            let picture = try await rig.store.picture(at: rig.clock.now)
            for place in [Place.west, .east] {
                try await loop.change(loop.settings(changedBy: ["global": .bool(false), "viewport": place.json()]))
                _ = await loop.round()
                #expect(standing(try await rig.store.allRows()).isSuperset(of: world))
            }
            try await loop.change(loop.settings(changedBy: ["viewport": .null]))
            _ = await loop.round()
            #expect(try await rig.store.picture(at: rig.clock.now) == picture)
        }
    }

    /// An area that was never deleted from stays complete; what was deleted from it meanwhile doesn't.
    @Test("a viewport hides how far back the corridor is complete only while it is there")
    func aViewportHidesHowFarBackTheCorridorIsCompleteOnlyWhileItIsThere() async throws {
        try await withRig(flights: 0) { rig in
            let loop = try await start(rig, .v4, RestartCase.File.corridor.query())
            _ = await loop.round()
            let since = rig.clock.now.advanced(by: -7_200)
            rig.clock.advance(600)
            _ = await loop.round()
            #expect(try await rig.store.source().completeSince == since)
            try await loop.change(loop.settings(changedBy: ["viewport": Place.east.json()]))
            _ = await loop.round()
            #expect(try await rig.store.source().completeSince == since.advanced(by: 600))
            try await loop.change(loop.settings(changedBy: ["viewport": .null]))
            _ = await loop.round()
            #expect(try await rig.store.source().completeSince == since)
            // Something else says that rows are missing.
            let cut = since.advanced(by: 60)
            _ = try await rig.store.commit(Batch(source: skypath(), completeSince: cut))
            rig.clock.advance(60)
            _ = await loop.round()
            #expect(try await rig.store.source().completeSince == cut)
        }
    }

    @Test("an override that can't be asked any more is forgotten", arguments: ["category", "viewport"])
    func anOverrideThatCantBeAskedAnyMoreIsForgotten(member: String)
        async throws
    {
        try await withRig(flights: 0, areaLimitKm2: 7_500) { rig in
            let first = try await start(rig, .v4, DataQuery())
            let bad: [String: JSONValue] =
                member == "category"
                ? ["category": .string("C20")] : ["category": .string("C20"), "polygon": try Place.west.json()]
            try await first.change(first.settings(changedBy: bad))
            // The bulk call knows one category only, and the corridor would take too many calls.
            let second = try await start(rig, .v5, DataQuery())
            #expect(await second.settings.query == DataQuery())
            await #expect(throws: SourceSettings.Problem.self) { try await second.settings(changedBy: bad) }
        }
    }
}
