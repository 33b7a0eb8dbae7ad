import Testing
import Turbulence

@testable import BillowStore

@Suite("The time that stored data confirms")
struct ConfirmedTimeTests {
    private static let week = 7 * 86_400
    private static let day = 86_400

    private func confirmed(_ store: any SQLStore) async throws -> Int? {
        try await store.confirmedTime(retentionSeconds: Self.week).map { $0.seconds - noon.seconds }
    }

    private func send(_ store: any SQLStore, by reporter: String?, at seconds: [Int]) async throws {
        let observations = try seconds.map { try observation(id: "\(reporter ?? "")\($0)", at: $0) }
        _ = try await store.commit(Batch(source: nil, observations: observations, reporter: reporter))
    }

    @Test("nothing and a single record confirm nothing; the second newest of two does", arguments: StoreKind.all)
    func few(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        #expect(try await confirmed(store) == nil)
        try await send(store, by: nil, at: [0])
        #expect(try await confirmed(store) == nil)
        try await send(store, by: nil, at: [100])
        #expect(try await confirmed(store) == 0)
    }

    @Test(
        "a lone observation of the future confirms nothing, whatever its reporter", arguments: StoreKind.all,
        [nil, "a"])
    func loneFuture(_ kind: StoreKind, reporter: String?) async throws {
        let store = try await makeStore(kind)
        try await send(store, by: nil, at: [-60, -30, 0])
        try await send(store, by: reporter, at: [30 * Self.day])
        #expect(try await confirmed(store) == 0)
    }

    @Test(
        "however much one reporter says, it doesn't move the time of others; a second one that agrees does",
        arguments: StoreKind.all)
    func oneReporter(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        try await send(store, by: nil, at: Array(stride(from: -8 * Self.day, through: 0, by: 3_600)))
        try await send(store, by: "a", at: (0..<500).map { 30 * Self.day + $0 } + [400 * Self.day])
        #expect(try await confirmed(store) == 0)
        try await send(store, by: "b", at: [30 * Self.day])
        #expect(try await confirmed(store) == 30 * Self.day)
    }

    @Test(
        "one reporter alone confirms the time by a whole retention of its own, and one record more moves it by little",
        arguments: StoreKind.all)
    func alone(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        try await send(store, by: "a", at: (0..<250).map { $0 })
        #expect(try await confirmed(store) == nil)
        try await send(store, by: "a", at: Array(stride(from: 3_600, through: 8 * Self.day, by: 3_600)))
        #expect(try await confirmed(store).map { $0 > 7 * Self.day && $0 <= 8 * Self.day - Self.week / 8 } == true)
        try await send(store, by: "a", at: [8 * Self.day + 75_000, 40 * Self.day, 400 * Self.day])
        #expect(try await confirmed(store).map { $0 <= 8 * Self.day } == true)
    }

    @Test("new data makes an old archive old", arguments: StoreKind.all)
    func archive(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        try await send(store, by: nil, at: (-100..<0).map { -400 * Self.day + $0 })
        try await send(store, by: nil, at: [0, 60])
        #expect(try await confirmed(store) == 0)
    }

    @Test("reports, areas and positions have a say, and pages that can't be read have none", arguments: StoreKind.all)
    func otherKinds(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(
            Batch(source: nil, pilotReports: [try pilotReport(id: "a", at: 50), try pilotReport(id: "b", at: 70)]))
        #expect(try await confirmed(store) == 50)
        try await send(store, by: "a", at: [90])
        #expect(try await confirmed(store) == 70)
        let positions = [try position("000001", at: 900), try position("000002", at: 901)]
        _ = try await store.commit(Batch(source: nil, positions: positions))
        #expect(try await confirmed(store).map { $0 > 700 && $0 <= 900 } == true)
    }
}
