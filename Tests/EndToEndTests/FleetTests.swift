import BillowPostgreSQL
import Foundation
import NIOHTTP1
import TestSupport
import Testing

/// Several processes of the built command on one PostgreSQL database.
@Suite("A fleet on PostgreSQL")
struct FleetTests {
    private static let leads = "this server syncs for all servers"

    /// The tiles of all frames of a manifest that may never change, as paths.
    private func tiles(_ server: Server) async throws -> [String] {
        let manifest = try await server.get("/timeline.json?layers=hexagons,polygons&start=-PT2H&end=PT0S&intervals=5")
        #expect(manifest.status == 200, "\(manifest.text.prefix(300))")
        return try manifest.json["layers"].items.flatMap { layer in
            layer["frames"].items.compactMap { $0["tiles"].string }
        }.flatMap { template in
            ["1/0/0", "3/2/3", "4/4/6"].map { place in
                let parts = place.split(separator: "/")
                let path = template.replacingOccurrences(of: "{z}", with: parts[0])
                    .replacingOccurrences(of: "{x}", with: parts[1]).replacingOccurrences(of: "{y}", with: parts[2])
                return path.range(of: "://").map { scheme in
                    String(path[scheme.upperBound...].drop { $0 != "/" })
                } ?? path
            }
        }
    }

    /// It divided by the number of places of an outline that had none, near the antimeridian.
    @Test("the checker of the harness compares hexagons that the antimeridian cuts")
    func comparesCutHexagons() throws {
        let script = """
            import struct, sys, zlib
            sys.path.insert(0, "\(Repository.folder.path)/Benchmarks")
            from soak import bounds, differences
            def chunk(kind, body):
                return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
            row = b"\\0" + b"\\xff\\0\\0\\xff" * 256
            red = (b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 256, 256, 8, 6, 0, 0, 0))
                   + chunk(b"IDAT", zlib.compress(row * 256)) + chunk(b"IEND", b""))
            west, north, east, south = bounds(6, 63, 31)
            ring = [[179.0, 2.0], [180.0, 2.0], [180.0, 3.0], [179.0, 3.0], [179.0, 2.0]]
            other = [[-180.0, 2.0], [-179.0, 2.0], [-179.0, 3.0], [-180.0, 3.0], [-180.0, 2.0]]
            feature = {"geometry": {"type": "MultiPolygon", "coordinates": [[ring], [other]]},
                       "properties": {"severity": 2}}
            print(*differences(red, [feature], 6, 63, 31))
            """
        let finished = try Program.run("python3", ["-c", script])
        #expect(finished.output == "None 1\n")
    }

    /// Compares the answers of all servers for addresses that one of them gave.
    private func compare(_ servers: [Server], _ moment: String) async throws {
        for first in servers {
            let paths = try await tiles(first)
            #expect(paths.count >= 20, "\(moment)")
            var different: [String] = []
            for path in paths {
                let wanted = try await first.get(path)
                for other in servers where other.port != first.port {
                    let answer = try await other.get(path)
                    if answer.status != 200 || answer.body != wanted.body {
                        different.append("\(answer.status) \(path)")
                    }
                }
            }
            #expect(different.isEmpty, "\(moment): \(different.count) of \(paths.count): \(different.prefix(3))")
        }
    }

    /// Compares the observations of a finished period on all servers.
    private func compareFeatures(_ servers: [Server], _ moment: String) async throws {
        let end = Date.now.addingTimeInterval(-600)
        let span = "\(end.addingTimeInterval(-5_400).ISO8601Format())/\(end.ISO8601Format())"
        try await eventually("the same observations on all servers, \(moment)") {
            var answers: [[Substring]] = []
            for server in servers {
                let answer = try await server.get("/export/observations.csv?datetime=\(span)")
                #expect(answer.status == 200)
                answers.append(answer.text.split(separator: "\r\n").sorted())
            }
            // The first line has the names. A sync gets the newest data first.
            return answers.allSatisfy { $0 == answers[0] } && answers[0].count > 100
        }
    }

    @Test(
        "one of three servers syncs; when it is killed another takes over, and all give the same answers",
        .timeLimit(.minutes(20)))
    func takeover() async throws {
        let folder = try TemporaryFolder()
        let simulator = try await Simulator(flights: 60)
        let settings = try simulator.settings(in: folder)
        let database = try await PostgreSQLCluster.shared().address().text
        let created = try await Command.run("keys", "create", "--scope", "ingest", "--database", database)
        let key = created.output.trimmingCharacters(in: .whitespacesAndNewlines)
        var servers: [Server] = []
        for _ in 0..<3 { servers.append(try await Server("--database", database, "--config", settings)) }
        func leaders() async throws -> [Int] {
            var found: [Int] = []
            for (number, server) in servers.enumerated() {
                let status = try await server.status()["fleet"]
                if status["syncs"].bool == true { found.append(number) }
            }
            return found
        }
        try await eventually("a whole sync, which every server shows") {
            for server in servers {
                guard try await server.status()["liveObservations"].integer ?? 0 > 1_000 else { return false }
            }
            return true
        }
        // On a busy machine a leader may come too late to keep its lease.
        try await eventually("one server that syncs") { try await leaders().count == 1 }
        try await compare(servers, "with three servers")
        try await compareFeatures(servers, "with three servers")

        // What one server takes is shown by the others.
        let syncing = try await leaders()
        let follower = try #require(servers.indices.first { !syncing.contains($0) })
        let now = Date.now.addingTimeInterval(-60).ISO8601Format()
        let sent = #"[{"lon": 10, "lat": 50, "altitude": 34000, "severity": 3, "observedAt": "\#(now)", "id": "sent"}]"#
        let answer = try await servers[follower].send(.POST, "/observations", sent, key: key)
        #expect(answer.status == 200, "\(answer.text)")
        let version = try answer.json["version"].integer ?? 0
        #expect(version > 0)
        try await eventually("the observation on every server") {
            for server in servers {
                guard try await server.status()["version"].integer ?? 0 >= version else { return false }
                guard try await server.get("/export/observations.csv?source=ingest").text.contains("sent") else {
                    return false
                }
            }
            return true
        }

        // SIGKILL: the leader can't give its lease back.
        var found: Int?
        try await eventually("a leader to kill") {
            found = try await leaders().first
            return found != nil
        }
        let leader = try #require(found)
        #expect(try servers[leader].command.standardError.contains(Self.leads))
        let killed = servers[leader]
        let clock = ContinuousClock()
        let start = clock.now
        killed.command.signal(SIGKILL)
        #expect(try await killed.command.status() == -SIGKILL)
        servers.remove(at: leader)
        let before = try await servers[0].status()["version"].integer ?? 0
        try await eventually("another leader") { try await !leaders().isEmpty }
        let handover = clock.now - start
        try await eventually("what the new leader fetches, on every server") {
            for server in servers {
                guard try await server.status()["version"].integer ?? 0 > before else { return false }
            }
            return true
        }
        print("hand-over after SIGKILL: \(handover), first new data: \(clock.now - start)")
        // The limit is for a machine that runs nothing else.
        #expect(handover < .seconds(30))
        try await eventually("one server that syncs, again") { try await leaders().count == 1 }
        servers.append(try await Server("--database", database, "--config", settings))
        try await compare(servers, "after the takeover")
        try await compareFeatures(servers, "after the takeover")

        for server in servers { #expect(try await server.stop() == 0) }
        let check = try await Command.run("check", "--database", database)
        #expect(check.status == 0, "\(check.output)\(check.errors)")
        simulator.command.signal(SIGTERM)
        #expect(try await simulator.command.status() == 0)
    }
}
