import BillowEngine
import BillowPostgreSQL
import BillowStore
import Foundation
import NIOHTTP1
import Synchronization
import TestSupport
import Testing
import Turbulence

/// One database, whose processes are killed again and again. Between two kills the log is compared with what was
/// acknowledged.
///
/// Each round starts a server and sends observations to it. Beside it an import, a deletion or a backup may run. All of
/// them are killed at random moments.
actor KillSeries {
    private enum Companion: CaseIterable {
        case `import`, prune, retention, backup, packing, none

        var deletes: Bool { self == .prune || self == .retention }
    }

    private let folder: TemporaryFolder
    private let seed: UInt64
    private var random: SeededGenerator
    private var ledger: KillLedger
    private let key: String
    /// Batches without an answer, which their client sends again.
    private var unanswered: [[Int]] = []
    /// The file of an import that was killed, with its content.
    private var pendingImport: (path: String, numbers: [Int])?
    /// The highest version that any process reported.
    private var version: Int64 = 0
    private var backups = 0
    private(set) var tally = KillTally()
    var kills: Int { tally.total }
    /// What was verified, for the test that it was something.
    private(set) var acknowledgedBatches = 0
    private(set) var acknowledgedImports = 0
    private(set) var finishedDeletions = 0
    private(set) var finishedBackups = 0
    private(set) var finishedPackings = 0

    var summary: String {
        """
        \(tally), \(acknowledgedBatches) batches, \(acknowledgedImports) imports, \
        \(finishedDeletions) deletions, \(finishedBackups) backups, \(finishedPackings) packings, \
        \(ledger.sure.count) observations, \
        version \(version)
        """
    }

    private nonisolated let database: String
    /// Whether the database is a file, of which there are backups.
    private nonisolated let isFile: Bool

    /// - Parameter database: the address of an empty PostgreSQL database; nil for a file.
    init(seed: UInt64, database given: String? = nil) async throws {
        folder = try TemporaryFolder()
        database = given ?? folder.path("x.sqlite")
        isFile = given == nil
        self.seed = seed
        random = SeededGenerator(seed: seed)
        ledger = KillLedger(now: Int(Date.now.timeIntervalSince1970))
        let made = try await Command.run(
            "keys", "create", "--scope", "ingest,admin", "--database", database)
        key = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        try #require(made.status == 0, "\(made.errors)")
    }

    /// Runs rounds until a number of processes was killed, then a last one without a kill.
    func run(kills wanted: Int) async throws {
        // Most rounds kill one process or two.
        for _ in 0..<10 * wanted where kills < wanted { try await round() }
        #expect(kills >= wanted)
        let server = try await Server("--database", database)
        try await sendAgain(server)
        #expect(try await server.stop() == 0)
        if let pendingImport { try await finishImport(pendingImport) }
        try await verify("at the end")
    }

    private func round() async throws {
        // Each of the two recovers the log of a killed process, so either must come first at times.
        let startsFirst = Bool.random(using: &random)
        if !startsFirst { try await verify("before the start") }
        try await verifyScheduledBackups()
        let command = try Command(
            ["serve", "--port", "0", "--database", database],
            environment: isFile
                ? ["BILLOW_BACKUPS_FOLDER": folder.path("backups"), "BILLOW_BACKUPS_EVERY": "PT1M"] : [:])
        if Int.random(in: 0..<8, using: &random) == 0 {
            // Killed while it starts.
            try await kill(command, .start, after: Int.random(in: 0...250, using: &random))
            return
        }
        let server = try await Server(starting: command)
        try await sendAgain(server)
        if startsFirst { try await verify("beside the server") }
        let companions = Companion.allCases.filter { isFile || $0 != .backup }
        let companion = companions.randomElement(using: &random) ?? .none
        let numbersOfClients = (0..<3).map { _ in Int.random(in: 1...300, using: &random) }
        let serverDelay = Int.random(in: 5...700, using: &random)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for count in numbersOfClients {
                group.addTask { try await self.send(server, count, onlyYoung: companion.deletes) }
            }
            group.addTask { try await self.run(companion) }
            group.addTask { try await self.kill(command, .ingest, after: serverDelay) }
            try await group.waitForAll()
        }
    }

    /// Kills a process at a random moment.
    /// - Returns: whether it had ended before.
    @discardableResult
    private func kill(_ command: Command, _ work: KillTally.Work, after milliseconds: Int) async throws -> Bool {
        try await Task.sleep(for: .milliseconds(milliseconds))
        command.signal(SIGKILL)
        let isKilled = try await command.status() == -SIGKILL
        if isKilled { tally.count(work) }
        return !isKilled
    }

    // MARK: Ingest

    /// More than a server takes before it is killed.
    private static let maximumBatches = 10_000

    /// Sends batch after batch until the server is gone.
    private func send(_ server: Server, _ count: Int, onlyYoung: Bool) async throws {
        for _ in 0..<Self.maximumBatches {
            let numbers = ledger.newNumbers(count, onlyYoung: onlyYoung)
            ledger.sent(numbers)
            guard let answer = try? await server.send(.POST, "/observations", ledger.json(numbers), key: key) else {
                unanswered.append(numbers)
                return
            }
            try note(answer, of: numbers)
        }
    }

    private func note(_ answer: Answer, of numbers: [Int]) throws {
        #expect(answer.status == 200, "\(answer.text.prefix(300))")
        let json = try answer.json
        #expect(json["accepted"].integer.orZero + json["duplicate"].integer.orZero == numbers.count)
        let answered = Int64(json["version"].integer.orZero)
        version = max(version, answered)
        ledger.acknowledged(numbers)
        acknowledgedBatches += 1
    }

    /// Sends the batches without an answer again, of which a part or all may be stored.
    private func sendAgain(_ server: Server) async throws {
        for numbers in unanswered {
            ledger.sent(numbers)
            try note(try await server.send(.POST, "/observations", ledger.json(numbers), key: key), of: numbers)
        }
        unanswered = []
    }

    // MARK: Companions

    private func run(_ companion: Companion) async throws {
        switch companion {
        case .none: break
        case .import: try await importFile()
        case .prune: try await prune()
        case .retention: try await retain()
        case .backup: try await backUp()
        case .packing: try await pack()
        }
    }

    /// Runs a command, and kills it at a random moment or lets it end.
    /// - Returns: whether it ended by itself.
    private func runOrKill(
        _ command: Command, _ work: KillTally.Work, within milliseconds: Int
    ) async throws -> Bool {
        guard Int.random(in: 0..<4, using: &random) > 0 else {
            let status = try await command.status()
            let words = try command.standardError
            #expect(status == 0, "\(words)")
            return status == 0
        }
        return try await kill(command, work, after: Int.random(in: 0...milliseconds, using: &random))
    }

    private func importFile() async throws {
        let file: (path: String, numbers: [Int])
        if let pendingImport {
            file = pendingImport
        } else {
            let numbers = ledger.newNumbers(Int.random(in: 100...20_000, using: &random), onlyYoung: false)
            file = (try folder.write("import.json", ledger.json(numbers)), numbers)
        }
        ledger.sent(file.numbers)
        pendingImport = file
        let command = try Command(["import", "--database", database, file.path])
        guard try await runOrKill(command, .import, within: 900) else { return }
        acknowledgeImport()
    }

    private func finishImport(_ file: (path: String, numbers: [Int])) async throws {
        ledger.sent(file.numbers)
        let finished = try await Command.run("import", "--database", database, file.path)
        #expect(finished.status == 0, "\(finished.errors)")
        acknowledgeImport()
        let head = try await head()
        #expect(try await Command.run("import", "--database", database, file.path).status == 0)
        #expect(try await self.head() == head, "an import of known observations made a version")
    }

    private func acknowledgeImport() {
        ledger.acknowledged(pendingImport?.numbers ?? [])
        pendingImport = nil
        acknowledgedImports += 1
    }

    private func prune() async throws {
        // A killed import may have left rows; a deletion of them is no loss only if it is complete.
        let age = Int.random(in: KillLedger.oldSeconds, using: &random)
        let before = ledger.now - age
        let samples = ledger
        let isReached = { (number: Int) in
            !KillLedger.isYoung(number) && samples.sample(number).observedAt < before
        }
        ledger.deleting(isReached)
        let instant = Date(timeIntervalSince1970: Double(before)).formatted(.iso8601)
        let command = try Command(["prune", "--database", database, "--before", instant])
        guard try await runOrKill(command, .prune, within: 500) else { return }
        ledger.deleted(isReached)
        finishedDeletions += 1
    }

    /// Deletes as a server does after ten minutes, in a process of its own.
    private func retain() async throws {
        let isReached = { (number: Int) in !KillLedger.isYoung(number) }
        ledger.deleting(isReached)
        let command = try victim(KillSeries.retentionVariable)
        if try await runOrKill(command, .retention, within: 900) { finishedDeletions += 1 }
    }

    /// Packs all parts of the archive as a server does in the background, in a process of its own.
    private func pack() async throws {
        if try await runOrKill(victim(KillSeries.packingVariable), .packing, within: 900) { finishedPackings += 1 }
    }

    /// A process of this test bundle that does what a variable orders.
    private func victim(_ variable: String) throws -> Command {
        let tests = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        return try Command(
            ["--testing-library", "swift-testing", "--filter", "KilledProcessTests.victim"],
            environment: [variable: database], executable: tests)
    }

    static let retentionVariable = "BILLOW_RETENTION_VICTIM"
    static let packingVariable = "BILLOW_PACKING_VICTIM"

    private func backUp() async throws {
        backups += 1
        let path = folder.path("backup-\(backups).sqlite")
        // A deletion never runs at the same time.
        var expected = ledger
        let command = try Command(["backup", path, "--database", database])
        let isDone = try await runOrKill(command, .backup, within: 300)
        let exists = FileManager.default.fileExists(atPath: path)
        #expect(exists || !isDone)
        guard exists else { return }
        // Observations that arrived meanwhile may be in it.
        expected.sent(Array(ledger.possible))
        try await verify(path, expected, "the backup")
        finishedBackups += 1
        try FileManager.default.removeItem(atPath: path)
    }

    // MARK: Verification

    private func verify(_ place: String) async throws {
        try await verify(database, ledger, place)
        let head = try await head()
        #expect(head >= version, "series \(seed), kill \(kills), \(place): the version went back")
        version = head
    }

    private func verify(_ path: String, _ expected: KillLedger, _ place: String) async throws {
        async let checking = Command.run("check", "--database", path)
        let exported = try await Command.run("export", "observations", "--format", "csv", "--database", path)
        let checked = try await checking
        let moment = "series \(seed), kill \(kills), \(place)"
        #expect(checked.status == 0, "\(moment): \(checked.output)\(checked.errors)")
        #expect(exported.status == 0, "\(moment): \(exported.errors)")
        let defects = try expected.defects(exported.output)
        #expect(defects.isEmpty, "\(moment): \(defects.count) defects: \(defects.prefix(5))")
    }

    /// Checks the backups that servers made, and removes them, so that the next server begins with one.
    private func verifyScheduledBackups() async throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path("backups"))) ?? []
        for name in names where name.hasSuffix(".sqlite") {
            let path = folder.path("backups/\(name)")
            let checked = try await Command.run("check", "--database", path)
            #expect(checked.status == 0, "series \(seed), kill \(kills), \(name): \(checked.output)\(checked.errors)")
            finishedBackups += 1
            try FileManager.default.removeItem(atPath: path)
        }
    }

    /// Opens a file, or a PostgreSQL database.
    static func open(_ database: String, _ access: StoreAccess = .writing) async throws -> any SQLStore {
        guard let address = DatabaseAddress(database) else {
            return try await SQLiteStore.open(path: database, access: access)
        }
        return try await PostgreSQLStore.open(address, access: access)
    }

    private func head() async throws -> Int64 {
        let store = try await Self.open(database, .reading)
        let version = try await store.head().version.rawValue
        try store.close()
        return version
    }
}

extension Int? {
    /// 0 for a missing number.
    fileprivate var orZero: Int { self ?? 0 }
}
