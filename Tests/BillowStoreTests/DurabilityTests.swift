import Foundation
import GRDB
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

@Suite("What was acknowledged survives")
struct DurabilityTests {
    private static let rowsPerCommit = 20

    private func batch(_ version: Int) throws -> Batch {
        let first = version * DurabilityTests.rowsPerCommit
        return Batch(
            source: try source("skypath"),
            observations: try (first..<first + DurabilityTests.rowsPerCommit).map { try observation(at: $0) },
            cursors: ["all": String(version)])
    }

    /// The whole state belongs to one version: rows, cursor and head.
    private func expectWhole(_ store: SQLiteStore, atLeast least: Int, atMost most: Int = .max) async throws {
        let version = Int(try await store.head().version.rawValue)
        #expect(version >= least && version <= most, "head \(version), acknowledged \(least)")
        #expect(try await store.contents().count == version * DurabilityTests.rowsPerCommit)
        let cursors = try await store.cursors(of: source("skypath"))
        #expect(cursors == (version == 0 ? [:] : ["all": String(version)]))
        #expect(try await store.problems().isEmpty)
    }

    /// The files as they lie on the disk while the store is open are what a killed process leaves.
    @Test("acknowledged commits are in the files of an open store")
    func inTheFilesOfAnOpenStore() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        let store = try await SQLiteStore.open(path: path)
        _ = try await store.register(source("skypath"), merge: .replace, simulated: false)
        for version in 1...40 {
            _ = try await store.commit(batch(version))
            guard version % 8 == 0 else { continue }
            let copy = folder.path("copy\(version).sqlite")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            try FileManager.default.copyItem(atPath: path + "-wal", toPath: copy + "-wal")
            try await expectWhole(SQLiteStore.open(path: copy), atLeast: version, atMost: version)
        }
    }

    /// A log cut anywhere, as a loss of power in the middle of a write leaves it, holds every commit before the cut.
    @Test("acknowledged commits survive in a truncated log", arguments: [11, 12, 13] as [UInt64])
    func inALogThatWasCut(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        let store = try await SQLiteStore.open(path: path)
        _ = try await store.register(source("skypath"), merge: .replace, simulated: false)
        try await store.pool.writeWithoutTransaction { db in
            _ = try db.checkpoint(.truncate)
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
        }
        func logSize() throws -> Int { try Data(contentsOf: URL(fileURLWithPath: path + "-wal")).count }
        var sizes = [0]
        for version in 1...15 {
            _ = try await store.commit(batch(version))
            sizes.append(try logSize())
        }
        let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
        #expect(sizes == sizes.sorted() && sizes.last == log.count)
        for number in 0..<8 {
            let cut = Int.random(in: 0...log.count, using: &random)
            let copy = folder.path("copy\(number).sqlite")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            try log.prefix(cut).write(to: URL(fileURLWithPath: copy + "-wal"))
            let acknowledged = sizes.lastIndex { $0 <= cut } ?? 0
            try await expectWhole(SQLiteStore.open(path: copy), atLeast: acknowledged, atMost: acknowledged)
        }
    }

    private static let victimPath = ProcessInfo.processInfo.environment["BILLOW_STORE_VICTIM"]

    /// Not a test by itself: the process that the next one kills. Says each version once it is acknowledged.
    @Test("a process that another test kills commits for ever", .enabled(if: victimPath != nil))
    func victim() async throws {
        let store = try await SQLiteStore.open(path: DurabilityTests.victimPath.orMissing())
        _ = try await store.register(source("skypath"), merge: .replace, simulated: false)
        for version in 1...100_000 {
            let result = try await store.commit(batch(version))
            try FileHandle.standardError.write(contentsOf: Data("acknowledged \(result.version)\n".utf8))
        }
    }

    @Test(
        "a process killed in its commits loses nothing that it acknowledged",
        .enabled(if: victimPath == nil && FileManager.default.fileExists(atPath: "/proc/self/exe")))
    func aProcessKilledInItsCommits() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.sqlite")
        let process = Process()
        process.executableURL = URL(
            fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        process.arguments = ["--testing-library", "swift-testing", "--filter", "DurabilityTests.victim"]
        process.environment = ProcessInfo.processInfo.environment.merging(["BILLOW_STORE_VICTIM": path]) { $1 }
        let output = Pipe()
        process.standardError = output
        process.standardOutput = FileHandle.nullDevice
        try process.runWithDeadline()
        var acknowledged = 0
        var said = ""
        while acknowledged < 25 {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            said += String(decoding: data, as: UTF8.self)
            acknowledged = versions(in: said)
        }
        #expect(kill(process.processIdentifier, SIGKILL) == 0)
        process.waitUntilExit()
        said += String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        acknowledged = versions(in: said)
        #expect(acknowledged >= 25, "the process that was to be killed said: \(said)")
        #expect(process.terminationReason == .uncaughtSignal)
        let store = try await SQLiteStore.open(path: path)
        // The one commit whose acknowledgement was on its way may be there too.
        try await expectWhole(store, atLeast: acknowledged, atMost: acknowledged + 1)
        #expect(try await store.commit(batch(acknowledged)).duplicates == DurabilityTests.rowsPerCommit)
    }

    /// The newest version in whole lines of output.
    private func versions(in said: String) -> Int {
        guard let end = said.lastIndex(of: "\n") else { return 0 }
        return said[..<end].split(separator: "\n").compactMap { line in
            line.hasPrefix("acknowledged ") ? Int(line.dropFirst("acknowledged ".count)) : nil
        }.max() ?? 0
    }
}
