import Foundation
import GRDB
import Geometry
import Testing
import Turbulence

@testable import BillowStore

@Suite("Keys of observations that an attacker or a crowd sends")
struct TagTests {
    /// The longest run of keys without a gap: what a search has to walk.
    private func longestChain(_ store: any SQLStore) async throws -> Int {
        let keys = try await store.values("SELECT key FROM observation ORDER BY key")
        var longest = 0
        var run = 0
        var last: Int64 = -2
        for key in keys {
            run = key == last + 1 ? run + 1 : 1
            longest = max(longest, run)
            last = key
        }
        return longest
    }

    @Test("many reports of one place and second don't stand in each other's way", arguments: StoreKind.all)
    func oneplaceAndSecond(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let reports = try (0..<2_000).map { try observation(severity: nil, edr: $0, source: "awc") }
        #expect(try await store.commit(Batch(source: nil, observations: reports)).accepted == 2_000)
        #expect(try await store.commit(Batch(source: nil, observations: reports)).duplicates == 2_000)
        #expect(try await longestChain(store) < 8)
    }

    @Test("an observation that is corrected again and again leaves no chain behind", arguments: StoreKind.all)
    func corrections(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let values = try (0..<500).map { try observation(id: "a", severity: nil, edr: $0, source: "awc") }
        #expect(try await store.commit(Batch(source: nil, observations: values)).corrected == 499)
        for value in values.prefix(20) { #expect(try await store.commit(value).corrected == 1) }
        #expect(try await longestChain(store) < 8)
    }

    @Test(
        "values of one place and second in one batch leave one chain, and the last of them counts",
        arguments: StoreKind.all)
    func computedValues(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let values = try (0..<1_000).map { try observation(severity: nil, edr: $0) }
        let result = try await store.commit(Batch(source: nil, observations: values))
        #expect(result.accepted == 1_000 && result.corrected == 999)
        #expect(try await store.contents() == [values[999]])
        #expect(try await store.commit(values[999]).duplicates == 1)
    }

    @Test("contents collide in one database only", arguments: StoreKind.all)
    func secret(_ kind: StoreKind) async throws {
        let reports = try (0..<50).map { try observation(cell: 20_000 + $0, source: "awc") }
        var tags: [[Int64]] = []
        for _ in 0..<2 {
            let store = try await makeStore(kind)
            _ = try await store.commit(Batch(source: nil, observations: reports))
            tags.append(
                try await store.values("SELECT key FROM observation ORDER BY cell"))
        }
        #expect(zip(tags[0], tags[1]).allSatisfy { $0 != $1 })
    }

    @Test("the secret goes along with a backup, so the copy knows its observations")
    func backup() async throws {
        let folder = try TemporaryFolder()
        let store = try await makeStore()
        let reports = try (0..<50).map { try observation(cell: 20_000 + $0, source: "awc") }
        _ = try await store.commit(Batch(source: nil, observations: reports))
        try await store.backup(to: folder.path("copy.sqlite"))
        let copy = try await SQLiteStore.open(path: folder.path("copy.sqlite"))
        #expect(try await copy.commit(Batch(source: nil, observations: reports)).duplicates == 50)
    }

    @Test("a source that gets another merge rule still knows its observations", arguments: StoreKind.all)
    func changedRule(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let awc = try source("awc")
        let reports = try (0..<20).map { try observation(severity: 1 + $0 % 3, at: $0, source: "awc") }
        _ = try await store.commit(Batch(source: nil, observations: reports))
        _ = try await store.register(awc, merge: .replace, simulated: false)
        #expect(try await store.commit(Batch(source: nil, observations: reports)).duplicates == 20)
        let later = try (0..<20).map { try observation(at: 100 + $0, source: "awc") }
        _ = try await store.commit(Batch(source: nil, observations: later))
        _ = try await store.register(awc, merge: .keep, simulated: false)
        #expect(try await store.commit(Batch(source: nil, observations: reports + later)).duplicates == 40)
    }

    // MARK: Transactions

    @Test("a batch that takes long is divided, and the parts are the whole", arguments: StoreKind.all)
    func divided(_ kind: StoreKind) async throws {
        let place = try await kind.place()
        let store = try await place.open(longestTransaction: .zero)
        for name in ["skypath", "awc"] { _ = try await store.register(source(name), merge: .keep, simulated: false) }
        let observations = try (0..<1_000).map {
            try observation(id: $0 % 4 == 0 ? "id\($0)" : nil, cell: 20_000 + $0, at: $0 % 7)
        }
        let reports = try (0..<300).map { try pilotReport(id: "r\($0)") }
        let batch = Batch(source: nil, observations: observations, pilotReports: reports)
        let result = try await store.commit(batch)
        #expect(result.accepted == 1_000 && result.pilotReports == 300)
        #expect(result.version.rawValue > 5)
        #expect(try await store.head().version == result.version)
        #expect(try await Set(store.contents()) == Set(observations))
        let again = try await store.commit(batch)
        #expect(again.duplicates == 1_000 && !again.changed && again.version == result.version)
        // What belongs to a fetch is one transaction.
        let skypath = try source("skypath")
        let fetched = try (0..<1_000).map { try observation(cell: 30_000 + $0) }
        let whole = try await store.commit(Batch(source: skypath, observations: fetched, fetchedAt: noon))
        #expect(whole.version.rawValue == result.version.rawValue + 1)
    }
}
