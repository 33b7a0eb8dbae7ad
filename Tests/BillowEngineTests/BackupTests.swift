import BillowStore
import EngineTestSupport
import Foundation
import Logging
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine

@Suite("Backups on a schedule")
struct BackupTests {
    private let folder: URL
    private let clock = TestClock(noon)

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "billow-backups-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private var backups: String { folder.appending(path: "backups").path }

    private func store() async throws -> SQLiteStore {
        try await SQLiteStore.open(path: folder.appending(path: "x.sqlite").path)
    }

    private func schedule(
        _ store: SQLiteStore, every: Int = 3_600, keep: Int = 3, command: String? = nil, timeout: Int = 600
    ) -> (schedule: BackupSchedule, status: BackupStatus) {
        var settings = BackupSettings(folder: backups)
        settings.everySeconds = every
        settings.keep = keep
        settings.copyCommand = command
        settings.copyTimeoutSeconds = timeout
        let status = BackupStatus(settings)
        let schedule = BackupSchedule(
            store: store, settings: settings, status: status, now: { clock.now }, logger: Logger(label: "test"))
        return (schedule, status)
    }

    private func names() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: backups)) ?? []).sorted()
    }

    private func text(_ status: BackupStatus) -> String {
        var exposition = Exposition()
        status.add(to: &exposition)
        return exposition.text
    }

    @Test("each backup is named by its time, and only the newest remain; other files stay")
    func rotation() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await store()
        let (schedule, status) = schedule(store)
        #expect(schedule.secondsUntilNext() == 0)
        #expect(await schedule.attempt())
        let others = ["notes.txt", "x-yesterday.sqlite", "x-20260101T000000Z.sqlite.bz2", "y-20260101T000000Z.sqlite"]
        for name in others { try Data().write(to: URL(filePath: "\(backups)/\(name)")) }
        for _ in 0..<5 {
            clock.advance(by: 3_600)
            #expect(await schedule.attempt())
        }
        let times = (3...5).map { noon.advanced(by: $0 * 3_600).compact }
        #expect(names() == (times.map { "x-\($0).sqlite" } + others).sorted())
        #expect(schedule.backups().map(\.time) == (3...5).map { noon.advanced(by: $0 * 3_600) })
        let newest = try #require(schedule.backups().last)
        let mode = try FileManager.default.attributesOfItem(atPath: newest.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(text(status).contains(#"billow_backups_total{step="backup",result="ok"} 6"#))
        #expect(text(status).contains("billow_backup_timestamp_seconds \(newest.time.seconds)"))
        try store.close()
    }

    @Test("the next backup is due one interval after the newest, whatever the clock did and however often it restarts")
    func due() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await store()
        #expect(await schedule(store).schedule.attempt())
        clock.advance(by: 600)
        // A restart.
        let (schedule, status) = schedule(store)
        #expect(schedule.secondsUntilNext() == 3_000)
        #expect(text(status).contains("billow_backup_timestamp_seconds \(noon.seconds)"))
        clock.advance(by: 10_000)
        #expect(schedule.secondsUntilNext() == 0)
        clock.advance(by: -40_000)
        #expect(schedule.secondsUntilNext() == 3_600)
        try store.close()
    }

    @Test("a damaged database is not backed up, and no earlier backup is deleted")
    func damaged() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await store()
        let (schedule, status) = schedule(store, keep: 1)
        _ = try await store.commit(
            Batch(
                source: nil, observations: [try observation(id: "a", try cell(10, 50), at: -60)],
                registration: SourceRegistration(
                    [try source("skypath")], simulatedByDefault: nil, unnamed: try source("skypath"))))
        #expect(await schedule.attempt())
        let before = names()
        // The checksum of the row no longer matches.
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c",
            "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('pragma ignore_check_constraints=on'); "
                + "c.execute('update observation set cell = cell + 1'); c.commit()", store.path,
        ]
        try process.runWithDeadline()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        clock.advance(by: 3_600)
        #expect(await !schedule.attempt())
        #expect(names() == before)
        #expect(text(status).contains(#"billow_backups_total{step="backup",result="failed"} 1"#))
        try store.close()
    }

    @Test("a folder that can't be made is a failure, and the next attempt succeeds when it can")
    func noFolder() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await store()
        let (schedule, status) = schedule(store)
        try Data().write(to: URL(filePath: backups))
        #expect(await !schedule.attempt())
        let failure = status.report.failure ?? ""
        #expect(failure.contains(backups) && failure.contains("the folder can't be made"))
        #expect(text(status).contains(#"billow_backups_total{step="backup",result="failed"} 1"#))
        try FileManager.default.removeItem(atPath: backups)
        #expect(await schedule.attempt())
        #expect(status.report.failure == nil && status.report.newest != nil)
        try store.close()
    }

    // MARK: The copy command

    @Test("the copy command gets each backup in a variable")
    func copy() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await store()
        let copied = folder.appending(path: "copied.sqlite").path
        let (schedule, status) = schedule(
            store, command: "cp \"$BACKUP_FILE\" '\(copied)' && test -d \"$BACKUP_FOLDER\"")
        #expect(await schedule.attempt())
        let copy = try await SQLiteStore.open(path: copied, access: .reading)
        #expect(try await copy.problems().isEmpty)
        #expect(text(status).contains(#"billow_backups_total{step="copy",result="ok"} 1"#))
        try copy.close()
        try store.close()
    }

    @Test("a copy command that fails costs no backup")
    func failingCopy() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await store()
        let (schedule, status) = schedule(store, command: "echo no such bucket >&2; exit 3")
        #expect(await schedule.attempt())
        #expect(names().count == 1)
        #expect(text(status).contains(#"billow_backups_total{step="copy",result="failed"} 1"#))
        #expect(status.report.copyFailure == "it ended with status 3: no such bucket")
        #expect(status.report.failure == nil)
        try store.close()
    }

    @Test("the error of a command has its status and the end of its words")
    func words() async {
        let command = ShellCommand(text: "echo no such bucket >&2; exit 3", variables: [:], timeout: .seconds(600))
        await #expect(throws: ShellCommand.CommandError.failed(status: 3, words: "no such bucket")) {
            try await command.run()
        }
        let long = ShellCommand(
            text: "yes abcdefg | head -c 100000 >&2; echo; kill -9 $$", variables: [:], timeout: .seconds(600))
        let error = await #expect(throws: ShellCommand.CommandError.self) { try await long.run() }
        guard case .killed(SIGKILL, let words)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(words.count <= 1_000 && words.count > 900)
    }

    @Test("a secret that a command repeats is in no message, also where its words are cut")
    func secrets() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await store()
        let secret = String(repeating: "planted-", count: 40)
        var settings = BackupSettings(folder: backups)
        settings.copyCommand = "echo user:\(secret) is unknown to planted-host >&2; exit 3"
        settings.secrets = [secret, "planted-host"]
        let status = BackupStatus(settings)
        let schedule = BackupSchedule(
            store: store, settings: settings, status: status, now: { clock.now }, logger: Logger(label: "test"))
        #expect(await schedule.attempt())
        #expect(status.report.copyFailure == "it ended with status 3: user:[secret] is unknown to [secret]")
        // The last words begin within a secret.
        let long = ShellCommand(
            text: "for i in 1 2 3 4 5 6 7 8 9; do echo $i \(secret) >&2; done; exit 3", variables: [:],
            timeout: .seconds(600), secrets: [secret])
        let error = await #expect(throws: ShellCommand.CommandError.self) { try await long.run() }
        #expect(!"\(String(describing: error))".contains("planted"))
        // Nor in a description of what runs the command.
        #expect(!"\(schedule)".contains("planted") && "\(schedule)".contains(backups))
        var dumped = ""
        dump(settings, to: &dumped)
        #expect(!dumped.contains("planted"))
        try store.close()
    }

    @Test("a command that takes too long is ended with everything that it started")
    func tooLong() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let child = folder.appending(path: "child").path
        let command = ShellCommand(
            text: "sleep 1000 & echo $! >'\(child)'; wait", variables: [:], timeout: .milliseconds(500))
        await #expect(throws: ShellCommand.CommandError.timedOut(.milliseconds(500))) { try await command.run() }
        let number = try String(contentsOfFile: child, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        let process = try #require(Int32(number))
        try await eventually("its child to end") { Self.hasEnded(process) }
    }

    @Test("a command ends at once when its task is cancelled")
    func cancelled() async throws {
        let task = Task {
            _ = await #expect(throws: ShellCommand.CommandError.cancelled) {
                try await ShellCommand(text: "sleep 1000", variables: [:], timeout: .seconds(600)).run()
            }
        }
        task.cancel()
        await task.value
    }

    /// Whether a process is gone, or has only its status left.
    private static func hasEnded(_ process: Int32) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return true }
        return status.contains("State:\tZ")
    }
}
