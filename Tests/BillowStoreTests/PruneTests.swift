import Geometry
import Testing
import Turbulence

@testable import BillowStore

@Suite("Deleting what is old")
struct PruneTests {
    @Test func whatWasObservedBeforeGoesAndTheRestStays() async throws {
        let store = try await makeStore()
        _ = try await store.commit(observation(at: -7_200), observation(at: -7_199), observation(at: 0))
        _ = try await store.commit(
            Batch(source: nil, pilotReports: [pilotReport(id: "old", at: -7_200), pilotReport(id: "new")]))
        let before = try await store.head()
        let pruned = try await store.prune(Pruning(before: noon.advanced(by: -7_199)))
        #expect(pruned.observations == 1 && pruned.pilotReports == 1)
        #expect(try await store.contents().map(\.observedAt) == [noon.advanced(by: -7_199), noon])
        #expect(try await store.pilotReport(id: "old") == nil)
        #expect(try await store.pilotReport(id: "new") != nil)
        #expect(try await store.head() == before)
        #expect(try await store.prune(Pruning(before: noon.advanced(by: -7_199))).isNothing)
        #expect(try await store.problems().isEmpty)
    }

    @Test func secondsWithSomethingOfAnotherSourceKeepAllTheyHave() async throws {
        let store = try await makeStore()
        _ = try await store.commit(
            observation(cell: 1, at: -100), observation(cell: 2, at: -100, source: "awc"),
            observation(cell: 3, at: -99), observation(cell: 4, at: -98, source: "awc"))
        let pruned = try await store.prune(Pruning(before: noon, sources: [try source("skypath")]))
        #expect(pruned.observations == 1)
        #expect(try await store.contents().map(\.cell.dense) == [1, 2, 4])
    }

    @Test func manyRowsGoInMoreThanOneStepWithoutLosingASecondBetweenThem() async throws {
        let store = try await makeStore()
        let many = try (0..<12_000).map { try observation(cell: $0 + 10, at: -6_000 + $0 / 3) }
        _ = try await store.commit(Batch(source: nil, observations: many))
        let pruned = try await store.prune(Pruning(before: noon.advanced(by: -3_000)))
        #expect(pruned.observations == 9_000)
        #expect(try await store.contents().count == 3_000)
        // One second with more rows than a step.
        let crowd = try (0..<7_000).map { try observation(cell: $0 + 10, at: -9_000) }
        _ = try await store.commit(Batch(source: nil, observations: crowd))
        _ = try await store.prune(Pruning(before: noon.advanced(by: -3_000)))
        #expect(try await store.contents().count >= 3_000)
    }

    @Test func whenThingsChangedIsForgottenWithThem() async throws {
        let store = try await makeStore()
        _ = try await store.commit(observation(cell: 1, at: -7_200))
        let kept = try await store.commit(observation(cell: 2, at: -7_100, source: "awc")).version
        _ = try await store.prune(Pruning(before: noon, sources: [try source("skypath")]))
        let data = { (seconds: Int) in
            SeenData.observed(.observations, at: noon.advanced(by: seconds), lookBackSeconds: 60)
        }
        #expect(try await store.lastChange(of: data(-7_200)) == .zero)
        #expect(try await store.lastChange(of: data(-7_100)) == kept)
    }

    @Test func areasGoWhenTheyEndedAndPositionsByWholeBuckets() async throws {
        let store = try await makeStore()
        let awc = try source("awc")
        let ring = try [(0.0, 0.0), (1, 0), (1, 1), (0, 1)].map { try LonLat(longitude: $0, latitude: $1).orMissing() }
        let areas = try [("ended", -10), ("holds", 10)].map { id, end in
            IssuedArea(
                collection: .hazards, id: id, source: awc, kind: "sigmet", validFrom: noon.advanced(by: -3_600),
                validTo: noon.advanced(by: end), geometry: try MultiPolygon(outline: ring).orMissing())
        }
        let aircraft = try ICAO24("abcdef").orMissing()
        let place = try LonLat(longitude: 1, latitude: 2).orMissing()
        let positions = [-4_000, -200, 0].map {
            AircraftPosition(icao24: aircraft, place: place, source: awc, observedAt: noon.advanced(by: $0))
        }
        _ = try await store.commit(Batch(source: awc, areas: areas, positions: positions))
        let pruned = try await store.prune(Pruning(before: noon))
        #expect(pruned.areas == 1 && pruned.positions == 2)
        #expect(try await store.areas(nil, from: .distantPast, to: .distantFuture, asOf: nil).map(\.id) == ["holds"])
        #expect(try await store.positions(from: .distantPast, to: .distantFuture, asOf: nil).count == 1)
    }

    @Test func positionsOfOtherSourcesStay() async throws {
        let store = try await makeStore()
        let place = try LonLat(longitude: 1, latitude: 2).orMissing()
        for name in ["awc", "skypath"] {
            let positions = try [-4_000, -200].map {
                AircraftPosition(
                    icao24: try ICAO24("abcdef").orMissing(), place: place, source: try source(name),
                    observedAt: noon.advanced(by: $0))
            }
            _ = try await store.commit(Batch(source: try source(name), positions: positions))
        }
        #expect(try await store.prune(Pruning(before: noon, sources: [try source("awc")])).positions == 2)
        let left = try await store.positions(from: .distantPast, to: .distantFuture, asOf: nil)
        #expect(left.map(\.source) == [try source("skypath"), try source("skypath")])
    }

    @Test func aDeletionThatPicturesLoseByMakesAllOfThemOthers() async throws {
        let store = try await makeStore()
        _ = try await store.commit(observation(cell: 1, at: -7_200), observation(cell: 2, at: -7_100))
        let before = try await store.head()
        let pruning = Pruning(before: noon.advanced(by: -7_150), changesPictures: true)
        #expect(try await store.prune(pruning).observations == 1)
        let after = try await store.head()
        #expect(after.version.rawValue == before.version.rawValue + 1 && after.log != before.log)
        let left = SeenData.observed(.observations, at: noon.advanced(by: -7_090), lookBackSeconds: 60)
        #expect(try await store.lastChange(of: left) == after.version)
        #expect(try await store.lastChange(of: .areas(.hazards, at: noon)) == after.version)
        // Where there was nothing to delete, nothing becomes another.
        #expect(try await store.prune(pruning).isNothing)
        #expect(try await store.head() == after)
    }
}
