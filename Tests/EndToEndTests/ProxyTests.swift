import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

#if os(Linux)
    import Glibc

    /// The proxies of Examples/proxy as they are, but for addresses, ports and the cache's folder.
    @Suite("Behind nginx and Caddy", .timeLimit(.minutes(20)))
    struct ProxyTests {
        private static let host = "map.example"
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        // MARK: Parts

        /// A port that was free a moment ago. A proxy can't tell the port that the system chose.
        private func freePort() throws -> Int {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let port = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address -> UInt16? in
                    guard bind(descriptor, address, length) == 0, getsockname(descriptor, address, &length) == 0 else {
                        return nil
                    }
                    return pointer.pointee.sin_port.bigEndian
                }
            }
            return Int(try port.orMissing("a free port"))
        }

        private func example(_ name: String, _ changes: [(String, String)]) throws -> String {
            var text = try String(
                contentsOf: Repository.folder.appending(path: "Examples/proxy/\(name)"), encoding: .utf8)
            for (old, new) in changes {
                #expect(text.contains(old), "\(name) has no \(old)")
                text = text.replacing(old, with: new)
            }
            return text
        }

        /// Requests of a client that knows only the public address.
        private struct Client: Sendable {
            let port: Int

            func request(_ path: String, _ headers: [String: String] = [:]) -> HTTPClientRequest {
                var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
                request.headers.add(name: "Host", value: ProxyTests.host)
                for (name, value) in headers { request.headers.add(name: name, value: value) }
                return request
            }

            func get(_ path: String, _ headers: [String: String] = [:]) async throws -> Answer {
                try await Answer.of(request(path, headers))
            }

            /// Sends an observation of now.
            /// - Parameter bytes: the size of the body, which blanks fill.
            func send(_ id: String, key: String, bytes: Int = 0) async throws -> Answer {
                let now = Date.now.addingTimeInterval(-5).ISO8601Format()
                var request = request("/billow/observations", ["X-API-Key": key])
                request.method = .POST
                let text = """
                    [{"id": "\(id)", "lon": 10, "lat": 50, "altitude": 34000, "severity": 3, \
                    "observedAt": "\(now)"}]
                    """
                let blanks = String(repeating: " ", count: max(bytes - text.utf8.count, 0))
                request.body = .bytes(ByteBuffer(string: text + blanks))
                return try await Answer.of(request)
            }
        }

        private struct Proxied {
            let client: Client
            let server: Server
            let proxy: Command
            let key: String

            func stop() async throws {
                proxy.signal(SIGTERM)
                #expect(try await proxy.status() == 0)
                #expect(try await server.stop() == 0)
            }
        }

        /// A server with its proxy in front.
        private func start(
            anonymousRead: Bool = true, _ proxy: (_ server: Int, _ port: Int) throws -> Command
        ) async throws -> Proxied {
            let database = folder.path("x.sqlite")
            let settings = try folder.write(
                "settings.yaml",
                """
                server:
                  publicURL: http://\(Self.host)/billow
                  trustedProxies: [127.0.0.1]
                  anonymousRead: \(anonymousRead)
                """)
            let created = try await Command.run("keys", "create", "--scope", "read,ingest", "--database", database)
            #expect(created.status == 0, "\(created.errors)")
            let server = try await Server("--database", database, "--config", settings)
            let client = Client(port: try freePort())
            let command = try proxy(server.port, client.port)
            try await eventually("the proxy") {
                guard command.isRunning else { throw Missing(description: try command.standardError) }
                return (try? await client.get("/billow/healthz"))?.status == 200
            }
            return Proxied(
                client: client, server: server, proxy: command,
                key: created.output.trimmingCharacters(in: .whitespacesAndNewlines))
        }

        private func nginx(_ server: Int, _ port: Int) throws -> Command {
            let text = try example(
                "nginx.conf",
                [
                    ("/var/cache/nginx/billow", folder.path("cache")), ("127.0.0.1:8080", "127.0.0.1:\(server)"),
                    ("listen 80;", "listen 127.0.0.1:\(port);"),
                ])
            // Its own user couldn't write to the test's folder.
            let user = geteuid() == 0 ? "user root;" : ""
            let file = try folder.write(
                "nginx.conf",
                """
                daemon off; \(user) pid \(folder.path("pid")); error_log stderr; worker_processes 1;
                events { worker_connections 256; }
                http {
                access_log off; client_body_temp_path \(folder.path("body")); proxy_temp_path \(folder.path("proxy"));
                fastcgi_temp_path \(folder.path("1")); uwsgi_temp_path \(folder.path("2"));
                scgi_temp_path \(folder.path("3"));
                \(text)
                }
                """)
            return try Command(["-c", file], executable: URL(filePath: "/usr/sbin/nginx"))
        }

        private func caddy(_ server: Int, _ port: Int) throws -> Command {
            let text = try example(
                "Caddyfile",
                [
                    ("127.0.0.1:8080", "127.0.0.1:\(server)"),
                    ("\nhttp://map.example {", "\nhttp://map.example:\(port) {\n\tbind 127.0.0.1"),
                ])
            let file = try folder.write("Caddyfile", "{\n\tadmin off\n}\n" + text)
            return try Command(
                ["run", "--config", file, "--adapter", "caddyfile"],
                environment: ["HOME": folder.url.path, "XDG_DATA_HOME": folder.path("caddy")],
                executable: URL(filePath: "/usr/bin/caddy"))
        }

        // MARK: What both must do

        /// Links, the viewer, ingest and events, below the base path.
        private func checkCommon(_ proxied: Proxied) async throws {
            let client = proxied.client
            let document = try await client.get("/billow/tiles/hexagons.json").json
            let base = "http://\(Self.host)/billow/"
            #expect(document["tiles"][0].string?.hasPrefix(base + "tiles/hexagons/") == true)
            let landing = try await client.get("/billow/?f=json").json
            let links = landing["links"].items.compactMap { $0["href"].string }
            #expect(!links.isEmpty && links.allSatisfy { $0.hasPrefix(base) || $0 + "/" == base }, "\(links)")
            let page = try await client.get("/billow/", ["Accept": "text/html"])
            #expect(page.status == 200 && page.header("Content-Type")?.hasPrefix("text/html") == true)
            // Its parts are relative to the page.
            for match in page.text.matches(of: /(?:src|href)="([^"#]+)"/) where !match.1.contains("://") {
                #expect(!match.1.hasPrefix("/"), "\(match.1)")
            }
            #expect(try await client.get("/tiles/hexagons.json").status != 200)
            // The largest body that Billow takes.
            let large = try await client.send("large", key: proxied.key, bytes: 8 << 20)
            #expect(large.status == 200, "\(large.status) \(large.text)")

            // An event that is sent while the answer is open arrives while it is open.
            let answer = try await HTTPClient.plain.execute(
                client.request("/billow/events"), timeout: .seconds(600))
            #expect(answer.status == .ok)
            #expect(answer.headers.first(name: "Content-Type")?.hasPrefix("text/event-stream") == true)
            var chunks = answer.body.makeAsyncIterator()
            var text = ""
            func read(until found: (String) -> Bool) async throws {
                while !found(text) {
                    text += String(buffer: try await chunks.next().orMissing("more than \(text)"))
                }
            }
            try await read { $0.contains("event: data") }
            text = ""
            let sent = try await client.send("a", key: proxied.key)
            #expect(sent.status == 200, "\(sent.text)")
            try await read { $0.contains("turbulence") }
        }

        /// The newest frame's tile, which may be cached for ever.
        private func tile(_ client: Client) async throws -> String {
            let frame = try await client.get("/billow/timeline.json?layers=hexagons&start=-PT1H&intervals=3")
                .json["layers"][0]["frames"][0]["tiles"].string.orMissing("a frame")
            return try "/billow/tiles/"
                + frame.split(separator: "/billow/tiles/").last.orMissing("a path")
                .replacing("{z}", with: "1").replacing("{x}", with: "1").replacing("{y}", with: "0")
        }

        // MARK: Tests

        @Test("nginx caches tiles, passes events on, and keeps the base path")
        func cachedTiles() async throws {
            let proxied = try await start(nginx)
            let client = proxied.client
            try await checkCommon(proxied)
            let path = try await tile(client)
            let first = try await client.get(path)
            #expect(first.status == 200 || first.status == 204, "\(path): \(first.text.prefix(200))")
            #expect(first.header("X-Cache") == "MISS")
            #expect(first.header("Cache-Control")?.contains("immutable") == true)
            let second = try await client.get(path)
            #expect(second.header("X-Cache") == "HIT")
            #expect(second.body == first.body && second.header("ETag") == first.header("ETag"))
            let tag = try first.header("ETag").orMissing("a tag")
            #expect(try await client.get(path, ["If-None-Match": tag]).status == 304)
            // What says how things are is never cached.
            for _ in 0..<2 {
                let status = try await client.get("/billow/status?f=json")
                #expect(status.status == 200 && status.header("X-Cache") != "HIT")
            }
            // Without Billow, a cached picture that can't change is there, and nothing else.
            let latest = "/billow/tiles/hexagons/latest/1/1/0.png"
            #expect(try await client.get(latest).status == 200)
            #expect(try await proxied.server.stop() == 0)
            #expect(try await client.get(path).header("X-Cache") == "HIT")
            #expect(try await client.get("/billow/readyz").status == 502)
            try await eventually("the end of the newest picture's minute") {
                try await client.get(latest).status == 502
            }
            proxied.proxy.signal(SIGTERM)
            #expect(try await proxied.proxy.status() == 0)
        }

        @Test("nginx keeps no answer that needed a key")
        func keyedAnswers() async throws {
            let proxied = try await start(anonymousRead: false, nginx)
            let path = "/billow/tiles/hexagons/latest/1/1/0.png"
            for _ in 0..<2 {
                let answer = try await proxied.client.get(path, ["X-API-Key": proxied.key])
                #expect(answer.status == 200 && answer.header("X-Cache") == "MISS", "\(answer.text.prefix(200))")
                #expect(try await proxied.client.get(path).status == 401)
            }
            try await proxied.stop()
        }

        @Test("events pass through Caddy, and the base path is kept")
        func caddyBasePath() async throws {
            let proxied = try await start(caddy)
            try await checkCommon(proxied)
            let answer = try await proxied.client.get("/billow/tiles/hexagons/latest/1/1/0.png")
            #expect(answer.status == 200 && answer.header("Content-Type") == "image/png")
            #expect(try await proxied.client.get("/billow").status == 200, "the redirect to the page is followed")
            try await proxied.stop()
        }
    }
#endif
