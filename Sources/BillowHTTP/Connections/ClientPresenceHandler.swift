import BillowEngine
import NIOCore

/// Cancels the work of a connection when its client closes it. A client that half-closes the connection after its last
/// byte looks the same, so its expensive requests are cancelled too.
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
