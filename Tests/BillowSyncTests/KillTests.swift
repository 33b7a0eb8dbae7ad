import AsyncHTTPClient
import BillowStore
import Foundation
import SkyPath
import Synchronization
import TestSupport
import Testing
import Turbulence
import UpstreamKit
import UpstreamSimulator

@testable import BillowSync

@Suite("Interrupted in the middle of a sync")
struct KillTests {
    private static let batchSize = 25

    /// What is in the log, whatever the versions and keys.
    private func contents(_ store: SQLiteStore) async throws -> Set<StandingObservation> {
        let rows = try await store.allRows()
        #expect(!hasDuplicates(rows))
        #expect(try await store.problems().isEmpty)
        return Set(
            rows.map {
                StandingObservation(
                    cell: $0.cell, altitude: $0.altitude, intensity: $0.intensity, observedAt: $0.observedAt)
            })
    }

    private func folder() throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("billow-kill-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }

    /// Cancelled at random commits, before or after them, or at no particular time; the file is opened anew each time.
    @Test(
        "cancelled again and again it ends where an undisturbed one does", arguments: [Mode.v4, .corridor],
        [1, 2] as [UInt64])
    func cancelledAgainAndAgainItEndsWhereAnUndisturbedOneDoes(mode: Mode, seed: UInt64) async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withRig(flights: 8) { rig in
            var random = SeededGenerator(seed: seed)
            let path = folder.appendingPathComponent("a.sqlite").path
            let undisturbed = try rig.upstream(mode)
            var cancelled = 0
            for step in 0..<3 {
                rig.clock.advance(step == 2 ? 9_000 : 120)
                try await rig.round(undisturbed)
                var acknowledged = 0
                for attempt in 0... {
                    let store = try await SQLiteStore.open(path: path)
                    #expect(try await store.allRows().count >= acknowledged)
                    let fatal = attempt > 6 ? -1 : Int.random(in: 1...12, using: &random)
                    let isBefore = Bool.random(using: &random)
                    let watched = WatchedStore(
                        store,
                        before: { number, _ in
                            if number == fatal, isBefore { withUnsafeCurrentTask { $0?.cancel() } }
                        },
                        after: { number, _ in
                            if number == fatal, !isBefore { withUnsafeCurrentTask { $0?.cancel() } }
                        })
                    let upstream = try rig.upstream(
                        mode.api, mode.query(), store: watched, batchSize: KillTests.batchSize)
                    let now = rig.clock.now
                    let task = Task { () async -> SyncError? in
                        do throws(SyncError) {
                            _ = try await upstream.synchronise(now: now)
                            return nil
                        } catch { return error }
                    }
                    // Now and then in the middle of the call.
                    if fatal == 12 { task.cancel() }
                    let error = await task.value
                    acknowledged = try await store.allRows().count
                    try store.close()
                    guard let error else { break }
                    #expect(error.kind == .cancelled)
                    cancelled += 1
                }
                let store = try await SQLiteStore.open(path: path)
                #expect(try await contents(store) == contents(rig.store), "step \(step)")
                #expect(try await store.pieces() == rig.store.pieces())
                #expect(try await store.source() == rig.store.source())
                try store.close()
            }
            #expect(cancelled > 5)
        }
    }

    // MARK: - A process of its own

    /// `database|base URL|Unix seconds`
    private static let orders = ProcessInfo.processInfo.environment["BILLOW_SYNC_VICTIM"]

    /// Not a test by itself: the process that the next one kills. Says how many rows are there after each commit.
    @Test("a process that another test kills syncs for ever", .enabled(if: orders != nil))
    func victim() async throws {
        let orders = try KillTests.orders.orMissing().split(separator: "|").map(String.init)
        try #require(orders.count == 3)
        let store = try await SQLiteStore.open(path: orders[0])
        let clock = ManualClock(try Int(orders[2]).orMissing())
        let http = HTTPClient(configuration: SkyPathClient.recommendedHTTPConfiguration)
        let watched = WatchedStore(
            store,
            after: { _, _ throws(StoreError) in
                let count = try await store.rows(from: .distantPast, to: .distantFuture).rows.count
                try? FileHandle.standardError.write(contentsOf: Data("acknowledged \(count)\n".utf8))
            })
        let client = try SkyPathClient(
            configuration: SkyPathConfiguration(
                environment: .custom(orders[1]), apiKey: Secret("demo").orMissing()), httpClient: http)
        var upstream = SkyPathUpstream(
            id: try skypath(), client: client, api: .v4, query: try Mode.v4.query(), simulated: true, store: watched,
            retentionSeconds: 86_400)
        upstream.batchSize = KillTests.batchSize
        _ = try await upstream.synchronise(now: clock.now)
        try await http.shutdown()
        try FileHandle.standardError.write(contentsOf: Data("done\n".utf8))
    }

    /// Runs the victim and kills it after some commits; nil lets it end.
    /// - Returns: the rows it had acknowledged, and whether it came to its end.
    private func runVictim(_ orders: String, killAfter commits: Int?) async throws -> (acknowledged: Int, isDone: Bool)
    {
        let process = Process()
        process.executableURL = URL(
            fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        process.arguments = ["--testing-library", "swift-testing", "--filter", "KillTests.victim"]
        process.environment = ProcessInfo.processInfo.environment.merging(["BILLOW_SYNC_VICTIM": orders]) { $1 }
        let output = Pipe()
        process.standardError = output
        process.standardOutput = FileHandle.nullDevice
        try process.runWithDeadline()
        // Reading waits for the process, which waits for the simulator in this one: not on the threads of tasks.
        let said: String = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var said = ""
                while true {
                    let data = output.fileHandleForReading.availableData
                    if data.isEmpty { break }
                    said += String(decoding: data, as: UTF8.self)
                    if let commits, said.split(separator: "\n").count(where: { $0.hasPrefix("ackn") }) >= commits {
                        kill(process.processIdentifier, SIGKILL)
                    }
                }
                process.waitUntilExit()
                continuation.resume(returning: said)
            }
        }
        let isDone = said.contains("done\n")
        #expect(isDone || process.terminationReason == .uncaughtSignal, "the victim said: \(said)")
        let whole = said[..<(said.lastIndex(of: "\n") ?? said.startIndex)]
        let counts = whole.split(separator: "\n").compactMap { line in
            line.hasPrefix("acknowledged ") ? Int(line.dropFirst("acknowledged ".count)) : nil
        }
        return (counts.max() ?? 0, isDone)
    }

    @Test(
        "killed again and again it loses nothing and ends where an undisturbed one does",
        .enabled(if: orders == nil && FileManager.default.fileExists(atPath: "/proc/self/exe")))
    func killedAgainAndAgainItLosesNothingAndEndsWhereAnUndisturbedOneDoes() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withRig(flights: 8) { rig in
            let path = folder.appendingPathComponent("a.sqlite").path
            var kills = 0
            for step in [0, 120] {
                rig.clock.advance(step)
                try await rig.round(rig.upstream(.v4))
                let orders = "\(path)|\(rig.baseURL)|\(rig.clock.seconds1970)"
                for commits in step == 0 ? [2, 7, 1] : [1] {
                    let (acknowledged, isDone) = try await runVictim(orders, killAfter: commits)
                    kills += isDone ? 0 : 1
                    let store = try await SQLiteStore.open(path: path)
                    let rows = try await store.allRows()
                    #expect(rows.count >= acknowledged && acknowledged > 0)
                    #expect(!hasDuplicates(rows))
                    // The cursor comes with the last of the data, never before.
                    let isComplete = try await contents(store).isSuperset(of: contents(rig.store))
                    let fetchedAt = try await store.pieces()["global map"]?.fetchedAt
                    #expect(isComplete || fetchedAt != rig.clock.now)
                    try store.close()
                }
                #expect(try await runVictim(orders, killAfter: nil).isDone)
                let store = try await SQLiteStore.open(path: path)
                #expect(try await contents(store) == contents(rig.store))
                #expect(try await store.pieces() == rig.store.pieces())
                #expect(try await store.source() == rig.store.source())
                try store.close()
            }
            #expect(kills >= 2)
        }
    }
}
