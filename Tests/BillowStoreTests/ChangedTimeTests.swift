import Datasets
import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

@Suite("When visible data last changed")
struct ChangedTimeTests {
    private func seen(at seconds: Int, lookBack: Int, _ kind: ObservedTable = .observations) -> FrameDependency {
        .observed(kind, at: noon.advanced(by: seconds), lookBackSeconds: lookBack)
    }

    @Test("a change is seen by the pictures whose history holds it and by no other", arguments: StoreKind.all)
    func aChangeIsSeenByThePicturesWhoseHistoryHoldsItAndByNoOther(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let first = try await store.commit(observation(at: -600)).version
        let second = try await store.commit(observation(at: -60)).version
        #expect(try await store.lastChange(of: seen(at: 0, lookBack: 1_800)) == second)
        #expect(try await store.lastChange(of: seen(at: -120, lookBack: 1_800)) == first)
        #expect(try await store.lastChange(of: seen(at: -1_200, lookBack: 1_800)) == .zero)
        #expect(try await store.lastChange(of: seen(at: 7_200, lookBack: 1_800)) == .zero)
        #expect(try await store.lastChange(of: seen(at: 0, lookBack: 1_800, .reports)) == .zero)
    }

    @Test("pictures at whole minutes see whole steps and nothing besides", arguments: StoreKind.all)
    func picturesAtWholeMinutesSeeWholeStepsAndNothingBesides(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let after = try await store.commit(observation(at: 1)).version
        #expect(try await store.lastChange(of: seen(at: 0, lookBack: 1_800)) == .zero)
        #expect(try await store.lastChange(of: seen(at: 60, lookBack: 1_800)) == after)
        let oldest = try await store.commit(observation(at: -1_800)).version
        #expect(oldest > after)
        #expect(try await store.lastChange(of: seen(at: 0, lookBack: 1_800)) == .zero)
        #expect(try await store.lastChange(of: seen(at: -60, lookBack: 1_800)) == oldest)
    }

    @Test("a correction and a retraction are changes where the row is", arguments: StoreKind.all)
    func aCorrectionAndARetractionAreChangesWhereTheRowIs(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let first = try await store.commit(observation(id: "a", severity: 1, at: -60)).version
        let corrected = try await store.commit(observation(id: "a", severity: 3, at: -60)).version
        #expect(try await store.lastChange(of: seen(at: 0, lookBack: 1_800)) == corrected)
        let gone = try await store.commit(
            Batch(
                source: try source("skypath"),
                retraction: Retraction(
                    from: noon.advanced(by: -600), to: noon, covers: { _ in true }, standing: [:]))
        ).version
        let data = seen(at: 0, lookBack: 1_800)
        #expect(try await store.lastChange(of: data) == gone)
        for version in [first, corrected, gone] { #expect(try await store.hasChange(of: data, at: version)) }
        #expect(try await !store.hasChange(of: data, at: Version(rawValue: gone.rawValue + 1)))
        #expect(try await !store.hasChange(of: seen(at: -120, lookBack: 1_800), at: first))
    }

    @Test("reports, positions, areas and rules have their own changed time", arguments: StoreKind.all)
    func reportsPositionsAreasAndRulesHaveTheirOwn(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let awc = try source("awc")
        let report = try await store.commit(Batch(source: nil, pilotReports: [pilotReport(at: -60)])).version
        let place = try LonLat(longitude: 1, latitude: 2).orMissing()
        let aircraft = try ICAO24("abcdef").orMissing()
        let position = try await store.commit(
            Batch(
                source: awc,
                positions: [
                    AircraftPosition(icao24: aircraft, place: place, source: awc, observedAt: noon.advanced(by: -20))
                ])
        ).version
        let ring = try [(0.0, 0.0), (1, 0), (1, 1), (0, 1)].map { try LonLat(longitude: $0, latitude: $1).orMissing() }
        let area = IssuedArea(
            collection: .hazards, id: "s", source: awc, kind: "sigmet", validFrom: noon,
            validTo: noon.advanced(by: 3_600), geometry: try MultiPolygon(outline: ring).orMissing())
        let issued = try await store.commit(Batch(source: awc, areas: [area])).version
        #expect(try await store.lastChange(of: seen(at: 0, lookBack: 1_800, .reports)) == report)
        #expect(try await store.lastChange(of: seen(at: 0, lookBack: 180, .positions)) == position)
        #expect(try await store.lastChange(of: .areas(.hazards, at: noon)) == issued)
        #expect(try await store.lastChange(of: .areas(.hazards, at: noon.advanced(by: 3_600))) == .zero)
        #expect(try await store.lastChange(of: .areas(.forecast, at: noon)) == .zero)
        #expect(try await store.hasChange(of: .areas(.hazards, at: noon), at: issued))
        #expect(try await store.hasChange(of: seen(at: 0, lookBack: 1_800, .reports), at: report))
        #expect(try await store.hasChange(of: seen(at: 0, lookBack: 180, .positions), at: position))

        _ = try await store.register(awc, merge: .replace, simulated: false)
        let rules = try await store.head().version
        #expect(rules > issued)
        #expect(try await store.lastChange(of: seen(at: -9_000, lookBack: 1_800)) == rules)
        let all = try await store.changedTimes(since: report, from: noon.advanced(by: -3_600))
        #expect(all.rules == rules)
        #expect(all.steps.map(\.kind) == [.positions])
        #expect(all.areas.map(\.version) == [issued])
    }

    @Test(
        "it is the last version that a plain look through all versions finds", arguments: StoreKind.all,
        1...4 as ClosedRange<UInt64>)
    func itIsTheLastVersionThatAPlainLookThroughAllVersionsFinds(_ kind: StoreKind, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let store = try await makeStore(kind)
        var touched: [(version: Version, seconds: Int)] = []
        for _ in 0..<40 {
            let observations = try Set((0..<6).map { _ in Int.random(in: 0..<12, using: &random) }).sorted().map { id in
                try observation(
                    id: "\(id)", cell: Int.random(in: 0..<5, using: &random),
                    severity: Int.random(in: 0...4, using: &random), at: Int.random(in: -1_000...0, using: &random))
            }
            let before = try await store.changes(since: .zero).opened
            let result = try await store.commit(Batch(source: nil, observations: observations))
            guard result.changed else { continue }
            let after = try await store.changes(since: .zero).opened
            for row in Set(before).symmetricDifference(Set(after)) {
                touched.append((result.version, row.observedAt.seconds - noon.seconds))
            }
        }
        for _ in 0..<60 {
            let at = Int.random(in: -120...12, using: &random) * 10
            let lookBack = Int.random(in: 1...60, using: &random) * 10
            let data = seen(at: at, lookBack: lookBack)
            let expected = touched.filter { $0.seconds > at - lookBack && $0.seconds <= at }
            #expect(try await store.lastChange(of: data) == expected.map(\.version).max() ?? .zero)
            for version in 1...(try await store.head().version.rawValue) {
                let version = Version(rawValue: version)
                let was = expected.contains { $0.version == version }
                #expect(try await store.hasChange(of: data, at: version) == was)
            }
        }
    }
}
