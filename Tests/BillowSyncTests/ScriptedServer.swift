import NIOCore
import NIOPosix
import Synchronization

/// A server on loopback that answers every request as a test says, byte by byte.
final class ScriptedServer: Sendable {
    enum Answer: Sendable {
        /// These bytes, then the end of the connection.
        case bytes([UInt8])
        /// These bytes, then nothing more; the connection stays open.
        case silence(after: [UInt8])
        /// These bytes, then one more every 10 ms, for ever.
        case drip(after: [UInt8])
    }

    private let answer: Mutex<Answer>
    private let requestTexts = Mutex<[String]>([])
    private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

    init(_ answer: Answer) { self.answer = Mutex(answer) }

    /// Requests so far.
    var requests: Int { received.count }

    /// The requests so far.
    var received: [String] { requestTexts.withLock { $0 } }

    /// The open connections.
    var connections: Int { channels.withLock { $0.count } }

    /// Sends more on all open connections.
    func say(_ text: String) {
        for channel in channels.withLock({ Array($0.values) }) {
            channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
        }
    }

    func answers(_ answer: Answer) { self.answer.withLock { $0 = answer } }

    fileprivate func opened(_ channel: any Channel) {
        channels.withLock { $0[ObjectIdentifier(channel)] = channel }
    }

    fileprivate func closed(_ channel: any Channel) {
        channels.withLock { $0[ObjectIdentifier(channel)] = nil }
    }

    fileprivate func next(_ request: String) -> Answer {
        requestTexts.withLock { $0.append(request) }
        return answer.withLock { $0 }
    }

    /// Runs it on a port of its own.
    static func withRunning(
        _ answer: Answer, _ body: @Sendable (_ server: ScriptedServer, _ port: Int) async throws -> Void
    ) async throws {
        let server = ScriptedServer(answer)
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Connection(server: server))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            try await body(server, try (channel.localAddress?.port).orMissing())
        } catch {
            try await channel.close()
            throw error
        }
        try await channel.close()
    }
}

private final class Connection: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let server: ScriptedServer

    init(server: ScriptedServer) { self.server = server }

    func channelActive(context: ChannelHandlerContext) { server.opened(context.channel) }

    func channelInactive(context: ChannelHandlerContext) { server.closed(context.channel) }

    /// A request of the tests is one read.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = context.channel
        switch server.next(String(buffer: unwrapInboundIn(data))) {
        case .bytes(let bytes):
            channel.writeAndFlush(ByteBuffer(bytes: bytes)).whenComplete { _ in channel.close(promise: nil) }
        case .silence(let bytes): channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
        case .drip(let bytes):
            channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
            let drops = channel.eventLoop.scheduleRepeatedTask(
                initialDelay: .milliseconds(10), delay: .milliseconds(10)
            ) { _ in channel.writeAndFlush(ByteBuffer(string: " "), promise: nil) }
            channel.closeFuture.whenComplete { _ in drops.cancel() }
        }
    }
}
