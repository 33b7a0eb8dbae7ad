import BillowEngine
import NIOCore
import NIOHTTP1

/// Answers a request from the microcache without decoding it, if it repeats the header fields of an earlier request of
/// its connection. A map requests all its tiles with the same fields, except for the tag that it has.
///
/// It precedes the decoder, which takes half of the time of a cached answer. It never interprets fields itself. The
/// decoder, the rules and the microcache's handler have accepted the same bytes before. Of a new request it reads the
/// target, and the value of one `If-None-Match`. It passes on everything else as it is, and everything while the
/// decoder may have a part of a request.
///
/// Source: RFC 9112 sections 2.1 and 3 (the form of a request)
final class RepeatedRequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = IOData

    private let microcache: ResponseMicrocache
    private let journal: RequestJournal
    /// The handler that gets the same requests from the decoder.
    private let decoded: MicrocacheHandler
    private let deadlines: DeadlineHandler
    /// Whether the decoder has no part of a request. Once it may have one, it has the connection to itself.
    private var isAligned = true
    /// Whether the connection ends after the current request.
    private var isQuiescing = false
    /// Fields without a condition, and fields with one.
    private var known: (plain: RepeatedFields?, conditional: RepeatedFields?)

    init(
        _ microcache: ResponseMicrocache, _ journal: RequestJournal, decoded: MicrocacheHandler,
        _ deadlines: DeadlineHandler
    ) {
        self.microcache = microcache
        self.journal = journal
        self.decoded = decoded
        self.deadlines = deadlines
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard isAligned else { return context.fireChannelRead(data) }
        let bytes = unwrapInboundIn(data)
        if decoded.isIdle, context.channel.isWritable, answer(bytes, context) { return }
        isAligned = false
        let request = RequestText(bytes)
        let before = decoded.decoded
        context.fireChannelRead(data)
        guard let request, !isQuiescing, decoded.decoded == (before.heads + 1, before.ends + 1),
            let head = decoded.lastHead, head.version == .http1_1, head.isKeepAlive
        else { return }
        isAligned = true
        learn(request, head, context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The next answer is the last one, and says so.
        if event is ChannelShouldQuiesceEvent {
            isQuiescing = true
            isAligned = false
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func learn(_ request: RequestText, _ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard CacheQuestion.isPlain(head), decoded.isHostAllowed(head.headers),
            let fields = RepeatedFields(request, .init(of: head, over: context.channel, journal))
        else { return }
        if fields.hasCondition { known.conditional = fields } else { known.plain = fields }
    }

    /// Answers a request.
    /// - Returns: whether it has an answer here.
    private func answer(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
        guard let (request, meaning) = known.plain?.match(bytes) ?? known.conditional?.match(bytes) else {
            return false
        }
        let question = CacheQuestion(condition: request.condition)
        let found = microcache.answer(
            to: request.address, isConditional: question.isConditional, at: microcache.moment, isCounted: false,
            coding: meaning.coding)
        guard let (answer, age) = found else { return false }
        let reply = question.reply(with: answer)
        let encoded: EncodedHead?
        switch reply {
        case .whole: encoded = answer.encoded
        case .unchanged: encoded = answer.encodedUnchanged
        case .unknown: encoded = nil
        }
        guard let encoded else { return false }
        let id = journal.ids.id(meaning.id)
        let note = ReplyNote(
            metrics: answer.metrics, method: "GET", address: request.address, id: id, meaning: meaning)
        let head = encoded.complete(age: age, id: id, context.channel.allocator)
        let isUnchanged = reply == .unchanged || answer.head.status == .notModified
        let body = isUnchanged || answer.body.readableBytes == 0 ? nil : answer.body
        context.write(wrapOutboundOut(.byteBuffer(head)), promise: nil)
        if let body { context.write(wrapOutboundOut(.byteBuffer(body)), promise: nil) }
        context.flush()
        deadlines.requestWasAnswered(context)
        let status = isUnchanged ? HTTPResponseStatus.notModified : answer.head.status
        note.record(status: Int(status.code), bytes: body?.readableBytes ?? 0, in: journal)
        return true
    }
}
