import BillowEngine
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPTypesHTTP1
import NIOSSL
import NIOTLS

#if canImport(Glibc)
    import Glibc
#endif

/// A connection of HTTP/1.1 or, if a client over TLS chooses it, of HTTP/2.
///
/// A connection of HTTP/1.1 and a stream of HTTP/2 have the same handlers for requests. They are rules, limits, the
/// microcache, and the order of bodies and answers. Behind them, Hummingbird treats both alike.
struct HTTPServerChannel: ServerChildChannel {
    private let http: HTTP1Channel
    private let microcache: ResponseMicrocache
    private let journal: RequestJournal
    private let connections: ConnectionTable
    private let readiness: Readiness
    private let timeouts: ConnectionTimeouts
    /// nil for connections without TLS.
    private let certificates: TLSCertificates?
    /// nil without a limit of requests.
    private let limiter: RateLimiter<[UInt8]>?
    private let refused: MetricRegistry.Counter

    init(
        responder: @escaping HTTPChannelHandler.Responder, microcache: ResponseMicrocache, journal: RequestJournal,
        connections: ConnectionTable, readiness: Readiness, certificates: TLSCertificates? = nil,
        refused: MetricRegistry.Counter = MetricRegistry().counter(.rateLimited, ["address"])
    ) {
        let isSecure = certificates != nil
        http = HTTP1Channel(
            responder: RequestBodyHandler.notifying { [proxies = connections.proxies] request, writer, channel in
                var head = request.head
                let forwarded =
                    proxies.isEmpty
                    ? nil
                    : proxies.forwarded(over: IPAddress(channel.remoteAddress)) { name in
                        HTTPField.Name(name).flatMap { head.headerFields[$0] }
                    }
                head.scheme = forwarded?.scheme ?? (isSecure ? "https" : "http")
                head.authority = forwarded?.authority ?? head.authority
                try await responder(Request(head: head, body: request.body), writer, channel)
            },
            configuration: HTTP1Channel.Configuration(
                httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                    maxHeaderFieldSize: RequestRulesHandler.largestHeader,
                    maxHeaderListSize: RequestRulesHandler.largestHeader,
                    maxHeaderFieldCount: RequestRulesHandler.maximumFields)))
        self.microcache = microcache
        self.journal = journal
        self.connections = connections
        self.readiness = readiness
        timeouts = ConnectionTimeouts(connections.settings)
        self.certificates = certificates
        limiter = connections.settings.rateLimit.map { RateLimiter($0) }
        self.refused = refused
    }

    /// Requests that come one after the other: a connection of HTTP/1.1, or a stream of HTTP/2 with one of them.
    struct Requests: Sendable {
        let http: HTTP1Channel.Value
        /// Represents the client that waits for the responses.
        let requester: WorkRequester
    }

    typealias Streams = NIOHTTP2Handler.AsyncStreamMultiplexer<Requests>
    typealias Negotiated = NIONegotiatedHTTPVersion<Requests, Streams>

    /// A connection whose protocol may not be known yet.
    struct Value: ServerChildChannelValue {
        let negotiated: EventLoopFuture<Negotiated>
        let channel: any Channel
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        // Adds a connection that arrived before the listener was observed.
        let isNew = connections.connection(of: channel) == nil
        let isAccepted = connections.accept(channel) == .accepted
        if isNew, isAccepted {
            channel.closeFuture.whenComplete { [connections] _ in connections.remove(channel) }
        }
        let connection = connections.connection(of: channel)
        return channel.eventLoop.makeCompletedFuture {
            guard isAccepted else {
                channel.close(promise: nil)
                return Value(
                    negotiated: channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel), channel: channel)
            }
            let pipeline = channel.pipeline.syncOperations
            let deadlines = DeadlineHandler(timeouts, connection: connection)
            if let certificates {
                let secure = NIOSSLServerHandler(context: certificates.context)
                try pipeline.addHandlers([secure, TLSCloseHandler()])
                deadlines.awaitHandshake(channel.eventLoop.now)
            }
            try pipeline.addHandler(deadlines)
            // The kernel ends connections whose client takes nothing and answers nothing, likewise.
            #if os(Linux)
                try? channel.syncOptions?.setOption(
                    .tcpOption(NIOBSDSocket.Option(rawValue: CInt(TCP_USER_TIMEOUT))),
                    value: Int(timeouts.write.nanoseconds / 1_000_000))
            #endif
            guard certificates != nil else {
                let requests = setUpHTTP1(channel, deadlines, logger)
                return Value(negotiated: requests.map { .http1_1($0) }, channel: channel)
            }
            let negotiation = NIOTypedApplicationProtocolNegotiationHandler<Negotiated> { result, channel in
                guard result == .negotiated(TLSIdentity.http2) else {
                    return setUpHTTP1(channel, deadlines, logger).map { .http1_1($0) }
                }
                return setUpHTTP2(channel, deadlines).map { .http2($0) }
            }
            try pipeline.addHandler(negotiation)
            return Value(negotiated: negotiation.protocolNegotiationResult, channel: channel)
        }
    }

    private func setUpHTTP1(
        _ channel: any Channel, _ deadlines: DeadlineHandler, _ logger: Logger
    ) -> EventLoopFuture<Requests> {
        let requester = WorkRequester()
        let bound = NIOLoopBound(deadlines, eventLoop: channel.eventLoop)
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(ClientPresenceHandler(requester))
        }.flatMap { http.setup(channel: channel, logger: logger) }.flatMapThrowing { http in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            let cached = MicrocacheHandler(microcache, journal)
            try pipeline.addHandlers(requestHandlers(channel, bound.value, cached), position: .after(decoder))
            // A limit of requests counts what the decoder gives.
            if limiter == nil {
                let encoder = try pipeline.handler(type: HTTPResponseEncoder.self)
                try pipeline.addHandler(
                    RepeatedRequestHandler(microcache, journal, decoded: cached, bound.value),
                    position: .before(encoder))
            }
            return Requests(http: http, requester: requester)
        }
    }

    private func setUpHTTP2(_ channel: any Channel, _ deadlines: DeadlineHandler) -> EventLoopFuture<Streams> {
        let bound = NIOLoopBound(deadlines, eventLoop: channel.eventLoop)
        return channel.eventLoop.makeCompletedFuture {
            deadlines.awaitStreams(channel.eventLoop.now)
            // Announces the end of a connection. `DeadlineHandler` has the time limits.
            let manager = NIOHTTP2ServerConnectionManagementHandler(
                eventLoop: channel.eventLoop,
                configuration: NIOHTTP2ServerConnectionManagementHandler.Configuration(
                    maxIdleTime: nil, maxAge: nil, maxGraceTime: nil, keepalive: nil))
            let streams = try channel.pipeline.syncOperations.configureAsyncHTTP2Pipeline(
                mode: .server, streamDelegate: manager.http2StreamDelegate, configuration: StreamLimits.configuration
            ) { stream in
                stream.eventLoop.makeCompletedFuture { try setUpStream(stream, bound.value) }
            }
            try channel.pipeline.syncOperations.addHandlers([manager, StreamErrorHandler()])
            return streams
        }
    }

    private func setUpStream(_ stream: any Channel, _ connection: DeadlineHandler) throws -> Requests {
        let hasRoom = connections.openStream()
        connection.streamOpened()
        let loop = stream.eventLoop
        stream.closeFuture.assumeIsolated().whenComplete { [connections] _ in
            connections.closeStream()
            connection.streamClosed(loop.now)
        }
        let requester = WorkRequester()
        let deadlines = StreamHandler(timeouts, connection: connection)
        let pipeline = stream.pipeline.syncOperations
        try pipeline.addHandlers([
            ClientPresenceHandler(requester), HTTP2FramePayloadToHTTP1ServerCodec(), deadlines,
        ])
        try pipeline.addHandlers(
            requestHandlers(
                stream, deadlines, MicrocacheHandler(microcache, journal),
                refusal: hasRoom ? nil : Self.tooManyStreams))
        try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: true))
        // The end of the response closes the stream, and the server closes none of its directions alone.
        return Requests(http: try HTTP1Channel.Value(wrappingChannelSynchronously: stream), requester: requester)
    }

    private static var tooManyStreams: Problem {
        Problem(.overloaded, detail: "The server has too many requests at present.", retryAfterSeconds: 1)
    }

    /// The handlers that follow the decoder of HTTP/1.1 or the codec of a stream.
    private func requestHandlers(
        _ channel: any Channel, _ deadlines: any RequestDeadlines, _ cached: MicrocacheHandler,
        refusal: Problem? = nil
    ) -> [any ChannelHandler] {
        let limit = limiter.map {
            RateLimitHandler(
                $0, proxies: connections.proxies, connection: IPAddress(channel.remoteAddress), refused: refused)
        }
        let handlers: [(any ChannelHandler)?] = [
            RequestRulesHandler(deadlines, refusal: refusal), limit, cached, RequestCountHandler(readiness),
            RequestBodyHandler(),
        ]
        return handlers.compactMap { $0 }
    }

    func handle(value: Value, logger: Logger) async {
        await withTaskExecutorPreference(EventLoopExecutor.of(value.channel.eventLoop)) {
            let address = value.channel.remoteAddress
            await ClientAddress.$ofRequest.withValue(ClientAddress(address)) {
                await IPAddress.$ofConnection.withValue(IPAddress(address)) {
                    // Fails if the client leaves before a protocol is negotiated; then there is nothing to answer.
                    guard let negotiated = try? await value.negotiated.get() else { return }
                    switch negotiated {
                    case .http1_1(let requests): await answer(requests, logger)
                    case .http2(let streams): await answer(streams, value.channel, logger)
                    }
                }
            }
        }
    }

    private func answer(_ requests: Requests, _ logger: Logger) async {
        await WorkRequester.$current.withValue(requests.requester) {
            await http.handle(value: requests.http, logger: logger)
        }
    }

    private func answer(_ streams: Streams, _ channel: any Channel, _ logger: Logger) async {
        await withDiscardingTaskGroup { group in
            do {
                for try await requests in streams.inbound { group.addTask { await answer(requests, logger) } }
            } catch {
                logger.trace("a connection of HTTP/2 failed", metadata: ["error": "\(error)"])
            }
            // Open only if the server may wait no longer.
            channel.close(promise: nil)
        }
    }
}
