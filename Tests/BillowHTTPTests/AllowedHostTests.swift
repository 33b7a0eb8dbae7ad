import EngineTestSupport
import Testing

@testable import BillowHTTP

@Suite("Allowed hosts")
struct AllowedHostTests {
    @Test(
        "a pattern names a host, with a port or every port, or the names below a domain",
        arguments: [
            ("map.example", ["map.example", "MAP.example:8080", "map.example."], ["example", "a.map.example", "map"]),
            ("map.example:8080", ["map.example:8080"], ["map.example", "map.example:80"]),
            ("*.example", ["map.example", "a.b.example:1"], ["example", "mapexample", "map.example.org"]),
            ("192.0.2.1", ["192.0.2.1:80"], ["192.0.2.11"]),
            ("[2001:db8::1]", ["[2001:db8::1]", "[2001:DB8::1]:8"], ["[2001:db8::2]"]),
        ])
    func patterns(pattern: String, allowed: [String], refused: [String]) throws {
        let hosts = AllowedHosts([try #require(AllowedHosts.Pattern(pattern))])
        for host in allowed { #expect(hosts.allows(host), "\(host)") }
        for host in refused { #expect(!hosts.allows(host), "\(host)") }
        #expect(hosts.allows(nil))
        #expect((allowed + refused).allSatisfy { AllowedHosts().allows($0) })
    }

    @Test(
        "another text is no pattern",
        arguments: ["", "*", "*.", "a b", "http://map.example", "map.example:", "map.example:99999", "*.[::1]", "a/b"])
    func unreadable(text: String) {
        #expect(AllowedHosts.Pattern(text) == nil)
    }

    @Test("a request for another host gets 421; probes are answered for every host")
    func refusal() async throws {
        try await withWorld(allowedHosts: ["map.example", "*.billow.test:80"]) { world in
            try await world.listening { port in
                func answer(_ path: String, _ host: String) async throws -> String {
                    try await RawClient.answer(
                        to: "GET \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n", port: port)
                }
                for host in ["map.example", "map.example:\(port)", "a.billow.test:80"] {
                    let text = try await answer("/tiles/hexagons.json", host)
                    #expect(text.contains("http://\(host)/tiles/"), "\(host)")
                }
                for host in ["evil.example", "billow.test", "a.billow.test"] {
                    for path in ["/tiles/hexagons.json", "/", "/openapi.json", "/nothing"] {
                        let text = try await answer(path, host)
                        #expect(text.hasPrefix("HTTP/1.1 421"), "\(path) of \(host)")
                        #expect(text.contains(#""code":"host-not-allowed""#) && !text.contains("http://\(host)"))
                    }
                    #expect(try await answer("/healthz", host).hasPrefix("HTTP/1.1 200"))
                }
            }
        }
    }

    @Test("the host that a trusted proxy tells counts")
    func proxies() async throws {
        let proxy = try #require(AddressBlock("127.0.0.1"))
        try await withWorld(allowedHosts: ["map.example"], connections: .patient { $0.trustedProxies = [proxy] }) {
            world in
            try await world.listening { port in
                for (host, status) in [("map.example", "200"), ("evil.example", "421")] {
                    let text = try await RawClient.answer(
                        to: "GET /tiles/hexagons.json HTTP/1.1\r\nHost: inner:1\r\nX-Forwarded-Host: \(host)\r\n"
                            + "Connection: close\r\n\r\n", port: port)
                    #expect(text.hasPrefix("HTTP/1.1 \(status)"), "\(host)")
                }
            }
        }
    }
}
