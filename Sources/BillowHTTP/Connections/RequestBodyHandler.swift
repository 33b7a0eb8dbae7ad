import BillowEngine
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOHTTP1

/// Keeps the bodies of requests and the answers to them in step, where one would wait for the other for ever.
///
/// Who asks whether to send a body (`Expect: 100-continue`) is told to as soon as it is wanted. What still comes of a
/// body after its answer is passed over, for a while: a client that reads only when it has sent everything gets its
/// answer too.
///
/// Source: RFC 9110 section 10.1.1; RFC 9112 section 9.6 (closing without losing the answer)
final class RequestBodyHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Sent down the pipeline when the body of the request in hand is first read.
    struct BodyIsWanted: Sendable {}

    /// How long a body is passed over at most; then the connection is closed.
    ///
    /// Source: nginx's `lingering_time`
    static let longestPassingOver = TimeAmount.seconds(30)

    /// Requests whose answers have not ended. While one is, its answer is that of the request being read.
    private var unanswered = 0
    /// The body of the last request has not ended.
    private var isReading = false
    /// The client waits to be told to send it.
    private var isAwaited = false
    /// The connection ends with the answer.
    private var closes = false
    private var isPassingOver = false
    private var deadline: Scheduled<Void>?

    // MARK: The request

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            unanswered += 1
            isReading = true
            closes = !head.isKeepAlive
            isAwaited =
                head.version == .http1_1
                && head.headers[canonicalForm: "Expect"].contains { $0.lowercased() == "100-continue" }
        case .body:
            if isPassingOver { return }
        case .end:
            isReading = false
            isAwaited = false
            if isPassingOver {
                end()
                if closes { return context.close(promise: nil) }
            }
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Nobody behind this handler asks for what it passes over.
        if isPassingOver { context.read() }
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is BodyIsWanted else { return context.triggerUserOutboundEvent(event, promise: promise) }
        if isAwaited {
            isAwaited = false
            context.writeAndFlush(
                wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
        }
        promise?.succeed()
    }

    // MARK: The answer

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isOfLast = unanswered == 1
        switch unwrapOutboundIn(data) {
        case .head(var head) where isOfLast && isReading:
            // Whether a body follows now only the client knows: what it sends next could be either.
            if isAwaited {
                closes = true
                head.headers.replaceOrAdd(name: "Connection", value: "close")
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            unanswered = max(0, unanswered - 1)
            context.write(data, promise: promise)
            if isOfLast, isReading { begin(context) }
        default: context.write(data, promise: promise)
        }
    }

    private func begin(_ context: ChannelHandlerContext) {
        isPassingOver = true
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: Self.longestPassingOver) { channel.close(promise: nil) }
        context.read()
    }

    private func end() {
        isPassingOver = false
        deadline?.cancel()
        deadline = nil
    }
}

extension RequestBodyHandler {
    /// A responder whose requests tell the connection when their body is first read.
    static func telling(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTPChannelHandler.Responder {
        { request, writer, channel in
            var request = request
            if request.headers[.expect] != nil {
                request.body = RequestBody(asyncSequence: AwaitedBody(body: request.body, channel: channel))
            }
            try await responder(request, writer, channel)
        }
    }

    private struct AwaitedBody: AsyncSequence, Sendable {
        let body: RequestBody
        let channel: any Channel

        struct AsyncIterator: AsyncIteratorProtocol {
            var body: RequestBody.AsyncIterator
            var channel: (any Channel)?

            mutating func next() async throws -> ByteBuffer? {
                channel?.triggerUserOutboundEvent(BodyIsWanted(), promise: nil)
                channel = nil
                return try await body.next()
            }
        }

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(body: body.makeAsyncIterator(), channel: channel)
        }
    }
}
