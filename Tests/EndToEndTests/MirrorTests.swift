import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

/// Two built servers: the demo, and one that mirrors it.
@Suite("A mirror, from outside", .timeLimit(.minutes(20)))
struct MirrorTests: SecureSuite {
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

    /// The settings of a server that syncs from a simulator.
    private func centralSettings(_ simulator: Simulator) throws -> String {
        let address = "http://127.0.0.1:\(simulator.port)"
        return try folder.write(
            "central.yaml",
            """
            sources:
              - { id: skypath, kind: skypath, baseURL: "\(address)", apiKey: demo, api: v4, update: PT30S,
                  query: { types: [turbulence, nowcast], history: 6 } }
              - { id: awc, kind: aviationweather, baseURL: "\(address)", update: PT30S }
            """)
    }

    @Test("it has the features of its server, and after a restart goes on from its cursor")
    func mirror() async throws {
        let simulator = try await Simulator(flights: 60)
        let central = try centralSettings(simulator)
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
        #expect(try await second.stop() == 0)
        #expect(try await first.stop() == 0)
    }

    @Test("a mirror without its server serves what it has as stale, and continues when the server returns")
    func offline() async throws {
        let simulator = try await Simulator(flights: 60)
        let central = try centralSettings(simulator)
        let first = try await Server("--database", folder.path("central.sqlite"), "--config", central)
        let edge = try await Server("--database", folder.path("edge.sqlite"), "--config", try settings(first.port))
        for path in ["observations.geojsonl?hours=6", "hazards.geojsonl"] { try await same(first, edge, path) }
        try await eventually("fresh data") { try await isStale(edge) == false }

        first.command.signal(SIGKILL)
        _ = try await first.command.status()
        try await eventually("stale data") { try await isStale(edge) == true }
        #expect(try await !features(edge, "observations.geojsonl?hours=6").isEmpty)
        #expect(try await !features(edge, "hazards.geojsonl").isEmpty)
        #expect(try await edge.get("/tiles/hexagons/latest/1/0/0.png").header("X-Incomplete") != nil)
        #expect(try await edge.status()["sources"][0]["lastError"]["code"].string == "unreachable")

        // The server returns at the same address and knows no cursor any more.
        let returned = try await Server(
            starting: try Command([
                "serve", "--port", "\(first.port)", "--database", folder.path("central.sqlite"), "--config", central,
            ]))
        try await eventually("fresh data after the server's return") { try await isStale(edge) == false }
        try await same(returned, edge, "observations.geojsonl?hours=6")
        #expect(try await edge.stop() == 0)
        #expect(try await returned.stop() == 0)
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

    // MARK: A reload, and TLS

    /// A key of a database.
    private func key(_ scope: String, of database: String) async throws -> String {
        let made = try await Command.run("keys", "create", "--scope", scope, "--database", database)
        #expect(made.status == 0, "\(made.errors)")
        return made.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The body of an observation of a minute ago.
    private func observation(_ id: String) -> String {
        let now = Date.now.addingTimeInterval(-60).ISO8601Format()
        return #"{"id":"\#(id)","lon":10,"lat":50,"altitude":34000,"severity":3,"observedAt":"\#(now)"}"#
    }

    /// Waits until a mirror has an observation.
    private func arrives(_ id: String, at mirror: Server) async throws {
        try await eventually("\(id) arrives") {
            try await mirror.get("/export/observations.csv?hours=6").text.contains(id)
        }
    }

    @Test("a mirror that listens follows its settings at SIGHUP: no events, another server, another key")
    func reload() async throws {
        /// A server, and the number of clients that listen to it.
        struct Central {
            let server: Server
            let key: String

            func send(_ observation: String) async throws {
                let answer = try await server.send(.POST, "/observations", observation, key: key)
                #expect(answer.status == 200, "\(answer.text)")
            }

            func hasListeners(_ count: Int) async throws -> Bool {
                try await server.get("/metrics", ["X-API-Key": key]).text.contains(
                    "\nbillow_event_listeners \(count)\n")
            }
        }
        func central(_ name: String) async throws -> Central {
            let database = folder.path("\(name).sqlite")
            let key = try await key("ingest,admin,read", of: database)
            let closed = try folder.write("\(name).yaml", "server: { anonymousRead: false }\n")
            return Central(server: try await Server("--database", database, "--config", closed), key: key)
        }
        let (first, second) = (try await central("first"), try await central("second"))
        func write(_ central: Central, events: String, key: String? = nil) throws -> String {
            try folder.write(
                "mirror.yaml",
                """
                sources:
                  - { id: central, kind: billow, baseURL: "http://127.0.0.1:\(central.server.port)", update: PT1H,
                      apiKey: \(key ?? central.key), events: \(events) }
                """)
        }
        let mirror = try await Server(
            "--database", folder.path("mirror.sqlite"), "--config", try write(first, events: "PT1S"))
        func source() async throws -> JSON { try await mirror.status()["sources"][0] }
        func listens() async throws -> Bool {
            let source = try await source()
            return source["listening"].bool == true && source["lastSuccess"].string != nil
        }
        var reloads = 0
        func reload() async throws {
            mirror.command.signal(SIGHUP)
            reloads += 1
            try await eventually("the reload") {
                try mirror.command.standardError.components(separatedBy: #"changed=["central"]"#).count > reloads
            }
        }
        try await eventually("it listens") { try await listens() }
        try await first.send(observation("before"))
        try await arrives("before", at: mirror)

        // It only polls, once an hour.
        _ = try write(first, events: "none")
        try await reload()
        #expect(try await source()["listening"].isAbsent)
        try await eventually("no listener") { try await first.hasListeners(0) }
        try await eventually("its first round") { try await source()["lastSuccess"].string != nil }
        try await first.send(observation("unheard"))

        // Another time between rounds: it listens again, and the first round has what it missed.
        _ = try write(first, events: "PT2S")
        try await reload()
        try await arrives("unheard", at: mirror)
        try await eventually("it listens again") { try await listens() }

        // Another server. The former one is left.
        _ = try write(second, events: "PT1S")
        try await reload()
        try await eventually("it listens to the other one") { try await listens() }
        try await eventually("the former has no listener") { try await first.hasListeners(0) }
        #expect(try await second.hasListeners(1))
        try await second.send(observation("other"))
        try await arrives("other", at: mirror)

        // A refused key ends the listening, and the right one begins it again.
        _ = try write(second, events: "PT1S", key: "planted-wrong-4711")
        try await reload()
        try await eventually("the refusal") {
            let source = try await source()
            return source["session"].bool == false && source["listening"].bool == false
        }
        try await eventually("no listener") { try await second.hasListeners(0) }
        _ = try write(second, events: "PT1S")
        try await reload()
        try await eventually("it listens with the key") { try await listens() }
        try await second.send(observation("last"))
        try await arrives("last", at: mirror)
        #expect(try await mirror.stop() == 0)
        let said = try mirror.command.standardError
        for key in [first.key, second.key, "planted-wrong-4711"] { #expect(!said.contains(key)) }
        #expect(try await first.server.stop() == 0)
        #expect(try await second.server.stop() == 0)
    }

    /// How a mirror reaches its server over TLS. The server itself chooses HTTP/2, an nginx without it HTTP/1.1.
    enum SecureWay: String, CaseIterable {
        case server, proxy
    }

    /// Whether this process may mount files of its own, which trusts a certificate for one process.
    private static let canMount: Bool = {
        guard let probe = try? Program.run("unshare", ["--map-root-user", "--mount", "true"]) else { return false }
        return probe.status == 0 && FileManager.default.fileExists(atPath: trusted)
    }()
    /// The certificates that NIO trusts on Debian.
    private static let trusted = "/etc/ssl/certs/ca-certificates.crt"

    @Test(
        "over TLS, events reach a mirror that trusts the certificate, also after a renewal and a restart",
        .enabled(if: canMount), arguments: SecureWay.allCases)
    func secure(_ way: SecureWay) async throws {
        try makeCertificate("one")
        try makeCertificate("two")
        try put("one.pem", at: "tls.pem")
        try put("one.key", at: "tls.key")
        let database = folder.path("central.sqlite")
        let key = try await key("ingest,read", of: database)
        let tls = "tls: { certificate: \(folder.path("tls.pem")), key: \(folder.path("tls.key")) }"
        let settings = try folder.write(
            "central.yaml", "server: { anonymousRead: false\(way == .server ? ", \(tls)" : "") }\n")
        func start(port: Int = 0) async throws -> (command: Command, port: Int) {
            let command = try Command(["serve", "--port", "\(port)", "--database", database, "--config", settings])
            let scheme = way == .server ? "https" : "http"
            return (command, try await command.port(after: "Billow is at \(scheme)://127.0.0.1:"))
        }
        var central = try await start()
        let proxy = way == .proxy ? try await nginx(before: central.port) : nil
        let secure = proxy?.port ?? central.port
        let mirrored = try folder.write(
            "mirror.yaml",
            """
            sources:
              - { id: central, kind: billow, baseURL: "https://localhost:\(secure)", apiKey: \(key), update: PT1H,
                  events: PT1S }
            """)
        func mirror(trusting certificates: String?, _ arguments: String...) throws -> Command {
            guard let certificates else { return try Command(arguments) }
            return try Command(
                ["--map-root-user", "--mount", "sh", "-c"]
                    + ["mount --bind \(folder.path(certificates)) \(Self.trusted) && exec \"$0\" \"$@\""]
                    + [Repository.billow.path] + arguments, executable: URL(filePath: "/usr/bin/unshare"))
        }
        /// A mirror with a database of its own.
        func serve(_ name: String, trusting certificates: String?) async throws -> Server {
            try await Server(
                starting: try mirror(
                    trusting: certificates, "serve", "--port", "0", "--database", folder.path("\(name).sqlite"),
                    "--config", mirrored))
        }
        func listens(_ server: Server) async throws -> Bool {
            let source = try await server.status()["sources"][0]
            return source["listening"].bool == true && source["lastSuccess"].string != nil
        }
        /// Sends to the server, past the proxy, with the certificate that it has now.
        func send(_ id: String, trusting certificate: String) throws {
            let scheme = way == .server ? "https" : "http"
            let sent = try Program.run(
                "curl",
                [
                    "--silent", "--show-error", "--cacert", folder.path(certificate), "--header", "X-API-Key: \(key)",
                    "--header", "Content-Type: application/json", "--data", observation(id),
                    "\(scheme)://127.0.0.1:\(central.port)/observations",
                ])
            #expect(sent.status == 0 && sent.output.contains(#""accepted":1"#), "\(sent.output)")
        }

        // Without the certificate it tries in vain, and says why.
        let doubtful = try await serve("doubtful", trusting: nil)
        try await eventually("the reason") {
            let said = try doubtful.command.standardError
            return said.contains("the upstream sends no events") && said.contains("its certificate is not trusted")
        }
        #expect(try await doubtful.status()["sources"][0]["listening"].bool == false)
        #expect(try await doubtful.stop() == 0)

        // It trusts both certificates.
        _ = try folder.write("both.pem", try ["one.pem", "two.pem"].map { try text(of: $0) }.joined())
        let doctor = try mirror(
            trusting: "both.pem", "doctor", "--config", mirrored, "--database", folder.path("none.sqlite"), "--port",
            "0")
        #expect(try await doctor.status() == 0)
        #expect(try doctor.standardOutput.contains("central (billow) sends events"))
        let trusting = try await serve("trusting", trusting: "both.pem")
        try await eventually("it listens") { try await listens(trusting) }
        try send("first-sent", trusting: "one.pem")
        try await arrives("first-sent", at: trusting)

        // A renewed certificate leaves the open connection alone.
        if way == .server {
            try put("two.pem", at: "tls.pem")
            try put("two.key", at: "tls.key")
            try await eventually("the renewal") {
                try central.command.standardError.contains("the certificate was read again")
            }
            try send("second-sent", trusting: "two.pem")
            try await arrives("second-sent", at: trusting)
            #expect(try trusting.command.standardError.components(separatedBy: "the upstream sends events").count == 2)
        }

        // After a restart it connects again, with the new certificate.
        central.command.signal(SIGTERM)
        #expect(try await central.command.status() == 0)
        try await eventually("no events") { try await listens(trusting) == false }
        central = try await start(port: central.port)
        try await eventually("it listens again") { try await listens(trusting) }
        try send("third-sent", trusting: way == .server ? "two.pem" : "one.pem")
        try await arrives("third-sent", at: trusting)
        #expect(try await trusting.stop() == 0)
        #expect(try !trusting.command.standardError.contains(key))
        central.command.signal(SIGTERM)
        #expect(try await central.command.status() == 0)
        if let proxy {
            proxy.command.signal(SIGTERM)
            #expect(try await proxy.command.status() == 0)
        }
    }

    private func text(of name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: folder.path(name))), as: UTF8.self)
    }

    /// An nginx with TLS and HTTP/1.1 on a port that it chooses, with its defaults, before a server.
    private func nginx(before port: Int) async throws -> (command: Command, port: Int) {
        // nginx can't tell a port that the system chose, so it tries some.
        for candidate in (0..<20).map({ _ in Int.random(in: 20_000..<30_000) }) {
            let user = geteuid() == 0 ? "user root;" : ""
            let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
                "\($0)_temp_path \(folder.path($0));"
            }.joined(separator: " ")
            let file = try folder.write(
                "nginx.conf",
                """
                daemon off; \(user) pid \(folder.path("nginx.pid")); error_log stderr; worker_processes 1;
                events { worker_connections 64; }
                http {
                  access_log off; \(paths)
                  server {
                    listen 127.0.0.1:\(candidate) ssl;
                    ssl_certificate \(folder.path("tls.pem")); ssl_certificate_key \(folder.path("tls.key"));
                    location / { proxy_pass http://127.0.0.1:\(port); proxy_http_version 1.1; }
                  }
                }
                """)
            let command = try Command(["-c", file], executable: URL(filePath: "/usr/sbin/nginx"))
            var isUp = false
            try await eventually("nginx") {
                isUp = (try? Program.run("curl", ["--insecure", "https://127.0.0.1:\(candidate)/healthz"]).status) == 0
                return isUp || !command.isRunning
            }
            if isUp { return (command, candidate) }
        }
        throw Missing(description: "a free port for nginx")
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
