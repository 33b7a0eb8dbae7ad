import BillowEngine
import Foundation
import NIOHTTP1
import TestSupport
import Testing
import UpstreamKit

@testable import billow

@Suite("The log") struct LogTests {
    private struct Line: Decodable {
        var time: String
        var level: String
        var label: String
        var source: String
        var message: String
        var metadata: [String: String]?
    }

    @Test("with logFormat json every line is an object; with accessLog each request is a line with id and client")
    func json() async throws {
        let folder = try TemporaryFolder()
        let settings = try folder.write(
            "settings.yaml",
            "logFormat: json\naccessLog: true\nlogLevel: notice\nserver: { trustedProxies: [127.0.0.1] }")
        let server = try await Server("--config", settings, "--database", folder.path("a.sqlite"))
        #expect(try await server.get("/healthz?a=b", ["X-Request-Id": "mine-1"]).header("X-Request-Id") == "mine-1")
        // The second one is the microcache's.
        for _ in 0..<2 { _ = try await server.get("/tiles/hexagons/latest/0/0/0.png") }
        _ = try await server.get("/no%20where", ["X-Forwarded-For": "198.51.100.1, 203.0.113.9"])
        #expect(try await server.stop() == 0)
        let text = try server.command.standardError
        let lines = try text.split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
        for line in lines {
            #expect(line.time.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z/) != nil, "\(line)")
        }
        #expect(lines.contains { $0.level == "notice" && $0.message.hasPrefix("Billow is at http://127.0.0.1:") })
        let requests = lines.filter { $0.label == "billow.access" }.compactMap(\.metadata)
        #expect(
            requests.map { $0["path"] } == [
                "/healthz", "/tiles/hexagons/latest/0/0/0.png", "/tiles/hexagons/latest/0/0/0.png", "/no%20where",
            ])
        #expect(requests.map { $0["status"] } == ["200", "200", "200", "404"])
        #expect(requests[0]["id"] == "mine-1" && Set(requests.compactMap { $0["id"] }).count == 4)
        // Only the proxy's own word counts, which is the last one.
        #expect(requests.map { $0["client"] } == ["127.0.0.1", "127.0.0.1", "127.0.0.1", "203.0.113.9"])
        #expect(requests.allSatisfy { $0["method"] == "GET" && Double($0["milliseconds"] ?? "") != nil })
    }

    @Test(
        "a secret is in no line, wherever it was planted, at any level and in both formats",
        arguments: LogFormat.allCases)
    func secrets(_ format: LogFormat) async throws {
        let folder = try TemporaryFolder()
        let database = folder.path("a.sqlite")
        let simulator = try await Simulator(flights: 5)
        let admin = try await Command.run("keys", "create", "--scope", "read,ingest,admin", "--database", database)
        let key = admin.output.trimmingCharacters(in: .newlines)
        let secret = String(key.suffix(64))
        let planted = [
            "planted-skypath-4711", "planted-opensky-4712", "planted-password-4713", "planted-copy-4714",
            "planted-shell-4715", "planted-service-4716",
        ]
        let settings = try folder.write(
            "settings.yaml",
            """
            logLevel: trace
            logFormat: \(format.rawValue)
            accessLog: true
            backups:
              folder: \(folder.path("backups"))
              copyCommand: 'echo "${B_WORD} $C_WORD are refused" >&2; env | grep ^SERVICE_ >&2; exit 3'
            sources:
              - { id: wrong, kind: skypath, baseURL: "http://127.0.0.1:\(simulator.port)", apiKey: "${A_KEY}", api: v4,
                  update: PT1S, simulated: true, company: "acme", user: "pilot" }
              - { id: sky, kind: opensky, baseURL: "http://127.0.0.1:\(simulator.port)", clientId: me,
                  clientSecret: \(planted[1]), update: PT1S, simulated: true }
            """)
        let server = try await Server(
            "--config", settings, "--database", database,
            environment: [
                "A_KEY": planted[0], "B_WORD": planted[3], "C_WORD": planted[4], "SERVICE_TOKEN": planted[5],
            ])
        // In headers, in the path, in the query, in a body and in the id of a request.
        _ = try await server.get("/admin/sources", ["X-API-Key": key])
        _ = try await server.get("/metrics", ["Authorization": "Bearer \(key)"])
        _ = try await server.get("/tiles/\(key)/latest/0/0/0.png?api=\(key)", ["X-Request-Id": key])
        _ = try await server.get("/collections/\(key)/items?limit=\(key)")
        _ = try await server.send(.POST, "/observations", "{\"id\": \"\(key)\"", key: key)
        _ = try await server.send(.PATCH, "/admin/sources/wrong", "{\"apiKey\": \"\(key)\"}", key: key)
        let signed = try await Command.run("keys", "sign", "/status", input: key + "\n")
        let address = signed.output.trimmingCharacters(in: .newlines)
        let signature = String(address.split(separator: "=").last ?? "")
        _ = try await server.get(address)
        try await eventually("both upstreams to refuse") {
            let sources = try await server.get("/admin/sources", ["X-API-Key": key]).json
            return [0, 1].allSatisfy { sources[$0]["lastError"]["code"].string != nil }
        }
        try await eventually("the copy command to fail") {
            let said = try server.command.standardError
            return said.contains("[secret] [secret] are refused") && said.contains("SERVICE_TOKEN=[secret]")
        }
        let status = try await server.get("/status", ["X-API-Key": key]).text
        #expect(status.contains("[secret] are refused"))
        for text in planted { #expect(!status.contains(text), "\(text)") }
        #expect(try await server.stop() == 0)
        let said = try server.command.standardError
        #expect(said.contains("[secret]"), "nothing was replaced: the key in a path isn't logged any more")
        #expect(signature.count == 64)
        for text in planted + [secret, signature] { #expect(!said.contains(text), "\(text)") }
        // Settings that can't be used name what is wrong without it.
        let wrong = try folder.write(
            "wrong.yaml",
            "sources: [{ id: a, kind: opensky, baseURL: 'https://me:\(planted[2])@sky.example', clientSecret: 'a b' }]")
        let refused = try await Command.run("serve", "--config", wrong, "--database", database)
        #expect(refused.status == 64 && !refused.errors.contains(planted[2]), "\(refused.errors)")
    }

    @Test(
        "keys, signatures and the settings' secrets are replaced, and nothing else",
        arguments: [
            ("no secret in 64 digits", "no secret in 64 digits"), ("bk_", "bk_"), ("bk_short", "bk_short"),
            ("a planted-1 b", "a [secret] b"), ("sig=12", "sig=12"),
            ("/a?key=1&sig=0123456789abcdef0123&x", "/a?key=1&sig=[secret]&x"),
        ])
    func redaction(_ text: String, _ expected: String) throws {
        let redaction = LogRedaction([try #require(Secret("planted-1"))])
        #expect(redaction.redacted(text) == expected)
        let key = KeyText.make()
        let whole = redaction.redacted("a \(key.text), \(key.text)")
        #expect(whole == "a bk_\(key.id)_[secret], bk_\(key.id)_[secret]")
    }
}
