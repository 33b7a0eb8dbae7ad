import EngineTestSupport
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import Testing

@testable import BillowEngine
@testable import BillowHTTP

@Suite("Ids of requests")
struct RequestIDTests {
    @Test("a client's id comes back with every answer, errors too, and any other client gets one of its own")
    func answers() async throws {
        try await withWorld { world in
            let name = HTTPField.Name.requestID
            let paths = ["/healthz", "/nothing", "/tiles/hexagons/latest/0/0/0.png", "/viewer.js", "/admin/sources"]
            for path in paths {
                #expect(try await world.get(path, [name: "flight-7_a.B"]).headers[name] == "flight-7_a.B", "\(path)")
            }
            var seen: Set<String> = []
            for path in paths + paths {
                let id = try #require(try await world.get(path).headers[name])
                #expect(id.wholeMatch(of: /[0-9a-f]{16}/) != nil && seen.insert(id).inserted, "\(id)")
            }
            let exposed = try await world.get("/healthz").header("Access-Control-Expose-Headers")
            #expect(exposed?.contains("X-Request-Id") == true)
        }
    }

    @Test(
        "an id that could break a line, or is too long, is replaced",
        arguments: ["", "a b", "a\"b", "a\nb", "é", "a=b", String(repeating: "a", count: 65)])
    func unusable(_ given: String) {
        let ids = RequestIDs()
        #expect(ids.id(given) != given && ids.id(given).count == 16)
        let longest = String(repeating: "a", count: 64)
        #expect(ids.id(longest) == longest)
    }

    @Test("the microcache answers with the id of the request, and not with that of the one before")
    func microcache() throws {
        let log = Lines()
        let journal = RequestJournal(
            metrics: RequestMetrics(MetricRegistry()), accessLog: AccessLog(Logger(label: "access") { _ in log }),
            proxies: TrustedProxies([try #require(AddressBlock("127.0.0.1"))]))
        let microcache = ResponseMicrocache {
            ResponseMicrocache.CacheContext(second: 1, snapshot: 0, sources: 0, styles: 0, freshness: 0)
        }
        let channel = EmbeddedChannel(handler: MicrocacheHandler(microcache, journal))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        func ask(_ id: String?) throws {
            var head = HTTPRequestHead(
                version: .http1_1, method: .GET, uri: "/tiles/hexagons/latest/0/0/0.png?sig=0123456789abcdef",
                headers: ["Host": "billow", "X-Forwarded-For": "2001:db8::7"])
            if let id { head.headers.add(name: "X-Request-Id", value: id) }
            try channel.writeInbound(HTTPServerRequestPart.head(head))
            try channel.writeInbound(HTTPServerRequestPart.end(nil))
        }
        func answered() throws -> [String] {
            var ids: [String] = []
            while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
                if case .head(let head) = part { ids += head.headers["X-Request-Id"] }
            }
            return ids
        }
        try ask("first")
        let head = HTTPResponseHead(
            version: .http1_1, status: .ok,
            headers: ["Content-Type": "image/png", "Cache-Control": "public", "X-Request-Id": "first"])
        try channel.writeOutbound(HTTPServerResponsePart.head(head))
        try channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: "png"))))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
        #expect(try answered() == ["first"])
        try ask("second")
        #expect(try answered() == ["second"])
        try ask(nil)
        let own = try answered()
        #expect(own.count == 1 && own[0].count == 16)
        let lines = log.all
        #expect(lines.count == 2 && lines[0].contains("id=second") && lines[1].contains("id=\(own[0])"))
        #expect(lines.allSatisfy { $0.contains("bytes=3") && $0.contains("path=/tiles/hexagons/latest/0/0/0.png") })
        #expect(lines.allSatisfy { !$0.contains("sig=") && $0.contains("client=2001:db8::7") })
        _ = try channel.finish(acceptAlreadyClosed: true)
    }
}

/// Keeps the lines that are logged.
private struct Lines: LogHandler {
    private final class LineStore: Sendable {
        let lines = Mutex<[String]>([])
    }

    private let store = LineStore()
    var logLevel = Logger.Level.error
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    var all: [String] { store.lines.withLock { $0 } }

    func log(event: LogEvent) {
        let pairs = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
        store.lines.withLock { $0.append("\(event.message) \(pairs.joined(separator: " "))") }
    }
}
