import BillowEngine
import NIOCore
import NIOHTTP1
import NIOHTTP2

/// Follows the codec of an HTTP/2 stream. Later handlers see a connection of HTTP/1.1 with one request.
///
/// It limits the wait for the rest of a body. A response is written in frames, so that `DeadlineHandler` of the
/// connection sees how much of it the client has read.
///
/// Source: RFC 9113 sections 4.2 (the size of frames) and 8.1 (a response before the end of its request)
final class StreamHandler: ChannelDuplexHandler, RemovableChannelHandler, RequestDeadlines {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let timeouts: ConnectionTimeouts
    private let connection: DeadlineHandler
    /// Whether the end of the request is yet to come.
    private var isReading = true
    /// Whether the rest of the body is needed.
    private var awaitsBody = true
    /// The start of the body. Pauses of the server's own reading move it forward.
    private var since = NIODeadline.uptimeNanoseconds(0)
    /// The time of the body's last bytes; pauses move it forward too.
    private var lastBytes = NIODeadline.uptimeNanoseconds(0)
    /// The start of the current pause in reading; nil while the server reads.
    private var pausedAt: NIODeadline?
    private var task: Scheduled<Void>?

    /// A header arrives as a whole.
    let hasRequestLine = true
    private(set) var timeout: Problem?

    init(_ timeouts: ConnectionTimeouts, connection: DeadlineHandler) {
        self.timeouts = timeouts
        self.connection = connection
    }

    // MARK: State of the request

    func headerEnded(_ context: ChannelHandlerContext) {}

    func requestEnded(_ context: ChannelHandlerContext) {}

    /// The client may still send its body, which nobody reads then.
    func answerEnded(_ context: ChannelHandlerContext) {
        guard isReading else { return }
        requestWasRefused()
        task = context.eventLoop.assumeIsolated().scheduleTask(in: timeouts.linger) { context.close(promise: nil) }
        context.read()
    }

    func requestWasRefused() {
        awaitsBody = false
        stop()
    }

    private func stop() {
        task?.cancel()
        task = nil
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let now = context.eventLoop.now
        lastBytes = now
        switch unwrapInboundIn(data) {
        case .head(var head):
            since = now
            head.version = .http1_1
            return context.fireChannelRead(wrapInboundOut(.head(head)))
        case .body: break
        case .end:
            isReading = false
            awaitsBody = false
            stop()
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        pausedAt = context.eventLoop.now
        // Most requests have no body: their end is in the same frame as their header.
        if awaitsBody, task == nil { schedule(context) }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if let pausedAt {
            let pause = context.eventLoop.now - pausedAt
            since = since + pause
            lastBytes = lastBytes + pause
            self.pausedAt = nil
        }
        context.read()
    }

    /// A request that its client resets ends as one whose client left.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error is any NIOHTTP2Error ? HTTPParserError.invalidEOFState : error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    private func schedule(_ context: ChannelHandlerContext) {
        task = context.eventLoop.assumeIsolated().scheduleTask(in: timeouts.interval) { [self] in
            task = nil
            let now = context.eventLoop.now
            if pausedAt == nil, now - lastBytes >= timeouts.body || now - since >= timeouts.wholeBody {
                timeout = Problem(.requestTimeout, detail: "The body of the request did not arrive in time.")
                context.fireErrorCaught(HTTPParserError.unknown)
            } else {
                schedule(context)
            }
        }
    }

    // MARK: Responses

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .body(.byteBuffer(var bytes)) = unwrapOutboundIn(data), bytes.readableBytes > 0 else {
            return context.write(data, promise: promise)
        }
        while let frame = bytes.readSlice(length: min(bytes.readableBytes, Self.frameBytes)) {
            let size = frame.readableBytes
            let isLast = bytes.readableBytes == 0
            let written = (isLast ? promise : nil) ?? context.eventLoop.makePromise()
            connection.streamOffered(size)
            written.futureResult.assumeIsolated().whenComplete { [connection] _ in connection.streamTook(size) }
            context.write(wrapOutboundOut(.body(.byteBuffer(frame))), promise: written)
            if isLast { return }
        }
    }

    /// The largest frame that every client takes.
    private static let frameBytes = 16_384
}
