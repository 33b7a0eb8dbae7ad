import EngineTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import JSONKit
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestSupport
import Testing

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

extension ConnectionSettings {
    /// Deadlines that no test reaches, but for those that it sets.
    fileprivate static func patient(maximum: Int = 64, _ change: (inout Self) -> Void = { _ in }) -> Self {
        var settings = Self(maximum: maximum)
        settings.headerTimeout = .seconds(3_600)
        settings.bodyTimeout = .seconds(3_600)
        settings.wholeBodyTimeout = .seconds(3_600)
        settings.writeTimeout = .seconds(3_600)
        settings.idleTimeout = .seconds(3_600)
        settings.lingerTimeout = .milliseconds(100)
        change(&settings)
        return settings
    }
}

/// A folder with one file of so many bytes.
private final class FolderOfOne: Sendable {
    let path: String

    init(_ name: String, bytes: Int) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "billow-files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data((0..<bytes).map { UInt8(truncatingIfNeeded: $0 % 10 + 48) }).write(to: folder.appending(path: name))
        path = folder.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

@Suite("No client is waited for without end")
struct ConnectionDeadlineTests {
    @Test("a header that doesn't end is answered with 408, even when it drips", arguments: [false, true])
    func header(drips: Bool) async throws {
        let settings = ConnectionSettings.patient { $0.headerTimeout = .milliseconds(200) }
        try await withWorld(connections: settings) { world in
            try await world.listening { port in
                let client = try RawClient(port: port)
                client.write("GET /healthz HTTP/1.1\r\nX-")
                let dripping = Task {
                    for _ in 0..<1_000 where drips && client.write("a") && !Task.isCancelled {
                        try? await Task.sleep(for: .milliseconds(20))
                    }
                }
                let answer = await client.read()
                dripping.cancel()
                #expect(answer.hasPrefix("HTTP/1.1 408 "), "\(answer)")
                #expect(answer.contains("\"code\":\"request-timeout\"") && answer.contains("Connection: close"))
            }
        }
    }

    @Test("a body without progress is answered with 408, and so is one that takes too long", arguments: [false, true])
    func body(drips: Bool) async throws {
        let settings = ConnectionSettings.patient {
            if drips { $0.wholeBodyTimeout = .milliseconds(300) } else { $0.bodyTimeout = .milliseconds(200) }
        }
        try await withWorld(connections: settings) { world in
            try await world.listening { port in
                let client = try RawClient(port: port)
                client.write("POST /alerts HTTP/1.1\r\nHost: a\r\nContent-Length: 9000\r\n\r\n{")
                let dripping = Task {
                    for _ in 0..<1_000 where drips && client.write(" ") && !Task.isCancelled {
                        try? await Task.sleep(for: .milliseconds(20))
                    }
                }
                let answer = await client.read()
                dripping.cancel()
                #expect(answer.hasPrefix("HTTP/1.1 408 "), "\(answer)")
                #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2)
            }
        }
    }

    @Test("an idle connection is closed, before its first request and after an answer")
    func idle() async throws {
        let settings = ConnectionSettings.patient { $0.idleTimeout = .milliseconds(200) }
        try await withWorld(connections: settings) { world in
            try await world.listening { port in
                #expect(try await RawClient.answer(to: "", port: port) == "")
                // On a busy machine a connection may be idle for so long before its request comes.
                var answer = ""
                try await eventually("a request is answered") {
                    answer = try await RawClient.answer(to: "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", port: port)
                    return !answer.isEmpty
                }
                #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("{\"status\":\"ok\"}"))
                try await eventually("none is left") { world.application.connections.count == 0 }
            }
        }
    }

    @Test("a client that doesn't read its answer loses the connection")
    func write() async throws {
        let settings = ConnectionSettings.patient { $0.writeTimeout = .milliseconds(300) }
        let folder = try FolderOfOne("large.bin", bytes: 24 << 20)
        let path = folder.path
        try await withWorld(connections: settings, publicFolder: path) { world in
            try await world.listening { port in
                let client = try RawClient(port: port, receiveBuffer: 4_096)
                client.write("GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(await client.read(until: "HTTP/1.1 200 ").hasPrefix("HTTP/1.1 200 "))
                try await eventually("the connection is closed") { world.application.connections.count == 0 }
            }
        }
        withExtendedLifetime(folder) {}
    }

    @Test("a client that closes late is not waited for after the answer")
    func linger() async throws {
        try await withWorld(connections: .patient()) { world in
            try await world.listening { port in
                let client = try RawClient(port: port)
                client.write("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n")
                #expect(await client.read().hasPrefix("HTTP/1.1 200 "))
                try await eventually("the connection is closed") { world.application.connections.count == 0 }
            }
        }
    }

    @Test("a client that shuts down its sending side is not told that the server is stopping")
    func halfClosed() async throws {
        try await withWorld(connections: .patient()) { world in
            _ = try await world.take([try observation(try cell(10, 50))])
            try await world.listening { port in
                for path in ["/collections/hexagons/items", "/maps/hexagons.png?width=64", "/export/hexagons.csv"] {
                    let client = try RawClient(port: port)
                    client.write("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
                    client.finish()
                    let answer = await client.read()
                    // The answer may have been made before.
                    #expect(
                        answer.hasPrefix("HTTP/1.1 200 ") || answer.isEmpty || answer.contains("\"client-left\""),
                        "\(path): \(answer.prefix(400))")
                    #expect(!answer.contains("stopping"))
                }
            }
        }
    }

    @Test("the rest of an answer is sent to a slow client, although the server has no more to say")
    func slowReader() async throws {
        let folder = try FolderOfOne("kept.bin", bytes: 4 << 20)
        let path = folder.path
        try await withWorld(connections: .patient(), publicFolder: path) { world in
            try await world.listening { port in
                let client = try RawClient(port: port, receiveBuffer: 4_096)
                client.write("GET /kept.bin HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                try await Task.sleep(for: .seconds(1))
                let answer = await client.read()
                #expect(answer.utf8.count > 4 << 20)
            }
        }
        withExtendedLifetime(folder) {}
    }

    @Test("listeners that hang up make room at once, without a heartbeat")
    func listeners() async throws {
        try await withWorld(connections: .patient()) { world in
            try await world.listening { port in
                var clients: [RawClient] = []
                for _ in 0..<5 {
                    let client = try RawClient(port: port)
                    client.write("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
                    #expect(await client.read(until: "retry:").hasPrefix("HTTP/1.1 200 "))
                    clients.append(client)
                }
                #expect(world.application.events.listeners == 5)
                clients.removeLast(4)
                try await eventually("four have gone") { world.application.events.listeners == 1 }
                clients[0].finish()
                try await eventually("all have gone") { world.application.events.listeners == 0 }
            }
        }
    }

    /// A connection on a clock that a test turns.
    private struct Line {
        let channel: EmbeddedChannel

        init() throws {
            let deadlines = DeadlineHandler(ConnectionTimeouts(ConnectionSettings()))
            channel = EmbeddedChannel(handlers: [
                deadlines, HTTPResponseEncoder(), ByteToMessageHandler(HTTPRequestDecoder()),
                RequestRulesHandler(deadlines),
            ])
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        }

        func ask(_ text: String) throws {
            try channel.writeInbound(ByteBuffer(string: text))
            channel.read()
        }

        func answer(_ body: String? = nil, ends: Bool = true) throws {
            let head = HTTPResponseHead(version: .http1_1, status: .ok)
            try channel.writeOutbound(HTTPServerResponsePart.head(head))
            if let body {
                try channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: body))))
            }
            if ends { try channel.writeOutbound(HTTPServerResponsePart.end(nil)) }
        }

        func wait(_ seconds: Int64) { channel.embeddedEventLoop.advanceTime(by: .seconds(seconds)) }
    }

    @Test("a request that is being answered has all the time it needs, and so has a stream of events")
    func answering() throws {
        let line = try Line()
        try line.ask("GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
        line.wait(86_400)
        #expect(line.channel.isActive)
        try line.answer("data", ends: false)
        line.wait(86_400)
        #expect(line.channel.isActive)
        try line.channel.writeOutbound(HTTPServerResponsePart.end(nil))
        line.wait(55)
        #expect(line.channel.isActive)
        line.wait(10)
        #expect(!line.channel.isActive)
    }

    @Test("what the server doesn't read the client isn't blamed for")
    func paused() throws {
        let line = try Line()
        // No read follows: the server has its hands full.
        try line.channel.writeInbound(ByteBuffer(string: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1"))
        line.wait(86_400)
        #expect(line.channel.isActive)
        line.channel.read()
        line.wait(25)
        try line.channel.throwIfErrorCaught()
        line.wait(10)
        #expect(throws: HTTPParserError.self) { try line.channel.throwIfErrorCaught() }
    }

    @Test("each request has a header's time of its own")
    func several() throws {
        let line = try Line()
        for _ in 0..<10 {
            try line.ask("GET / HTTP/1.1\r\n")
            line.wait(10)
            try line.ask("Host: a\r\n\r\n")
            try line.answer()
            line.wait(50)
            #expect(line.channel.isActive)
            try line.channel.throwIfErrorCaught()
        }
    }
}

@Suite("Connections are as many as there is room for")
struct ConnectionLimitTests {
    @Test("idle connections make room for new ones, the longest idle first")
    func full() async throws {
        try await withWorld(connections: .patient(maximum: 16)) { world in
            try await world.listening { port in
                let first = try RawClient(port: port)
                var idle: [RawClient] = []
                for _ in 0..<100 { idle.append(try RawClient(port: port)) }
                #expect(await first.read() == "")
                for _ in 0..<20 {
                    let client = try RawClient(port: port)
                    client.write("GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                    #expect(await client.read().hasPrefix("HTTP/1.1 200 "))
                    #expect(world.application.connections.count <= 16)
                }
            }
        }
    }

    @Test("where all are busy, a new one is closed at once, and let in when there is room")
    func busy() async throws {
        try await withWorld(connections: .patient(maximum: 16)) { world in
            try await world.listening { port in
                var busy: [RawClient] = []
                for _ in 0..<16 {
                    let client = try RawClient(port: port)
                    client.write(
                        "POST /alerts HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
                    #expect(await client.read(until: "100").hasPrefix("HTTP/1.1 100 "))
                    busy.append(client)
                }
                #expect(try await RawClient.answer(to: "", port: port) == "")
                busy.removeLast()
                try await eventually("there is room") {
                    let get = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                    return try await RawClient.answer(to: get, port: port).hasPrefix("HTTP/1.1 200 ")
                }
            }
        }
    }

    @Test("listeners leave room for requests, however few connections there may be")
    func listeners() {
        #expect(ConnectionSettings().maximumListeners == 1_000)
        #expect(ConnectionSettings(maximum: 60).maximumListeners == 30)
        #expect(ConnectionSettings(maximum: 1).maximumListeners == 1)
    }

    @Test(
        "a limit of descriptors leaves a reserve for files and upstreams",
        arguments: [(64, 12, 20), (1_024, 12, 884), (65_536, 12, 8_192), (40, 12, 1)])
    func descriptors(limit: Int, used: Int, connections: Int) {
        #expect(FileDescriptors.connections(wanted: 8_192, limit: limit, used: used) == connections)
    }

    @Test("the soft limit of descriptors is raised to the hard one")
    func raised() {
        let limit = FileDescriptors.raiseLimit()
        #expect(limit >= 1_024 && FileDescriptors.raiseLimit() == limit)
        #expect(FileDescriptors.used() > 2)
    }

    private func channel(_ address: String) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        channel.remoteAddress = try SocketAddress(ipAddress: address, port: 4_000)
        return channel
    }

    @Test("an address has its share, a network of IPv6 as one; this machine's proxies have all")
    func addresses() throws {
        let table = ConnectionTable(ConnectionSettings(maximum: 64, maximumPerAddress: 2), logger: World.quiet())
        func accept(_ address: String) throws -> ConnectionTable.Acceptance { table.accept(try channel(address)) }
        for address in ["192.0.2.1", "::ffff:192.0.2.2", "2001:db8::1"] {
            for _ in 0..<2 { #expect(try accept(address) == .accepted) }
            #expect(try accept(address) == .refused)
        }
        #expect(try accept("192.0.2.2") == .refused)
        #expect(try accept("2001:db8::ffff:1") == .refused)
        #expect(try accept("2001:db8:0:1::1") == .accepted)
        for address in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            for _ in 0..<3 { #expect(try accept(address) == .accepted) }
        }
        let count = table.count
        let last = try channel("192.0.2.9")
        #expect(table.accept(last) == .accepted && table.accept(last) == .accepted && table.count == count + 1)
        table.remove(last)
        table.remove(last)
        #expect(table.count == count)
    }
}

@Suite("Requests are as HTTP wants them, and so are answers")
struct RequestRuleTests {
    @Test(
        "what is no request is refused with its own code, and the connection closed",
        arguments: [
            ("GET / HTTP/1.1\r\n\r\n", 400, "invalid-host"),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "invalid-host"),
            ("GET / HTTP/1.1\r\nHost:\r\n\r\n", 400, "invalid-host"),
            ("GET / HTTP/1.1\r\nHost: evil.example/x\"<script>\r\n\r\n", 400, "invalid-host"),
            ("GET / HTTP/1.1\r\nHost: a:99999\r\n\r\n", 400, "invalid-host"),
            ("GET / HTTP/1.0\r\nHost: a b\r\n\r\n", 400, "invalid-host"),
            ("GET /\u{661} HTTP/1.1\r\nHost: a\r\n\r\n", 400, "invalid-path"),
            ("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400, "invalid-request"),
            ("\u{0}\u{1}\r\n\r\n", 400, "invalid-request"),
            // Refused before its path is read: whether there is one of this name doesn't count.
            ("FOO /nosuch HTTP/1.1\r\nHost: a\r\n\r\n", 400, "invalid-request"),
            ("POST /alerts HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "invalid-request"),
            ("GET /?\(String(repeating: "a=1&", count: 20_000)) HTTP/1.1\r\nHost: a\r\n\r\n", 414, "url-too-long"),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 90_000))\r\n\r\n", 431,
                "headers-too-large"
            ),
            (
                "GET / HTTP/1.1\r\nHost: a\r\n\(String(repeating: "X: a\r\n", count: 200))\r\n", 431,
                "headers-too-large"
            ),
        ])
    func refused(text: String, status: Int, code: String) async throws {
        try await withWorld(connections: .patient()) { world in
            try await world.listening { port in
                let answer = try await RawClient.answer(to: text, port: port)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
                #expect(answer.contains("\"code\":\"\(code)\"") && answer.contains("Connection: close"), "\(answer)")
                #expect(answer.contains("application/problem+json") && !answer.contains("<script>\r"))
                #expect(answer.contains("X-Content-Type-Options: nosniff"))
            }
        }
    }

    @Test(
        "a body whose chunks can't be read is 400 and ends the connection",
        arguments: ["ZZ\r\n", "-2\r\n", "FFFFFFFFFFFFFFFFF\r\n", "1\r\nab\r\n", "3\r\nabc\n"])
    func chunks(body: String) async throws {
        try await withWorld(connections: .patient()) { world in
            try await world.listening { port in
                let head = "POST /alerts HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                let answer = try await RawClient.answer(to: head + body, port: port)
                #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("invalid-request"), "\(answer)")
                #expect(answer.components(separatedBy: "HTTP/1.1 4").count == 2, "\(answer)")
            }
        }
    }

    @Test("a request that is answered before its body breaks off isn't answered twice")
    func answeredOnce() async throws {
        try await withWorld(connections: .patient()) { world in
            try await world.listening { port in
                let client = try RawClient(port: port)
                client.write("POST /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
                #expect(await client.read(until: "}").hasPrefix("HTTP/1.1 405 "))
                client.write("ZZ\r\n")
                #expect(await client.read() == "")
            }
        }
    }

    @Test("requests before the one that can't be read are answered, in order")
    func pipelined() async throws {
        try await withWorld(connections: .patient()) { world in
            try await world.listening { port in
                let good = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
                let answer = try await RawClient.answer(to: "\(good)\(good)GET / HTTP/1.1\r\n\r\n\(good)", port: port)
                let statuses = answer.components(separatedBy: "HTTP/1.1 ").dropFirst().map { $0.prefix(3) }
                #expect(statuses == ["200", "200", "400"])
            }
        }
    }

    @Test(
        "HTTP/1.0 gets no chunks, and its connection ends with the answer",
        arguments: ["", "Connection: keep-alive\r\n"])
    func oldVersion(header: String) async throws {
        try await withWorld(connections: .patient()) { world in
            try await world.take([try observation(try cell(10, 50))])
            try await world.listening { port in
                for uri in ["/export/hexagons.geojson", "/healthz"] {
                    let answer = try await RawClient.answer(to: "GET \(uri) HTTP/1.0\r\n\(header)\r\n", port: port)
                    #expect(answer.hasPrefix("HTTP/1.0 200 "), "\(answer.prefix(300))")
                    #expect(!answer.lowercased().contains("transfer-encoding"))
                    let body = answer.components(separatedBy: "\r\n\r\n").dropFirst().joined()
                    #expect(throws: Never.self) { try JSONDecoder().decode(JSON.self, from: Data(body.utf8)) }
                }
            }
        }
    }

    @Test(
        "a Host is a name or an address with an optional port",
        arguments: [
            ("a", true), ("billow.example", true), ("127.0.0.1:8080", true), ("[::1]", true),
            ("[2001:db8::1]:80", true),
            ("a_b:0", true), ("a:65535", true), ("", false), (":80", false), ("a:", false), ("a:65536", false),
            ("a:8a", false), ("a/b", false), ("a\"", false), ("a b", false), ("user@a", false), ("[::1", false),
            ("[::1]x", false), ("[a]", false), ("é", false), ("a%20", false),
            (String(repeating: "a", count: 300), false),
        ])
    func authority(text: String, isValid: Bool) {
        #expect(Authority.isValid(text) == isValid)
    }

    @Test("links hold no Host that is none")
    func links() async throws {
        try await withWorld { world in
            let tiles = try await world.get("/tiles/hexagons.json", [HTTPField.Name.make("Host"): "evil.example/x\"<"])
            #expect(tiles.status == .ok && !tiles.text.contains("evil"))
        }
    }
}

@Suite("Files of the viewer")
struct PublicFileTests {
    @Test(
        "a range is a part of what there is, or none",
        arguments: [
            (nil, ByteRange.whole), ("bytes=0-4", .part(0..<5)), ("bytes=5-", .part(5..<10)),
            ("bytes=-3", .part(7..<10)),
            ("bytes=-99", .part(0..<10)), ("bytes=9-99", .part(9..<10)), ("bytes=10-", .unsatisfiable),
            ("bytes=9999999999-", .unsatisfiable), ("bytes=99999999999999999999-", .unsatisfiable),
            ("bytes=-0", .unsatisfiable), ("bytes=4-2", .whole), ("bytes=0-1,4-5", .whole), ("bytes=", .whole),
            ("bytes=-", .whole), ("bytes=a-b", .whole), ("bytes=--1", .whole), ("lines=0-1", .whole),
            ("bytes=0-99999999999999999999", .part(0..<10)),
        ])
    func ranges(header: String?, range: ByteRange) {
        #expect(ByteRange(header, of: 10) == range)
    }

    @Test("ranges, conditions and what isn't there, of small and of large files", arguments: [10, 5 << 20])
    func files(size: Int) async throws {
        let folder = try FolderOfOne("digits.txt", bytes: size)
        let path = folder.path
        try await withWorld(publicFolder: path) { world in
            let range = HTTPField.Name.range
            let whole = try await world.get("/digits.txt")
            #expect(whole.status == .ok && whole.body.readableBytes == size)
            #expect(whole.headers[.contentType] == "text/plain; charset=utf-8")
            let part = try await world.get("/digits.txt", [range: "bytes=2-5"])
            #expect(part.status == .partialContent && part.text == "2345")
            #expect(part.headers[.contentRange] == "bytes 2-5/\(size)" && part.headers[.contentLength] == "4")
            let last = try await world.get("/digits.txt", [range: "bytes=-2"])
            #expect(last.status == .partialContent && last.body.readableBytes == 2)
            let beyond = try await world.get("/digits.txt", [range: "bytes=9999999999-"])
            #expect(beyond.status == .rangeNotSatisfiable)
            #expect(beyond.headers[.contentRange] == "bytes */\(size)")
            #expect(try beyond.json["code"] == .text("range-not-satisfiable"))
            let tag = try whole.headers[.eTag].orMissing()
            #expect(try await world.get("/digits.txt", [.ifNoneMatch: tag]).status == .notModified)
            let modified = try whole.headers[.lastModified].orMissing()
            #expect(try await world.get("/digits.txt", [.ifModifiedSince: modified]).status == .notModified)
            for (condition, status) in [(tag, HTTPResponse.Status.partialContent), ("\"other\"", .ok)] {
                let answer = try await world.get("/digits.txt", [range: "bytes=2-5", .ifRange: condition])
                #expect(answer.status == status)
            }
            #expect(try await world.get("/digits.txt", [range: "bytes=2-5"], method: .head).status == .ok)
            #expect(try await world.get("/nothing.txt").status == .notFound)
            try Data("new".utf8).write(to: URL(filePath: path + "/digits.txt"))
            #expect(try await world.get("/digits.txt").text == "new")
        }
        withExtendedLifetime(folder) {}
    }

    @Test("pages and files say what they may load, and who may frame them")
    func pageRules() async throws {
        try await withWorld(publicURL: "https://billow.example:8443/x") { world in
            for uri in ["/", "/viewer.js", "/status"] {
                let answer = try await world.get(uri, [.accept: "text/html"])
                let policy = answer.headers[.contentSecurityPolicy] ?? ""
                #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'self'"), "\(uri)")
                #expect(!policy.contains("unsafe") && !policy.contains("*"))
                #expect(answer.header("X-Frame-Options") == "SAMEORIGIN")
                #expect(answer.header("Referrer-Policy") == "no-referrer")
            }
            let page = try await world.get("/").headers[.contentSecurityPolicy] ?? ""
            #expect(page.contains("connect-src 'self' https://billow.example:8443;"))
            for uri in ["/", "/healthz", "/nothing", "/tiles/hexagons/latest/0/0/0.png", "/collections"] {
                #expect(try await world.get(uri).header("X-Content-Type-Options") == "nosniff", "\(uri)")
            }
        }
    }
}
