import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@Suite("billow keys, from outside")
struct KeysTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("a key made, listed and revoked beside a running server counts there within a second")
    func life() async throws {
        let database = folder.path("x.sqlite")
        let server = try await Server("--database", database, environment: ["BILLOW_SERVER_ANONYMOUS_READ": "false"])
        #expect(try await server.get("/status").status == 401)

        let made = try await Command.run(
            "keys", "create", "--database", database, "--name", "cockpit", "--scope", "read,ingest")
        #expect(made.status == 0)
        let key = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let id = String(key.dropFirst(3).prefix(16))
        #expect(!made.errors.contains(key) && made.errors.contains(id))
        #expect(try await server.get("/status", ["X-API-Key": key]).status == 200)

        let listed = try await Command.run("keys", "list", "--database", database)
        #expect(listed.output.hasPrefix("\(id)\tread,ingest\t") && listed.output.contains("\tvalid\tcockpit\n"))
        #expect(!listed.output.contains(key))

        let signed = try await Command.run("keys", "sign", "/export/observations.geojson?hours=6", input: key + "\n")
        let address = signed.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try await server.get(address).status == 200, "\(address)")
        #expect(try await server.get(address + "0").status == 401)
        // What no request line may have is encoded before it is signed.
        let blanks = try await Command.run(
            "keys", "sign", "/collections/observations/items?datetime=2026-01-01T00:00:00 +01:00", input: key + "\n")
        #expect(blanks.output.contains("datetime=2026-01-01T00:00:00%20+01:00&key="), "\(blanks.output)")

        let now = ISO8601DateFormatter().string(from: Date())
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(server.port)/observations")
        request.method = .POST
        request.headers.add(name: "X-API-Key", value: key)
        let report = #"{"id":"1","h3":"852a1073fffffff","altitude":36000,"severity":0,"observedAt":"\#(now)"}"#
        request.body = .bytes(ByteBuffer(string: report))
        #expect(try await HTTPClient.plain.execute(request, timeout: .seconds(300)).status == .ok)
        // Acknowledged is durable: it is there after the server is killed.
        server.command.signal(SIGKILL)
        _ = try await server.command.status()
        let exported = try await Command.run("export", "observations", "--database", database, "--format", "csv")
        #expect(exported.output.contains("852a1073fffffff"))

        let again = try await Server("--database", database, environment: ["BILLOW_SERVER_ANONYMOUS_READ": "false"])
        #expect(try await again.get("/status", ["X-API-Key": key]).status == 200)
        #expect(try await Command.run("keys", "revoke", id, "--database", database).status == 0)
        try await eventually("the key to be refused") {
            try await again.get("/status", ["X-API-Key": key]).status == 401
        }
        #expect(try await Command.run("keys", "revoke", id, "--database", database).status == 65)
        #expect(try await again.stop() == 0)
    }

    @Test(
        "invalid arguments are status 64",
        arguments: [
            ["create", "--scope", "all"], ["create", "--name", ""], ["sign", "x"], ["sign", "/x", "--lasts", "1"],
        ])
    func usage(arguments: [String]) async throws {
        let command = try Command(["keys"] + arguments)
        #expect(try await command.status() == 64)
    }
}
