import BillowStore
import EngineTestSupport
import HTTPTypes
import HummingbirdCore
import JSONKit
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import TestSupport
import Testing

@testable import BillowEngine
@testable import BillowHTTP

@Suite("Limits of requests")
struct RateLimitTests {
    private static let second: UInt64 = 1_000_000_000

    @Test("a client has its burst at once, then the rate, and its burst again after a pause")
    func bucket() {
        let limiter = RateLimiter<String>(RateLimit(perSecond: 10, burst: 30))
        let start = 1_000 * Self.second
        let burst = (0..<40).map { _ in limiter.request(of: "a", at: start) }
        #expect(burst.map(\.isAllowed) == Array(repeating: true, count: 30) + Array(repeating: false, count: 10))
        #expect(burst.prefix(30).map(\.remaining) == (0..<30).reversed().map { $0 })
        #expect(burst[29].seconds == 3 && burst[30] == .init(isAllowed: false, remaining: 0, seconds: 1))
        // A refused request costs nothing, so the rate holds however often it asks.
        let next = (0..<1_000).filter { limiter.request(of: "a", at: start + UInt64($0) * Self.second / 100).isAllowed }
        #expect((99...100).contains(next.count))
        #expect(limiter.request(of: "b", at: start).remaining == 29)
        #expect(limiter.request(of: "a", at: start + 60 * Self.second).remaining == 29)
    }

    @Test("the table never exceeds its bound; full buckets leave it, and clients beyond it share one")
    func bound() {
        let limiter = RateLimiter<Int>(RateLimit(perSecond: 1, burst: 5), capacity: 100)
        let start = 1_000 * Self.second
        for client in 0..<100 { #expect(limiter.request(of: client, at: start).isAllowed) }
        let others = (100..<10_000).map { limiter.request(of: $0, at: start).isAllowed }
        #expect(limiter.count == 100)
        #expect(others.count(where: { $0 }) == 5)
        // The known ones are not affected.
        #expect((0..<100).allSatisfy { limiter.request(of: $0, at: start).isAllowed })
        #expect(limiter.request(of: 20_000, at: start + 10 * Self.second).remaining == 4)
        #expect(limiter.count == 1)
    }

    @Test("the values of the headers name what is limited, the quota and what is left")
    func values() {
        let limiter = RateLimiter<String>(RateLimit(perSecond: 10, burst: 100))
        #expect(limiter.policy("address") == #""address";q=100;w=10"#)
        let decision = limiter.request(of: "a", at: Self.second)
        #expect(RateLimiter<String>.state("address", decision) == #""address";r=99;t=1"#)
    }

    // MARK: Connections

    private func channel(
        _ limiter: RateLimiter<[UInt8]>, from address: String, proxies: [String] = [],
        microcache: ResponseMicrocache? = nil
    ) throws -> EmbeddedChannel {
        let proxies = TrustedProxies(try proxies.map { try #require(AddressBlock($0)) })
        let handler = RateLimitHandler(
            limiter, proxies: proxies, connection: IPAddress(address),
            refused: MetricRegistry().counter(.rateLimited, ["address"]))
        let handlers: [any ChannelHandler] = [handler] + (microcache.map { [MicrocacheHandler($0)] } ?? [])
        let channel = EmbeddedChannel(handlers: handlers)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        return channel
    }

    /// - Returns: the head that later handlers get.
    private func ask(_ channel: EmbeddedChannel, _ headers: HTTPHeaders = [:]) throws -> HTTPRequestHead? {
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/tiles/a.png", headers: headers)
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
        guard case .head(let passed) = try channel.readInbound(as: HTTPServerRequestPart.self) else { return nil }
        _ = try channel.readInbound(as: HTTPServerRequestPart.self)
        return passed
    }

    private func answer(_ channel: EmbeddedChannel, _ headers: HTTPHeaders = [:]) throws -> HTTPHeaders {
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        try channel.writeOutbound(HTTPServerResponsePart.head(head))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        return try left(channel)
    }

    private func left(_ channel: EmbeddedChannel) throws -> HTTPHeaders {
        guard case .head(let head) = try channel.readOutbound(as: HTTPServerResponsePart.self) else {
            throw Missing(description: "an answer")
        }
        while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
            if case .end = part { break }
        }
        return head.headers
    }

    @Test("requests beyond the limit are marked, whatever mark a client sends; answers say what is left, in order")
    func marks() throws {
        let limiter = RateLimiter<[UInt8]>(RateLimit(perSecond: 1, burst: 2))
        let channel = try channel(limiter, from: "192.0.2.1")
        let forged: HTTPHeaders = [RateLimitHandler.mark: "9"]
        #expect(try ask(channel, forged)?.headers.contains(name: RateLimitHandler.mark) == false)
        #expect(try ask(channel)?.headers.contains(name: RateLimitHandler.mark) == false)
        #expect(try ask(channel, forged)?.headers[RateLimitHandler.mark] == ["1"])
        let answers = try (0..<3).map { _ in try answer(channel) }
        #expect(answers.map { $0.first(name: "RateLimit-Policy") } == Array(repeating: #""address";q=2;w=2"#, count: 3))
        #expect(
            answers.map { $0.first(name: "RateLimit")?.prefix(13) } == [
                #""address";r=1"#, #""address";r=0"#, #""address";r=0"#,
            ])
        // Another address, and the same network of IPv6.
        #expect(
            try ask(self.channel(limiter, from: "192.0.2.2"))?.headers.contains(name: RateLimitHandler.mark) == false)
        for (index, end) in ["1", "2", "ffff:1"].enumerated() {
            let head = try ask(self.channel(limiter, from: "2001:db8::\(end)"))
            #expect(head?.headers.contains(name: RateLimitHandler.mark) == (index == 2))
        }
        _ = try channel.finish()
    }

    @Test("a cached tile counts too, and is not given beyond the limit")
    func cached() throws {
        let limiter = RateLimiter<[UInt8]>(RateLimit(perSecond: 1, burst: 2))
        let microcache = ResponseMicrocache {
            ResponseMicrocache.CacheContext(second: 7, snapshot: 0, sources: 0, styles: 0, freshness: 0)
        }
        let channel = try channel(limiter, from: "192.0.2.1", microcache: microcache)
        #expect(try ask(channel) != nil)
        _ = try answer(channel, ["Content-Type": "image/png", "Cache-Control": "public, max-age=9"])
        // From the cache.
        #expect(try ask(channel) == nil)
        #expect(try left(channel).first(name: "RateLimit")?.hasPrefix(#""address";r=0"#) == true)
        #expect(microcache.statistics.hits == 1)
        #expect(try ask(channel)?.headers.contains(name: RateLimitHandler.mark) == true)
        // What the first client was told is not what another one is told.
        let other = try self.channel(limiter, from: "192.0.2.9", microcache: microcache)
        #expect(try ask(other) == nil)
        let told = try left(other)[RateLimitHandler.stateHeader]
        #expect(told.count == 1 && told[0].hasPrefix(#""address";r=1"#))
        _ = try channel.finish()
        _ = try other.finish()
    }

    @Test("this machine is not limited; behind a trusted proxy its clients are, each by itself")
    func proxies() throws {
        let limiter = RateLimiter<[UInt8]>(RateLimit(perSecond: 1, burst: 1))
        func isRefused(_ address: String, _ forwarded: String?, proxies: [String]) throws -> Bool {
            let headers = forwarded.map { HTTPHeaders([("X-Forwarded-For", $0)]) } ?? [:]
            let head = try ask(channel(limiter, from: address, proxies: proxies), headers)
            return head?.headers.contains(name: RateLimitHandler.mark) == true
        }
        for _ in 0..<3 {
            #expect(try !isRefused("127.0.0.1", "192.0.2.1", proxies: []))
            #expect(try !isRefused("::1", nil, proxies: ["::1"]))
        }
        #expect(try !isRefused("127.0.0.1", "192.0.2.1", proxies: ["127.0.0.1"]))
        #expect(try isRefused("127.0.0.1", "192.0.2.1", proxies: ["127.0.0.1"]))
        #expect(try isRefused("10.1.2.3", "6.6.6.6, 192.0.2.1, 10.9.9.9", proxies: ["10.0.0.0/8"]))
        #expect(try !isRefused("127.0.0.1", "192.0.2.2", proxies: ["127.0.0.1"]))
        // An address that isn't a proxy's is itself limited, whatever it says.
        #expect(try !isRefused("192.0.2.77", "192.0.2.78", proxies: ["10.0.0.0/8"]))
        #expect(try isRefused("192.0.2.77", "192.0.2.79", proxies: ["10.0.0.0/8"]))
    }

    // MARK: Over sockets

    @Test("beyond the limit an address gets a 429 with the time to wait, behind its earlier answers")
    func overSocket() async throws {
        let proxies = [try #require(AddressBlock("127.0.0.0/8"))]
        let settings = ConnectionSettings.patient {
            $0.rateLimit = RateLimit(perSecond: 1, burst: 2)
            $0.trustedProxies = proxies
        }
        try await withWorld(connections: settings) { world in
            try await world.listening { port in
                let request = "GET /healthz HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\n"
                let text = try await RawClient.answer(
                    to: Array(repeating: request + "\r\n", count: 3).joined() + request + "Connection: close\r\n\r\n",
                    port: port)
                let statuses = text.matches(of: /HTTP\/1\.1 ([0-9]+)/).map { String($0.1) }
                #expect(statuses == ["200", "200", "429", "429"])
                #expect(text.contains(#""code":"rate-limited""#))
                #expect(text.lowercased().contains("retry-after: 1\r\n"))
                #expect(text.contains(#"RateLimit: "address";r=0"#))
                let direct = try await RawClient.answer(
                    to: "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", port: port)
                #expect(direct.hasPrefix("HTTP/1.1 200") && !direct.contains("\r\nRateLimit"))
            }
        }
    }

    @Test("links follow what a trusted proxy says of the client's address, and nobody else")
    func links() async throws {
        for isTrusted in [true, false] {
            let proxies = isTrusted ? [try #require(AddressBlock("127.0.0.1"))] : []
            try await withWorld(connections: .patient { $0.trustedProxies = proxies }) { world in
                try await world.listening { port in
                    let text = try await RawClient.answer(
                        to: "GET /tiles/hexagons.json HTTP/1.1\r\nHost: inner:1\r\nX-Forwarded-Proto: https\r\n"
                            + "X-Forwarded-Host: maps.example\r\nConnection: close\r\n\r\n", port: port)
                    #expect(text.contains("https://maps.example/tiles/") == isTrusted)
                    #expect(text.contains("http://inner:1/tiles/") != isTrusted)
                }
            }
        }
    }

    @Test("a key has its own limit, which a wrong key doesn't touch")
    func keys() async throws {
        try await withWorld { world in
            let key = try await world.key(.admin)
            let authorizer = Authorizer(
                store: world.store, anonymousRead: true, limit: RateLimit(perSecond: 1, burst: 2), now: { noon },
                logger: .init(label: "test"))
            var request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/metrics")
            request.headerFields[.apiKey] = key.text
            let found = try await authorizer.authorize(
                .init(head: request, body: .init(buffer: ByteBuffer())), needs: .admin)
            #expect(try authorizer.count(found.key)?.hasPrefix(#""key";r=1"#) == true)
            #expect(try authorizer.count(found.key)?.hasPrefix(#""key";r=0"#) == true)
            let refusal = #expect(throws: Problem.self) { try authorizer.count(found.key) }
            #expect(refusal?.status == .tooManyRequests)
        }
    }
}

@Suite("Forwarded requests")
struct ForwardedRequestTests {
    private func read(_ fields: [String: String], trusted: [String] = ["10.0.0.0/8", "fd00::/8"]) throws
        -> ForwardedRequest
    {
        let proxies = TrustedProxies(try trusted.map { try #require(AddressBlock($0)) })
        return ForwardedRequest(header: { fields[$0] }, isTrusted: proxies.contains)
    }

    @Test(
        "the client is the last address that no trusted proxy has",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("6.6.6.6, 192.0.2.1", "192.0.2.1"),
            ("192.0.2.1,10.1.1.1 , 10.2.2.2", "192.0.2.1"),
            ("10.1.1.1", "10.1.1.1"), ("192.0.2.1:4711", "192.0.2.1"), ("[2001:db8::1]:80", "2001:db8::1"),
            ("2001:db8::1, fd00::2", "2001:db8::1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("unknown", nil),
            ("192.0.2.1, unknown, 10.1.1.1", "10.1.1.1"), ("", nil),
        ] as [(String, String?)])
    func clients(value: String, client: String?) throws {
        #expect(try read(["X-Forwarded-For": value]).client == client.flatMap { IPAddress($0) })
    }

    @Test(
        "the standard header has names and quotes; unreadable parts say nothing",
        arguments: [
            ("for=192.0.2.60;proto=https;by=203.0.113.43;host=a.example", "192.0.2.60", "https", "a.example"),
            (#"For="[2001:db8:cafe::17]:4711""#, "2001:db8:cafe::17", nil, nil),
            (
                #"for=6.6.6.6;proto=http, for=192.0.2.1;proto=HTTPS;host="b.example:8", for=10.0.0.1"#, "192.0.2.1",
                "https", "b.example:8"
            ),
            ("for=_hidden;proto=https", nil, "https", nil), (#"for="a,b;c", for=10.0.0.1"#, "10.0.0.1", nil, nil),
            ("proto=ftp;host=a/b;for=1.2.3", nil, nil, nil), ("for", nil, nil, nil),
            (#"for="192.0.2.1"#, nil, nil, nil),
        ] as [(String, String?, String?, String?)])
    func standard(value: String, client: String?, scheme: String?, authority: String?) throws {
        let forwarded = try read(["Forwarded": value, "X-Forwarded-For": "198.51.100.1", "X-Forwarded-Proto": "http"])
        #expect(forwarded.client == client.flatMap { IPAddress($0) })
        #expect(forwarded.scheme == scheme)
        #expect(forwarded.authority == authority)
    }

    @Test("of several schemes and hosts the nearest proxy's count, and unusable ones say nothing")
    func others() throws {
        let forwarded = try read([
            "X-Forwarded-Proto": "http, https", "X-Forwarded-Host": "evil.example, a.example:8443",
        ])
        #expect(forwarded.scheme == "https" && forwarded.authority == "a.example:8443" && forwarded.client == nil)
        let bad = try read(["X-Forwarded-Proto": "javascript", "X-Forwarded-Host": "a\"><script>"])
        #expect(bad == ForwardedRequest(header: { _ in nil }, isTrusted: { _ in true }))
    }

    @Test(
        "a block has exactly the addresses of its prefix",
        arguments: [
            ("10.0.0.0/8", ["10.0.0.0", "10.255.255.255"], ["9.255.255.255", "11.0.0.0", "::a00:1"]),
            ("192.0.2.7", ["192.0.2.7"], ["192.0.2.6"]), ("0.0.0.0/0", ["1.2.3.4"], ["::1"]),
            ("192.0.2.128/25", ["192.0.2.128", "192.0.2.255"], ["192.0.2.127"]),
            ("2001:db8::/33", ["2001:db8::1", "2001:db8:7fff::"], ["2001:db8:8000::", "2001:db9::"]),
        ])
    func blocks(text: String, inside: [String], outside: [String]) throws {
        let block = try #require(AddressBlock(text))
        for address in inside { #expect(block.contains(try #require(IPAddress(address))), "\(address)") }
        for address in outside { #expect(!block.contains(try #require(IPAddress(address))), "\(address)") }
    }

    @Test(
        "what is no block is refused",
        arguments: [
            "", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/8/8", "proxy",
            "::/129",
            "fe80::1%eth0", "10.0.0", "/8",
        ])
    func noBlocks(text: String) { #expect(AddressBlock(text) == nil) }
}
