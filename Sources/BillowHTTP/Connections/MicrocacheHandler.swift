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
        var note: ReplyNote
    }

    private let microcache: ResponseMicrocache
    private let journal: RequestJournal
    /// The number of forwarded requests whose answers have not ended.
    private var forwarded = 0
    private var reply: Reply?
    private var recording: Recording?
    /// The number of heads and of ends of requests that came here.
    private(set) var decoded = (heads: 0, ends: 0)
    /// The head of the last request.
    private(set) var lastHead: HTTPRequestHead?

    /// Whether all requests are answered that came here.
    var isIdle: Bool { forwarded == 0 && reply == nil }

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
            decoded.heads += 1
            lastHead = head
            if forwarded == 0, context.channel.isWritable, let question = CacheQuestion(head),
                isHostAllowed(head.headers)
            {
                let moment = microcache.moment
                let found = microcache.answer(
                    to: head.uri, isConditional: question.isConditional, at: moment,
                    coding: CacheQuestion.coding(head.headers))
                if let found {
                    reply = reply(with: found.answer, age: found.age, to: question, head, context.channel)
                    if reply != nil { return }
                } else if !question.isHead {
                    recording = Recording(address: head.uri, requestHeaders: head.headers, moment: moment)
                }
            }
            forwarded += 1
        case .body:
            if reply != nil { return }
        case .end:
            decoded.ends += 1
            if let reply {
                self.reply = nil
                context.write(wrapOutboundOut(.head(reply.head)), promise: nil)
                if let body = reply.body { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
                reply.note.record(
                    status: Int(reply.head.status.code), bytes: reply.body?.readableBytes ?? 0, in: journal)
                return
            }
        }
        context.fireChannelRead(data)
    }

    /// The reply to a question; nil if only the router knows it.
    ///
    /// Source: RFC 9110 section 9.3.2 (HEAD)
    private func reply(
        with answer: ResponseMicrocache.CachedResponse, age: Int, to question: CacheQuestion,
        _ request: HTTPRequestHead, _ channel: any Channel
    ) -> Reply? {
        var head: HTTPResponseHead
        switch question.reply(with: answer) {
        case .whole: head = answer.head
        case .unchanged: head = answer.headOfUnchanged
        case .unknown: return nil
        }
        if age > 0 { head.headers.add(name: EncodedHead.age, value: String(age)) }
        let meaning = RepeatedFields.Meaning(of: request, over: channel, journal)
        let id = journal.ids.id(meaning.id)
        head.headers.add(name: RequestIDs.header, value: id)
        return Reply(
            head: head, body: head.status == .notModified || question.isHead ? nil : answer.body,
            note: ReplyNote(
                metrics: question.isHead
                    ? journal.metrics.route(answer.metrics?.path, .head, status: Int(head.status.code))
                    : answer.metrics,
                method: question.isHead ? "HEAD" : "GET", address: request.uri, id: id, meaning: meaning))
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

    /// Whether the request names an allowed host. A host that a proxy tells is left to the router.
    func isHostAllowed(_ headers: HTTPHeaders) -> Bool {
        microcache.hosts == AllowedHosts()
            || microcache.hosts.allows(headers.first(name: "Host"))
                && !headers.contains(name: "Forwarded") && !headers.contains(name: "X-Forwarded-Host")
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
