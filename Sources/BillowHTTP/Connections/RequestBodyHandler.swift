import BillowEngine
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOHTTP1

/// Coordinates request bodies and their responses, to avoid deadlocks between client and server.
///
/// A client that asks before it sends a body (`Expect: 100-continue`) gets an answer as soon as the body is needed. The
/// rest of a body that arrives after its response is discarded for a while. So even a client that reads only after
/// sending everything gets its response.
///
/// Source: RFC 9110 section 10.1.1; RFC 9112 section 9.6 (closing without losing the answer)
final class RequestBodyHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Sent down the pipeline when the body of the current request is first read.
    struct BodyReadEvent: Sendable {}

    /// The longest time for which the rest of a body is discarded; then the connection is closed.
    ///
    /// Source: nginx's `lingering_time`, https://nginx.org/en/docs/http/ngx_http_core_module.html
    static let longestPassingOver = TimeAmount.seconds(30)

    /// The number of requests without a complete response. If it is one, the current response is that of the request
    /// being read.
    private var unanswered = 0
    /// Whether the body of the last request is incomplete.
    private var isReading = false
    /// Whether the client waits for a `100 Continue`.
    private var isAwaited = false
    /// Whether the connection closes after the response.
    private var closes = false
    private var isSkipping = false
    private var deadline: Scheduled<Void>?

    // MARK: Requests

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
            if isSkipping { return }
        case .end:
            isReading = false
            isAwaited = false
            if isSkipping {
                end()
                if closes { return context.close(promise: nil) }
            }
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // No later handler requests the bytes that are discarded.
        if isSkipping { context.read() }
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is BodyReadEvent else { return context.triggerUserOutboundEvent(event, promise: promise) }
        if isAwaited {
            isAwaited = false
            context.writeAndFlush(
                wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
        }
        promise?.succeed()
    }

    // MARK: Responses

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let isOfLast = unanswered == 1
        switch unwrapOutboundIn(data) {
        case .head(var head) where isOfLast && isReading:
            // It is unknown whether a body follows: the next bytes could be a body or a request.
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
        isSkipping = true
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: Self.longestPassingOver) { channel.close(promise: nil) }
        context.read()
    }

    private func end() {
        isSkipping = false
        deadline?.cancel()
        deadline = nil
    }
}

extension RequestBodyHandler {
    /// Wraps a responder, so that its requests notify the connection when their body is first read.
    static func notifying(_ responder: @escaping HTTPChannelHandler.Responder) -> HTTPChannelHandler.Responder {
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
                channel?.triggerUserOutboundEvent(BodyReadEvent(), promise: nil)
                channel = nil
                return try await body.next()
            }
        }

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(body: body.makeAsyncIterator(), channel: channel)
        }
    }
}
