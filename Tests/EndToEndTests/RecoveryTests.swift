import Foundation
import NIOHTTP1
import TestSupport
import Testing

@Suite("Nothing that goes wrong with a file discards it")
struct RecoveryTests {
    private let folder: TemporaryFolder
    private let database: String

    init() throws {
        folder = try TemporaryFolder()
        database = folder.path("x.sqlite")
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    }

    /// Observations of the last minutes, a second apart.
    private func observations(_ numbers: Range<Int>) -> String {
        let start = Date.now.addingTimeInterval(-1_800)
        let items = numbers.map { number in
            """
            {"id":"o-\(number)","lon":\(-90 + Double(number % 40)),"lat":40.5,"altitude":35000,"severity":3,\
            "observedAt":"\(start.addingTimeInterval(Double(number) / 10).formatted(.iso8601))"}
            """
        }
        return "[\(items.joined(separator: ","))]"
    }

    private func key(_ scope: String = "ingest") async throws -> String {
        let made = try await Command.run("keys", "create", "--scope", scope, "--database", database)
        #expect(made.status == 0, "\(made.errors)")
        return made.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs SQL beside Billow, as another program would.
    private func change(_ sql: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c",
            "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('pragma ignore_check_constraints=on'); "
                + "c.execute(sys.argv[2]); c.commit(); c.close()", database, sql,
        ]
        try process.runWithDeadline()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test(
        "an unreadable row costs nothing but itself: keys, ingest and all other rows stay, and pictures say so",
        arguments: ["cell = cell + 1", "severity = severity + 1"])
    func oneBadRow(change: String) async throws {
        let key = try await key()
        var server = try await Server("--database", database)
        #expect(try await server.send(.POST, "/observations", observations(0..<1_000), key: key).status == 200)
        #expect(try await server.stop() == 0)
        try self.change("UPDATE observation SET \(change) WHERE externalId = 'o-500'")

        let checked = try await Command.run("check", "--database", database)
        #expect(checked.status == 65 && checked.output.contains("table observation: 1 row"), "\(checked.output)")
        let exported = try await Command.run("export", "observations", "--database", database, "--format", "csv")
        #expect(exported.status == 65 && exported.errors.contains("can't be read"), "\(exported.errors)")
        #expect(exported.output.split(separator: "\r\n").count == 1_000)

        server = try await Server("--database", database)
        #expect(try await server.get("/readyz").status == 200)
        #expect(try await server.send(.POST, "/observations", observations(1_000..<1_001), key: key).status == 200)
        let status = try await server.status()
        #expect(status["damage"][0]["table"].string == "observation")
        #expect(status["damage"][0]["rows"].integer == 1)
        try await eventually("all rows to be published") {
            try await server.get("/collections/observations/items?limit=2000").json["features"].items.count == 1_000
        }
        let features = try await server.get("/collections/observations/items?limit=2000")
        #expect(features.status == 200)
        #expect(try features.json["features"].items.count == 1_000)
        #expect(try features.json["completeSince"].string != nil)
        for address in ["items?limit=2000", "items?datetime=../..", "items?datetime=../2100-01-01T00:00:00Z"] {
            let open = try await server.get("/collections/observations/\(address)")
            #expect(open.header("X-Incomplete") == "true", "\(address)")
            #expect(try open.json["incomplete"].bool == true)
        }
        #expect(try await server.get("/export/observations.csv").header("X-Incomplete") == "true")
        let frames = try await server.get("/timeline.json?start=-PT1H&intervals=3&layers=hexagons").json
        #expect(frames["layers"][0]["frames"].items.allSatisfy { $0["incomplete"].bool == true })
        #expect(try await server.stop() == 0)
        let words = try server.command.standardError
        #expect(words.components(separatedBy: "part of the database can't be read").count == 2, "\(words)")
        #expect(try names().allSatisfy { !$0.contains(".corrupt-") })
    }

    /// Overwrites leaf pages of the table of observations.
    private func damage(_ pages: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c",
            """
            import sqlite3,sys
            c=sqlite3.connect(sys.argv[1]); c.execute('pragma wal_checkpoint(truncate)')
            q="select pageno from dbstat where name='observation' and pagetype='leaf' order by path"
            leaf=[r[0] for r in c.execute(q)]; c.close()
            assert len(leaf)>10
            f=open(sys.argv[1],'r+b')
            for p in \(pages): f.seek((p-1)*4096); f.write(b'\\x07'*4096)
            f.close()
            """, database,
        ]
        try process.runWithDeadline()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test(
        "whichever page is damaged, what can be read is served and exported, marked, and the server stops at once",
        arguments: ["leaf[:1]", "leaf[-1:]", "[leaf[0],leaf[-1]]", "[leaf[len(leaf)//2]]"])
    func badPage(pages: String) async throws {
        let key = try await key()
        var server = try await Server("--database", database)
        #expect(try await server.send(.POST, "/observations", observations(0..<2_000), key: key).status == 200)
        #expect(try await server.stop() == 0)
        try damage(pages)
        let exported = try await Command.run("export", "observations", "--database", database, "--format", "csv")
        let rows = exported.output.split(separator: "\r\n").count - 1
        #expect(exported.status == 65 && rows > 1_700 && rows < 2_000, "\(rows) \(exported.errors)")

        server = try await Server("--database", database)
        try await eventually("the damage to be known") { try await server.status()["damage"][0]["gaps"].integer != nil }
        try await eventually("open ranges to be marked") {
            let open = try await server.get("/collections/observations/items?limit=10000")
            let count = try open.json["features"].items.count
            return open.header("X-Incomplete") == "true" && count == rows
        }
        #expect(try await server.get("/healthz").status == 200)
        #expect(try await server.stop() == 0)
        let words = try server.command.standardError
        #expect(words.components(separatedBy: "part of the database can't be read").count == 2, "\(words)")

        let salvaged = try await Command.run("salvage", database, "-o", folder.path("new.sqlite"))
        #expect(salvaged.status == 65 && salvaged.output.contains("observation: \(rows) rows"), "\(salvaged.output)")
    }

    @Test(
        "a database that is removed under a server takes nothing more, which is said everywhere; pictures stay",
        arguments: ["", "-wal"])
    func removed(suffix: String) async throws {
        let key = try await key()
        let server = try await Server("--database", database)
        #expect(try await server.send(.POST, "/observations", observations(0..<10), key: key).status == 200)
        try await eventually("the rows to be published") {
            try await server.status()["liveObservations"].integer == 10
        }
        try FileManager.default.removeItem(atPath: database + suffix)
        for _ in 0..<3 {
            let refused = try await server.send(.POST, "/observations", observations(10..<20), key: key)
            #expect(refused.status == 503)
            #expect(try refused.json["code"].string == "store-replaced")
            #expect(refused.header("Retry-After") != nil)
        }
        try await eventually("readiness to end") { try await server.get("/readyz").status == 503 }
        #expect(try await server.get("/readyz").json["storeFailure"].string == "store-replaced")
        #expect(try await server.get("/readyz").json["status"].string == "store-lost")
        #expect(try await server.status()["storeFailure"].string != nil)
        #expect(try await server.get("/tiles/hexagons/latest/3/2/3.png").status == 200)
        #expect(try await server.get("/healthz").status == 200)
        let words = try server.command.standardError
        #expect(words.components(separatedBy: "the store failed").count == 2, "\(words)")
        _ = try await server.stop()
    }

    @Test("nothing is written over a database, whichever way its path is given")
    func outputOntoDatabase() async throws {
        #expect(try await Command.run("import", "--database", database, Repository.florida).status == 0)
        let before = try bytes(database)
        try FileManager.default.createSymbolicLink(atPath: folder.path("link.png"), withDestinationPath: "x.sqlite")
        try FileManager.default.linkItem(atPath: database, toPath: folder.path("hard.png"))
        for output in [database, database + "-wal", folder.path("link.png"), folder.path("hard.png")] {
            for arguments in [
                ["export", "pireps", "--format", "geojson", "-o", output], ["legend", "-o", output],
                ["render", "tile", "hexagons", "3/2/3", "-o", output], ["backup", output],
            ] {
                let command = try Command(arguments + ["--database", database])
                #expect(try await command.status() == 64, "\(arguments)")
                let words = try command.standardError
                #expect(words.contains("is a database"), "\(words)")
            }
        }
        #expect(try bytes(database) == before)
        #expect(try await Command.run("check", "--database", database).status == 0)
        // To a device it is written as it is.
        let device = try await Command.run(
            "export", "pireps", "--format", "csv", "-o", "/dev/null", "--database", database)
        #expect(device.status == 0, "\(device.errors)")
        let type = try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType
        #expect(type == .typeCharacterSpecial)
    }

    @Test("a backup comes back by restore, beside the log of a killed server too; by hand it is refused, not damaged")
    func restore() async throws {
        let key = try await key()
        let server = try await Server("--database", database)
        #expect(try await server.send(.POST, "/observations", observations(0..<2_000), key: key).status == 200)
        let backup = folder.path("backup.sqlite")
        #expect(try await Command.run("backup", backup, "--database", database).status == 0)
        #expect(try await server.send(.POST, "/observations", observations(2_000..<4_000), key: key).status == 200)
        let running = try await Command.run("restore", backup, "--database", database)
        #expect(running.status == 74 && running.errors.contains("has it open"), "\(running.errors)")
        server.command.signal(SIGKILL)
        _ = try await server.command.status()

        try FileManager.default.removeItem(atPath: database)
        try FileManager.default.copyItem(atPath: backup, toPath: database)
        let log = try bytes(database + "-wal")
        for command in ["check", "serve"] {
            let refused = try await Command.run(command, "--database", database)
            #expect(refused.status == 65 && refused.errors.contains("restore"), "\(refused.errors)")
        }
        #expect(try bytes(database) == bytes(backup))
        #expect(try bytes(database + "-wal") == log)
        let restored = try await Command.run("restore", backup, "--database", database)
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try await Command.run("check", "--database", database).status == 0)
        let again = try await Server("--database", database)
        #expect(try await again.status()["liveObservations"].integer == 2_000)
        #expect(try await again.send(.POST, "/observations", observations(4_000..<4_001), key: key).status == 200)
        #expect(try await again.stop() == 0)
        #expect(try names().contains { $0.hasPrefix("x.sqlite.before-restore-") && $0.hasSuffix("-wal") })
    }

    @Test("a database that can't be opened is kept, and what can be read of it is served: keys and rows")
    func damagedHead() async throws {
        let key = try await key()
        let server = try await Server("--database", database)
        #expect(try await server.send(.POST, "/observations", observations(0..<100), key: key).status == 200)
        #expect(try await server.stop() == 0)
        try change("DELETE FROM head")
        let again = try await Server("--database", database)
        #expect(try await again.send(.POST, "/observations", observations(100..<101), key: key).status == 200)
        try await eventually("all rows to be published") {
            try await again.get("/collections/observations/items?limit=1000").json["features"].items.count == 101
        }
        #expect(try await again.stop() == 0)
        #expect(try names().contains { $0.hasPrefix("x.sqlite.corrupt-") })
        let salvaged = try await Command.run(
            "salvage", try names().first { $0.contains(".corrupt-") }.map(folder.path).orMissing(), "-o",
            folder.path("new.sqlite"))
        #expect(salvaged.status == 0 && salvaged.output.contains("observation: 100 rows"), "\(salvaged.output)")
    }

    @Test("the port file has the port while a server runs; a default variable yields to the file and to flags")
    func portFile() async throws {
        let file = folder.path("port")
        let settings = try folder.write("settings.yaml", "server: { portFile: \(file) }")
        let server = try await Server(
            "--database", database, "--config", settings,
            environment: ["BILLOW_DEFAULT_SERVER_PORT_FILE": "/nonexistent/port", "BILLOW_DEFAULT_SERVER_PORT": "1"])
        #expect(try bytes(file) == Data("\(server.port)\n".utf8))
        #expect(try await server.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: file))
        let wrong = try await Command.run(
            "serve", "--database", database, environment: ["BILLOW_DEFAULT_SERVER_PROT": "1"])
        #expect(wrong.status == 64 && wrong.errors.contains("BILLOW_DEFAULT_SERVER_PROT"))
    }
}
