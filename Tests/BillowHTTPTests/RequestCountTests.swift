import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import BillowHTTP

@Suite("requests in flight")
struct RequestCountTests {
    private let readiness = Readiness()

    private func connected() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: RequestCountHandler(readiness))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        return channel
    }

    private func ask(_ channel: EmbeddedChannel) throws {
        try channel.writeInbound(
            HTTPServerRequestPart.head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")))
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
    }

    private func begin(
        _ channel: EmbeddedChannel, _ status: HTTPResponseStatus = .ok, type: String = "image/png"
    ) throws {
        try channel.writeOutbound(
            HTTPServerResponsePart.head(
                HTTPResponseHead(version: .http1_1, status: status, headers: ["Content-Type": type])))
    }

    private func end(_ channel: EmbeddedChannel) throws {
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    }

    @Test("a request counts from its head to the end of its response")
    func counted() throws {
        let channel = try connected()
        #expect(readiness.inFlight == 0)
        try ask(channel)
        #expect(readiness.inFlight == 1)
        try begin(channel, .continue)
        try begin(channel)
        try channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: "picture"))))
        #expect(readiness.inFlight == 1)
        try end(channel)
        #expect(readiness.inFlight == 0)
    }

    @Test("requests of several connections, sent before the first is answered, count each")
    func several() throws {
        let channels = [try connected(), try connected()]
        for channel in channels {
            try ask(channel)
            try ask(channel)
        }
        #expect(readiness.inFlight == 4)
        for channel in channels {
            try begin(channel)
            try end(channel)
        }
        #expect(readiness.inFlight == 2)
    }

    @Test("a stream of events counts until its head is sent")
    func events() throws {
        let channel = try connected()
        try ask(channel)
        try begin(channel, type: EventRoutes.mediaType)
        #expect(readiness.inFlight == 0)
        try end(channel)
        #expect(readiness.inFlight == 0)
        try ask(channel)
        try begin(channel)
        #expect(readiness.inFlight == 1)
        try end(channel)
        #expect(readiness.inFlight == 0)
    }

    @Test("the requests of a closed connection don't count, nor do responses that come later")
    func closed() throws {
        let channel = try connected()
        let other = try connected()
        try ask(channel)
        try ask(channel)
        try ask(other)
        try channel.close().wait()
        #expect(readiness.inFlight == 1)
        try? end(channel)
        #expect(readiness.inFlight == 1)
    }
}
