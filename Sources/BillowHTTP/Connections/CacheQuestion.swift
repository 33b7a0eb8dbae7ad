import NIOCore
import NIOHTTP1

/// A request that a cached answer may satisfy: it depends only on its address, and on the content that the client has.
struct CacheQuestion {
    /// What a cached answer gives to a question.
    enum Reply {
        /// The answer as it is cached.
        case whole
        /// 304, because the client has the content.
        case unchanged
        /// Nothing: only the router knows the answer.
        case unknown
    }

    let isHead: Bool
    /// The tags of what the client has; nil without a condition.
    private let known: EntityTags?

    /// The question of a GET.
    /// - Parameter condition: the value of `If-None-Match`; nil without it.
    init(condition: String?) {
        isHead = false
        known = condition.map { EntityTags($0) }
    }

    /// nil for a request with a key, a body or another condition, and on a connection that does not stay open. Browsers
    /// send `If-Modified-Since` together with the tag, which takes its place.
    ///
    /// Source: RFC 9110 section 13.1.3
    init?(_ head: HTTPRequestHead) {
        guard head.method == .GET || head.method == .HEAD, head.version == .http1_1, head.isKeepAlive else {
            return nil
        }
        var (isConditional, isDated) = (false, false)
        for (name, _) in head.headers {
            let name = name.lowercased()
            if Self.decisive.contains(name) { return nil }
            if name == Self.condition { isConditional = true }
            if name == "if-modified-since" { isDated = true }
        }
        guard isConditional || !isDated else { return nil }
        isHead = head.method == .HEAD
        known = isConditional ? EntityTags(head.headers[Self.condition].joined(separator: ",")) : nil
    }

    /// Whether a request's header fields belong to a question that `init(condition:)` makes, whatever the condition is.
    static func isPlain(_ head: HTTPRequestHead) -> Bool {
        head.method == .GET && head.headers[condition].count < 2 && CacheQuestion(head) != nil
    }

    /// Whether the client has some content. An answer of 304 may then suffice.
    var isConditional: Bool { known != nil }

    /// The key under which an answer is cached; nil for an answer that is not. 304 stands for a picture only by the
    /// name of the address, because it has no media type.
    static func key(of answer: HTTPResponseHead, to address: String) -> ResponseMicrocache.CacheKey? {
        guard answer.status == .notModified else { return ResponseMicrocache.CacheKey(address) }
        let isPicture = address.prefix { $0 != "?" }.hasSuffix(".png")
        guard isPicture, !answer.headers.contains(name: "Vary") else { return nil }
        return ResponseMicrocache.CacheKey(address, isUnchanged: true)
    }

    /// The reply that a cached answer gives.
    ///
    /// Source: RFC 9110 sections 13.1.2 (`If-None-Match`) and 15.4.5 (304)
    func reply(with cached: ResponseMicrocache.CachedResponse) -> Reply {
        guard let known else { return .whole }
        guard let tag = cached.comparedTag else { return .unknown }
        if known.match(tag) { return .unchanged }
        return cached.head.status == .ok ? .whole : .unknown
    }

    /// The content coding that a client gets. Only vector tiles differ by it.
    static func coding(_ headers: HTTPHeaders) -> ContentCoding {
        ContentCoding(accepted: headers["Accept-Encoding"].joined(separator: ","), .tiles)
    }

    private static let condition = "if-none-match"

    /// Headers that an answer may depend on besides `Accept-Encoding`. `Vary` then names them.
    private static let decisive: Set = [
        "authorization", "content-length", "cookie", "expect", "if-match", "if-range", "if-unmodified-since", "range",
        "transfer-encoding", "upgrade", "x-api-key",
        RateLimitHandler.mark.lowercased(),
    ]
}
