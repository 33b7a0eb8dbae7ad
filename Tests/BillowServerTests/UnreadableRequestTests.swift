import Foundation
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import BillowServer

/// Bytes that no request can be read from, as Hummingbird meets them: it answers with an empty 400.
@Suite("Unreadable requests")
struct UnreadableRequestTests {
    private static let empty400 = HTTPResponseHead(
        version: .http1_1, status: .badRequest, headers: ["Connection": "close", "Content-Length": "0"])

    /// What leaves when the empty 400 is written after these bytes.
    private func answer(to bytes: ByteBuffer) throws -> (head: HTTPResponseHead, body: JSON?) {
        let decoder = HTTPRequestDecoder()
        let channel = EmbeddedChannel(handlers: [ByteToMessageHandler(decoder), UnreadableRequestHandler()])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        #expect(throws: HTTPParserError.self) {
            try channel.writeInbound(bytes)
            try channel.throwIfErrorCaught()
        }
        try channel.writeOutbound(HTTPServerResponsePart.head(Self.empty400))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        guard case .head(let head) = try channel.readOutbound(as: HTTPServerResponsePart.self) else {
            throw Missing(description: "a head")
        }
        guard case .body(.byteBuffer(let body)) = try channel.readOutbound(as: HTTPServerResponsePart.self) else {
            throw Missing(description: "a body")
        }
        #expect(head.headers.first(name: "Content-Length") == String(body.readableBytes))
        #expect(try channel.readOutbound(as: HTTPServerResponsePart.self) == .end(nil))
        return (head, try JSONDecoder().decode(JSON.self, from: Data(body.readableBytesView)))
    }

    @Test(
        "what was wrong is said as for any other error",
        arguments: [
            ("GET /tiles/\u{661}.png HTTP/1.1\r\nHost: a\r\n\r\n", 400, "invalid-path"),
            ("GET /tiles/a b HTTP/1.1\r\nHost: a\r\n\r\n", 400, "invalid-request"),
            ("\u{0}\u{1}\r\n\r\n", 400, "invalid-request"),
            ("GET /?\(String(repeating: "a=1&", count: 30_000)) HTTP/1.1\r\nHost: a\r\n\r\n", 414, "url-too-long"),
            ("GET / HTTP/1.1\r\nHost: \(String(repeating: "a", count: 90_000))\r\n\r\n", 414, "url-too-long"),
        ])
    func unreadable(bytes: String, status: UInt, code: String) throws {
        let (head, body) = try answer(to: ByteBuffer(string: bytes))
        #expect(head.status.code == status)
        #expect(body?["code"] == .text(code))
        #expect(body?["detail"]?.string?.isEmpty == false)
        #expect(head.headers["Content-Type"] == ["application/problem+json"])
        #expect(head.headers["Access-Control-Allow-Origin"] == ["*"])
        #expect(head.headers["Connection"] == ["close"])
    }

    @Test("the answers to requests before are as they were")
    func others() throws {
        let channel = EmbeddedChannel(handler: UnreadableRequestHandler())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        channel.pipeline.fireErrorCaught(HTTPParserError.invalidMethod)
        #expect(throws: HTTPParserError.self) { try channel.throwIfErrorCaught() }
        let ok = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Content-Length": "0"])
        try channel.writeOutbound(HTTPServerResponsePart.head(ok))
        #expect(try channel.readOutbound(as: HTTPServerResponsePart.self) == .head(ok))
    }
}
