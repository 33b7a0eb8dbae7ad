import BillowEngine
import NIOCore
import NIOHTTP1
import NIOTLS

/// Limits every wait for a client. The waits are for the next request, the rest of a header or body, the reading of a
/// response, and the close.
///
/// It is next to the socket or to TLS and sees bytes. `RequestRulesHandler` reports the boundaries of requests and
/// responses. Of a connection of HTTP/2, it limits the time without streams, and the reading of all responses together;
/// `StreamHandler` limits the rest.
final class DeadlineHandler: ChannelDuplexHandler, RemovableChannelHandler, RequestDeadlines {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    private enum ReadState {
        /// The client and the server agree on TLS, within the time for a header.
        case handshake
        case betweenRequests
        case header
        case body
        /// The request was rejected, and further input is ignored.
        case refused
        /// The connection speaks HTTP/2.
        case streams
    }

    /// The amount of a response that the client had read at a time.
    private struct Progress {
        var taken: Int
        var waiting: Int
        var at: NIODeadline
    }

    private let timeouts: ConnectionTimeouts
    private let connection: Connection?
    private var reading = ReadState.betweenRequests
    /// The start of `reading`. Pauses of the server's own reading move it forward.
    private var since = NIODeadline.uptimeNanoseconds(0)
    /// The time of the body's last bytes; pauses move it forward too.
    private var lastBytes = NIODeadline.uptimeNanoseconds(0)
    /// The start of the current pause in reading; nil while the server reads.
    private var pausedAt: NIODeadline?
    private var unanswered = 0
    private var closingSince: NIODeadline?
    private var offered = 0
    private var progress: Progress?
    private var task: Scheduled<Void>?
    /// The bytes of HTTP/2's responses that were offered to the client, and how many of them it has let through.
    private var ofStreams = (offered: 0, taken: 0)
    /// The time when the client was told to open no more streams.
    private var quiescingSince: NIODeadline?

    /// Whether the first line of the current header is complete.
    private(set) var hasRequestLine = false
    /// The reason why the current request is abandoned; nil if it isn't.
    private(set) var timeout: Problem?

    init(_ timeouts: ConnectionTimeouts, connection: Connection? = nil) {
        self.timeouts = timeouts
        self.connection = connection
    }

    // MARK: State of the request

    func headerEnded(_ context: ChannelHandlerContext) {
        unanswered += 1
        begin(.body, context.eventLoop.now)
        connection?.becomeBusy()
    }

    func requestEnded(_ context: ChannelHandlerContext) { becomeFree(context) }

    /// A whole request was answered as soon as its bytes came.
    func requestWasAnswered(_ context: ChannelHandlerContext) { becomeFree(context) }

    func answerEnded(_ context: ChannelHandlerContext) {
        unanswered = max(0, unanswered - 1)
        if reading == .betweenRequests { becomeFree(context) }
    }

    /// Treats all further input as no request.
    func requestWasRefused() { reading = .refused }

    // MARK: Streams

    /// Expects HTTP/2 from now on.
    func awaitStreams(_ now: NIODeadline) {
        begin(.streams, now)
        pausedAt = nil
    }

    func streamOpened() {
        unanswered += 1
        connection?.becomeBusy()
    }

    func streamClosed(_ now: NIODeadline) {
        unanswered = max(0, unanswered - 1)
        guard unanswered == 0 else { return }
        since = now
        connection?.becomeIdle()
    }

    func streamOffered(_ bytes: Int) { ofStreams.offered += bytes }

    func streamTook(_ bytes: Int) { ofStreams.taken += bytes }

    private func becomeFree(_ context: ChannelHandlerContext) {
        guard reading != .refused else { return }
        begin(.betweenRequests, context.eventLoop.now)
        if unanswered == 0 { connection?.becomeIdle() }
    }

    private func begin(_ reading: ReadState, _ now: NIODeadline) {
        self.reading = reading
        since = now
        lastBytes = now
        hasRequestLine = false
        if pausedAt != nil { pausedAt = now }
    }

    // MARK: Bytes

    /// Expects a TLS handshake before the first request.
    func awaitHandshake(_ now: NIODeadline) { begin(.handshake, now) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent, reading == .handshake {
            begin(.betweenRequests, context.eventLoop.now)
        }
        let isInputClosed = event as? ChannelEvent == .inputClosed
        switch reading {
        case .handshake:
            // No later handler exists yet that would close the connection.
            if isInputClosed || event is ChannelShouldQuiesceEvent { context.close(promise: nil) }
        case .streams:
            if event is ChannelShouldQuiesceEvent { quiescingSince = quiescingSince ?? context.eventLoop.now }
            // The client can no longer let responses through.
            if isInputClosed { context.close(promise: nil) }
        case .betweenRequests, .header, .body, .refused: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelActive(context: ChannelHandlerContext) {
        since = context.eventLoop.now
        schedule(context)
        context.fireChannelActive()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        since = context.eventLoop.now
        if context.channel.isActive { schedule(context) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let now = context.eventLoop.now
        if reading == .betweenRequests { begin(.header, now) }
        lastBytes = now
        if reading == .header, !hasRequestLine {
            hasRequestLine = unwrapInboundIn(data).readableBytesView.contains(UInt8(ascii: "\n"))
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // A connection of HTTP/2 reads all the time. Its streams pause.
        if reading != .streams { pausedAt = context.eventLoop.now }
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

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        offered += unwrapOutboundIn(data).readableBytes
        context.write(data, promise: promise)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .output { closingSince = closingSince ?? context.eventLoop.now }
        context.close(mode: mode, promise: promise)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { stop() }

    private func stop() {
        task?.cancel()
        task = nil
    }

    // MARK: Deadlines

    private func schedule(_ context: ChannelHandlerContext) {
        stop()
        task = context.eventLoop.assumeIsolated().scheduleTask(in: timeouts.interval) { [self] in
            check(context)
            if context.channel.isActive { schedule(context) }
        }
    }

    private func check(_ context: ChannelHandlerContext) {
        let now = context.eventLoop.now
        if isStalled(context, now) { return context.close(promise: nil) }
        if let closingSince {
            // The client can't close before it has received the rest of the response.
            if progress != nil { self.closingSince = now }
            if now - closingSince >= timeouts.linger, progress == nil { context.close(promise: nil) }
            return
        }
        if reading == .handshake, now - since >= timeouts.header { return context.close(promise: nil) }
        guard pausedAt == nil else { return }
        switch reading {
        case .handshake: break
        case .betweenRequests:
            if unanswered == 0, now - since >= timeouts.idle { context.close(promise: nil) }
        case .header:
            if now - since >= timeouts.header { timeOut("header", context) }
        case .body:
            if now - lastBytes >= timeouts.body || now - since >= timeouts.wholeBody { timeOut("body", context) }
        case .refused: break
        case .streams: closeIfIdle(context, now)
        }
    }

    /// Tells an idle client that the connection ends, so that it sends no request meanwhile, and then closes it.
    ///
    /// Source: RFC 9113 section 6.8
    private func closeIfIdle(_ context: ChannelHandlerContext, _ now: NIODeadline) {
        guard unanswered == 0 else { return }
        if let quiescingSince {
            if now - quiescingSince >= min(timeouts.linger, Self.longestQuiescing) { context.close(promise: nil) }
        } else if now - since >= timeouts.idle {
            quiescingSince = now
            context.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
    }

    /// The longest wait for a client's answer to the announcement that the connection ends.
    private static let longestQuiescing = TimeAmount.seconds(1)

    /// Abandons the request. The responder sends the problem when it is the request's turn.
    private func timeOut(_ part: String, _ context: ChannelHandlerContext) {
        timeout = Problem(.requestTimeout, detail: "The \(part) of the request did not arrive in time.")
        context.fireErrorCaught(HTTPParserError.unknown)
    }

    /// Whether the client has read almost nothing of the pending bytes within the time limit.
    private func isStalled(_ context: ChannelHandlerContext, _ now: NIODeadline) -> Bool {
        guard let waiting = waitingBytes(context), waiting > 0 else {
            progress = nil
            return false
        }
        let taken = reading == .streams ? ofStreams.taken : offered - waiting
        guard let before = progress, taken - before.taken < min(before.waiting, Self.leastProgress) else {
            progress = Progress(taken: taken, waiting: waiting, at: now)
            return false
        }
        return now - before.at >= timeouts.write
    }

    private func waitingBytes(_ context: ChannelHandlerContext) -> Int? {
        if reading == .streams { return ofStreams.offered - ofStreams.taken }
        return try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)
    }

    /// The bytes that a client must read within the time `write` if that many are pending. A slow satellite link
    /// manages them.
    private static let leastProgress = 8 << 10
}

/// The timeouts of `ConnectionSettings` as NIO values.
struct ConnectionTimeouts: Sendable {
    let header: TimeAmount
    let body: TimeAmount
    let wholeBody: TimeAmount
    let write: TimeAmount
    let idle: TimeAmount
    let linger: TimeAmount

    init(_ settings: ConnectionSettings) {
        header = TimeAmount(settings.headerTimeout)
        body = TimeAmount(settings.bodyTimeout)
        wholeBody = TimeAmount(settings.wholeBodyTimeout)
        write = TimeAmount(settings.writeTimeout)
        idle = TimeAmount(settings.idleTimeout)
        linger = TimeAmount(settings.lingerTimeout)
    }

    /// The interval between checks of deadlines, which is the most that a connection can exceed them.
    var interval: TimeAmount {
        let shortest = [header, body, wholeBody, write, idle, linger].min() ?? .seconds(1)
        return max(.milliseconds(10), min(.seconds(4), .nanoseconds(shortest.nanoseconds / 4)))
    }
}
