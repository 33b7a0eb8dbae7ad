import Geometry
import Testing
import Turbulence

@testable import BillowStore

@Suite("Requested areas of a source")
struct CoveredAreaTests {
    private func ring(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> AreaRing {
        try AreaRing(
            [(west, south), (east, south), (east, north), (west, north), (west, south)].map {
                try LonLat(longitude: $0.0, latitude: $0.1).orMissing()
            })
    }

    private func change(
        _ rings: [AreaRing?], kind: FeedKind = .observations, part: String = "corridor", since: Int,
        at seconds: Int? = nil, isContinued: Bool = true, lastFetch: Int? = nil
    ) -> CoverageChange {
        CoverageChange(
            kind: kind, part: part, rings: rings, since: noon.advanced(by: since),
            at: noon.advanced(by: seconds ?? max(since, lastFetch ?? since)), isContinued: isContinued,
            lastFetch: lastFetch.map { noon.advanced(by: $0) })
    }

    private func areas(_ store: any SQLStore) async throws -> [CoveredArea] {
        try await store.state().sources.first { $0.id.name == "skypath" }.orMissing().coveredAreas
    }

    private func area(_ ring: AreaRing?, _ since: Int, _ until: Int?, _ kind: FeedKind = .observations) -> CoveredArea {
        CoveredArea(
            kind: kind, ring: ring, since: noon.advanced(by: since), until: until.map { noon.advanced(by: $0) })
    }

    @Test(
        "former areas are kept with their time, exactly as they were given, across a restart", arguments: StoreKind.all)
    func history(_ kind: StoreKind) async throws {
        let place = try await kind.place()
        let store = try await place.open()
        let skypath = try source("skypath")
        _ = try await store.register(skypath, merge: .replace, simulated: false)
        // Over the antimeridian, and with more digits than a text would keep.
        let (spain, pacific) = (try ring(-12, 40, 0.1 + 0.2, 50), try ring(170, -10, 190, 10))
        func commit(_ changes: CoverageChange...) async throws {
            _ = try await store.commit(Batch(source: skypath, coverage: changes))
        }
        try await commit(change([spain], since: -7_200))
        // A round later.
        try await commit(change([spain], since: -7_200, lastFetch: 0))
        #expect(try await areas(store) == [area(spain, -7_200, nil)])
        try await commit(
            change([pacific], since: -7_100, isContinued: false, lastFetch: 60),
            change([nil], kind: .positions, part: "", since: 100))
        let expected = [
            area(spain, -7_200, 60), area(pacific, -7_100, nil), area(nil, 100, nil, .positions),
        ]
        #expect(try await areas(store) == expected)
        let again = try await place.open()
        #expect(try await areas(again) == expected)
        // No longer requested, and requested again after a gap.
        try await commit(change([], since: 0, isContinued: false, lastFetch: 200))
        try await commit(change([pacific], since: 900, isContinued: false, lastFetch: 200))
        #expect(
            try await areas(store) == [
                area(spain, -7_200, 60), area(pacific, -7_100, 200), area(nil, 100, nil, .positions),
                area(pacific, 900, nil),
            ])
    }

    @Test(
        "an area that was never fetched leaves nothing, and of many former ones the newest are kept",
        arguments: StoreKind.all)
    func bounds(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let skypath = try source("skypath")
        for number in 0..<150 {
            let view = try ring(Double(number), 0, Double(number) + 1, 1)
            let change = change(
                [view], part: "viewport", since: number, isContinued: false, lastFetch: number == 0 ? nil : number)
            _ = try await store.commit(Batch(source: skypath, coverage: [change]))
        }
        let kept = try await areas(store)
        #expect(kept.count == 101 && kept.compactMap(\.until).min() == noon.advanced(by: 50))
        #expect(kept.last == area(try ring(149, 0, 150, 1), 149, nil))
        _ = try await store.commit(
            Batch(source: skypath, coverage: [change([], part: "viewport", since: 200, isContinued: false)]))
        #expect(try await areas(store).allSatisfy { $0.until != nil })
    }

    @Test("what a clock that was ahead noted of an area ends when the clock is right", arguments: StoreKind.all)
    func clockAhead(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let skypath = try source("skypath")
        let (spain, view) = (try ring(-12, 40, 0, 50), try ring(10, 40, 20, 50))
        func commit(_ changes: CoverageChange...) async throws {
            _ = try await store.commit(Batch(source: skypath, coverage: changes))
        }
        let ahead = 2 * 86_400
        // With the clock ahead, an area is requested, and a viewport that is removed again.
        try await commit(
            change([spain], kind: .positions, part: "", since: ahead),
            change([view], part: "viewport", since: ahead, isContinued: false))
        try await commit(change([], part: "viewport", since: ahead + 60, isContinued: false, lastFetch: ahead + 30))
        #expect(try await areas(store).count == 2)
        // The clock is right: the time of the earlier fetch is unknown.
        try await commit(
            change([spain], kind: .positions, part: "", since: 0, at: 0, lastFetch: ahead + 60),
            change([], part: "viewport", since: 0, at: 0, isContinued: false, lastFetch: ahead + 30))
        #expect(try await areas(store) == [area(spain, 0, nil, .positions)])
        // And one that is known to continue, from earlier than noted.
        try await commit(change([spain], kind: .positions, part: "", since: -60, at: 60, lastFetch: 0))
        #expect(try await areas(store) == [area(spain, -60, nil, .positions)])
    }

    @Test(
        "after a clock that was ahead a kind of data is fetched without a gap from the next fetch on",
        arguments: StoreKind.all)
    func fetchedAhead(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let skypath = try source("skypath")
        func since(_ seconds: Int) async throws -> Instant? {
            let at = noon.advanced(by: seconds)
            _ = try await store.commit(Batch(source: skypath, fetchedKinds: [.positions: at]))
            return try await store.sources().first { $0.id == skypath }?.fetchedSince[.positions]
        }
        #expect(try await since(0) == noon)
        #expect(try await since(60) == noon)
        // A clock ahead, then an unknown number of hours without a fetch.
        #expect(try await since(2 * 86_400) == noon.advanced(by: 2 * 86_400))
        #expect(try await since(120) == noon.advanced(by: 120))
        #expect(try await since(700) == noon.advanced(by: 120))
        #expect(try await since(700 + 800) == noon.advanced(by: 120))
        #expect(try await since(1_200) == noon.advanced(by: 120), "a clock may be set back a little")
    }

    @Test("deleted times are no longer covered", arguments: StoreKind.all)
    func deletion(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let skypath = try source("skypath")
        _ = try await store.commit(try observation(at: -10_000))
        let spain = try ring(-12, 40, 0, 50)
        _ = try await store.commit(
            Batch(source: skypath, coverage: [change([spain], since: -20_000)], fetchedAt: noon, completeSince: noon))
        _ = try await store.commit(
            Batch(
                source: skypath,
                coverage: [change([nil], since: -9_500, isContinued: false, lastFetch: -9_000)]))
        _ = try await store.prune(Pruning(before: noon.advanced(by: -9_200), sources: nil))
        #expect(try await areas(store) == [area(spain, -9_200, -9_000), area(nil, -9_200, nil)])
    }
}
