import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import Testing

@testable import BillowHTTP

/// A connection without a router: the test sees forwarded requests, and answers them itself.
struct MicrocacheConnection: ~Copyable {
    let channel: EmbeddedChannel
    let answers: ResponseMicrocache

    init(_ answers: ResponseMicrocache) throws {
        self.answers = answers
        channel = EmbeddedChannel(handler: MicrocacheHandler(answers))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
    }

    func ask(
        _ address: String = "/tiles/hexagons/latest/0/0/0.png", _ method: HTTPMethod = .GET,
        _ version: HTTPVersion = .http1_1, headers: HTTPHeaders = ["Host": "billow"]
    ) throws {
        let head = HTTPRequestHead(version: version, method: method, uri: address, headers: headers)
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
    }

    /// The address of the next request that was handed on.
    func handedOn() throws -> String? {
        guard case .head(let head) = try channel.readInbound(as: HTTPServerRequestPart.self) else { return nil }
        _ = try channel.readInbound(as: HTTPServerRequestPart.self)
        return head.uri
    }

    static let picture: HTTPHeaders = [
        "Content-Type": "image/png", "Cache-Control": "public, max-age=9", "ETag": "\"a\"",
    ]

    func answer(_ body: String, status: HTTPResponseStatus = .ok, headers: HTTPHeaders = Self.picture) throws {
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        try channel.writeOutbound(HTTPServerResponsePart.head(head))
        // In two parts, as a streamed body comes.
        for part in [body.prefix(1), body.dropFirst()] where !part.isEmpty {
            try channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(substring: part))))
        }
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    }

    /// The next answer that left.
    func left() throws -> (head: HTTPResponseHead, body: String)? {
        guard case .head(let head) = try channel.readOutbound(as: HTTPServerResponsePart.self) else { return nil }
        var body = ""
        while case .body(.byteBuffer(let part)) = try channel.readOutbound(as: HTTPServerResponsePart.self) {
            body += String(buffer: part)
        }
        return (head, body)
    }
}

/// A change of one input of cached answers.
enum MicrocacheChange: CaseIterable {
    case earlierSecond, laterSecond, snapshot, sources, styles, freshness
}

/// The inputs of cached answers, which a test changes.
final class MicrocacheClock: Sendable {
    private let second = Atomic(100)
    private let snapshot = Atomic<UInt64>(0)
    private let sources = Atomic<UInt64>(0)
    private let styles = Atomic<UInt64>(0)
    private let freshness = Atomic<UInt64>(0)

    func pass(seconds: Int) { second.add(seconds, ordering: .relaxed) }

    func make(_ change: MicrocacheChange) {
        switch change {
        case .earlierSecond: pass(seconds: -1)
        case .laterSecond: pass(seconds: 1)
        case .snapshot: snapshot.add(1, ordering: .relaxed)
        case .sources: sources.add(1, ordering: .relaxed)
        case .styles: styles.add(1, ordering: .relaxed)
        case .freshness: freshness.add(1, ordering: .relaxed)
        }
    }

    /// A cache of answers that depend on these inputs.
    func cache() -> ResponseMicrocache {
        ResponseMicrocache { [self] in
            ResponseMicrocache.CacheContext(
                second: second.load(ordering: .relaxed), snapshot: snapshot.load(ordering: .relaxed),
                sources: sources.load(ordering: .relaxed), styles: styles.load(ordering: .relaxed),
                freshness: freshness.load(ordering: .relaxed))
        }
    }
}

extension ResponseMicrocache {
    /// A connection over which a picture has gone once.
    func primed() throws -> MicrocacheConnection {
        let connection = try MicrocacheConnection(self)
        try connection.ask()
        #expect(try connection.handedOn() != nil)
        try connection.answer("picture")
        #expect(try connection.left()?.body == "picture")
        return connection
    }
}
