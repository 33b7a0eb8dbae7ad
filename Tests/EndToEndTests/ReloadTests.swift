import Foundation
import NIOHTTP1
import TestSupport
import Testing

@Suite("SIGHUP reads styles and settings again")
struct ReloadTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func source(_ id: String, port: Int, key: String = "demo", more: String = "") -> String {
        """
          - { id: \(id), kind: skypath, baseURL: "http://127.0.0.1:\(port)", apiKey: \(key), api: v4, update: PT1S,
              simulated: true, query: { history: 6 }\(more) }
        """
    }

    private func inbox(_ id: String) -> String {
        "  - { id: \(id), kind: inbox, path: \"\(folder.path(id))\", simulated: true }"
    }

    private func write(_ sources: [String], more: String = "") throws -> String {
        try folder.write("settings.yaml", "\(more)\nsources:\n\(sources.joined(separator: "\n"))\n")
    }

    /// Sends the signal and waits for words in the log, which aren't there yet.
    private func reload(_ server: Server, until words: String) async throws {
        let before = try server.command.standardError.components(separatedBy: words).count
        server.command.signal(SIGHUP)
        try await eventually("'\(words)' in the log") {
            try server.command.standardError.components(separatedBy: words).count > before
        }
    }

    private func ids(_ server: Server) async throws -> [String?] {
        try await server.status()["sources"].items.map { $0["id"].string }
    }

    @Test("sources are added, removed and changed without a restart, and the log tells which")
    func sources() async throws {
        let simulator = try await Simulator(flights: 20)
        let settings = try write([source("a", port: simulator.port)])
        let server = try await Server("--config", settings, "--database", folder.path("x.sqlite"))
        func isFetched(_ index: Int) async throws -> Bool {
            try await server.status()["sources"][index]["lastSuccess"].string != nil
        }
        try await eventually("data of a") { try await isFetched(0) }

        _ = try write([source("a", port: simulator.port), source("b", port: simulator.port), inbox("in")])
        try await reload(server, until: "added=[\"b\", \"in\"] changed=[] removed=[]")
        #expect(try await ids(server) == ["a", "b", "in"])
        try await eventually("data of b") { try await isFetched(1) }
        try FileManager.default.copyItem(
            at: URL(filePath: Repository.florida), to: folder.url.appending(path: "in/reports.json"))
        try await eventually("the reports of the inbox") {
            try await server.get("/collections/pireps/items?datetime=2026-07-01T00:00:00Z/..").text
                .contains("\"Feature\"")
        }
        // A name that is fetched takes no posted observations.
        let key = try await Command.run(
            "keys", "create", "--scope", "ingest", "--database", folder.path("x.sqlite")
        ).output.trimmingCharacters(in: .whitespacesAndNewlines)
        func post() async throws -> String {
            let now = Date.now.formatted(.iso8601)
            let observation =
                #"{"lon":8,"lat":47,"altitude":30000,"severity":2,"source":"b","observedAt":"\#(now)"}"#
            return try await server.send(.POST, "/observations", observation, key: key).text
        }
        #expect(try await post().contains("foreign-source"))

        // b goes, a requests less often, and the inbox stays.
        let asked = try await server.status()["sources"][0]["update"].string
        _ = try write([
            source("a", port: simulator.port).replacing("PT1S", with: "PT2S"), inbox("in"),
        ])
        try await reload(server, until: "added=[] changed=[\"a\"] removed=[\"b\"]")
        let sources = try await server.status()["sources"].items
        #expect(sources.first { $0["id"].string == "a" }?["update"].string != asked)
        #expect(sources.first { $0["id"].string == "b" }?["state"].string == "stored")
        try await eventually("data of the changed source") {
            try await server.status()["sources"].items.contains {
                $0["id"].string == "a" && $0["lastSuccess"].string != nil
            }
        }
        #expect(try await server.stop() == 0)
    }

    @Test("settings that can't be used change nothing, and the log says why")
    func bad() async throws {
        let simulator = try await Simulator(flights: 20)
        let good = [source("a", port: simulator.port)]
        let server = try await Server("--config", try write(good), "--database", folder.path("x.sqlite"))
        try await eventually("data") { try await server.status()["sources"][0]["lastSuccess"].string != nil }
        for (sources, words) in [
            (["  - { id: a, kind: skypth }"], "sources[0].kind"),
            (["  - ["], "is not YAML"),
            ([source("a", port: simulator.port), source("a", port: simulator.port)], "as another source's"),
            (good.map { $0.replacing("simulated: true", with: "simulated: false") }, "must not be mixed"),
        ] {
            _ = try write(sources)
            try await reload(server, until: "the sources are unchanged")
            let log = try server.command.standardError
            #expect(log.contains(words), "\(words): \(log)")
            #expect(try await ids(server) == ["a"])
        }
        try FileManager.default.removeItem(atPath: folder.path("settings.yaml"))
        try await reload(server, until: "there is no such file")
        // Other settings are named. They wait for a restart.
        _ = try write(good, more: "retention: P3D\nserver: { anonymousRead: false }")
        try await reload(server, until: "need a restart")
        #expect(try server.command.standardError.contains(#"settings=["retention", "server.anonymousRead"]"#))
        #expect(try await server.status()["sources"][0]["lastSuccess"].string != nil)
        #expect(try await server.stop() == 0)
    }

    @Test("a log of JSON has the styles and sources as arrays")
    func json() async throws {
        struct Line: Decodable {
            var message: String
            var metadata: [String: [String]]
        }
        let server = try await Server(
            "--config", try write([inbox("in")], more: "logFormat: json"), "--database", folder.path("x.sqlite"))
        _ = try write([inbox("in"), inbox("other")], more: "logFormat: json")
        try await reload(server, until: "settings read again")
        #expect(try await server.stop() == 0)
        // Other lines have other metadata.
        let lines = try server.command.standardError.split(separator: "\n").compactMap {
            try? JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
        let styles = lines.first { $0.message == "styles read again" }?.metadata["styles"]
        #expect(styles?.contains("day") == true)
        #expect(lines.first { $0.message == "settings read again" }?.metadata["added"] == ["other"])
    }

    @Test("another key of an upstream is used, and no log has either")
    func keys() async throws {
        let simulator = try await Simulator(flights: 20)
        let settings = try write([source("a", port: simulator.port, key: "planted-wrong")])
        let server = try await Server("--config", settings, "--database", folder.path("x.sqlite"))
        try await eventually("the refusal") { try await server.status()["sources"][0]["session"].bool == false }
        _ = try write([source("a", port: simulator.port)])
        try await reload(server, until: "changed=[\"a\"]")
        try await eventually("data") { try await server.status()["sources"][0]["lastSuccess"].string != nil }
        #expect(try !server.command.standardError.contains("planted-wrong"))
        #expect(try await server.stop() == 0)
    }
}
