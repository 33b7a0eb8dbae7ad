import BillowEngine
import HTTPTypes
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

    /// The reply to the current request, made of a cached answer.
    private struct Reply {
        var head: HTTPResponseHead
        /// nil for HEAD and for a client that has the content.
        var body: ByteBuffer?
        var metrics: RequestMetrics.Route?
        var method: String
        var address: String
        var id: String
        var client: IPAddress?
        /// The span that the client names; nil also where no spans are recorded.
        var parent: String?
        var requestedAt: NIODeadline
    }

    private let microcache: ResponseMicrocache
    private let journal: RequestJournal
    /// The number of forwarded requests whose answers have not ended.
    private var forwarded = 0
    private var reply: Reply?
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
            if forwarded == 0, context.channel.isWritable, let question = CacheQuestion(head),
                isHostAllowed(head.headers)
            {
                let moment = microcache.moment
                let answer = microcache.answer(
                    to: head.uri, isConditional: question.isConditional, at: moment,
                    coding: CacheQuestion.coding(head.headers))
                if let answer {
                    reply = reply(with: answer, to: question, head, context.channel)
                    if reply != nil { return }
                } else if !question.isHead {
                    recording = Recording(address: head.uri, requestHeaders: head.headers, moment: moment)
                }
            }
            forwarded += 1
        case .body:
            if reply != nil { return }
        case .end:
            if let reply {
                self.reply = nil
                context.write(wrapOutboundOut(.head(reply.head)), promise: nil)
                if let body = reply.body { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
                note(reply)
                return
            }
        }
        context.fireChannelRead(data)
    }

    /// The reply to a question; nil if only the router knows it.
    private func reply(
        with answer: ResponseMicrocache.CachedResponse, to question: CacheQuestion, _ request: HTTPRequestHead,
        _ channel: any Channel
    ) -> Reply? {
        guard let (cached, hasBody) = question.reply(with: answer.head) else { return nil }
        var head = cached
        let id = journal.ids.id(request.headers.first(name: RequestIDs.header))
        head.headers.add(name: RequestIDs.header, value: id)
        return Reply(
            head: head, body: hasBody ? answer.body : nil,
            metrics: question.isHead
                ? journal.metrics.route(answer.metrics?.path, .head, status: Int(head.status.code)) : answer.metrics,
            method: question.isHead ? "HEAD" : "GET", address: request.uri, id: id,
            client: client(of: request, channel),
            parent: Spans.areRecorded ? request.headers.first(name: RequestTrace.header) : nil, requestedAt: .now())
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head): if recording != nil { record(head) }
        case .body(let part): if recording != nil { record(part) }
        case .end:
            forwarded = max(0, forwarded - 1)
            if let recording, var head = recording.head,
                let key = CacheQuestion.key(of: head, to: recording.address)
            {
                // The next answer gets another request id.
                head.headers.remove(name: RequestIDs.header)
                microcache.insert(
                    ResponseMicrocache.CachedResponse(
                        head: head, body: recording.body, metrics: journal.metrics.route(ofAddress: recording.address),
                        immutableSeconds: Self.immutableSeconds(head)),
                    for: key,
                    coding: head.headers.contains(name: "Vary")
                        ? CacheQuestion.coding(recording.requestHeaders) : nil,
                    at: recording.moment)
            }
            recording = nil
        }
        context.write(data, promise: promise)
    }

    private func note(_ reply: Reply) {
        let status = Int(reply.head.status.code)
        let bytes = reply.body?.readableBytes ?? 0
        let nanoseconds = (NIODeadline.now() - reply.requestedAt).nanoseconds
        reply.metrics?.note(status: status, nanoseconds: nanoseconds)
        journal.accessLog?.note(
            id: reply.id, client: reply.client, method: reply.method, path: reply.address.prefix { $0 != "?" },
            status: status, bytes: bytes, nanoseconds: nanoseconds)
        guard Spans.areRecorded else { return }
        RequestTrace.record(
            id: reply.id, parent: reply.parent, route: reply.metrics, status: status, bytes: bytes,
            nanoseconds: nanoseconds)
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

    /// Whether an answer is a picture or a vector tile that is equal for all clients of the address, or may tell that
    /// they have it.
    ///
    /// Source: RFC 9111 section 3 (what a shared cache may store), taken more strictly
    private static func isForAll(_ head: HTTPResponseHead) -> Bool {
        let type = head.headers.first(name: "Content-Type") ?? ""
        guard head.status == .ok && mediaTypes.contains(type) || head.status == .notModified,
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
