import Datasets
import Foundation
import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowPostgreSQL
@testable import BillowStore

@Suite("Copying a file into PostgreSQL")
struct MigrationTests {
    private struct Stopped: Error {}

    private func makeLog(rows: Int) async throws -> SQLiteStore {
        let store = try await makeStore()
        try await fill(store, rows: rows)
        return store
    }

    /// The changes since a version, in an order of their own.
    private struct Delta: Equatable {
        var rows: [[ObservationRow]]
        var reports: [[PilotReport]]
        var areas: [[IssuedArea]]
        var positions: [AircraftPosition]
        var extent: LogExtent

        init(_ changes: Changes) {
            rows = [changes.opened, changes.closed].map { $0.sorted { $0.key < $1.key } }
            reports = [changes.openedReports, changes.closedReports].map { $0.sorted { $0.text < $1.text } }
            areas = [changes.openedAreas, changes.closedAreas].map {
                $0.sorted { ($0.id, $0.text ?? "") < ($1.id, $1.text ?? "") }
            }
            positions = changes.positions.sorted { ($0.observedAt, $0.icao24) < ($1.observedAt, $1.icao24) }
            extent = changes.extent
        }
    }

    /// Everything that a log says about itself and its rows.
    private struct Everything: Equatable {
        var head: Head
        var sources: [SourceRecord]
        var keys: [AccessKey]
        var deltas: [Delta] = []
        var observations: [Observation]
        var state: [[String: String]]
        var override: String?
        var flights: [MonitoredFlight]
        var parts: [ArchivePart]
        var packed: [UInt8]?

        init(_ store: any SQLStore) async throws {
            let awc = try source("awc")
            head = try await store.head()
            sources = try await store.sources()
            keys = try await store.accessKeys()
            for version in 0...head.version.rawValue {
                deltas.append(Delta(try await store.changes(since: Version(rawValue: version))))
            }
            observations = try await store.contents()
            state = try await [store.cursors(of: awc), store.values(of: awc)]
            override = try await store.persistedOverride(of: awc)
            flights = try await store.monitoredFlights()
            parts = try await store.packedParts()
            packed = try await store.packed(ArchivePart(noon), asOf: head.version)
        }
    }

    @Test("the copy is the same log, and goes on as the file would")
    func same() async throws {
        let file = try await makeLog(rows: 2_000)
        let address = try await PostgreSQLCluster.shared().address()
        let outcome = try await LogMigration(from: file, to: address).run()
        #expect(!outcome.wasComplete)
        #expect(outcome.counts.first { $0.table.name == "observation" }?.rows ?? 0 > 1_900)
        let copy = try await PostgreSQLStore.open(address)
        let (wanted, found) = try await (Everything(file), Everything(copy))
        let isSame = wanted == found
        #expect(isSame)
        #expect(try await copy.problems() == [])
        // The tags have the same secret, so the same observation is found.
        let again = try (0..<100).map {
            try observation(
                id: $0 % 3 == 0 ? "é\u{0}\($0)" : nil, cell: 20_000 + $0 % 50, severity: $0 % 5, at: $0,
                source: $0 % 2 == 0 ? "awc" : "skypath", aircraft: $0 % 4 == 0 ? "B77W" : nil)
        }
        var batch = Batch(source: nil, observations: again)
        batch.reporter = "key2"
        let results = try await (file.commit(batch), copy.commit(batch))
        #expect(results.0 == results.1)
    }

    @Test("a table of somebody else that is locked doesn't hold a migration up")
    func locked() async throws {
        let file = try await makeLog(rows: 50)
        let address = try await PostgreSQLCluster.shared().address()
        try await PostgreSQLStore.execute("CREATE TABLE foreignTable (number BIGINT)", at: address)
        let holder = Task {
            try await PostgreSQLStore.execute(
                "BEGIN; LOCK TABLE foreignTable IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(250)", at: address)
        }
        var isLocked = false
        for _ in 0..<10_000 where !isLocked {
            do {
                try await PostgreSQLStore.execute("LOCK TABLE foreignTable IN SHARE MODE NOWAIT", at: address)
                try await Task.sleep(for: .milliseconds(10))
            } catch is StoreError { isLocked = true }
        }
        try #require(isLocked)
        let outcome = try await LogMigration(from: file, to: address).run()
        #expect(outcome.counts.first { $0.table.name == "observation" }?.rows ?? 0 > 0)
        #expect(!holder.isCancelled)
        holder.cancel()
        await #expect(throws: StoreError.self) { try await holder.value }
    }

    @Test("an interrupted migration opens nowhere, and goes on where it stopped", arguments: [1, 4, 9, 14])
    func interrupted(pages: Int) async throws {
        let file = try await makeLog(rows: 200)
        let address = try await PostgreSQLCluster.shared().address()
        let copied = Counter()
        await #expect(throws: StoreError.self) {
            try await LogMigration(from: file, to: address).run { (_, _) throws(StoreError) in
                copied.add()
                if copied.value == pages { throw .failed("killed") }
            }
        }
        let error = await #expect(throws: StoreError.self) { try await PostgreSQLStore.open(address) }
        #expect(error?.description.contains("isn't finished") == true)
        let before = copied.value
        _ = try await LogMigration(from: file, to: address).run { (_, _) throws(StoreError) in copied.add() }
        let copy = try await PostgreSQLStore.open(address)
        let isSame = try await Everything(file) == Everything(copy)
        #expect(isSame)
        // Nothing was copied twice: a page whose rows are all there is empty.
        let whole = Counter()
        let other = try await PostgreSQLCluster.shared().address()
        _ = try await LogMigration(from: file, to: other).run { (_, _) throws(StoreError) in whole.add() }
        #expect(copied.value == whole.value && before == pages)
    }

    @Test("a complete migration is compared when it is given again, and a log that went on is not changed")
    func again() async throws {
        let file = try await makeLog(rows: 50)
        let address = try await PostgreSQLCluster.shared().address()
        let first = try await LogMigration(from: file, to: address).run()
        let second = try await LogMigration(from: file, to: address).run { (_, _) throws(StoreError) in
            Issue.record("a row was copied")
        }
        #expect(second.wasComplete && second.counts.map(\.rows) == first.counts.map(\.rows))
        let copy = try await PostgreSQLStore.open(address)
        func refusal() async -> String {
            let error = await #expect(throws: StoreError.self) { try await LogMigration(from: file, to: address).run() }
            return error?.description ?? ""
        }
        // Keys have no version.
        try await copy.add(
            AccessKey(
                id: "fedcba9876543210", name: "k", hash: String(repeating: "b", count: 64), scopes: .read,
                createdAt: noon))
        var text = await refusal()
        #expect(text.contains("of table accessKey is not as in the file") && !text.contains("empty"), "\(text)")
        _ = try await copy.commit(observation(at: 7_000))
        text = await refusal()
        #expect(text.contains("has this log already") && text.contains("the database went on by 1 versions"), "\(text)")
        for number in 0..<3 { _ = try await file.commit(observation(at: 8_000 + number)) }
        text = await refusal()
        #expect(text.contains("the file was written after the migration, by 2"), "\(text)")
        #expect(try await copy.problems() == [])
    }

    @Test("a target with data and a changed file are refused, and so is a row that differs")
    func refused() async throws {
        let file = try await makeLog(rows: 50)
        let address = try await PostgreSQLCluster.shared().address()
        let store = try await PostgreSQLStore.open(address)
        _ = try await store.register(source("awc"), merge: .keep, simulated: false)
        var error = await #expect(throws: StoreError.self) { try await LogMigration(from: file, to: address).run() }
        #expect(error?.description.contains("use an empty database") == true)

        let other = try await PostgreSQLCluster.shared().address()
        let pages = Counter()
        await #expect(throws: StoreError.self) {
            try await LogMigration(from: file, to: other).run { (_, _) throws(StoreError) in
                pages.add()
                if pages.value == 12 { throw .failed("killed") }
            }
        }
        try await PostgreSQLStore.execute("UPDATE observation SET aircraft = 'X' WHERE key % 2 = 0", at: other)
        error = await #expect(throws: StoreError.self) { try await LogMigration(from: file, to: other).run() }
        #expect(error?.description.contains("of table observation is not as in the file") == true)
        _ = try await file.commit(observation(at: 7_000))
        error = await #expect(throws: StoreError.self) { try await LogMigration(from: file, to: other).run() }
        #expect(error?.description.contains("a part of another one") == true)
    }
}
