import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

/// Two built servers: the demo, and one that mirrors it.
@Suite("A mirror, from outside", .timeLimit(.minutes(20)))
struct MirrorTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func settings(_ port: Int, _ more: String = "", name: String = "edge.yaml") throws -> String {
        try folder.write(
            name,
            """
            staleAfter: PT5S
            sources:
              - { id: central, kind: billow, baseURL: "http://127.0.0.1:\(port)", update: PT1S\(more) }
            """)
    }

    /// The features of a collection by line, with the sources' names of the central server.
    private func features(_ server: Server, _ path: String) async throws -> [String] {
        let answer = try await server.get("/export/\(path)")
        #expect(answer.status == 200, "\(path): \(answer.text.prefix(300))")
        return answer.text.split(separator: "\n").map {
            String($0).replacing(#""source":"central."#, with: #""source":""#)
        }.sorted()
    }

    /// Waits until both have the same features of a collection. Both change all the time.
    private func same(_ a: Server, _ b: Server, _ path: String) async throws {
        try await eventually("the same \(path)") {
            let before = try await features(a, path)
            let copy = try await features(b, path)
            return !before.isEmpty && before == copy
        }
    }

    private func isStale(_ server: Server) async throws -> Bool? {
        try await server.get("/collections/hexagons/items?limit=1").json["stale"].bool
    }

    @Test("it has the features of its server, serves them offline as stale, and goes on from its cursor")
    func mirror() async throws {
        let simulator = try await Simulator(flights: 60)
        let address = "http://127.0.0.1:\(simulator.port)"
        let central = try folder.write(
            "central.yaml",
            """
            sources:
              - { id: skypath, kind: skypath, baseURL: "\(address)", apiKey: demo, api: v4, update: PT30S,
                  query: { types: [turbulence, nowcast], history: 6 } }
              - { id: awc, kind: aviationweather, baseURL: "\(address)", update: PT30S }
            """)
        let first = try await Server("--database", folder.path("central.sqlite"), "--config", central)
        let file = try settings(first.port)
        let edge = try await Server("--database", folder.path("edge.sqlite"), "--config", file)
        for path in [
            "observations.geojsonl?hours=6", "hexagons.geojsonl?hours=2", "pireps.geojsonl?hours=6",
            "hazards.geojsonl", "advisories.geojsonl", "forecast.geojsonl",
        ] {
            try await same(first, edge, path)
        }
        try await eventually("fresh data") { try await isStale(edge) == false }
        let status = try await edge.status()["sources"][0]
        #expect(status["kind"].string == "billow" && status["simulated"].bool == true)

        // Restarted, it requests what changed since its cursors.
        #expect(try await edge.stop() == 0)
        let second = try await Server("--database", folder.path("edge.sqlite"), "--config", file)
        try await same(first, second, "hexagons.geojsonl?hours=2")
        try await eventually("fresh data again") { try await isStale(second) == false }
        let counts = try await second.status()["sources"][0]["counts"]
        let received = try #require(counts["accepted"].integer) + #require(counts["duplicates"].integer)
        let count = try await features(first, "observations.geojsonl?hours=6").count
        #expect(received < count, "\(received) of \(count)")

        // Offline, it serves what it has, and says that it is stale.
        let before = try await features(second, "hazards.geojsonl")
        first.command.signal(SIGKILL)
        _ = try await first.command.status()
        try await eventually("stale data") { try await isStale(second) == true }
        #expect(try await !features(second, "observations.geojsonl?hours=6").isEmpty)
        #expect(!before.isEmpty)
        #expect(try await !features(second, "hazards.geojsonl").isEmpty)
        #expect(try await second.get("/tiles/hexagons/latest/1/0/0.png").header("X-Incomplete") != nil)
        #expect(try await second.status()["sources"][0]["lastError"]["code"].string == "unreachable")

        // The server returns at the same address and knows no cursor any more.
        let third = try await Server(
            starting: try Command([
                "serve", "--port", "\(first.port)", "--database", folder.path("central.sqlite"), "--config", central,
            ]))
        try await eventually("fresh data after the server's return") { try await isStale(second) == false }
        try await same(third, second, "observations.geojsonl?hours=6")
        #expect(try await second.stop() == 0)
        #expect(try await third.stop() == 0)
    }

    @Test("an event of the server reaches a mirror, and a mirror of the mirror, long before they poll")
    func events() async throws {
        let database = folder.path("central.sqlite")
        func key(_ scope: String) async throws -> String {
            try await Command.run("keys", "create", "--scope", scope, "--database", database).output
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let (sender, reader) = (try await key("ingest"), try await key("read"))
        let closed = try folder.write("central.yaml", "server: { anonymousRead: false }\n")
        let first = try await Server("--database", database, "--config", closed)
        func mirror(_ name: String, of port: Int, _ more: String = "") async throws -> Server {
            let settings = try folder.write(
                "\(name).yaml",
                """
                sources:
                  - { id: central, kind: billow, baseURL: "http://127.0.0.1:\(port)", update: PT1H,
                      events: PT1S\(more) }
                """)
            return try await Server("--database", folder.path("\(name).sqlite"), "--config", settings)
        }
        let near = try await mirror("near", of: first.port, ", apiKey: \(reader), bbox: [0, 40, 20, 60]")
        let far = try await mirror("far", of: near.port)
        func listens(_ server: Server) async throws -> Bool? {
            try await server.status()["sources"][0]["listening"].bool
        }
        for server in [near, far] {
            try await eventually("it listens") {
                let source = try await server.status()["sources"][0]
                return source["listening"].bool == true && source["lastSuccess"].string != nil
            }
        }
        func send(_ id: String, to server: Server) async throws {
            let now = Date.now.addingTimeInterval(-60).ISO8601Format()
            let answer = try await server.send(
                .POST, "/observations",
                #"{"id":"\#(id)","lon":10,"lat":50,"altitude":34000,"severity":3,"observedAt":"\#(now)"}"#, key: sender)
            #expect(answer.status == 200, "\(answer.text)")
        }
        func arrives(_ id: String) async throws {
            for server in [near, far] {
                try await eventually("\(id) arrives") {
                    try await server.get("/export/observations.csv?hours=6").text.contains(id)
                }
            }
        }
        for id in ["first-sent", "second-sent"] {
            try await send(id, to: first)
            try await arrives(id)
        }
        let rounds = try #require(try await near.status()["sources"][0]["counts"]["eventRounds"].integer)
        #expect(rounds >= 2)

        // After a restart of the server the mirror listens again.
        #expect(try await first.stop() == 0)
        try await eventually("no events") { try await listens(near) == false }
        #expect(try await listens(far) == true)
        let second = try await Server(
            starting: try Command([
                "serve", "--port", "\(first.port)", "--database", database, "--config", closed,
            ]))
        try await eventually("it listens again") { try await listens(near) == true }
        try await send("third-sent", to: second)
        try await arrives("third-sent")
        #expect(try await far.stop() == 0)
        #expect(try await near.stop() == 0)
        #expect(try !near.command.standardError.contains(reader))
        #expect(try await second.stop() == 0)
    }

    @Test("a mirror of a box has the features of the box, and needs the key of its server")
    func box() async throws {
        let simulator = try await Simulator(flights: 60)
        let database = folder.path("central.sqlite")
        let key = try await Command.run("keys", "create", "--scope", "read", "--database", database).output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let central = try folder.write(
            "central.yaml",
            """
            server: { anonymousRead: false }
            sources:
              - { id: skypath, kind: skypath, baseURL: "http://127.0.0.1:\(simulator.port)", apiKey: demo, api: v4,
                  update: PT30S }
            """)
        let server = try await Server("--database", database, "--config", central)
        let refused = try await Server(
            "--database", folder.path("refused.sqlite"), "--config", try settings(server.port, name: "refused.yaml"))
        try await eventually("the refusal") {
            try await refused.status()["sources"][0]["lastError"]["code"].string == "disabled"
        }
        #expect(try await refused.stop() == 0)
        let edge = try await Server(
            "--database", folder.path("edge.sqlite"), "--config",
            try settings(server.port, ", apiKey: \(key), bbox: [-60, 30, 0, 65], collections: [observations]"))
        let path = "/export/hexagons.geojsonl?bbox=-60,30,0,65"
        try await eventually("the same box") {
            let theirs = try await server.get(path, ["X-API-Key": key]).text.split(separator: "\n")
            let ours = try await edge.get(path).text.replacing(#""source":"central."#, with: #""source":""#)
                .split(separator: "\n")
            return !theirs.isEmpty && theirs.sorted() == ours.sorted()
        }
        let all = try await server.get("/export/hexagons.geojsonl", ["X-API-Key": key]).text.split(separator: "\n")
        let some = try await edge.get("/export/hexagons.geojsonl").text.split(separator: "\n")
        #expect(some.count < all.count)
        #expect(try await edge.get("/collections/hexagons/items?limit=1").json["incomplete"].bool == true)
        let inside = "/collections/hexagons/items?limit=1&bbox=-50,35,-10,60"
        try await eventually("a complete box") { try await edge.get(inside).json["incomplete"].bool == false }
        #expect(try !edge.command.standardError.contains(key))
        #expect(try await edge.stop() == 0)
        #expect(try await server.stop() == 0)
    }
}
