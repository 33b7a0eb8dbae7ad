import BillowPostgreSQL
import BillowSnapshot
import Foundation
import Geometry
import Logging
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowStore

/// Real processes are killed at random moments. `BILLOW_KILLS` is the number of kills of servers, commands and syncs on
/// a file, by default 40. Those on PostgreSQL, of restores, migrations and upgrades come beside them, in proportion.
/// `BILLOW_KILL_SEED` begins another series.
@Suite("Killed at any moment")
struct KilledProcessTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let isVictim =
        environment[KillSeries.retentionVariable] != nil || environment[KillSeries.packingVariable] != nil
    private static let kills = environment["BILLOW_KILLS"].flatMap { Int($0) } ?? 40
    private static let seed = environment["BILLOW_KILL_SEED"].flatMap { UInt64($0) } ?? 1
    /// One in five kills is that of a sync.
    private static let syncKills = max(1, kills / 5)
    /// A series is short, because the ages of its observations must not change much.
    private static let killsOfSeries = 16

    /// The test that other tests start as a process: the retention or the packing of a server, without its pauses.
    @Test("a process that another test kills deletes or packs old data", .enabled(if: isVictim))
    func victim() async throws {
        if let database = Self.environment[KillSeries.retentionVariable] {
            let store = try await KillSeries.open(database)
            let retention = Retention(
                store: store, lifetimes: DataLifetimes(retentionSeconds: 3_600), now: { Instant(Date()) },
                logger: Logger(label: "victim"))
            try await retention.prune()
            try store.close()
        }
        if let database = Self.environment[KillSeries.packingVariable] {
            let store = try await KillSeries.open(database)
            let archive = Archive(store: store, logger: Logger(label: "victim"))
            let end = ArchivePart(Instant(Date()))
            let days = 2 * 86_400 / ArchivePart.seconds
            for part in try await archive.unpackedParts(in: ArchivePart(number: end.number - days)...end) {
                try await archive.pack(part)
            }
            try store.close()
        }
    }

    @Test(
        "every acknowledged observation is there once, no version goes back, and the file is sound",
        .enabled(if: !isVictim && FileManager.default.fileExists(atPath: "/proc/self/exe")))
    func writers() async throws {
        var rest = Self.kills - Self.syncKills
        var seed = Self.seed
        while rest > 0 {
            let series = try await KillSeries(seed: seed)
            try await series.run(kills: min(rest, Self.killsOfSeries))
            let kills = await series.kills
            #expect(await series.acknowledgedBatches > kills / 2)
            rest -= kills
            seed += 1
            print("series \(seed - 1): \(await series.summary)")
        }
    }

    @Test(
        "the same holds on PostgreSQL, of which the server stays",
        .enabled(if: !isVictim && FileManager.default.fileExists(atPath: "/proc/self/exe")))
    func writersOnPostgreSQL() async throws {
        let address = try await PostgreSQLCluster.shared().address().text
        let series = try await KillSeries(seed: Self.seed, database: address)
        let kills = max(4, Self.kills / 4)
        try await series.run(kills: kills)
        #expect(await series.acknowledgedBatches > kills / 2)
        print("PostgreSQL: \(await series.summary)")
    }

    @Test(
        "a sync that is killed again and again ends with all that undisturbed ones have, once", .enabled(if: !isVictim))
    func sync() async throws {
        var random = SeededGenerator(seed: Self.seed)
        let folder = try TemporaryFolder()
        let simulator = try await Simulator(flights: 400)
        let settings = try simulator.settings(in: folder)
        let database = folder.path("x.sqlite")
        let undisturbed = folder.path("undisturbed.sqlite")
        #expect(
            try await Command.run("sync", "--once", "--database", undisturbed, "--config", settings).status == 0)
        var version = Version(rawValue: 0)
        var tally = KillTally()
        for kill in 1...Self.syncKills {
            let command = try Command(["serve", "--port", "0", "--database", database, "--config", settings])
            try await Task.sleep(
                for: .milliseconds(Int.random(in: 50...(kill % 2 == 0 ? 5_000 : 1_000), using: &random)))
            command.signal(SIGKILL)
            #expect(try await command.status() == -SIGKILL)
            tally.count(.sync)
            // Killed before it had made its database.
            guard FileManager.default.fileExists(atPath: database) else { continue }
            let checked = try await Command.run("check", "--database", database)
            #expect(checked.status == 0, "kill \(kill): \(checked.output)\(checked.errors)")
            let (rows, head) = try await contents(database)
            #expect(Set(rows).count == rows.count, "kill \(kill): an observation is there twice")
            #expect(head >= version, "kill \(kill): the version went back")
            version = head
        }
        // The upstream withdraws observations with time, and a database that had them keeps them. So the killed one
        // lies between one that began before and one that begins after it.
        let instant = Instant(Date()).advanced(by: -600)
        let killed = try await picture(database, settings, at: instant)
        let fresh = try await picture(folder.path("fresh.sqlite"), settings, at: instant)
        let earlier = try await picture(undisturbed, settings, at: instant)
        #expect(fresh.count > 1_000)
        let (lost, extra) = (fresh.subtracting(killed), killed.subtracting(earlier))
        #expect(lost.isEmpty, "\(lost.count) of \(fresh.count) lost, such as \(Array(lost.prefix(3)))")
        #expect(extra.isEmpty, "\(extra.count) of \(killed.count) made up, such as \(Array(extra.prefix(3)))")
        #expect(try await Command.run("check", "--database", database).status == 0)
        print("sync: \(tally), \(fresh.count) rows in a picture")
    }

    @Test(
        "a process that is killed while it creates its database leaves none, and the next one creates it",
        .enabled(if: !isVictim), arguments: [0, 1, 16, 64])
    func creation(blocks: Int) async throws {
        let folder = try TemporaryFolder()
        let database = folder.path("x.sqlite")
        // The signal at the first write beyond the limit ends the process at once.
        let killed = try await Command.run("keys", "create", "--database", database, script: "ulimit -f \(blocks)")
        #expect(killed.status != 0)
        #expect(!FileManager.default.fileExists(atPath: database))
        #expect(try await Command.run("keys", "create", "--database", database).status == 0)
        #expect(try await Command.run("check", "--database", database).status == 0)
    }

    /// The rows of a picture, after a sync.
    private func picture(_ database: String, _ settings: String, at instant: Instant) async throws -> Set<Substring> {
        let synced = try await Command.run("sync", "--once", "--database", database, "--config", settings)
        #expect(synced.status == 0, "\(synced.errors)")
        let picture = try await Command.run(
            "export", "hexagons", "--aggregate", "false", "--hours", "4", "--datetime", "\(instant)", "--format", "csv",
            "--database", database)
        #expect(picture.status == 0, "\(picture.errors)")
        // Each database makes ids of its own, in the first column.
        return Set(picture.output.split(separator: "\r\n").map { $0.drop { $0 != "," } })
    }

    @Test("a restore that is killed leaves the former database or the backup, and never none", .enabled(if: !isVictim))
    func restore() async throws {
        var random = SeededGenerator(seed: Self.seed)
        let folder = try TemporaryFolder()
        let database = folder.path("x.sqlite")
        let backup = folder.path("backup.sqlite")
        var ledger = KillLedger(now: Int(Date.now.timeIntervalSince1970))
        let numbers = ledger.newNumbers(4_000, onlyYoung: false)
        ledger.sent(numbers)
        let half = Array(numbers.prefix(2_000))
        func importing(_ numbers: [Int]) async throws {
            let file = try folder.write("import.json", ledger.json(numbers))
            #expect(try await Command.run("import", "--database", database, file).status == 0)
        }
        try await importing(half)
        ledger.acknowledged(half)
        var tally = KillTally()
        #expect(try await Command.run("backup", backup, "--database", database).status == 0)
        for kill in 0..<max(4, Self.kills / 10) {
            try await importing(numbers)
            let command = try Command(["restore", backup, "--database", database])
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...200, using: &random)))
            command.signal(SIGKILL)
            let status = try await command.status()
            if status == -SIGKILL { tally.count(.restore) }
            let checked = try await Command.run("check", "--database", database)
            #expect(checked.status == 0, "kill \(kill): \(checked.output)\(checked.errors)")
            let csv = try await Command.run("export", "observations", "--format", "csv", "--database", database).output
            let rows = csv.split(separator: "\r\n").count - 1
            #expect(status == 0 ? rows == half.count : [half.count, numbers.count].contains(rows), "kill \(kill)")
            #expect(try ledger.defects(csv).isEmpty)
        }
        #expect(try await Command.run("check", "--database", backup).status == 0)
        print("restore: \(tally)")
    }

    @Test(
        "a migration that is killed goes on, and ends with every row once",
        .enabled(if: !isVictim && FileManager.default.fileExists(atPath: "/proc/self/exe")))
    func migration() async throws {
        var random = SeededGenerator(seed: Self.seed)
        let folder = try TemporaryFolder()
        let database = folder.path("x.sqlite")
        var ledger = KillLedger(now: Int(Date.now.timeIntervalSince1970))
        let numbers = ledger.newNumbers(20_000, onlyYoung: false)
        ledger.sent(numbers)
        ledger.acknowledged(numbers)
        let file = try folder.write("import.json", ledger.json(numbers))
        #expect(try await Command.run("import", "--database", database, file).status == 0)
        var tally = KillTally()
        let wanted = max(3, Self.kills / 20)
        var attempts = 0
        while tally.total < wanted {
            let target = try await PostgreSQLCluster.shared().address().text
            var isDone = false
            while !isDone, attempts < 10 * wanted {
                attempts += 1
                let command = try Command(["migrate", "--from", database, "--to", target])
                // The last wanted kill is followed by an undisturbed run.
                if tally.total < wanted {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 20...900, using: &random)))
                    command.signal(SIGKILL)
                }
                let status = try await command.status()
                if status == -SIGKILL { tally.count(.migration) }
                let words = try command.standardError
                #expect(status == 0 || status == -SIGKILL, "\(words)")
                isDone = status == 0
            }
            #expect(isDone)
            let csv = try await Command.run("export", "observations", "--format", "csv", "--database", target)
            #expect(csv.status == 0, "\(csv.errors)")
            #expect(try ledger.defects(csv.output).isEmpty)
            let checked = try await Command.run("check", "--database", target)
            #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
        }
        print("migration: \(tally)")
    }

    @Test(
        "a file of the first release that is killed while its tables are brought up to date loses nothing",
        .enabled(if: !isVictim))
    func upgrade() async throws {
        var random = SeededGenerator(seed: Self.seed)
        let folder = try TemporaryFolder()
        let dump = Repository.folder.appending(path: "Tests/BillowStoreTests/Fixtures/released-0.1.0.sql").path
        let load = """
            import sqlite3, sys
            file = sqlite3.connect(sys.argv[1])
            file.executescript(open(sys.argv[2]).read())
            file.executescript(f"PRAGMA application_id = {sys.argv[3]}; PRAGMA journal_mode = WAL")
            """
        func export(_ database: String) throws -> Command {
            try Command(["export", "observations", "--format", "csv", "--database", database])
        }
        var undisturbed: String?
        var tally = KillTally()
        let wanted = max(3, Self.kills / 40)
        for attempt in 0..<20 * wanted where undisturbed == nil || tally.total < wanted {
            let database = folder.path("\(attempt).sqlite")
            let made = try await Command.run(
                "-c", load, database, dump, "\(StoreSchema.applicationID)",
                executable: URL(filePath: "/usr/bin/python3"))
            try #require(made.status == 0, "\(made.errors)")
            if undisturbed != nil {
                let command = try export(database)
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...120, using: &random)))
                command.signal(SIGKILL)
                if try await command.status() == -SIGKILL { tally.count(.upgrade) }
            }
            let command = try export(database)
            #expect(try await command.status() == 0)
            let rows = try command.standardOutput
            #expect(rows.split(separator: "\r\n").count == 5)
            #expect(undisturbed == nil || rows == undisturbed)
            undisturbed = rows
            let checked = try await Command.run("check", "--database", database)
            #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
        }
        print("upgrade: \(tally)")
    }

    private struct Row: Hashable {
        var cell: Cell
        var altitude: AltitudeBand
        var intensity: Intensity
        var observedAt: Instant
    }

    private func contents(_ database: String) async throws -> (rows: [Row], version: Version) {
        let store = try await SQLiteStore.open(path: database)
        let rows = try await store.rows(from: .distantPast, to: .distantFuture).rows.map {
            Row(
                cell: $0.cell, altitude: $0.altitude, intensity: $0.intensity, observedAt: $0.observedAt)
        }
        let version = try await store.head().version
        try store.close()
        return (rows, version)
    }
}

@Suite("The ledger that finds what a kill did")
struct KillLedgerTests {
    private let ledger: KillLedger
    private let lines: [String]

    init() {
        var ledger = KillLedger(now: 1_790_000_000)
        let numbers = ledger.newNumbers(10, onlyYoung: false)
        ledger.sent(numbers)
        ledger.acknowledged(numbers)
        self.ledger = ledger
        lines = numbers.map { number in
            let sample = ledger.sample(number)
            let time = Date(timeIntervalSince1970: Double(sample.observedAt)).formatted(.iso8601)
            return "\(sample.id),\(sample.altitude),\(sample.severity),\(time)"
        }
    }

    private func defects(_ lines: [String], _ ledger: KillLedger? = nil) throws -> [String] {
        try (ledger ?? self.ledger).defects(
            (["id,altitude,severity,observedAt"] + lines).map { $0 + "\r\n" }.joined())
    }

    @Test("a right log has no defect; what is lost, twice, changed, or was never sent is one")
    func kinds() throws {
        #expect(try defects(lines).isEmpty)
        #expect(try defects(Array(lines.dropLast())).first?.hasPrefix("lost: 1 of 10") == true)
        #expect(try defects(lines + [lines[3]]).first?.hasPrefix("twice") == true)
        #expect(
            try defects(lines.dropLast() + [lines[9].replacing(",4,", with: ",3,")]).first?.hasPrefix("changed") == true
        )
        let other = "n77,1,1,2026-09-21T00:00:00Z"
        #expect(try defects(lines + [other]).contains { $0.hasPrefix("deleted or never sent") })
        #expect(try defects(lines + ["x,1,1,2026-09-21T00:00:00Z"]).first?.hasPrefix("unknown") == true)
    }

    @Test("a deletion that has begun may have deleted; one that has ended has")
    func deletions() throws {
        var ledger = ledger
        let isReached = { (number: Int) in number == 5 }
        ledger.deleting(isReached)
        #expect(try defects(lines, ledger).isEmpty)
        #expect(try defects(lines.filter { !$0.hasPrefix("n5,") }, ledger).isEmpty)
        ledger.deleted(isReached)
        #expect(try defects(lines.filter { !$0.hasPrefix("n5,") }, ledger).isEmpty)
        #expect(try defects(lines, ledger).first?.hasPrefix("deleted or never sent") == true)
    }
}
