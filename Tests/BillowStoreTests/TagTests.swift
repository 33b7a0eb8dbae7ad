import Foundation
import GRDB
import Geometry
import Testing
import Turbulence

@testable import BillowStore

@Suite("Keys of observations that an attacker or a crowd sends")
struct TagTests {
    /// The longest run of keys without a gap: what a search has to walk.
    private func longestChain(_ store: SQLiteStore) async throws -> Int {
        let keys = try await store.pool.read {
            try Int64.fetchAll($0, sql: "SELECT key FROM observation ORDER BY key")
        }
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

    @Test("many reports of one place and second don't stand in each other's way")
    func oneplaceAndSecond() async throws {
        let store = try await makeStore()
        let reports = try (0..<2_000).map { try observation(severity: nil, edr: $0, source: "awc") }
        #expect(try await store.commit(Batch(source: nil, observations: reports)).accepted == 2_000)
        #expect(try await store.commit(Batch(source: nil, observations: reports)).duplicates == 2_000)
        #expect(try await longestChain(store) < 8)
    }

    @Test("an observation that is corrected again and again leaves no chain behind")
    func corrections() async throws {
        let store = try await makeStore()
        let values = try (0..<500).map { try observation(id: "a", severity: nil, edr: $0, source: "awc") }
        #expect(try await store.commit(Batch(source: nil, observations: values)).corrected == 499)
        for value in values.prefix(20) { #expect(try await store.commit(value).corrected == 1) }
        #expect(try await longestChain(store) < 8)
    }

    @Test("values of one place and second in one batch leave one chain, and the last of them counts")
    func computedValues() async throws {
        let store = try await makeStore()
        let values = try (0..<1_000).map { try observation(severity: nil, edr: $0) }
        let result = try await store.commit(Batch(source: nil, observations: values))
        #expect(result.accepted == 1_000 && result.corrected == 999)
        #expect(try await store.contents() == [values[999]])
        #expect(try await store.commit(values[999]).duplicates == 1)
    }

    @Test("contents collide in one database only")
    func secret() async throws {
        let reports = try (0..<50).map { try observation(cell: 20_000 + $0, source: "awc") }
        var tags: [[Int64]] = []
        for _ in 0..<2 {
            let store = try await makeStore()
            _ = try await store.commit(Batch(source: nil, observations: reports))
            tags.append(
                try await store.pool.read { try Int64.fetchAll($0, sql: "SELECT key FROM observation ORDER BY cell") })
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

    @Test("a source that gets another merge rule still knows its observations")
    func changedRule() async throws {
        let store = try await makeStore()
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

    // MARK: A database of an earlier version

    /// Rows as the version before keyed tags wrote them: of a computed source, of reports, several of one place and
    /// second, a closed one, and one with an id.
    private func earlierDatabase(_ path: String) async throws -> [Observation] {
        let standing = [
            try observation(severity: 3), try observation(cell: 20_001, at: 1),
            try observation(severity: 1, source: "awc"), try observation(severity: 2, source: "awc"),
            try observation(severity: 4, edr: 4_000, source: "awc"),
            try observation(id: "named", severity: 2, at: 2, source: "awc"),
        ]
        // As billow of a3a5e24 stored them, computed by the Python description of its tags; chains by the next free
        // key.
        #expect(ContentHash.tag(of: standing[0]) == 0x333d_79c0)
        let earlier = try DatabaseQueue(path: path)
        try Schema.migrator.migrate(earlier, upTo: "11 unbroken fetches")
        try await earlier.write { db in
            try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
            for (number, (name, rule)) in [("skypath", 1), ("awc", 0)].enumerated() {
                try db.execute(
                    sql: "INSERT INTO source (number, name, mergeRule, simulated) VALUES (?, ?, ?, 0)",
                    arguments: [number, name, rule])
            }
            func insert(_ observation: Observation, until: Int?) throws {
                var key = ObservationKey(observedAt: observation.observedAt, tag: ContentHash.tag(of: observation))
                while try Int64.fetchOne(
                    db, sql: "SELECT key FROM observation WHERE key = ?", arguments: [key.rawValue]) != nil
                { key = key.next }
                try db.execute(
                    sql: """
                        INSERT INTO observation (key, cell, altitudeMin, altitudeMax, severity, edr, source, kind, since,
                            until, externalId) VALUES (?, ?, 38000, 38000, ?, ?, ?, 0, 1, ?, ?)
                        """,
                    arguments: [
                        key.rawValue, Int64(bitPattern: observation.cell.h3),
                        observation.intensity.severity.map { Int($0.rawValue) },
                        observation.intensity.edr.map { Int($0.tenThousandths) },
                        observation.source.name == "awc" ? 1 : 0, until, observation.id,
                    ])
            }
            // What was corrected before stands first in the chain.
            try insert(observation(severity: 1), until: 2)
            for observation in standing { try insert(observation, until: nil) }
            try db.execute(sql: "UPDATE head SET version = 2")
        }
        try earlier.close()
        return standing
    }

    @Test("what an earlier version stored is found, corrected and deleted as before")
    func earlier() async throws {
        let folder = try TemporaryFolder()
        let standing = try await earlierDatabase(folder.path("a.sqlite"))
        let store = try await SQLiteStore.open(path: folder.path("a.sqlite"))
        #expect(try await Set(store.contents()) == Set(standing))
        let head = try await store.head()
        #expect(try await store.commit(Batch(source: nil, observations: standing)).duplicates == standing.count)
        #expect(try await store.head() == head)
        // A computed value is corrected where it stands, once; an id too.
        let corrected = try observation(severity: 4)
        #expect(try await store.commit(corrected).corrected == 1)
        #expect(try await store.commit(corrected).duplicates == 1)
        #expect(try await store.commit(observation(severity: 3)).corrected == 1)
        let named = try observation(id: "named", severity: 3, at: 2, source: "awc")
        #expect(try await store.commit(named).corrected == 1)
        #expect(try await store.contents().count == standing.count)
        // An independent report of the same place and second stands beside.
        #expect(try await store.commit(observation(severity: 3, source: "awc")).accepted == 1)
        #expect(try await store.problems().isEmpty)
        // Opening it again changes nothing, least of all the secret.
        try store.close()
        let again = try await SQLiteStore.open(path: folder.path("a.sqlite"))
        #expect(try await again.commit(Batch(source: nil, observations: Array(standing[1...4]))).duplicates == 4)
        let all = try await again.contents().count
        #expect(try await again.prune(Pruning(before: noon.advanced(by: 60))).observations >= all)
        #expect(try await again.contents().isEmpty)
    }

    @Test("a chain that an earlier version left is read once a batch, however many observations fall on it")
    func earlierChain() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        _ = try await earlierDatabase(path)
        let reports = try (0..<1_500).map { try observation(severity: nil, edr: $0, source: "awc") }
        let file = try DatabaseQueue(path: path)
        let first = ObservationKey(observedAt: noon, tag: ContentHash.tag(of: reports[0]))
        try await file.write { db in
            for (number, report) in reports.enumerated() {
                try db.execute(
                    sql: """
                        INSERT INTO observation (key, cell, altitudeMin, altitudeMax, edr, source, kind, since)
                        VALUES (?, ?, 38000, 38000, ?, 1, 0, 1)
                        """,
                    arguments: [
                        first.rawValue + 1_000 + Int64(number), Int64(bitPattern: report.cell.h3), number,
                    ])
            }
            // The chain from its first key on has no gap.
            for number in 0..<1_000 {
                try db.execute(
                    sql: """
                        INSERT OR IGNORE INTO observation
                            (key, cell, altitudeMin, altitudeMax, severity, source, kind, since, until)
                        VALUES (?, ?, 38000, 38000, 0, 1, 0, 1, 2)
                        """,
                    arguments: [first.rawValue + Int64(number), Int64(bitPattern: reports[0].cell.h3)])
            }
        }
        try file.close()
        let store = try await SQLiteStore.open(path: path)
        let began = ContinuousClock.now
        #expect(try await store.commit(Batch(source: nil, observations: reports)).duplicates == 1_500)
        let new = try (0..<1_500).map { try observation(severity: 2, edr: $0, source: "awc") }
        #expect(try await store.commit(Batch(source: nil, observations: new)).accepted == 1_500)
        // Walking it for each would be 7 million rows: minutes. A minute is for the slowest machine.
        #expect(ContinuousClock.now - began < .seconds(60))
    }

    // MARK: Transactions

    @Test("a batch that takes long is divided, and the parts are the whole")
    func divided() async throws {
        let folder = try TemporaryFolder()
        let store = try await SQLiteStore.open(
            path: folder.path("a.sqlite"), temporaryFolder: nil, longestTransaction: .zero)
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
