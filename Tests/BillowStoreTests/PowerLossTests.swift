import Datasets
import Foundation
import GRDB
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

/// Serialised: one folder is traced at a time.
@Suite("Loss of power", .serialized)
struct PowerLossTests {
    /// The state that a store shows, for comparison.
    private struct State: Equatable {
        var head: Version
        var cursors: [String: String]
        var observations: [Observation]
        var reports: [String]
        var areas: [String]

        init(_ store: SQLiteStore) async throws {
            head = try await store.head().version
            cursors = try await store.cursors(of: source("skypath"))
            observations = try await store.contents()
            reports = try await store.pilotReports(from: .distantPast, to: .distantFuture, asOf: nil).map(\.id).sorted()
            areas = try await store.areas(.hazards, from: .distantPast, to: .distantFuture, asOf: nil)
                .map { "\($0.id) \($0.validTo)" }.sorted()
        }
    }

    /// One step of a history.
    private static func step(_ number: Int, _ store: SQLiteStore, _ random: inout SeededGenerator) async throws {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: _ = try await store.prune(Pruning(before: noon.advanced(by: Int.random(in: -900...0, using: &random))))
        case 1:
            _ = try await store.commit(
                Batch(
                    source: try source("awc"),
                    pilotReports: [
                        try pilotReport(id: "r\(number)", at: Int.random(in: -1_000...1_000, using: &random))
                    ],
                    areas: [try area("a\(number % 5)", to: 3_600 + number)]))
        case 2: _ = try await store.pool.writeWithoutTransaction { try $0.checkpoint(.passive) }
        case 3: _ = try await store.pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        default:
            let rows = try (0..<Int.random(in: 1...300, using: &random)).map { _ in
                try observation(
                    cell: Int.random(in: 0..<2_000, using: &random), severity: Int.random(in: 0...4, using: &random),
                    at: Int.random(in: -1_000...1_000, using: &random))
            }
            _ = try await store.commit(
                Batch(source: try source("skypath"), observations: rows, cursors: ["all": "\(number)"]))
        }
    }

    /// The number of histories, and of losses in each; more by variables for a long run.
    private static func setting(_ name: String, _ standard: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
    }

    private static let histories = 0..<UInt64(setting("BILLOW_POWER_HISTORIES", 3))
    private static let losses = setting("BILLOW_POWER_LOSSES", 15)

    @Test("what was acknowledged survives a loss of power, and a commit is there wholly or not", arguments: histories)
    func history(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        // The states after each step, and the number of operations on the disk when it was acknowledged.
        var states: [(state: State, operations: Int)] = []
        // The file gets its name by other means than SQLite's.
        try await SQLiteStore.open(path: path).close()
        let trace = try await DiskTrace.trace(folder.url) { trace in
            var store = try await SQLiteStore.open(path: path)
            _ = try await store.register(try source("skypath"), merge: .replace, simulated: false)
            _ = try await store.register(try source("awc"), merge: .keep, simulated: false)
            states.append((try await State(store), trace.count))
            for number in 0..<24 {
                if Int.random(in: 0..<12, using: &random) == 0 {
                    try store.close()
                    store = try await SQLiteStore.open(path: path)
                }
                try await Self.step(number, store, &random)
                states.append((try await State(store), trace.count))
            }
            try store.close()
        }
        let first = try #require(states.first?.operations)
        #expect(trace.count > first + 24, "the store's writes are traced")
        for loss in 0..<Self.losses {
            let cut = Int.random(in: first...trace.count, using: &random)
            let files = trace.files(after: cut, using: &random)
            let disk = try TemporaryFolder()
            for (name, bytes) in files {
                try Data(bytes).write(to: disk.url.appending(path: URL(filePath: name).lastPathComponent))
            }
            let store = try await SQLiteStore.open(path: disk.path("a.sqlite"))
            let acknowledged = try #require(states.lastIndex { $0.operations <= cut })
            let found = try await State(store)
            let possible = states[acknowledged...].prefix(2).map(\.state)
            #expect(
                possible.contains(found),
                "history \(seed), loss \(loss) after \(cut) of \(trace.count) operations: version \(found.head)")
            #expect(try await store.problems().isEmpty)
            #expect(store.damage.isEmpty)
            // The store goes on.
            _ = try await store.commit(try observation(id: "afterwards", at: 1))
            try store.close()
        }
    }

    @Test("the model of a disk finds a database that does not synchronise its file")
    func control() async throws {
        var random = SeededGenerator(seed: 1)
        let folder = try TemporaryFolder()
        var acknowledged: [Int] = []
        let trace = try await DiskTrace.trace(folder.url) { trace in
            let queue = try DatabaseQueue(path: folder.path("a.sqlite"))
            try await queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE t (n INTEGER)")
            }
            for number in 0..<20 {
                try await queue.write { try $0.execute(sql: "INSERT INTO t VALUES (?)", arguments: [number]) }
                acknowledged.append(trace.count)
            }
            try queue.close()
        }
        var lost = 0
        for _ in 0..<50 {
            let cut = Int.random(in: acknowledged[0]...acknowledged[19], using: &random)
            let disk = try TemporaryFolder()
            for (name, bytes) in trace.files(after: cut, using: &random) {
                try Data(bytes).write(to: disk.url.appending(path: URL(filePath: name).lastPathComponent))
            }
            let queue = try DatabaseQueue(path: disk.path("a.sqlite"))
            let count = try? await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
            if count ?? 0 < acknowledged.count(where: { $0 <= cut }) { lost += 1 }
            try queue.close()
        }
        #expect(lost > 10, "\(lost) of 50 losses of power lost a commit")
    }
}
