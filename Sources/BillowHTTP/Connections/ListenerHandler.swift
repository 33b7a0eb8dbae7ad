import BillowEngine
import Logging
import NIOCore

/// The first handler of the listening socket. It accepts connections only while there is room for them.
///
/// It also hides accept errors from later handlers. After the first one, Hummingbird stops accepting for good, and NIO
/// retries endlessly without a pause.
final class ListenerHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never

    private let table: ConnectionTable
    private let logger: Logger
    /// Accepted connections that wait for room. There are few, because no more are accepted meanwhile.
    private var waiting = CircularBuffer<any Channel>()
    private var isReadHeldBack = false
    private var hasFailed = false

    /// The pause after an accept error, for example if no descriptor is left.
    private static let rest = TimeAmount.milliseconds(250)

    init(_ table: ConnectionTable, logger: Logger) {
        self.table = table
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        waiting.append(unwrapInboundIn(data))
        accept(context)
    }

    func read(context: ChannelHandlerContext) {
        isReadHeldBack = !waiting.isEmpty
        if !isReadHeldBack { context.read() }
    }

    private func accept(_ context: ChannelHandlerContext) {
        while let channel = waiting.popFirst() {
            switch table.accept(channel) {
            case .wait: return waiting.prepend(channel)
            case .refused: channel.close(promise: nil)
            case .accepted:
                let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
                channel.closeFuture.hop(to: context.eventLoop).whenComplete { [table] _ in
                    table.remove(channel)
                    bound.value.handler.accept(bound.value.context)
                }
                context.fireChannelRead(wrapInboundOut(channel))
            }
        }
        if isReadHeldBack {
            isReadHeldBack = false
            context.read()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !hasFailed else { return }
        hasFailed = true
        logger.error("a connection can't be accepted", metadata: ["error": "\(error)"])
        let channel = context.channel
        channel.setOption(.autoRead, value: false).whenComplete { _ in }
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.rest) {
            bound.value.hasFailed = false
            channel.setOption(.autoRead, value: true).whenComplete { _ in }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        for channel in waiting { channel.close(promise: nil) }
        waiting.removeAll()
        context.fireChannelInactive()
    }
}
