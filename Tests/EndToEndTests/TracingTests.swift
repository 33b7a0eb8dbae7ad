import Foundation
import NIOHTTP1
import TestSupport
import Testing

@Suite("Tracing") struct TracingTests {
    /// A span of a file.
    private struct Span {
        var json: JSON

        var name: String { json["name"].string ?? "" }
        var id: String? { json["spanId"].string }
        var trace: String? { json["traceId"].string }
        var parent: String? { json["parentSpanId"].string }

        subscript(name: String) -> String? {
            let value = json["attributes"].items.first { $0["key"].string == name }?["value"]
            return value?["stringValue"].string ?? value?["intValue"].string
        }
    }

    private static func spans(_ path: String) throws -> [Span] {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return try text.split(separator: "\n").flatMap { line in
            let document = JSON(value: try JSONSerialization.jsonObject(with: Data(line.utf8)))
            return document["resourceSpans"].items.flatMap { $0["scopeSpans"].items.flatMap { $0["spans"].items } }
        }.map(Span.init)
    }

    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let parent = "00f067aa0ba902b7"

    @Test("requests, rendering, publications, rounds, calls and commits are spans below each other, without a secret")
    func spans() async throws {
        let folder = try TemporaryFolder()
        let database = folder.path("a.sqlite")
        let simulator = try await Simulator(flights: 20)
        let made = try await Command.run("keys", "create", "--scope", "read,ingest,admin", "--database", database)
        let key = made.output.trimmingCharacters(in: .newlines)
        let path = folder.path("spans.jsonl")
        let settings = try folder.write(
            "settings.yaml",
            """
            tracing: { file: \(path), requests: 1 }
            sources:
              - { id: sim, kind: skypath, baseURL: "http://127.0.0.1:\(simulator.port)", apiKey: demo, api: v4,
                  update: PT1S, simulated: true, query: { history: 6 } }
              - { id: wrong, kind: skypath, baseURL: "http://127.0.0.1:\(simulator.port)", apiKey: planted-4711,
                  api: v4, update: PT1S, simulated: true, query: { history: 6 } }
            """)
        let server = try await Server("--config", settings, "--database", database)
        try await eventually("data") { try await server.status()["version"].integer ?? 0 > 0 }
        try await eventually("a refusal of the wrong key") {
            let sources = try await server.get("/admin/sources", ["X-API-Key": key]).json
            return sources.items.contains { $0["lastError"]["code"].string != nil }
        }
        let header = ["traceparent": "00-\(Self.trace)-\(Self.parent)-01", "X-Request-Id": "mine-1"]
        #expect(try await server.get("/tiles/hexagons/latest/2/1/1.png?api=\(key)", header).status == 200)
        // The microcache answers the second one.
        for _ in 0..<2 { #expect(try await server.get("/tiles/hexagons/latest/0/0/0.png", header).status == 200) }
        let unsampled = ["traceparent": "00-\(Self.trace)-\(Self.parent)-00", "X-Request-Id": "mine-2"]
        #expect(try await server.get("/status", unsampled).status == 200)
        #expect(try await server.get("/collections/\(key)/items", ["X-Request-Id": key]).status == 404)
        let metrics = try await server.get("/metrics", ["X-API-Key": key]).text
        #expect(metrics.contains("billow_trace_spans_total{result=\"exported\"}"), "\(metrics)")
        #expect(metrics.contains("billow_trace_spans_total{result=\"dropped\"} 0"))
        #expect(try await server.stop() == 0)

        let all = try Self.spans(path)
        let mine = all.filter { $0["billow.request.id"] == "mine-1" }
        #expect(mine.map { $0["http.response.status_code"] } == ["200", "200", "200"])
        for span in mine {
            #expect(span.trace == Self.trace && span.parent == Self.parent)
            #expect(span.name == "GET \(span["http.route"] ?? "")" && span.name.hasPrefix("GET /tiles/{"))
            #expect(span.json["kind"].integer == 2)
        }
        #expect(!all.contains { $0["billow.request.id"] == "mine-2" })
        let byID = Dictionary(all.map { ($0.id, $0) }) { first, _ in first }
        let drawn = try #require(all.first { $0.name == "render tile" && $0["billow.zoom"] == "0" })
        #expect(byID[drawn.parent]?["billow.request.id"] == "mine-1" && drawn["billow.layer"] == "hexagons")
        let round = try #require(all.first { $0.name == "sync round" && $0["billow.accepted"] ?? "0" != "0" })
        #expect(round["billow.source"] == "sim" && round.parent == nil)
        let within = all.filter { $0.trace == round.trace }
        #expect(within.contains { $0.name == "store commit" && $0["billow.version"] != nil })
        #expect(within.contains { $0["server.address"] == "127.0.0.1" && $0["http.status_code"] == "200" })
        let failed = try #require(all.first { $0.name == "sync round" && $0["billow.source"] == "wrong" })
        #expect(failed.json["status"]["code"].integer == 2)
        #expect(all.contains { $0.name == "publish snapshot" && $0["billow.reads"] == "everything" })
        #expect(all.contains { $0.name == "publish snapshot" && $0["billow.reads"] == "changes" })
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for secret in [String(key.suffix(64)), "planted-4711"] { #expect(!text.contains(secret)) }
    }

    @Test(
        "settings that can't be used are refused",
        arguments: [
            ("file: a, endpoint: 'http://127.0.0.1:4318/v1/traces'", "tracing.endpoint"),
            ("endpoint: 'ftp://a.example'", "tracing.endpoint"), ("endpoint: 'http://me:secret@a.example'", "endpoint"),
            ("file: a, requests: 2", "tracing.requests"), ("file: a, share: 1", "tracing.share"),
        ])
    func refused(_ tracing: String, _ setting: String) async throws {
        let folder = try TemporaryFolder()
        let settings = try folder.write("settings.yaml", "tracing: { \(tracing) }")
        let run = try await Command.run("serve", "--config", settings, "--database", folder.path("a.sqlite"))
        #expect(run.status == 64 && run.errors.contains(setting) && !run.errors.contains("secret"), "\(run.errors)")
    }
}
