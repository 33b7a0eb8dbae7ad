import AsyncHTTPClient
import NIOCore
import NIOPosix
import SkyPath
import Testing

/// A server on loopback that answers every request with the same bytes, then hangs up.
private final class CannedAnswer: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let head: String
    private let body: ByteBuffer
    private let times: Int

    init(head: String, body: ByteBuffer, times: Int) {
        self.head = head
        self.body = body
        self.times = times
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.write(wrapOutboundOut(ByteBuffer(string: head)), promise: nil)
        // One buffer, written again and again: no copy of it is made.
        for _ in 0..<times { context.write(wrapOutboundOut(body), promise: nil) }
        // After all of it is sent: a close drops what waits.
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { _ in channel.close(promise: nil) }
    }
}

/// What a call to such a server ends with; nil where it succeeds.
private func error(
    head: String, body: ByteBuffer = ByteBuffer(), times: Int = 1, scheme: String = "http"
) async throws -> UpstreamError? {
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .childChannelInitializer { channel in
            channel.pipeline.addHandler(CannedAnswer(head: head, body: body, times: times))
        }
        .bind(host: "127.0.0.1", port: 0).get()
    let port = try unwrap(server.localAddress?.port)
    let result = try await error(of: "\(scheme)://127.0.0.1:\(port)")
    try await server.close()
    return result
}

/// What a call to an address ends with; nil where it succeeds.
private func error(of address: String) async throws -> UpstreamError? {
    let http = HTTPClient(configuration: SkyPathClient.recommendedHTTPConfiguration)
    let client = try SkyPathClient(
        configuration: SkyPathConfiguration(
            environment: .custom(address), apiKey: try unwrap(Secret("demo")), timeout: .seconds(900)),
        httpClient: http)
    var result: UpstreamError?
    do throws(UpstreamError) { _ = try await client.map(SkyPathMapQuery(.hours(2))) } catch { result = error }
    try await http.shutdown()
    return result
}

@Suite("Hostile and broken servers")
struct HostileServerTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"

    private func expectUnreadable(_ error: UpstreamError?) {
        guard case .unreadable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    private func expectUnreachable(_ error: UpstreamError?) {
        guard case .unreachable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("an endless body is refused before it is read")
    func anEndlessBodyIsRefusedBeforeItIsRead() async throws {
        let megabyte = ByteBuffer(repeating: 0x20, count: 1 << 20)
        let announced = try await error(head: Self.ok + "Content-Length: 209715200\r\n\r\n", body: megabyte, times: 200)
        #expect(announced == .tooLarge(limitBytes: 160 << 20))
        var chunk = ByteBuffer(string: "100000\r\n")
        chunk.writeImmutableBuffer(megabyte)
        chunk.writeString("\r\n")
        let unannounced = try await error(
            head: Self.ok + "Transfer-Encoding: chunked\r\n\r\n", body: chunk, times: 200)
        #expect(unannounced == .tooLarge(limitBytes: 160 << 20))
    }

    @Test("a compressed body is not blown up")
    func aCompressedBodyIsNotBlownUp() async throws {
        let gzip = ByteBuffer(bytes: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + [UInt8](repeating: 0, count: 1_000))
        expectUnreadable(try await error(head: Self.ok + "Content-Encoding: gzip\r\n\r\n", body: gzip))
    }

    @Test(
        "a redirect elsewhere is not followed",
        arguments: ["301 Moved Permanently", "302 Found", "307 Temporary Redirect"])
    func aRedirectElsewhereIsNotFollowed(status: String) async throws {
        let error = try await error(
            head:
                "HTTP/1.1 \(status)\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        guard case .unexpectedStatus = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("an HTML page is unreadable whatever it is called")
    func anHTMLPageIsUnreadableWhateverItIsCalled() async throws {
        let page = ByteBuffer(string: "<!doctype html><title>Sign in</title>")
        for type in ["text/html", "application/json"] {
            expectUnreadable(
                try await error(
                    head: "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nConnection: close\r\n\r\n", body: page))
        }
    }

    @Test("a server that doesn't speak HTTP is unreachable")
    func whatIsNoHTTPIsUnreachable() async throws {
        expectUnreachable(try await error(head: "SSH-2.0-OpenSSH_9.2\r\n"))
        expectUnreachable(try await error(head: ""))
    }

    @Test("a broken handshake is unreachable")
    func aBrokenHandshakeIsUnreachable() async throws {
        expectUnreachable(try await error(head: "HTTP/1.1 400 Bad Request\r\n\r\n", scheme: "https"))
    }

    /// Source: RFC 6761 section 6.4 (`invalid` never resolves)
    @Test("a name that does not resolve is unreachable")
    func aNameThatDoesNotResolveIsUnreachable() async throws {
        expectUnreachable(try await error(of: "https://nowhere.invalid"))
    }
}
