import EngineTestSupport
import JSONKit
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

/// A connection without a router: the test sees forwarded requests, and answers them itself.
private struct Connection: ~Copyable {
    let channel: EmbeddedChannel

    init() throws {
        channel = EmbeddedChannel(handler: RequestBodyHandler())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
    }

    func head(_ headers: HTTPHeaders = [:]) throws {
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/observations", headers: headers)
        try channel.writeInbound(HTTPServerRequestPart.head(head))
    }

    func body(_ text: String = "x") throws {
        try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: text)))
    }

    func end() throws { try channel.writeInbound(HTTPServerRequestPart.end(nil)) }

    func answer(_ status: HTTPResponseStatus = .payloadTooLarge) throws {
        try channel.writeOutbound(HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: status)))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    }

    /// How many parts of requests were handed on.
    func handedOn() throws -> Int {
        var count = 0
        while try channel.readInbound(as: HTTPServerRequestPart.self) != nil { count += 1 }
        return count
    }

    /// The heads that left.
    func heads() throws -> [HTTPResponseHead] {
        var heads: [HTTPResponseHead] = []
        while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
            if case .head(let head) = part { heads.append(head) }
        }
        return heads
    }

    /// As a request whose body is read.
    func wants() throws { try channel.triggerUserOutboundEvent(RequestBodyHandler.BodyReadEvent()).wait() }
}

@Suite("A body and its answer")
struct RequestBodyTests {
    private static let expecting: HTTPHeaders = ["Expect": "100-Continue", "Content-Length": "9"]

    @Test("the rest of a body after its response is discarded, and the next request is served")
    func passedOver() throws {
        let connection = try Connection()
        try connection.head()
        try connection.body()
        #expect(try connection.handedOn() == 2)
        try connection.answer()
        for _ in 0..<3 { try connection.body() }
        #expect(try connection.handedOn() == 0)
        try connection.end()
        try connection.head()
        try connection.body()
        #expect(try connection.handedOn() == 3)
        #expect(connection.channel.isActive)
    }

    @Test("a body that goes on too long after its answer ends the connection")
    func tooLong() throws {
        let connection = try Connection()
        try connection.head()
        try connection.answer()
        connection.channel.embeddedEventLoop.advanceTime(by: RequestBodyHandler.longestPassingOver - .seconds(1))
        #expect(connection.channel.isActive)
        connection.channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!connection.channel.isActive)
    }

    @Test("a connection that ends with the answer ends when the body has come")
    func closing() throws {
        let connection = try Connection()
        try connection.head(["Connection": "close"])
        try connection.answer()
        try connection.body()
        #expect(connection.channel.isActive)
        try connection.end()
        #expect(!connection.channel.isActive)
    }

    @Test("a client that expects 100 Continue gets it once, when the body is read")
    func told() throws {
        let connection = try Connection()
        try connection.head(Self.expecting)
        #expect(try connection.heads().isEmpty)
        for _ in 0..<2 { try connection.wants() }
        #expect(try connection.heads().map(\.status) == [.continue])
        try connection.body()
        try connection.end()
        try connection.answer(.ok)
        let heads = try connection.heads()
        #expect(heads.map(\.status) == [.ok] && heads[0].headers["Connection"].isEmpty)
    }

    @Test("a rejected client gets no 100 Continue, and the connection closes")
    func refused() throws {
        let connection = try Connection()
        try connection.head(Self.expecting)
        try connection.answer()
        let heads = try connection.heads()
        #expect(heads.map(\.status) == [.payloadTooLarge] && heads[0].headers["Connection"] == ["close"])
        try connection.wants()
        #expect(connection.channel.isActive)
        try connection.end()
        #expect(!connection.channel.isActive)
    }

    @Test("a client without Expect gets no 100 Continue")
    func unasked() throws {
        let connection = try Connection()
        try connection.head()
        try connection.wants()
        #expect(try connection.heads().isEmpty)
    }
}
