import NIOCore

/// Follows the TLS handler, which can't close one direction of a connection for reading. Later handlers get the same
/// event as from a socket whose input was closed.
final class TLSCloseHandler: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .input else { return context.close(mode: mode, promise: promise) }
        context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        promise?.succeed()
    }
}
