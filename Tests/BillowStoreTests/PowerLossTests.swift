import Datasets
import Foundation
import GRDB
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

@Suite("Loss of power", .enabled(if: DiskTrace.isAvailable))
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

    @Test(
        "acknowledged commits survive a loss of power, and each commit is stored completely or not at all",
        arguments: PowerLosses.histories(3))
    func history(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        // The states after each step, and the number of operations on the disk when it was acknowledged.
        var states: [(state: State, operations: Int)] = []
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
        try await trace.lose(PowerLosses.perHistory, from: first, using: &random) { cut, contents in
            let disk = try TemporaryFolder()
            try contents.write(into: disk.url)
            let store = try await SQLiteStore.open(path: disk.path("a.sqlite"))
            let acknowledged = try #require(states.lastIndex { $0.operations <= cut })
            let found = try await State(store)
            let possible = states[acknowledged...].prefix(2).map(\.state)
            #expect(
                possible.contains(found),
                "history \(seed), after \(cut) of \(trace.count) operations: version \(found.head)")
            #expect(try await store.problems().isEmpty)
            #expect(store.damage.isEmpty)
            // The store goes on.
            _ = try await store.commit(try observation(id: "afterwards", at: 1))
            try store.close()
        }
    }

    @Test("a database is created whole or not at all")
    func creation() async throws {
        var random = SeededGenerator(seed: 1)
        let folder = try TemporaryFolder()
        var created = 0
        let trace = try await DiskTrace.trace(folder.url) { trace in
            try await SQLiteStore.open(path: folder.path("a.sqlite")).close()
            created = trace.count
        }
        var missing = 0
        try await trace.lose(2 * PowerLosses.perHistory, using: &random) { cut, contents in
            let disk = try TemporaryFolder()
            try contents.write(into: disk.url)
            if contents.files["a.sqlite"] == nil {
                #expect(cut < created)
                missing += 1
            }
            let store = try await SQLiteStore.open(path: disk.path("a.sqlite"))
            #expect(try await store.problems().isEmpty)
            _ = try await store.register(try source("skypath"), merge: .replace, simulated: false)
            _ = try await store.commit(try observation(id: "afterwards", at: 1))
            try store.close()
        }
        #expect(missing > 0)
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
        try await trace.lose(50, from: acknowledged[0], using: &random) { cut, contents in
            let disk = try TemporaryFolder()
            try contents.write(into: disk.url)
            // A damaged file may not even open.
            let queue = try? DatabaseQueue(path: disk.path("a.sqlite"))
            let count = try? await queue?.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
            if (count ?? nil) ?? 0 < acknowledged.count(where: { $0 <= cut }) { lost += 1 }
            try queue?.close()
        }
        #expect(lost > 10, "\(lost) of 50 losses of power lost a commit")
    }

    /// How a file may be replaced.
    enum Replacement: String, CaseIterable {
        case durable, withoutSync, withoutFolderSync, inNewFolder
    }

    @Test("the model of a disk finds a replacement that misses a step, and none else", arguments: Replacement.allCases)
    func replacements(_ replacement: Replacement) async throws {
        var random = SeededGenerator(seed: 2)
        let folder = try TemporaryFolder()
        let (old, new) = (Data(repeating: 1, count: 3_000), Data(repeating: 2, count: 5_000))
        let place = replacement == .inNewFolder ? folder.path("new") : folder.url.path
        try old.write(to: folder.url.appending(path: "a"))
        var acknowledged = 0
        let trace = try await DiskTrace.trace(folder.url) { trace in
            if replacement == .inNewFolder {
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            }
            // Foundation's way to write data synchronises it.
            let file = try UnfinishedFile(for: place + "/b")
            try file.write(Array(new))
            #expect(rename(file.path, place + "/b") == 0)
            if replacement != .withoutSync { try sync(place + "/b") }
            #expect(rename(place + "/b", place + "/a") == 0)
            if replacement != .withoutFolderSync { try sync(place) }
            acknowledged = trace.count
            try FileManager.default.moveItem(atPath: place + "/a", toPath: place + "/c")
            try FileManager.default.copyItem(atPath: place + "/c", toPath: place + "/d")
            try FileManager.default.removeItem(atPath: place + "/d")
        }
        var wrong = 0
        let path = replacement == .inNewFolder ? "new/" : ""
        try await trace.lose(100, using: &random) { cut, contents in
            let found = [contents.files[path + "a"], contents.files[path + "c"]].compactMap { $0.map { Data($0) } }
            let isRight = found.count == 1 && (found[0] == new || found[0] == old && cut < acknowledged)
            let isMissing = replacement == .inNewFolder && found.isEmpty && cut < acknowledged
            if !isRight && !isMissing { wrong += 1 }
        }
        #expect(replacement == .durable ? wrong == 0 : wrong > 5, "\(wrong) of 100 losses of power had another file")
    }

    private func sync(_ path: String) throws {
        let descriptor = open(path, O_RDONLY)
        #expect(fsync(descriptor) == 0)
        close(descriptor)
    }
}
