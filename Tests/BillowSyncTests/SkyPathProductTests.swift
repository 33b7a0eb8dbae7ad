import BillowStore
import Datasets
import SkyPath
import Testing
import Turbulence
import UpstreamKit
import UpstreamSimulator

@testable import BillowSync

@Suite("What SkyPath has beside turbulence")
struct SkyPathProductTests {
    private func query(_ types: Set<QueryType>, polygonsUpTo: Bool = false) -> DataQuery {
        DataQuery(types: types, polygonsUpTo: polygonsUpTo)
    }

    private func areas(_ rig: Rig, _ collection: IssuedArea.DatasetNumber) async throws -> [IssuedArea] {
        try await rig.store.areas(
            collection, from: rig.clock.now, to: rig.clock.now.advanced(by: 86_400), asOf: nil
        ).filter { $0.validTo > rig.clock.now }
    }

    @Test("the types of data that a query can ask for are those that the catalogue has from SkyPath")
    func types() {
        #expect(QueryType.skyPath.map(\.name).sorted() == Catalogue.types(of: "skypath").sorted())
    }

    @Test("polygons are sets of their histories and each set replaces the one before")
    func polygonsAreSetsOfTheirHistoriesAndEachSetReplacesTheOneBefore() async throws {
        try await withRig { rig in
            let upstream = try rig.upstream(.v4, query([.polygons], polygonsUpTo: true))
            #expect(upstream.collections == ["polygons"])
            let outcome = try await rig.round(upstream)
            let first = try await areas(rig, .polygons)
            #expect(outcome.accepted == first.count && outcome.skipped.isEmpty)
            #expect(Set(first.map(\.historySeconds)) == [1_800, 3_600, 7_200])
            for area in first {
                let hours = try #require(History.allCases.first { $0.seconds == area.historySeconds }).text
                let scheme = "\(area.severity?.rawValue ?? 9)-\(hours)-\(area.source)"
                #expect(area.id == scheme || area.id.hasPrefix("\(scheme)-"), "\(area.id)")
            }
            #expect(first.allSatisfy { $0.kind == "polygon" && $0.severity.map { $0 > .smooth } ?? false })
            rig.clock.advance(60)
            try await rig.round(upstream)
            let second = try await areas(rig, .polygons)
            #expect(Set(second.map(\.validFrom)) == [rig.clock.now.floored(toMultipleOf: 60)])
            #expect(try await rig.store.allRows().isEmpty)
        }
    }

    @Test(
        "one empty answer ends nothing and the second in a row does",
        arguments: [QueryType.polygons, .nowcast])
    func oneEmptyAnswerEndsNothingAndTheSecondInARowDoes(
        type: QueryType
    ) async throws {
        try await withRig { rig in
            let collection: IssuedArea.DatasetNumber = type == .polygons ? .polygons : .forecast
            let upstream = try rig.upstream(.v4, query([type]))
            try await rig.round(upstream)
            let before = try await areas(rig, collection)
            #expect(!before.isEmpty)
            rig.simulator.setFault(.empty)
            rig.clock.advance(900)
            try await rig.round(upstream)
            #expect(try await areas(rig, collection) == before)
            rig.clock.advance(60)
            try await rig.round(upstream)
            #expect(try await areas(rig, collection).isEmpty)
        }
    }

    @Test("a nowcast is replaced whole and requested once in a quarter of an hour")
    func aNowcastIsReplacedWholeAndAskedForOnceInAQuarterOfAnHour() async throws {
        try await withRig { rig in
            let upstream = try rig.upstream(.v4, query([.nowcast]))
            try await rig.round(upstream)
            let first = try await areas(rig, .forecast)
            #expect(
                !first.isEmpty && first.allSatisfy { $0.kind == "nowcast" && $0.severity ?? .smooth >= .lightModerate })
            let calls = rig.simulator.calls
            let fetchedAt = rig.clock.now
            rig.clock.advance(60)
            // What isn't asked tells nothing: neither is it told of, nor does it become newer.
            #expect(upstream.parts(of: .global, at: rig.clock.now).isEmpty)
            #expect(try await !rig.round(upstream).wasAnswered)
            #expect(rig.simulator.calls == calls)
            #expect(try await rig.store.source().fetchedKinds == [.forecasts: fetchedAt])
            rig.clock.advance(3_600)
            #expect(upstream.parts(of: .global, at: rig.clock.now).map(\.collection) == ["forecast"])
            try await rig.round(upstream)
            let issues = Set(try await areas(rig, .forecast).map(\.issuedAt))
            #expect(issues == [rig.clock.now.floored(toMultipleOf: 3_600)])
        }
    }

    @Test("flights and pilot reports come where they belong")
    func flightsAndPilotReportsComeWhereTheyBelong() async throws {
        try await withRig(flights: 200) { rig in
            try await rig.round(rig.upstream(.v4, query([.flights, .pireps])))
            let now = rig.clock.now
            let positions = try await rig.store.positions(
                from: now.advanced(by: -60), to: now.advanced(by: 1), asOf: nil)
            #expect(!positions.isEmpty)
            #expect(positions.allSatisfy { $0.icao24.text.hasPrefix("d") && $0.callsign != nil })
            let changes = try await rig.store.allRows()
            #expect(changes.isEmpty)
        }
    }

    @Test("a type that is disabled rests alone")
    func aTypeThatIsDisabledRestsAlone() async throws {
        try await withRig(disabledProducts: [.nowcast]) { rig in
            let (loop, states) = rig.loop(try rig.upstream(.v4, query([.turbulence, .nowcast, .flights])))
            _ = await loop.round()
            let state = try states.all.first.orMissing()
            #expect(state.lastError == nil && Array(state.disabled.keys) == [.nowcast])
            #expect(try await !rig.store.allRows().isEmpty)
            let calls = rig.simulator.calls
            rig.clock.advance(60)
            _ = await loop.round()
            #expect(rig.simulator.calls == calls + 2)
        }
    }

    @Test("where all types are disabled the state says so and nothing is requested for an hour")
    func whereAllTypesAreDisabledTheStateSaysSoAndNothingIsAskedForAnHour() async throws {
        try await withRig { rig in
            let (loop, states) = rig.loop(try rig.upstream(.v4, query([.turbulence, .flights, .nowcast])))
            func state() throws -> SourceState { try states.all.first.orMissing() }
            _ = await loop.round()
            let good = rig.clock.now
            #expect(try state().activity == .waiting)
            rig.simulator.setFault(.htmlPage)
            rig.clock.advance(60)
            _ = await loop.round()
            #expect(try state().activity == .failing && state().lastError?.code == .upstream(.unreadable))
            rig.simulator.setFault(.forbidden)
            // The nowcast isn't due: what was refused is no success, and no failure of the rest.
            #expect(await loop.round() == .seconds(60))
            #expect(try state().activity == .waiting && state().lastSuccess == good)
            #expect(try Set(state().disabled.keys) == [.turbulence, .flights])
            rig.clock.advance(900)
            #expect(await loop.round() == .seconds(3_600 - 900))
            #expect(try state().activity == .disabled && state().lastError?.code == .upstream(.disabled))
            #expect(try state().lastSuccess == good && !state().isRefused && state().isReachable == true)
            #expect(try await rig.store.source().fetchedAt == good)
            let calls = rig.simulator.calls
            rig.clock.advance(600)
            _ = await loop.round()
            #expect(try rig.simulator.calls == calls && !state().isFetching)
            // After the first type's suspension it is requested again, and after a manual start all are.
            rig.clock.advance(2_200)
            _ = await loop.round()
            #expect(rig.simulator.calls == calls + 2)
            rig.simulator.setFault(nil)
            try await loop.start()
            _ = await loop.round()
            #expect(rig.simulator.calls == calls + 5)
            #expect(try state().activity == .waiting && state().disabled.isEmpty && state().lastError == nil)
        }
    }

    @Test("turbulence that is disabled rests alone too and only it grows old")
    func turbulenceThatIsDisabledRestsAloneTooAndOnlyItGrowsOld() async throws {
        try await withRig(flights: 60) { rig in
            let (loop, states) = rig.loop(try rig.upstream(.v4, query([.turbulence, .flights])))
            _ = await loop.round()
            let good = rig.clock.now
            #expect(try await rig.store.source().fetchedKinds == [.observations: good, .positions: good])
            rig.clock.advance(60)
            rig.simulator.setFault(.forbidden, count: 1)
            _ = await loop.round()
            let state = try states.all.first.orMissing()
            #expect(state.lastError == nil && Array(state.disabled.keys) == [.turbulence])
            #expect(state.activity == .waiting && state.lastSuccess == rig.clock.now)
            let source = try await rig.store.source()
            #expect(source.fetchedAt == rig.clock.now)
            #expect(source.fetchedKinds == [.observations: good, .positions: rig.clock.now])
        }
    }
}
