import BillowEngine
import NIOCore
import NIOHTTP1
import SpanKit

/// Answers requests from the microcache on the connection's own thread, and caches the answers of pictures that pass
/// through.
///
/// It follows the HTTP decoder and its limits, and precedes everything else. It answers only when all earlier requests
/// are answered, so that answers leave in the order of the requests. It answers only while the connection is writable,
/// so that no answers accumulate for a client that doesn't read.
final class MicrocacheHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// An answer that is recorded while it passes through.
    private struct Recording {
        var address: String
        var requestHeaders: HTTPHeaders
        var moment: ResponseMicrocache.CacheContext
        var head: HTTPResponseHead?
        var body = ByteBuffer()
    }

    private let microcache: ResponseMicrocache
    private let journal: RequestJournal
    /// The number of forwarded requests whose answers have not ended.
    private var forwarded = 0
    /// The cached answer for the current request.
    private var answer: ResponseMicrocache.CachedResponse?
    /// The current request and its time of arrival.
    private var current: (id: String, client: IPAddress?, address: String, at: NIODeadline)?
    /// The span that the current request's client names; nil also where no spans are recorded.
    private var parent: String?
    private var recording: Recording?

    init(
        _ microcache: ResponseMicrocache,
        _ journal: RequestJournal = RequestJournal(metrics: RequestMetrics(MetricRegistry()))
    ) {
        self.microcache = microcache
        self.journal = journal
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            if forwarded == 0, context.channel.isWritable, Self.isPlain(head), isHostAllowed(head.headers) {
                let moment = microcache.moment
                answer = microcache.answer(to: head.uri, at: moment, coding: Self.coding(head.headers))
                if answer != nil {
                    let id = journal.ids.id(head.headers.first(name: RequestIDs.header))
                    current = (id, client(of: head, context.channel), head.uri, .now())
                    if Spans.areRecorded { parent = head.headers.first(name: RequestTrace.header) }
                    answer?.head.headers.add(name: RequestIDs.header, value: id)
                    return
                }
                recording = Recording(address: head.uri, requestHeaders: head.headers, moment: moment)
            }
            forwarded += 1
        case .body:
            if answer != nil { return }
        case .end:
            if let answer {
                self.answer = nil
                context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
                note(answer)
                return
            }
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head): if recording != nil { record(head) }
        case .body(let part): if recording != nil { record(part) }
        case .end:
            forwarded = max(0, forwarded - 1)
            if let recording, var head = recording.head {
                // The next answer gets another request id.
                head.headers.remove(name: RequestIDs.header)
                microcache.insert(
                    ResponseMicrocache.CachedResponse(
                        head: head, body: recording.body, metrics: journal.metrics.route(ofAddress: recording.address),
                        immutableSeconds: Self.immutableSeconds(head)),
                    for: recording.address,
                    coding: head.headers.contains(name: "Vary") ? Self.coding(recording.requestHeaders) : nil,
                    at: recording.moment)
            }
            recording = nil
        }
        context.write(data, promise: promise)
    }

    private func note(_ answer: ResponseMicrocache.CachedResponse) {
        guard let current else { return }
        self.current = nil
        let status = Int(answer.head.status.code)
        let nanoseconds = (NIODeadline.now() - current.at).nanoseconds
        answer.metrics?.note(status: status, nanoseconds: nanoseconds)
        journal.accessLog?.note(
            id: current.id, client: current.client, method: "GET", path: current.address.prefix { $0 != "?" },
            status: status,
            bytes: answer.body.readableBytes, nanoseconds: nanoseconds)
        guard Spans.areRecorded else { return }
        RequestTrace.record(
            id: current.id, parent: parent, route: answer.metrics, status: status,
            bytes: answer.body.readableBytes, nanoseconds: nanoseconds)
        parent = nil
    }

    /// Whether the request names an allowed host. A host that a proxy tells is left to the router.
    private func isHostAllowed(_ headers: HTTPHeaders) -> Bool {
        microcache.hosts == AllowedHosts()
            || microcache.hosts.allows(headers.first(name: "Host"))
                && !headers.contains(name: "Forwarded") && !headers.contains(name: "X-Forwarded-Host")
    }

    /// The client as the log names it; nil if requests are not logged.
    private func client(of head: HTTPRequestHead, _ channel: any Channel) -> IPAddress? {
        guard journal.accessLog != nil else { return nil }
        return journal.client(over: IPAddress(channel.remoteAddress)) { name in
            let values = head.headers[name]
            return values.isEmpty ? nil : values.joined(separator: ",")
        }
    }

    /// The content coding that a client gets. Only vector tiles differ by it.
    private static func coding(_ headers: HTTPHeaders) -> ContentCoding {
        ContentCoding(accepted: headers["Accept-Encoding"].joined(separator: ","), .tiles)
    }

    private func record(_ head: HTTPResponseHead) {
        if Self.isForAll(head) { recording?.head = head } else { recording = nil }
    }

    private func record(_ part: IOData) {
        guard case .byteBuffer(var bytes) = part, let length = recording?.body.readableBytes,
            length + bytes.readableBytes <= ResponseMicrocache.largestBody
        else {
            recording = nil
            return
        }
        // Most bodies are a single buffer, which isn't copied.
        if length == 0 { recording?.body = bytes } else { recording?.body.writeBuffer(&bytes) }
    }

    /// Whether a request depends on its address only: without key, condition and body, on a connection that stays open.
    private static func isPlain(_ head: HTTPRequestHead) -> Bool {
        guard head.method == .GET, head.version == .http1_1, head.isKeepAlive else { return false }
        for (name, _) in head.headers where decisive.contains(name.lowercased()) { return false }
        return true
    }

    /// Headers that an answer may depend on besides `Accept-Encoding`. `Vary` then names them.
    private static let decisive: Set = [
        "authorization", "content-length", "cookie", "expect", "if-match", "if-modified-since", "if-none-match",
        "if-range", "if-unmodified-since", "range", "transfer-encoding", "upgrade", "x-api-key",
        RateLimitHandler.mark.lowercased(),
    ]

    /// Whether an answer is a picture or a vector tile that is equal for all clients of the address.
    ///
    /// Source: RFC 9111 section 3 (what a shared cache may store), taken more strictly
    private static func isForAll(_ head: HTTPResponseHead) -> Bool {
        guard head.status == .ok, let type = head.headers.first(name: "Content-Type"), mediaTypes.contains(type),
            head.headers.first(name: "Cache-Control")?.hasPrefix("public") == true
        else { return false }
        guard head.headers.first(name: "Vary") ?? "Accept-Encoding" == "Accept-Encoding" else { return false }
        return !["Set-Cookie", "Connection"].contains { head.headers.contains(name: $0) }
    }

    /// For how many seconds an answer says that it is immutable; nil if it does not.
    private static func immutableSeconds(_ head: HTTPResponseHead) -> Int? {
        let control = head.headers.first(name: "Cache-Control") ?? ""
        let directives = control.split(separator: ",").map { $0.drop { $0 == " " } }
        guard directives.contains("immutable"), !head.headers.contains(name: "Age"),
            let age = directives.first(where: { $0.hasPrefix("max-age=") })
        else { return nil }
        return Int(age.dropFirst("max-age=".count))
    }

    private static let mediaTypes: Set = ["image/png", "application/vnd.mapbox-vector-tile"]
}
