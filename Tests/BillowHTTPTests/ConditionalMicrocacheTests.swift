import NIOEmbedded
import NIOHTTP1
import Testing

@testable import BillowHTTP

@Suite("The response microcache: HEAD, and clients that have the picture")
struct ConditionalMicrocacheTests {
    private let clock = MicrocacheClock()
    private let answers: ResponseMicrocache

    init() { answers = clock.cache() }

    @Test("HEAD gets the head of a cached answer, and its own answer is not cached")
    func head() throws {
        let connection = try MicrocacheConnection(answers)
        let address = "/tiles/hexagons/latest/0/0/0.png"
        try connection.ask(address, .HEAD)
        #expect(try connection.handedOn() == address)
        try connection.answer("")
        _ = try connection.left()
        try connection.ask()
        #expect(try connection.handedOn() == address)
        try connection.answer("picture")
        _ = try connection.left()
        try connection.ask(address, .HEAD)
        let left = try #require(try connection.left())
        #expect(left.head.status == .ok && left.head.headers.first(name: "ETag") == "\"a\"" && left.body.isEmpty)
        #expect(left.head.headers.first(name: "Content-Type") == "image/png")
    }

    @Test(
        "a client that has a cached picture gets 304, another the picture",
        arguments: [
            ("\"a\"", true), ("W/\"a\"", true), ("\"b\", \"a\"", true), ("*", true), ("\"b\"", false), ("a", false),
            ("", false),
        ], [HTTPMethod.GET, .HEAD])
    func conditional(_ condition: (tags: String, isMet: Bool), method: HTTPMethod) throws {
        let connection = try answers.primed()
        try connection.ask(
            "/tiles/hexagons/latest/0/0/0.png", method, headers: ["Host": "billow", "If-None-Match": condition.tags])
        let left = try #require(try connection.left())
        #expect(left.head.status == (condition.isMet ? .notModified : .ok))
        #expect(left.head.headers.contains(name: "Content-Type") != condition.isMet)
        #expect(left.body == (condition.isMet || method == .HEAD ? "" : "picture"))
        #expect(left.head.headers.first(name: "Cache-Control") == "public, max-age=9")
        #expect(left.head.headers.first(name: "ETag") == "\"a\"")
    }

    @Test("several conditions count as one list of tags")
    func conditions() throws {
        let connection = try answers.primed()
        try connection.ask(headers: ["Host": "billow", "If-None-Match": "\"b\"", "if-none-match": "\"a\""])
        #expect(try connection.left()?.head.status == .notModified)
    }

    @Test("a tag takes the place of a date")
    func dated() throws {
        let connection = try answers.primed()
        try connection.ask(
            headers: [
                "Host": "billow", "If-Modified-Since": "Mon, 30 Nov 2026 01:43:43 GMT", "If-None-Match": "\"a\"",
            ])
        #expect(try connection.left()?.head.status == .notModified)
    }

    @Test("a condition on an answer with several codings is handed on")
    func conditionalCoding() throws {
        let connection = try MicrocacheConnection(answers)
        try connection.ask()
        _ = try connection.handedOn()
        try connection.answer(
            "tile",
            headers: [
                "Content-Type": "application/vnd.mapbox-vector-tile", "Cache-Control": "public, max-age=9",
                "ETag": "\"a\"", "Vary": "Accept-Encoding",
            ])
        _ = try connection.left()
        try connection.ask(headers: ["Host": "billow", "If-None-Match": "\"a\""])
        #expect(try connection.handedOn() != nil)
    }

    private static let ofUnchanged: HTTPHeaders = ["Cache-Control": "public, max-age=9", "ETag": "\"a\""]

    @Test("an answer of 304 serves others that have the picture, and nobody else")
    func unchanged() throws {
        let connection = try MicrocacheConnection(answers)
        let address = "/tiles/hexagons/latest/0/0/0.png"
        func ask(_ tag: String?, _ method: HTTPMethod = .GET) throws {
            var headers: HTTPHeaders = ["Host": "billow"]
            if let tag { headers.add(name: "If-None-Match", value: tag) }
            try connection.ask(address, method, headers: headers)
        }
        try ask("\"a\"")
        #expect(try connection.handedOn() == address)
        try connection.answer("", status: .notModified, headers: Self.ofUnchanged)
        _ = try connection.left()
        for method in [HTTPMethod.GET, .HEAD] {
            try ask("\"b\", \"a\"", method)
            let left = try #require(try connection.left())
            #expect(left.head.status == .notModified && left.body.isEmpty)
            #expect(left.head.headers.first(name: "ETag") == "\"a\"")
        }
        for tag in ["\"b\"", nil] {
            try ask(tag)
            #expect(try connection.handedOn() == address)
            try connection.answer("", status: .notFound, headers: [:])
            _ = try connection.left()
        }
        // The picture itself, once it is there, serves all.
        try ask(nil)
        #expect(try connection.handedOn() == address)
        try connection.answer("picture")
        _ = try connection.left()
        try ask("\"b\"")
        #expect(try connection.left()?.body == "picture")
        try ask("\"a\"")
        #expect(try connection.left()?.head.status == .notModified)
    }

    @Test("an answer of 304 is cached no longer than its picture", arguments: MicrocacheChange.allCases)
    func unchangedUntil(_ change: MicrocacheChange) throws {
        let connection = try MicrocacheConnection(answers)
        let headers: HTTPHeaders = ["Host": "billow", "If-None-Match": "\"a\""]
        try connection.ask(headers: headers)
        _ = try connection.handedOn()
        try connection.answer("", status: .notModified, headers: Self.ofUnchanged)
        _ = try connection.left()
        clock.make(change)
        try connection.ask(headers: headers)
        #expect(try connection.handedOn() != nil)
    }

    private static let othersUnchanged: [(address: String, headers: HTTPHeaders)] = [
        ("/collections", ofUnchanged), ("/tiles/hexagons/latest/0/0/0.mvt?x=.png", ofUnchanged),
        ("/a.png", ["Cache-Control": "public", "ETag": "\"a\"", "Vary": "Accept-Encoding"]),
        ("/a.png", ["Cache-Control": "private", "ETag": "\"a\""]),
    ]

    @Test(
        "an answer of 304 that may be of another kind, or not for all, is not cached", arguments: othersUnchanged)
    func otherUnchanged(address: String, headers: HTTPHeaders) throws {
        let connection = try MicrocacheConnection(answers)
        for _ in 0..<2 {
            try connection.ask(address, headers: ["Host": "billow", "If-None-Match": "\"a\""])
            #expect(try connection.handedOn() == address)
            try connection.answer("", status: .notModified, headers: headers)
            _ = try connection.left()
        }
    }

    @Test("the answer to a condition that is not met is cached")
    func changed() throws {
        let connection = try MicrocacheConnection(answers)
        try connection.ask(headers: ["Host": "billow", "If-None-Match": "\"old\""])
        #expect(try connection.handedOn() != nil)
        try connection.answer("picture")
        _ = try connection.left()
        try connection.ask()
        #expect(try connection.left()?.body == "picture")
    }
}
