import NIOCore
import NIOHTTP1

/// Counts the requests of a connection whose responses are not completely handed to it. A stream of events counts until
/// its head is sent only: it has no end of its own.
///
/// It counts here instead of in the router, because a body that a middleware wraps is written in three parts instead
/// of one.
final class RequestCountHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let readiness: Readiness
    private var counted = 0
    /// Whether the current response is no longer counted.
    private var isUncounted = false

    init(_ readiness: Readiness) { self.readiness = readiness }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) {
            counted += 1
            readiness.requestBegan()
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head) where head.headers.first(name: "Content-Type") == EventRoutes.mediaType:
            isUncounted = true
            endOne()
        case .end:
            if !isUncounted { endOne() }
            isUncounted = false
        default: break
        }
        context.write(data, promise: promise)
    }

    /// Nobody waits for the responses of a closed connection.
    func channelInactive(context: ChannelHandlerContext) {
        endAll()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { endAll() }

    private func endOne() {
        guard counted > 0 else { return }
        counted -= 1
        readiness.requestsEnded(1)
    }

    private func endAll() {
        readiness.requestsEnded(counted)
        counted = 0
    }
}
