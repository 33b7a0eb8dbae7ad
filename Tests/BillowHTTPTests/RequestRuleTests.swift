import EngineTestSupport
import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Requests are as HTTP wants them, and so are answers")
struct RequestRuleTests {
    @Test(
        "an invalid request is rejected with its own code, and the connection closes",
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
            try await world.insert([try observation(try cell(10, 50))])
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

    @Test("HEAD of a streamed answer tells no length, and of another one its length")
    func headOfAStream() async throws {
        try await withWorld(connections: .patient()) { world in
            try await world.insert(try H3.disk(around: try cell(10, 50), distance: 36).map { try observation($0) })
            try await world.listening { port in
                for (uri, hasLength) in [("/collections/hexagons/items?limit=10000", false), ("/healthz", true)] {
                    let head = try await RawClient.answer(
                        to: "HEAD \(uri) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", port: port)
                    #expect(head.hasPrefix("HTTP/1.1 200 "), "\(head.prefix(300))")
                    #expect(head.lowercased().contains("\r\ncontent-length: ") == hasLength, "\(head)")
                    #expect(!head.lowercased().contains("content-length: 0\r"))
                    #expect(head.hasSuffix("\r\n\r\n"), "there is no body")
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
