import Foundation
import NIOHTTP1
import TestSupport
import Testing

@Suite("Sources, from outside", .timeLimit(.minutes(20)))
struct SourceTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The settings of the three upstreams, with nothing in them about simulation.
    private func settings(of simulator: Simulator, more: String = "") throws -> String {
        let address = "http://127.0.0.1:\(simulator.port)"
        return try folder.write(
            "settings.yaml",
            """
            \(more)
            sources:
              - { id: skypath, kind: skypath, baseURL: "\(address)", apiKey: demo, api: v4, update: PT1S }
              - { id: awc, kind: aviationweather, baseURL: "\(address)", update: PT1S }
              - { id: opensky, kind: opensky, baseURL: "\(address)", update: PT1S }
            """)
    }

    private func count(_ server: Server, _ collection: String) async throws -> Int {
        try await server.get("/collections/\(collection)/items?limit=10").json["features"].items.count
    }

    @Test("what says that it is simulated is marked everywhere, and never mixed with real data")
    func simulated() async throws {
        let simulator = try await Simulator(flights: 40)
        let file = try settings(of: simulator)
        let server = try await Server("--database", folder.path("simulated.sqlite"), "--config", file)
        for collection in ["hexagons", "hazards", "traffic"] {
            try await eventually(collection) { try await count(server, collection) > 0 }
            #expect(try await server.get("/tiles/\(collection)/latest/1/0/0.png").header("X-Simulated") == "true")
        }
        let sources = try await server.status()["sources"].items
        #expect(sources.map { $0["simulated"].bool } == [true, true, true])
        #expect(try await server.stop() == 0)

        let real = folder.path("real.sqlite")
        let record =
            #"{"h3":"852a1073fffffff","altitude":36000,"severity":3,"observedAt":"\#(Date.now.formatted(.iso8601))"}"#
        #expect(try await Command.run("import", "--database", real, "-", input: record).status == 0)
        let second = try await Server("--database", real, "--config", file)
        try await eventually("all three to be refused") {
            try await second.status()["sources"].items.prefix(3).allSatisfy {
                $0["lastError"]["code"].string == "simulated-data"
            }
        }
        #expect(try await count(second, "hexagons") == 1)
        #expect(try await second.get("/tiles/hexagons/latest/1/0/0.png").header("X-Simulated") == nil)
        #expect(try await count(second, "traffic") == 0)
        #expect(try await second.stop() == 0)
    }

    @Test("a type that is requested while it runs is fetched within a second, and one that isn't any more grows stale")
    func types() async throws {
        let simulator = try await Simulator(flights: 40)
        let database = folder.path("types.sqlite")
        let key = try await Command.run("keys", "create", "--scope", "admin", "--database", database).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let file = try folder.write(
            "types.yaml",
            """
            staleAfter: PT5S
            sources:
              - id: sim
                kind: skypath
                baseURL: "http://127.0.0.1:\(simulator.port)"
                apiKey: demo
                api: v4
                update: PT1S
            """)
        let server = try await Server("--database", database, "--config", file)
        func layer(_ name: String) async throws -> JSON { try await server.get("/readyz").json["layers"][name] }
        try await eventually("turbulence") { try await layer("hexagons")["stale"].bool == false }
        #expect(try await count(server, "traffic") == 0)
        #expect(try await layer("traffic")["dataTime"].isAbsent)
        let wrong = try await server.send(.PATCH, "/admin/sources/sim", #"{"types":["traffic"]}"#, key: key)
        #expect(wrong.status == 400)
        #expect(try wrong.json["value"].string == #"["traffic"]"#)
        let right = try await server.send(.PATCH, "/admin/sources/sim", #"{"types":["flights","nowcast"]}"#, key: key)
        #expect(right.status == 200, "\(right.text)")
        try await eventually("flights") { try await count(server, "traffic") > 0 }
        try await eventually("the nowcast") { try await count(server, "forecast") > 0 }
        try await eventually("turbulence to grow stale") { try await layer("hexagons")["stale"].bool == true }
        try await eventually("flights that are new while that is old") {
            let (old, new) = (try await layer("hexagons"), try await layer("traffic"))
            return old["stale"].bool == true && new["stale"].bool == false
        }
        #expect(try await count(server, "hexagons") > 0, "what is stored is served on")

        let stopped = try await server.send(.PATCH, "/admin/sources/sim", #"{"update":"none"}"#, key: key)
        #expect(stopped.status == 200)
        try await eventually("all of it to grow stale") { try await layer("traffic")["stale"].bool == true }
        try await eventually("the source to be stopped and stale") {
            let source = try await server.status()["sources"][0]
            return source["state"].string == "stopped" && source["stale"].bool == true
        }
        #expect(try await server.stop() == 0)
    }

    @Test("data of a damaged database is fetched again completely")
    func damaged() async throws {
        let simulator = try await Simulator(flights: 30)
        let file = try simulator.settings(in: folder)
        let database = folder.path("x.sqlite")
        #expect(try await Command.run("sync", "--once", "--database", database, "--config", file).status == 0)
        /// Where and how high something was observed since an instant.
        func places(_ text: String, since: Date = .distantPast) -> Set<[Substring]> {
            let since = since.formatted(.iso8601)
            let rows = text.split(separator: "\r\n").dropFirst().map {
                $0.split(separator: ",", omittingEmptySubsequences: false)
            }
            return Set(rows.filter { $0[9] >= since }.map { Array($0[1...4]) })
        }
        // The oldest of the six hours that the upstream goes back may leave it meanwhile.
        let before = places(
            try await Command.run("export", "observations", "--database", database, "--format", "csv").output,
            since: .now - 5 * 3_600)
        #expect(before.count > 500)
        var bytes = try Data(contentsOf: URL(filePath: database))
        bytes.replaceSubrange(100..<bytes.count, with: Data(repeating: 7, count: bytes.count - 100))
        try bytes.write(to: URL(filePath: database))

        let server = try await Server("--database", database, "--config", file)
        try await eventually("all of it to be there again") {
            places(try await server.get("/export/observations.csv").text).isSuperset(of: before)
        }
        #expect(try await server.stop() == 0)
        let kept = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter {
            $0.contains(".corrupt-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
        }
        #expect(kept.count == 1)
        #expect(try kept.map { try Data(contentsOf: URL(filePath: folder.path($0))) } == [bytes])
        #expect(try await Command.run("check", "--database", database).status == 0)
    }

    /// A file that may not grow beyond a size is a disk that is full at it.
    @Test("a full disk is reported in one sentence, leaves the data unchanged, and ends")
    func diskFull() async throws {
        let simulator = try await Simulator(flights: 30)
        let file = try simulator.settings(in: folder)
        let database = folder.path("full.sqlite")
        let full = "trap '' XFSZ; ulimit -f 500"
        let failed = try await Command.run("sync", "--once", "--database", database, "--config", file, script: full)
        #expect(failed.status == 74, "\(failed.errors)")
        #expect(
            failed.errors.contains("the database failed") || failed.errors.contains("can't be used"), "\(failed.errors)"
        )
        #expect(try await Command.run("check", "--database", database).status == 0)

        let again = try await Command.run("sync", "--once", "--database", database, "--config", file)
        #expect(again.status == 0, "\(again.errors)")
        #expect(try await Command.run("check", "--database", database).status == 0)
        let rows = try await Command.run("export", "observations", "--database", database, "--format", "csv").output
        #expect(rows.split(separator: "\r\n").count > 500)

        // A server whose disk is full serves what it has, and says what is wrong.
        let server = try Command(
            ["serve", "--port", "0", "--database", folder.path("other.sqlite"), "--config", file], script: full)
        let port = try await server.port(after: "Billow is at http://127.0.0.1:")
        func get(_ path: String) async throws -> Answer { try await Answer.of("http://127.0.0.1:\(port)\(path)") }
        try await eventually("the full disk to be said") {
            try await get("/status").json["sources"][0]["lastError"]["code"].string == "store"
        }
        #expect(try await get("/tiles/hexagons/latest/1/0/0.png").status == 200)
        #expect(try await get("/readyz").status == 200)
        server.signal(SIGTERM)
        #expect(try await server.status() == 0)
    }

    // MARK: - billow opensky

    @Test("every service of OpenSky answers through the command, as a table, JSON and GeoJSON")
    func openSky() async throws {
        let simulator = try await Simulator(flights: 60)
        let address = "http://127.0.0.1:\(simulator.port)"
        let credentials = ["OPENSKY_CLIENT_ID": "demo", "OPENSKY_CLIENT_SECRET": "demo"]
        func ask(_ words: String..., format: String = "json") async throws -> Finished {
            let command = try Command(
                ["opensky"] + words + ["--base-url", address, "--format", format], environment: credentials)
            let status = try await command.status()
            return Finished(status: status, output: try command.standardOutput, errors: try command.standardError)
        }
        func records(_ answer: Finished) throws -> [JSON] {
            #expect(answer.status == 0, "\(answer.errors)")
            return JSON(value: try JSONSerialization.jsonObject(with: Data(answer.output.utf8))).items
        }
        let states = try records(try await ask("states"))
        #expect(states.count > 20)
        let aircraft = try (states.first { !$0["longitude"].isAbsent }?["icao24"].string).orMissing("an aircraft")
        #expect(try records(try await ask("states", "--icao24", aircraft)).map { $0["icao24"].string } == [aircraft])
        #expect(try records(try await ask("own")).count > 0)
        let flights = try records(try await ask("flights"))
        for (direction, member) in [("departures", "departure"), ("arrivals", "arrival")] {
            let airport = try flights.compactMap { $0[member].string }.first.orMissing("an airport")
            let found = try records(try await ask(direction, airport))
            #expect(!found.isEmpty && found.allSatisfy { $0[member].string == airport }, "\(direction)")
        }
        let flown = try (flights.first?["icao24"].string).orMissing("a flight")
        #expect(try records(try await ask("aircraft", flown)).allSatisfy { $0["icao24"].string == flown })
        #expect(try records(try await ask("track", aircraft)).count > 1)
        for service in [["states"], ["track", aircraft]] {
            let answer = try await ask(service[0], service.dropFirst().first ?? "--category", format: "geojson")
            let collection = JSON(value: try JSONSerialization.jsonObject(with: Data(answer.output.utf8)))
            // A track may cross the antimeridian.
            let shapes = service.count == 1 ? ["Point"] : ["LineString", "MultiLineString"]
            #expect(shapes.contains(collection["features"][0]["geometry"]["type"].string ?? ""))
        }
        // Aircraft come and go between two answers: an aircraft in the one before and in the one after is in the table.
        func addresses() async throws -> Set<String> {
            Set(try records(try await ask("states")).compactMap { $0["icao24"].string })
        }
        let before = try await addresses()
        let table = try await ask("states", format: "table").output.split(separator: "\n")
        let shown = Set(table.dropFirst().map { String($0.prefix(6)) })
        #expect(table.first?.hasPrefix("icao24") == true && shown.count == table.count - 1)
        let stayed = before.intersection(try await addresses())
        #expect(stayed.count > 20 && stayed.isSubset(of: shown), "\(stayed.subtracting(shown))")
        #expect(try await ask("track", "xyz").status == 64)
        #expect(try await ask("states", "--time", "2020-01-01T00:00:00Z").errors.contains("2020-01-01T00:00:00Z"))
        simulator.command.signal(SIGTERM)
        _ = try await simulator.command.status()
        #expect(try await ask("states").status == 69)
    }
}
