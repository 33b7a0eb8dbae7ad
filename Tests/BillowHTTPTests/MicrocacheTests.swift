import BillowStore
import BillowSync
import EngineTestSupport
import JSONKit
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

/// An upstream without data.
private struct Silent: Upstream {
    let id: SourceID
    let kind = "silent"
    let merge = MergeRule.replace
    let simulated: Bool? = false
    let feeds: Set<FeedKind> = [.observations]

    func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome { SyncOutcome() }
}

@Suite("The response microcache")
struct MicrocacheTests {
    private let clock = MicrocacheClock()
    private let answers: ResponseMicrocache

    init() { answers = clock.cache() }

    @Test("a host that the settings don't allow gets no cached answer, nor does one that a proxy tells")
    func hosts() throws {
        let pattern = try #require(AllowedHosts.Pattern("map.example.com"))
        let connection = try MicrocacheConnection(
            ResponseMicrocache(hosts: AllowedHosts([pattern])) {
                ResponseMicrocache.CacheContext(second: 1, snapshot: 0, sources: 0, styles: 0, freshness: 0)
            })
        try connection.ask(headers: ["Host": "map.example.com"])
        #expect(try connection.handedOn() != nil)
        try connection.answer("tile")
        _ = try connection.left()
        try connection.ask(headers: ["Host": "map.example.com"])
        #expect(try connection.handedOn() == nil)
        #expect(try connection.left()?.body == "tile")
        let refused: [HTTPHeaders] = [
            ["Host": "evil.example"], ["Host": "map.example.com", "X-Forwarded-Host": "evil.example"],
            ["Host": "map.example.com", "Forwarded": "host=evil.example"],
        ]
        for headers in refused {
            try connection.ask(headers: headers)
            #expect(try connection.handedOn() != nil, "\(headers)")
            try connection.answer("refused", status: .badRequest)
            _ = try connection.left()
        }
    }

    @Test("a request for the same picture in the same second gets the same answer, on any connection")
    func same() throws {
        let first = try answers.primed()
        for connection in [first.channel, try MicrocacheConnection(answers).channel] {
            let head = HTTPRequestHead(
                version: .http1_1, method: .GET, uri: "/tiles/hexagons/latest/0/0/0.png",
                headers: ["Host": "other", "Accept": "image/*", "Connection": "keep-alive", "X-Request-Id": "r"])
            try connection.writeInbound(HTTPServerRequestPart.head(head))
            try connection.writeInbound(HTTPServerRequestPart.end(nil))
            #expect(try connection.readInbound(as: HTTPServerRequestPart.self) == nil)
            var expected = HTTPResponseHead(version: .http1_1, status: .ok, headers: MicrocacheConnection.picture)
            expected.headers.add(name: "X-Request-Id", value: "r")
            #expect(try connection.readOutbound(as: HTTPServerResponsePart.self) == .head(expected))
            #expect(
                try connection.readOutbound(as: HTTPServerResponsePart.self)
                    == .body(.byteBuffer(ByteBuffer(string: "picture"))))
            #expect(try connection.readOutbound(as: HTTPServerResponsePart.self) == .end(nil))
        }
        #expect(answers.statistics.hits == 2)
        #expect(answers.statistics.misses == 1)
        #expect(answers.statistics.entries == 1)
        // The body, the address and the head.
        let address = "/tiles/hexagons/latest/0/0/0.png"
        let answer = try #require(answers.answer(to: address, at: answers.moment)?.answer)
        #expect(answer.bytes > 7 && answers.statistics.bytes == answer.bytes + address.utf8.count)
    }

    @Test("the heads of answers count, as fields and in both encoded forms")
    func heads() {
        let text = String(repeating: "a", count: 1_500)
        let head = HTTPResponseHead(
            version: .http1_1, status: .ok, headers: ["Content-Length": "0", "ETag": "\"\(text)\""])
        let answer = ResponseMicrocache.CachedResponse(head: head, body: ByteBuffer())
        #expect(answer.encoded != nil && answer.encodedUnchanged != nil)
        #expect(answer.bytes > 3 * text.utf8.count)
        for number in 0..<ResponseMicrocache.countLimit {
            answers.insert(answer, for: .init("/n\(number)"), at: answers.moment)
            #expect(answers.statistics.entries * answer.bytes <= ResponseMicrocache.capacity)
        }
    }

    @Test(
        "a new second, snapshot, source state or style invalidates every answer", arguments: MicrocacheChange.allCases)
    func forgets(_ change: MicrocacheChange) throws {
        let connection = try answers.primed()
        clock.make(change)
        try connection.ask()
        #expect(try connection.handedOn() != nil)
        try connection.answer("newer")
        #expect(try connection.left()?.body == "newer")
        try connection.ask()
        #expect(try connection.left()?.body == "newer")
    }

    @Test("a response that outlasted its snapshot is not cached", arguments: MicrocacheChange.allCases)
    func slow(_ change: MicrocacheChange) throws {
        let connection = try MicrocacheConnection(answers)
        try connection.ask()
        clock.make(change)
        try connection.answer("old")
        #expect(answers.statistics.entries == 0)
    }

    @Test("the server's context changes with each snapshot, source state and style, and with nothing else")
    func context() async throws {
        try await withWorld { world in
            let application = world.application
            func changes(_ body: () async throws -> Void) async throws -> Bool {
                let before = application.microcache.moment
                try await body()
                return application.microcache.moment != before
            }
            #expect(try await !changes { try await world.refresh() })
            #expect(try await changes { try await world.insert([try observation(try cell(10, 50))]) })
            // A fetch without new data changes how old a picture is said to be.
            try await world.fetched("skypath")
            #expect(try await changes { try await world.refresh() })
            #expect(try await changes { application.styles.replace(by: application.styles.current) })
            #expect(try await changes { application.freshness.replace(by: application.freshness.current) })
            let loop = SourceLoop(
                upstream: Silent(id: try source("skypath")), update: .fast, states: world.states,
                now: { world.clock.now }, logger: World.quiet())
            #expect(try await changes { _ = await loop.round() })
        }
    }

    @Test("Accept-Encoding is ignored for pictures")
    func pictureCoding() throws {
        _ = try answers.primed()
        func asked() -> ContentCoding {
            Issue.record("the header was read")
            return .gzip
        }
        #expect(
            answers.answer(to: "/tiles/hexagons/latest/0/0/0.png", at: answers.moment, coding: asked()) != nil)
    }

    @Test("an answer that differs by coding is kept for each, and no client gets what it doesn't take")
    func codings() throws {
        let connection = try MicrocacheConnection(answers)
        let plain: HTTPHeaders = [
            "Content-Type": "application/vnd.mapbox-vector-tile", "Cache-Control": "public", "Vary": "Accept-Encoding",
        ]
        let takers: [(accepted: String?, body: String)] = [(nil, "plain"), ("gzip", "packed"), ("br", "brotli")]
        for (accepted, body) in takers {
            try connection.ask(headers: accepted.map { ["Accept-Encoding": $0] } ?? [:])
            #expect(try connection.handedOn() != nil)
            try connection.answer(body, headers: plain)
            #expect(try connection.left()?.body == body)
        }
        for (accepted, body) in [
            ("deflate", "plain"), ("gzip, br", "packed"), ("gzip;q=0", "plain"), ("*", "packed"), ("br", "brotli"),
        ] {
            try connection.ask(headers: ["Accept-Encoding": accepted])
            #expect(try connection.left()?.body == body, "\(accepted)")
        }
        #expect(answers.statistics.entries == 3)
    }

    private static let notForAll: [(status: HTTPResponseStatus, headers: HTTPHeaders)] = [
        (.notFound, MicrocacheConnection.picture),
        (.ok, ["Content-Type": "image/png", "Cache-Control": "private, max-age=9"]),
        (.ok, ["Content-Type": "image/png", "Cache-Control": "no-store"]), (.ok, ["Content-Type": "image/png"]),
        (.ok, ["Content-Type": "application/json", "Cache-Control": "public, max-age=9"]),
        (.ok, ["Content-Type": "image/png", "Cache-Control": "public", "Vary": "X-API-Key"]),
        (.ok, ["Content-Type": "image/png", "Cache-Control": "public", "Connection": "close"]),
    ]

    @Test("a response that isn't a public picture is not cached", arguments: notForAll)
    func others(status: HTTPResponseStatus, headers: HTTPHeaders) throws {
        let connection = try MicrocacheConnection(answers)
        try connection.ask()
        #expect(try connection.handedOn() != nil)
        try connection.answer("text", status: status, headers: headers)
        #expect(try connection.left()?.body == "text")
        try connection.ask()
        #expect(try connection.handedOn() != nil)
    }

    @Test(
        "a request that asks for more than its address is handed on, and its answer not kept",
        arguments: [
            ("If-Match", "\"a\""), ("If-Modified-Since", "Mon, 30 Nov 2026 01:43:43 GMT"), ("X-API-Key", "k"),
            ("Range", "bytes=0-1"), ("Content-Length", "0"), ("Connection", "close"), ("Upgrade", "h2c"),
        ])
    func more(name: String, value: String) throws {
        let connection = try answers.primed()
        try connection.ask(headers: ["Host": "billow", name: value])
        #expect(try connection.handedOn() != nil)
        try connection.answer("theirs")
        _ = try connection.left()
        try connection.ask()
        #expect(try connection.left()?.body == "picture")
    }

    @Test("POST and HTTP/1.0 are handed on")
    func methods() throws {
        let connection = try answers.primed()
        let address = "/tiles/hexagons/latest/0/0/0.png"
        for (method, version) in [(HTTPMethod.POST, HTTPVersion.http1_1), (.GET, .http1_0)] {
            try connection.ask(address, method, version)
            #expect(try connection.handedOn() == address)
            try connection.answer("")
            _ = try connection.left()
        }
    }

    @Test("answers leave in the order of the requests")
    func pipelined() throws {
        let connection = try answers.primed()
        try connection.ask("/slow")
        try connection.ask()
        #expect(try connection.handedOn() == "/slow")
        #expect(try connection.handedOn() == "/tiles/hexagons/latest/0/0/0.png")
        #expect(try connection.left() == nil)
        try connection.answer("slow")
        try connection.answer("picture")
        #expect(try connection.left()?.body == "slow")
        #expect(try connection.left()?.body == "picture")
        try connection.ask()
        #expect(try connection.handedOn() == nil)
        #expect(try connection.left()?.body == "picture")
    }

    @Test("a client that doesn't read has nothing piled up for it")
    func unread() throws {
        let connection = try answers.primed()
        connection.channel.isWritable = false
        try connection.ask()
        #expect(try connection.handedOn() != nil)
        #expect(try connection.left() == nil)
    }

    @Test("the cache is bounded by response size and by number of responses")
    func bounded() throws {
        let connection = try MicrocacheConnection(answers)
        for (length, isKept) in [(ResponseMicrocache.largestBody, true), (ResponseMicrocache.largestBody + 1, false)] {
            try connection.ask("/\(length)")
            _ = try connection.handedOn()
            try connection.answer(String(repeating: "a", count: length))
            _ = try connection.left()
            #expect((answers.answer(to: "/\(length)", at: answers.moment) != nil) == isKept)
        }
        let empty = ResponseMicrocache.CachedResponse(
            head: HTTPResponseHead(version: .http1_1, status: .ok), body: ByteBuffer())
        for number in 1..<ResponseMicrocache.countLimit {
            answers.insert(empty, for: .init("/n\(number)"), at: answers.moment)
        }
        #expect(answers.statistics.entries == ResponseMicrocache.countLimit)
        // One more answer replaces all others.
        answers.insert(empty, for: .init("/one-more"), at: answers.moment)
        #expect(answers.statistics.entries == 1)
        let large = ResponseMicrocache.CachedResponse(
            head: empty.head, body: ByteBuffer(repeating: 0, count: ResponseMicrocache.largestBody))
        clock.make(.snapshot)
        for number in 0..<200 {
            answers.insert(large, for: .init("/l\(number)"), at: answers.moment)
            #expect(answers.answer(to: "/l\(number)", at: answers.moment) != nil)
            #expect(answers.statistics.bytes <= ResponseMicrocache.capacity)
            // The addresses count too, so one answer fewer than 32 fits.
            #expect(answers.statistics.entries == number % 31 + 1)
        }
    }

    // MARK: - Immutable answers

    private static let immutable: HTTPHeaders = [
        "Content-Type": "image/png", "Cache-Control": "public, max-age=50, immutable",
    ]

    private func primedImmutable() throws -> MicrocacheConnection {
        let connection = try MicrocacheConnection(answers)
        try connection.ask()
        #expect(try connection.handedOn() != nil)
        try connection.answer("frame", headers: Self.immutable)
        #expect(try connection.left()?.body == "frame")
        return connection
    }

    @Test("an immutable answer is kept for its seconds, and states its age", arguments: [0, 1, 49])
    func ages(seconds: Int) throws {
        let connection = try primedImmutable()
        clock.pass(seconds: seconds)
        // Brief answers of another second do not drop it.
        try connection.ask("/brief")
        #expect(try connection.handedOn() != nil)
        try connection.answer("brief")
        _ = try connection.left()
        try connection.ask()
        #expect(try connection.handedOn() == nil)
        let answer = try #require(try connection.left())
        #expect(answer.body == "frame")
        #expect(answer.head.headers.first(name: "Age") == (seconds == 0 ? nil : String(seconds)))
    }

    @Test(
        "an immutable answer is not kept after its seconds, nor if the clock is set back", arguments: [50, -1, -3_600])
    func outlived(seconds: Int) throws {
        let connection = try primedImmutable()
        clock.pass(seconds: seconds)
        try connection.ask()
        #expect(try connection.handedOn() != nil)
    }

    @Test(
        "a new snapshot, source state, style or configuration of freshness ends an immutable answer too",
        arguments: [MicrocacheChange.snapshot, .sources, .styles, .freshness])
    func ends(_ change: MicrocacheChange) throws {
        let connection = try primedImmutable()
        clock.make(change)
        try connection.ask()
        #expect(try connection.handedOn() != nil)
    }

    @Test("an immutable answer that took seconds is cached with its whole age, unless the snapshot changed")
    func slowImmutable() throws {
        let connection = try MicrocacheConnection(answers)
        try connection.ask()
        clock.pass(seconds: 3)
        try connection.answer("frame", headers: Self.immutable)
        _ = try connection.left()
        _ = try connection.handedOn()
        try connection.ask()
        #expect(try connection.left()?.head.headers.first(name: "Age") == "3")
        try connection.ask("/other")
        clock.make(.snapshot)
        try connection.answer("frame", headers: Self.immutable)
        #expect(answers.answer(to: "/other", at: answers.moment) == nil)
    }

    @Test(
        "an answer without a whole number of seconds, or with an age of its own, is brief",
        arguments: [
            ["Cache-Control": "public, immutable"], ["Cache-Control": "public, max-age=, immutable"],
            ["Cache-Control": "public, max-age=1e9, immutable"], ["Cache-Control": "public, max-age=0, immutable"],
            ["Cache-Control": "public, max-age=-5, immutable"],
            ["Cache-Control": "public, max-age=50, immutable", "Age": "7"],
        ] as [HTTPHeaders])
    func brief(headers: HTTPHeaders) throws {
        let connection = try MicrocacheConnection(answers)
        try connection.ask()
        _ = try connection.handedOn()
        var headers = headers
        headers.add(name: "Content-Type", value: "image/png")
        try connection.answer("frame", headers: headers)
        _ = try connection.left()
        try connection.ask()
        #expect(try connection.left()?.body == "frame")
        clock.make(.laterSecond)
        try connection.ask()
        #expect(try connection.handedOn() != nil)
    }
}
