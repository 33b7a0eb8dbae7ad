import BillowEngine
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Rejects invalid requests, and frames responses for the request's HTTP version.
///
/// Hummingbird answers an unreadable request with an empty 400 after the responses to earlier requests, and closes the
/// connection. This handler replaces that response by one with a specific status and a problem body. No route returns
/// an empty 400.
///
/// Source: RFC 9112 sections 2.2, 3.2, 6.1 and 9.6
final class RequestRulesHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let deadlines: any RequestDeadlines
    /// Why no request is accepted; nil if requests are.
    private let refusal: Problem?
    /// The unanswered requests, oldest first.
    private var requests = CircularBuffer<UnansweredRequest>(initialCapacity: 2)
    /// Whether the body of the last request is incomplete.
    private var isReadingBody = false
    private var problem: Problem?
    /// The host in the previous request.
    private var knownHost: String?
    /// Whether the current response is discarded.
    private var isDropping = false

    private struct UnansweredRequest {
        /// Whether its version lacks chunked transfer coding.
        var isOld: Bool
        var isHead: Bool
    }

    init(_ deadlines: any RequestDeadlines, refusal: Problem? = nil) {
        self.deadlines = deadlines
        self.refusal = refusal
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard problem == nil else { return }
        switch unwrapInboundIn(data) {
        case .head(var head):
            if let problem = problem(with: head) { return refuse(problem, context) }
            requests.append(UnansweredRequest(isOld: head.version.isOld, isHead: head.method == .HEAD))
            isReadingBody = true
            deadlines.headerEnded(context)
            // Hummingbird has no other way to request a close.
            if head.version.isOld || !head.isKeepAlive {
                head.headers.replaceOrAdd(name: "Connection", value: "close")
                return context.fireChannelRead(wrapInboundOut(.head(head)))
            }
        case .body: break
        case .end:
            isReadingBody = false
            deadlines.requestEnded(context)
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if problem == nil, let error = error as? HTTPParserError {
            deadlines.requestWasRefused()
            problem = deadlines.timeout ?? problem(for: error)
        }
        context.fireErrorCaught(error)
    }

    private func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
        self.problem = problem
        deadlines.requestWasRefused()
        context.fireErrorCaught(HTTPParserError.unknown)
    }

    private func problem(with head: HTTPRequestHead) -> Problem? {
        if let refusal { return refusal }
        guard isNamed(head) else {
            let hosts = head.headers["Host"]
            return Problem(
                .invalidHost, detail: "A request needs one Host header that names a host.", parameter: "Host",
                value: hosts.isEmpty ? "missing" : String(hosts.joined(separator: ", ").prefix(100)),
                allowed: "a name or address with an optional port, once")
        }
        guard !head.version.isOld || !head.headers.contains(name: "Transfer-Encoding") else {
            return Problem(.invalidRequest, detail: "HTTP/1.0 has no Transfer-Encoding.")
        }
        // The decoder of HTTP/1.1 accepts no larger header.
        let bytes = head.headers.reduce(head.uri.utf8.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        return bytes > Self.largestHeader || head.headers.count > Self.maximumFields ? Self.headersTooLarge : nil
    }

    private static var headersTooLarge: Problem {
        Problem(
            .headersTooLarge, detail: "The header fields of the request are too large.",
            parameter: "headers", value: "more",
            allowed: "at most \(largestHeader) bytes and \(maximumFields) fields")
    }

    /// Whether a request has one valid host, which is optional in HTTP/1.0.
    private func isNamed(_ head: HTTPRequestHead) -> Bool {
        var host: String?
        for (name, value) in head.headers where name.utf8.count == 4 && name.lowercased() == "host" {
            if host != nil { return false }
            host = value
        }
        guard let host else { return head.version.isOld }
        // A client usually names the same host each time.
        guard host != knownHost else { return true }
        guard Authority.isValid(host) else { return false }
        knownHost = host
        return true
    }

    private func problem(for error: HTTPParserError) -> Problem {
        switch error {
        case .headerOverflow where deadlines.hasRequestLine: Self.headersTooLarge
        case .headerOverflow:
            Problem(
                .urlTooLong, detail: "The address is too long to be read.", parameter: "address", value: "more bytes",
                allowed: "at most \(ResponseRules.longestURL) bytes")
        case .invalidURL:
            Problem(
                .invalidPath, detail: "The address can't be read.", parameter: "path", value: "unreadable",
                allowed: "ASCII without blanks; other characters percent-encoded")
        default:
            Problem(.invalidRequest, detail: "This is not an HTTP/1.1 request: \(error.debugDescription).")
        }
    }

    /// The most bytes of a request's target and header fields together; four times the longest target.
    static let largestHeader = 32 << 10
    static let maximumFields = 100

    // MARK: Responses

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            if let problem, head.status == .badRequest, head.headers.first(name: "Content-Length") == "0" {
                // The request with the broken body has a response already, so this one would be superfluous.
                isDropping = isReadingBody && requests.isEmpty
                if isDropping { return context.close(promise: promise) }
                return write(problem, context, promise)
            }
            guard let request = requests.first, head.status.code >= 200 else { break }
            // Hummingbird tells the length of the omitted body where it does not know that of the whole one.
            if request.isHead, head.headers.first(name: "Content-Length") == "0" {
                head.headers.remove(name: "Content-Length")
            } else if !request.isOld {
                break
            }
            if request.isOld {
                head.version = .http1_0
                head.headers.replaceOrAdd(name: "Connection", value: "close")
            }
            return context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: if isDropping { return succeed(promise) }
        case .end:
            if isDropping { return succeed(promise) }
            context.write(data, promise: promise)
            if !requests.isEmpty { requests.removeFirst() }
            return deadlines.answerEnded(context)
        }
        context.write(data, promise: promise)
    }

    private func succeed(_ promise: EventLoopPromise<Void>?) { promise?.succeed() }

    private func write(_ problem: Problem, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?) {
        // The body is text, so encoding can't fail.
        let body = (try? problem.body()) ?? ByteBuffer()
        var head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: problem.status.code),
            headers: ["Connection": "close", "Content-Length": String(body.readableBytes)])
        for field in Array(problem.headers) + Array(ResponseRules.headers) {
            head.headers.replaceOrAdd(name: field.name.rawName, value: field.value)
        }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: promise)
    }
}

extension HTTPVersion {
    /// Whether it lacks chunked transfer coding and persistent connections by default.
    fileprivate var isOld: Bool { major < 1 || major == 1 && minor < 1 }
}
