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

    @Test("a client that half-closes its connection gets no message of a shutdown")
    func halfClosed() async throws {
        try await withWorld(connections: .patient()) { world in
            _ = try await world.insert([try observation(try cell(10, 50))])
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

    @Test("a pause of the server's reading doesn't count against the client's deadline")
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
