import AsyncHTTPClient
import BillowRaster
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@Suite("billow serve, from outside")
struct ServeTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func colours(_ answer: Answer) throws -> Set<String> {
        #expect(answer.status == 200, "\(answer.text.prefix(300))")
        return Set(try PNG.decode([UInt8](answer.body)).pixels.filter { $0.alpha > 0 }.map(\.hexadecimal))
    }

    /// z6 over the south of Florida.
    private static let florida = "/tiles/hexagons/20260721T200000Z/6/17/27.png"

    #if os(Linux)
        /// Dispatch reports each thread that may not have the priority of its queue, for example in a service.
        @Test("no queue asks for a higher priority than its process has", .enabled(if: getuid() == 0))
        func priorities() async throws {
            let server = try await Server("--database", folder.path("x.sqlite"))
            #expect(try await server.get("/collections/hexagons/items").status == 200)
            let tasks = "/proc/\(server.command.processIdentifier)/task"
            let raised = try FileManager.default.contentsOfDirectory(atPath: tasks).filter { thread in
                // A thread may end meanwhile. The fields after the name begin with the third; the 19th is `nice`.
                guard let line = try? String(contentsOfFile: "\(tasks)/\(thread)/stat", encoding: .utf8) else {
                    return false
                }
                return line.split(separator: ")").last?.split(separator: " ")[16] == "-2"
            }
            #expect(raised.isEmpty)
            #expect(try await server.stop() == 0)
        }
    #endif

    @Test(
        "imported reports are on the tile of their time, at once and beside the running server; SIGTERM ends it with 0")
    func importBeside() async throws {
        let database = folder.path("x.sqlite")
        let server = try await Server("--database", database)
        #expect(try await server.get("/readyz").status == 200)
        #expect(try await server.status()["version"].integer == 0)
        #expect(try await server.get(Self.florida).status == 404)

        let result = try await Command.run("import", "--database", database, Repository.florida)
        #expect(result.status == 0)
        // Looked at four times a second; the rest is for a busy machine.
        try await eventually("the import to show") {
            try await server.status()["version"].integer ?? 0 > 0
        }
        let tile = try await server.get(Self.florida)
        #expect(!(try colours(tile)).isEmpty)
        #expect(tile.header("X-Frame-Time") == "2026-07-21T20:00:00Z")
        let tag = try tile.header("ETag").orMissing("ETag")
        #expect(try await server.get(Self.florida, ["If-None-Match": tag]).status == 304)
        #expect(try await server.get("/collections/pireps/items?limit=100").json["features"].items.count == 57)
        #expect(try await server.get("/export/pireps.csv").text.split(separator: "\r\n").count == 58)
        #expect(try await server.get("/").text.contains("<html"))

        #expect(try await server.stop() == 0)
        #expect(try server.command.standardError.contains("stopped"))

        // Another start serves the same bytes, without any upstream.
        let second = try await Server("--database", database)
        #expect(try await second.get(Self.florida).body == tile.body)
        #expect(try await second.stop() == 0)
    }

    @Test("a picture requested twice in a second has the same headers and bytes; an import shows in the next second")
    func cachedResponses() async throws {
        let database = folder.path("x.sqlite")
        #expect(try await Command.run("import", "--database", database, Repository.florida).status == 0)
        let server = try await Server("--database", database)
        let first = try await server.get(Self.florida)
        // Twenty questions take less than a second, but for a few that fall on either side of one's end.
        for _ in 0..<20 {
            let again = try await server.get(Self.florida)
            #expect(again.body == first.body)
            #expect(again.headers.map(\.name).sorted() == first.headers.map(\.name).sorted())
            #expect(again.header("ETag") == first.header("ETag"))
        }
        #expect(try await server.status()["answerCache"]["hits"].integer ?? 0 > 0)
        let file = try folder.write(
            "more.csv", "lon,lat,altitude,severity,observedAt\n-82,27,30000,4,2026-07-21T19:59:00Z\n")
        #expect(try await Command.run("import", "--database", database, file).status == 0)
        try await eventually("the import to show") {
            try colours(try await server.get(Self.florida)).contains { $0.hasPrefix("#FF0000") }
        }
        #expect(try await server.stop() == 0)
    }

    @Test(
        "a damaged database is renamed and its readable data served; another program's file is not touched",
        arguments: ["header", "pages", "other", "magic"])
    func damaged(what: String) async throws {
        let database = folder.path("x.sqlite")
        #expect(try await Command.run("import", "--database", database, Repository.florida).status == 0)
        var bytes = try Data(contentsOf: URL(filePath: database))
        switch what {
        case "header": bytes.replaceSubrange(16..<50, with: Data(repeating: 7, count: 34))
        case "pages": bytes.replaceSubrange(100..<bytes.count, with: Data(repeating: 7, count: bytes.count - 100))
        case "other": bytes.replaceSubrange(68..<72, with: Data("ABCD".utf8))
        default: bytes.replaceSubrange(0..<4_096, with: Data(repeating: 0, count: 4_096))
        }
        try bytes.write(to: URL(filePath: database))
        func kept() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).filter { $0.contains(".corrupt-") }
        }
        if ["other", "magic"].contains(what) {
            let refused = try await Command.run("serve", "--port", "0", "--database", database)
            #expect(refused.status == 65)
            #expect(refused.errors.contains("database (--database) is '\(database)'; it is "), "\(refused.errors)")
            #expect(try kept().isEmpty && Data(contentsOf: URL(filePath: database)) == bytes)
            return
        }
        let server = try await Server("--database", database)
        #expect(try await server.get("/readyz").status == 200)
        // Rows of a file without a header are found page by page.
        let isSalvaged = what == "header"
        #expect(try await (server.status()["version"].integer != 0) == isSalvaged)
        let said = try server.command.standardError
        #expect(said.contains("can't be opened; it was renamed"))
        #expect(said.contains("observation: 33 rows") == isSalvaged)
        #expect(try await server.stop() == 0)
        // Its log may have come along.
        let names = try kept().filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
        #expect(names.count == 1 && names.allSatisfy { $0.hasPrefix("x.sqlite.corrupt-2") })
        #expect(try names.map { try Data(contentsOf: URL(filePath: folder.path($0))) } == [bytes])
    }

    @Test("a port that is taken, or a host that isn't known, is one sentence and status 69")
    func portTaken() async throws {
        let server = try await Server("--database", folder.path("a.sqlite"))
        let other = try await Command.run("serve", "--port", "\(server.port)", "--database", folder.path("b.sqlite"))
        #expect(other.status == 69)
        #expect(other.errors.contains("billow: 127.0.0.1:\(server.port) is taken; choose another port with --port"))
        let nowhere = try await Command.run(
            "serve", "--host", "300.1.1.1", "--port", "8080", "--database", folder.path("b.sqlite"))
        #expect(nowhere.status == 69)
        #expect(nowhere.errors.contains("billow: 300.1.1.1:8080 can't be listened on: the host isn't known"))
        #expect(try await server.get("/healthz").status == 200)
        #expect(try await server.stop() == 0)
    }

    @Test("SIGTERM and SIGINT end it while a connection is open", arguments: [SIGTERM, SIGINT])
    func signals(signal: Int32) async throws {
        let server = try await Server("--database", folder.path("a.sqlite"))
        // The client keeps this connection.
        #expect(try await server.get("/status").status == 200)
        server.command.signal(signal)
        #expect(try await server.command.status() == 0)
    }

    @Test("streams of events, HEAD and clients that have gone don't hold up its end")
    func endsAtOnce() async throws {
        let server = try await Server("--database", folder.path("a.sqlite"))
        let events = try await HTTPClient.plain.execute(
            HTTPClientRequest(url: "http://127.0.0.1:\(server.port)/events"), timeout: .seconds(300))
        for path in ["/events", "/", "/status", "/tiles/hexagons/latest/0/0/0.png"] {
            var head = HTTPClientRequest(url: "http://127.0.0.1:\(server.port)\(path)")
            head.method = .HEAD
            #expect(try await HTTPClient.plain.execute(head, timeout: .seconds(300)).status == .ok)
        }
        for _ in 0..<20 {
            _ = try Raw.send("GET /timeline.json HTTP/1.1\r\nHost: x\r\n\r\n", to: server.port, leaving: true)
        }
        server.command.signal(SIGTERM)
        // The server would wait for eight seconds for what it still has to answer.
        #expect(try await server.command.status() == 0)
        var heard = ""
        for try await piece in events.body { heard += String(buffer: piece) }
        #expect(heard.contains("event: data"))
    }

    @Test("HEAD has the headers of GET, and no other length")
    func head() async throws {
        let database = folder.path("a.sqlite")
        #expect(try await Command.run("import", "--database", database, Repository.florida).status == 0)
        let server = try await Server("--database", database)
        let pireps = "time=20260721T200000Z&hours=6"
        for path in [
            "/", "/status", "/tiles/pireps/20260721T200000Z/3/2/3.png", "/collections/pireps/items?\(pireps)",
            "/export/pireps.geojson?\(pireps)", "/export/pireps.csv?\(pireps)", "/legend.svg",
        ] {
            let get = try await server.get(path)
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(server.port)\(path)")
            request.method = .HEAD
            let head = try await Answer.of(request)
            #expect(get.status == 200 && head.status == 200, "\(path)")
            // Status tells what has happened until now.
            if path != "/status" { #expect(head.header("Content-Length") == "\(get.body.count)", "\(path)") }
            // A stream has no tag: it is known when all is written, as HEAD does.
            let framing = ["content-length", "transfer-encoding", "date", path.hasPrefix("/export/") ? "etag" : ""]
            let names = { (answer: Answer) in Set(answer.headers.map { $0.name.lowercased() }).subtracting(framing) }
            #expect(names(get) == names(head) && get.header("Content-Type") == head.header("Content-Type"), "\(path)")
        }
        #expect(try await server.stop() == 0)
    }

    @Test("a broken client's bytes are rejected without harm")
    func brokenRequests() async throws {
        let server = try await Server("--database", folder.path("a.sqlite"))
        for text in [
            "\u{0}\u{1}\u{2}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
            "GET /\u{FF} HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /tiles/hexagons/latest/\u{663}/0/0.png HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /\(String(repeating: "a", count: 100_000)) HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 200_000))\r\n\r\n",
        ] {
            let reply = try Raw.send(text, to: server.port)
            let line = reply.prefix { $0 != "\r\n" && $0 != "\r" }
            #expect(reply.isEmpty || line.contains(" 40") || line.contains(" 41") || line.contains(" 43"), "\(line)")
        }
        #expect(try await server.get("/healthz").status == 200)
        #expect(try await server.stop() == 0)
    }

    @Test("bad settings: every problem is named, no key is printed, and the status is 64")
    func badSettings() async throws {
        let secret = "SECRET-4711"
        let file = try folder.write(
            "bad.yaml",
            """
            server: { port: 99999, colour: red }
            retention: forever
            sources:
              - id: "a b"
                kind: skypath
                baseURL: ftp://nowhere
                apiKey: "\(secret)\\u0007"
                update: PT0S
            """)
        let result = try await Command.run("serve", "--database", folder.path("a.sqlite"), "--config", file)
        #expect(result.status == 64)
        for word in ["server.port", "server.colour", "retention", "sources[0].id", "baseURL", "apiKey", "update"] {
            #expect(result.errors.contains(word), "\(word): \(result.errors)")
        }
        #expect(!result.errors.contains(secret))

        let broken = try folder.write("broken.yaml", "sources:\n  - apiKey: \"\(secret)\n    kind: [\n")
        let unreadable = try await Command.run("serve", "--database", folder.path("a.sqlite"), "--config", broken)
        #expect(unreadable.status == 64)
        #expect(unreadable.errors.contains("is not YAML"))
        #expect(!unreadable.errors.contains(secret), "\(unreadable.errors)")
    }

    @Test("real and simulated data never share a database")
    func mixing() async throws {
        let real = folder.path("real.sqlite")
        _ = try await Command.run("import", "--database", real, Repository.florida)
        let demo = try await Command.run("serve", "--demo", "--port", "0", "--database", real)
        #expect(demo.status == 65)
        #expect(demo.errors.contains("must not be mixed"))
    }

    @Test("the environment sets what no flag does")
    func environment() async throws {
        let server = try await Server(environment: [
            "BILLOW_DATABASE": folder.path("env.sqlite"), "BILLOW_SERVER_PUBLIC_URL": "https://maps.example",
        ])
        #expect(FileManager.default.fileExists(atPath: folder.path("env.sqlite")))
        #expect(try await server.get("/tiles/hexagons.json").text.contains("https://maps.example/tiles/"))
        #expect(try await server.stop() == 0)
    }

    // MARK: - With an upstream

    @Test("the demo shows a simulated picture, and says that it is one", .timeLimit(.minutes(20)))
    func demo() async throws {
        let server = try await Server("--demo", "--database", folder.path("demo.sqlite"))
        try await eventually("a picture") {
            let tile = try await server.get("/tiles/hexagons/latest/1/0/0.png")
            return try tile.header("X-Simulated") == "true" && !colours(tile).isEmpty
        }
        #expect(try await server.get("/tiles/hexagons.json").text.contains("SIMULATED"))
        try await eventually("something of each layer") {
            for layer in ["pireps", "hazards", "forecast", "traffic"] {
                let items = try await server.get("/collections/\(layer)/items?limit=1")
                if !items.text.contains("\"type\":\"Feature\"") { return false }
            }
            return true
        }
        #expect(try await server.stop() == 0)
    }

    @Test("SIGKILL during the first sync loses nothing that was seen, and doubles nothing", .timeLimit(.minutes(20)))
    func killed() async throws {
        let simulator = try await Simulator(flights: 60)
        let settings = try simulator.settings(in: folder)
        let database = folder.path("sim.sqlite")
        let server = try await Server("--database", database, "--config", settings)
        var version = 0
        var rowsSeen = 0
        try await eventually("the first batch") {
            let status = try await server.status()
            version = status["version"].integer ?? 0
            rowsSeen = status["liveObservations"].integer ?? 0
            return version > 0
        }
        // At once: of the batches of the first sync, the first is there, the last is not (on all but very fast
        // machines).
        server.command.signal(SIGKILL)
        #expect(try await server.command.status() == -SIGKILL)
        simulator.command.signal(SIGKILL)
        _ = try await simulator.command.status()

        // Without any upstream: what was seen is there at once.
        let second = try await Server("--database", database, "--config", settings)
        let status = try await second.status()
        #expect(status["version"].integer ?? 0 >= version)
        #expect(status["liveObservations"].integer ?? 0 >= rowsSeen)
        #expect(rowsSeen > 1_000)
        let rows = Set(try await second.get("/export/observations.csv").text.split(separator: "\r\n"))
        #expect(rows.count > rowsSeen)
        #expect(try await second.get("/tiles/hexagons/latest/1/0/0.png").header("X-Simulated") == "true")

        // The upstream is back: the sync resumes, and ends without duplicates.
        let again = try await Simulator(flights: 60, port: simulator.port)
        try await eventually("a whole sync") {
            let source = try await second.status()["sources"][0]
            return source["lastSuccess"].string != nil && source["lastError"].isAbsent
        }
        let final = try await second.get("/export/observations.csv?category=C60").text.split(separator: "\r\n")
            .dropFirst()
        let places = final.map { row -> Substring in
            // h3, altitude … and the time, which no two rows may share.
            let columns = row.split(separator: ",", omittingEmptySubsequences: false)
            return Substring("\(columns[1]) \(columns[3]) \(columns[4]) \(columns[9])")
        }
        #expect(final.count >= rows.count - 1)
        #expect(Set(places).count == places.count)
        #expect(
            rows.subtracting(try await second.get("/export/observations.csv").text.split(separator: "\r\n")).isEmpty)
        #expect(try await second.stop() == 0)
        again.command.signal(SIGTERM)
        #expect(try await again.command.status() == 0)
    }

    @Test("an upstream that fails costs no picture: status tells, and it recovers", .timeLimit(.minutes(20)))
    func faults() async throws {
        let simulator = try await Simulator(flights: 20)
        let server = try await Server(
            "--database", folder.path("f.sqlite"), "--config", try simulator.settings(in: folder))
        func source() async throws -> JSON { try await server.status()["sources"][0] }
        try await eventually("a sync") { try await source()["lastSuccess"].string != nil }
        #expect(try await source()["reachable"].bool == true)
        let first = "/collections/observations/items?limit=1"
        try await eventually("it to be published") {
            try await server.get(first).json["features"][0]["id"].string != nil
        }

        for (fault, reachable) in [("server-error", true), ("connection-reset", false)] {
            try await simulator.fault(fault)
            try await eventually("\(fault) to be noticed") {
                let state = try await source()
                return state["lastError"]["code"].string?.isEmpty == false && state["reachable"].bool == reachable
            }
            let state = try await source()
            #expect(state["consecutiveFailures"].integer ?? 0 > 0)
            #expect(state["lastError"]["message"].string?.isEmpty == false)
            #expect(state["lastError"]["message"].string?.contains("demo") == false, "no key in messages")
            let tile = try await server.get("/tiles/hexagons/latest/1/0/0.png")
            #expect(!(try colours(tile)).isEmpty)
            #expect(try await server.get("/readyz").status == 200)
            let failedAt = state["lastError"]["at"].string
            try await simulator.fault("none")
            try await eventually("recovery from \(fault)") {
                let state = try await source()
                return state["lastError"].isAbsent && (state["lastSuccess"].string ?? "") >= (failedAt ?? "")
            }
            #expect(try await source()["consecutiveFailures"].integer == 0)
        }
        #expect(try await server.stop() == 0)
        simulator.command.signal(SIGTERM)
        #expect(try await simulator.command.status() == 0)
    }

    @Test("a refused key ends the attempts and is said, without the key")
    func refusedKey() async throws {
        let simulator = try await Simulator(flights: 5)
        let settings = try simulator.settings(in: folder, key: "WRONG-4711")
        let server = try await Server("--database", folder.path("k.sqlite"), "--config", settings)
        try await eventually("the refusal") { try await server.status()["sources"][0]["session"].bool == false }
        let text = try await server.get("/status").text + server.command.standardError
        #expect(!text.contains("WRONG-4711"))
        #expect(try await server.stop() == 0)

        let once = try await Command.run("sync", "--once", "--database", folder.path("k.sqlite"), "--config", settings)
        #expect(once.status == 69)
        #expect(!once.errors.contains("WRONG-4711"))
        let right = try simulator.settings(in: folder)
        let synced = try await Command.run("sync", "--once", "--database", folder.path("k.sqlite"), "--config", right)
        #expect(synced.status == 0, "\(synced.errors)")
        #expect(synced.errors.contains("sim: "))
    }
}

extension ServeTests {
    @Test("a refused body doesn't keep its sender waiting, and Expect: 100-continue gets an answer")
    func bodies() async throws {
        let database = folder.path("x.sqlite")
        let created = try await Command.run("keys", "create", "--scope", "ingest", "--database", database)
        let key = created.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let server = try await Server("--database", database)
        func head(_ length: Int, _ more: String...) -> String {
            (["POST /observations HTTP/1.1", "Host: billow", "X-API-Key: \(key)", "Content-Length: \(length)"] + more)
                .joined(separator: "\r\n") + "\r\n\r\n"
        }
        let tooLong = 32 << 20
        for connection in ["Connection: close", "Connection: keep-alive"] {
            // More than the sockets' buffers take: all of it is sent before anything is read.
            let reply = try Raw.send(
                head(tooLong, connection) + String(repeating: " ", count: tooLong), to: server.port)
            #expect(reply.hasPrefix("HTTP/1.1 413"), "\(connection): \(reply.prefix(80))")
        }
        #expect(try Raw.send(head(2, "Expect: 100-continue"), to: server.port) == "HTTP/1.1 100 Continue\r\n\r\n")
        let refused = try Raw.send(head(tooLong, "Expect: 100-continue"), to: server.port)
        #expect(refused.hasPrefix("HTTP/1.1 413") && refused.lowercased().contains("connection: close"))
        #expect(try await server.stop() == 0)
    }
}

/// Bytes over a plain socket.
enum Raw {
    /// What the server answers first.
    /// - Parameter leaving: breaks the connection off without waiting for that.
    static func send(_ text: String, to port: Int, leaving: Bool = false) throws -> String {
        let handle = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard handle >= 0 else { throw Missing(description: "a socket") }
        defer { close(handle) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(handle, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Missing(description: "a connection") }
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(handle, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            // The server may have hung up already, which is an answer too.
            let sent = bytes.withUnsafeBytes { Glibc.send(handle, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { break }
            bytes = bytes.dropFirst(sent)
        }
        if leaving {
            var atOnce = linger(l_onoff: 1, l_linger: 0)
            setsockopt(handle, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
            return ""
        }
        var reply = [UInt8](repeating: 0, count: 4_096)
        let count = reply.withUnsafeMutableBytes { recv(handle, $0.baseAddress, $0.count, 0) }
        return String(decoding: reply.prefix(max(count, 0)), as: UTF8.self)
    }
}
