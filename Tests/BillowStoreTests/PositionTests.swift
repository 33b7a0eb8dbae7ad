import Geometry
import Testing
import Turbulence

@testable import BillowStore

@Suite("Positions in the log")
struct PositionTests {
    @Test("what is written is read back and the same again changes nothing", arguments: StoreKind.all)
    func whatIsWrittenIsReadBackAndTheSameAgainChangesNothing(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let positions = [try position("4ca1fa", at: 0), try position("a00001", at: 0)]
        let result = try await store.commit(Batch(source: nil, positions: positions))
        #expect(result.positions == 2 && result.changed)
        #expect(try await store.commit(Batch(source: nil, positions: positions)).version == result.version)
        let read = try await store.positions(from: noon, to: noon.advanced(by: 1), asOf: nil)
        #expect(read.sorted { $0.icao24 < $1.icao24 } == positions)
        #expect(try await store.changes(since: .zero).positions.count == 2)
        #expect(try await store.changes(since: result.version).positions.isEmpty)
    }

    @Test("a track is one aircraft in order across buckets", arguments: StoreKind.all)
    func aTrackIsOneAircraftInOrderAcrossBuckets(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let times = [0, 170, 180, 1_000, 50_000]
        for time in times.reversed() {
            _ = try await store.commit(
                Batch(source: nil, positions: [position("4ca1fa", at: time), position("4ca1fb", at: time)]))
        }
        let aircraft = try ICAO24("4CA1FA").orMissing()
        let track = try await store.track(of: aircraft, from: .distantPast, to: .distantFuture)
        #expect(track.map { $0.observedAt.seconds - noon.seconds } == times)
        #expect(track.allSatisfy { $0.icao24 == aircraft })
        let part = try await store.track(of: aircraft, from: noon.advanced(by: 170), to: noon.advanced(by: 1_000))
        #expect(part.map { $0.observedAt.seconds - noon.seconds } == [170, 180])
        #expect(
            try await store.positions(from: noon.advanced(by: 170), to: noon.advanced(by: 181), asOf: nil).count == 4)
    }
}
