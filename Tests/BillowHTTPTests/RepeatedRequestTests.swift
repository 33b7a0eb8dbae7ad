import BillowEngine
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestSupport
import Testing

@testable import BillowHTTP

/// A connection's handlers, with a responder instead of the router.
private struct Wire: ~Copyable {
    let channel = EmbeddedChannel()
    let decoded: MicrocacheHandler

    init(_ cache: ResponseMicrocache, isFast: Bool) throws {
        let journal = RequestJournal(metrics: RequestMetrics(MetricRegistry()))
        let deadlines = DeadlineHandler(ConnectionTimeouts(ConnectionSettings()))
        decoded = MicrocacheHandler(cache, journal)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(deadlines)
        try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
        try pipeline.addHandlers([RequestRulesHandler(deadlines), decoded, PictureResponder()])
        if isFast {
            let encoder = try pipeline.handler(type: HTTPResponseEncoder.self)
            try pipeline.addHandler(
                RepeatedRequestHandler(cache, journal, decoded: decoded, deadlines), position: .before(encoder))
        }
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
    }

    /// What leaves after some bytes have come. The ids of requests are random.
    func answer(to text: some StringProtocol) throws -> String {
        // An error of the decoder is answered by the rules.
        _ = try? channel.writeInbound(ByteBuffer(string: String(text)))
        var left = ""
        while let part = try channel.readOutbound(as: ByteBuffer.self) { left += String(buffer: part) }
        return left.replacing(/X-Request-Id: [0-9a-f]{16}/, with: "X-Request-Id: some")
    }
}

/// Answers each request for a picture at once. Its tag is its address.
private final class PictureResponder: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private var request: HTTPRequestHead?

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): request = head
        case .body: break
        case .end: if let request { answer(request, context) }
        }
    }

    private func answer(_ request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let body = request.method == .GET ? "picture of \(request.uri)" : ""
        let tag = "\"\(request.uri)\""
        var head = HTTPResponseHead(
            version: .http1_1, status: .ok,
            headers: [
                "Content-Type": "image/png", "Content-Length": String(body.utf8.count), "ETag": tag,
                "Cache-Control": request.uri.contains("v=") ? "public, max-age=60, immutable" : "public, max-age=1",
            ])
        if request.uri.contains("private") { head.headers.replaceOrAdd(name: "Cache-Control", value: "private") }
        if request.headers["If-None-Match"].contains(tag) {
            head.status = .notModified
            head.headers.remove(name: "Content-Length")
            head.headers.remove(name: "Content-Type")
        }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if head.status == .ok, !body.isEmpty {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}

@Suite("Requests that repeat the header fields of an earlier one")
struct RepeatedRequestTests {
    private static let addresses = ["/a.png", "/b.png?style=night", "/c.png?v=1", "/d.png?v=2", "/private.png"]
    private static let fields = [
        "Host: billow\r\n", "Host: billow\r\nUser-Agent: map\r\nAccept-Encoding: gzip\r\n",
        "host: billow\r\nX-Request-Id: abc\r\n", "Host: billow\r\nReferer: http://billow/\r\n",
    ]

    private static func get(_ address: String, _ fields: String, method: String = "GET") -> String {
        "\(method) \(address) HTTP/1.1\r\n\(fields)\r\n"
    }

    /// A request as clients send it, mostly with the same fields as the one before.
    private static func usual(_ random: inout SeededGenerator) -> String {
        let address = addresses.randomElement(using: &random) ?? ""
        var fields = Self.fields[[0, 0, 0, 0, 0, 1, 1, 2, 3].randomElement(using: &random) ?? 0]
        let tags = ["\"\(address)\"", "W/\"\(address)\"", "\"old\", \"\(address)\" ", "\"old\"", "*", "", " * "]
        if Bool.random(using: &random) {
            let name = random.next() % 8 == 0 ? "if-none-match" : "If-None-Match"
            let condition = "\(name): \(tags.randomElement(using: &random) ?? "")\r\n"
            fields = random.next() % 4 == 0 ? condition + fields : fields + condition
        }
        return get(address, fields)
    }

    /// Bytes of every other kind.
    private static func unusual(_ random: inout SeededGenerator) -> String {
        let some = usual(&random)
        let others = [
            some + usual(&random), some.replacing("\r\n", with: "\n"), "\r\n" + some,
            get("/a.png", fields[0], method: "HEAD"), get("/a.png", fields[0] + "Range: bytes=0-1\r\n"),
            get("/a.png", fields[0] + "If-None-Match: \"a\"\r\nIf-None-Match: \"/a.png\"\r\n"),
            get("/a.png", fields[0] + "If-None-Match: \"/a.png\",\r\n \"b\"\r\n"),
            get("/a.png", fields[0] + "Content-Length: 2\r\n", method: "POST") + "ab",
            get("/a.png", fields[0] + "Transfer-Encoding: chunked\r\n", method: "POST") + "2\r\nab\r\n0\r\n\r\n",
            get("/a.png", ""), get("a.png", fields[0]), get("/a.png b", fields[0]), get("/ä.png", fields[0]),
            get("/a.png", fields[0] + "Connection: close\r\n"), "GET /a.png HTTP/1.0\r\n\(fields[0])\r\n",
            get("/a.png", "Host: a b\r\n"), "\r\n\r\n", "GET /a.png\r\n\r\n",
        ]
        return others.randomElement(using: &random) ?? ""
    }

    @Test("any sequence of bytes has the same answers as with the decoder alone", arguments: 0..<40)
    func oracle(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var saved = 0
        for _ in 0..<25 {
            let clocks = [MicrocacheClock(), MicrocacheClock()]
            let fast = try Wire(clocks[0].cache(), isFast: true)
            let slow = try Wire(clocks[1].cache(), isFast: false)
            for _ in 0..<40 {
                var text = Substring(random.next() % 40 == 0 ? Self.unusual(&random) : Self.usual(&random))
                // A part now, and the rest afterwards.
                if random.next() % 60 == 0 {
                    let part = text.prefix(Int(random.next() % UInt64(max(text.count, 1))))
                    #expect(try fast.answer(to: part) == slow.answer(to: part), "\(part.debugDescription)")
                    text = text.dropFirst(part.count)
                }
                let (given, expected) = (try fast.answer(to: text), try slow.answer(to: text))
                #expect(given == expected, "\(text.debugDescription)")
                #expect(fast.channel.isActive == slow.channel.isActive)
                if random.next() % 16 == 0 {
                    let change = MicrocacheChange.allCases.randomElement(using: &random) ?? .laterSecond
                    for clock in clocks { clock.make(change) }
                }
            }
            saved += slow.decoded.decoded.heads - fast.decoded.decoded.heads
        }
        #expect(saved > 20)
    }

    @Test("a repeated request needs no decoder, with any tag; one with other fields does")
    func saved() throws {
        let wire = try Wire(MicrocacheClock().cache(), isFast: true)
        let (plain, other) = (Self.get("/c.png?v=1", Self.fields[0]), Self.get("/c.png?v=1", Self.fields[1]))
        func conditional(_ tag: String) -> String {
            Self.get("/c.png?v=1", Self.fields[0] + "If-None-Match: \"\(tag)\"\r\n")
        }
        for (text, isDecoded, status) in [
            (plain, true, 200), (plain, false, 200), (conditional("x"), true, 200), (conditional("y"), false, 200),
            (conditional("/c.png?v=1"), false, 304), (plain, false, 200), (other, true, 200), (other, false, 200),
            (plain, true, 200),
        ] {
            let before = wire.decoded.decoded.heads
            let answer = try wire.answer(to: text)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
            #expect(answer.hasSuffix("\r\n\r\n" + (status == 200 ? "picture of /c.png?v=1" : "")), "\(answer)")
            #expect((wire.decoded.decoded.heads > before) == isDecoded, "\(text)")
        }
    }

    @Test("a connection that ends takes no repeated request")
    func quiescing() throws {
        let wire = try Wire(MicrocacheClock().cache(), isFast: true)
        let text = Self.get("/c.png?v=1", Self.fields[0])
        _ = try wire.answer(to: text)
        wire.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        _ = try wire.answer(to: text)
        #expect(wire.decoded.decoded.heads == 2)
    }

    @Test("a client that doesn't read has nothing piled up for it")
    func unread() throws {
        let wire = try Wire(MicrocacheClock().cache(), isFast: true)
        let text = Self.get("/c.png?v=1", Self.fields[0])
        _ = try wire.answer(to: text)
        wire.channel.isWritable = false
        _ = try wire.answer(to: text)
        #expect(wire.decoded.decoded.heads == 2)
    }

    @Test("only bytes of exactly one request without a body count as one")
    func whole() {
        let head = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        for (text, fields) in [
            (head, 16), (head + head, nil), (head + "a", nil), (String(head.dropLast()), nil), ("\r\n\r\n", nil),
            ("GET / HTTP/1.1\r\n\r\n", 16), ("GET / HTTP/1.1\nHost: a\r\n\r\n", nil), ("", nil), ("\r\n" + head, nil),
            ("GET / HTTP/1.1\r\nHost: a\n\r\n", nil), ("\n", nil),
        ] as [(String, Int?)] {
            #expect(RequestText(ByteBuffer(string: text))?.fields == fields, "\(text.debugDescription)")
        }
    }
}
