import BillowEngine
import NIOCore

/// Tells the work of a connection when its client closes it. A client that has sent its last byte and shuts down its
/// side looks the same; its heavy requests are cancelled, too.
final class ClientPresenceHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private let requester: WorkRequester

    init(_ requester: WorkRequester) { self.requester = requester }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event as? ChannelEvent == .inputClosed { requester.leave() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        requester.leave()
        context.fireChannelInactive()
    }
}
