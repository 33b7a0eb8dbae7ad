import BillowEngine
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL

#if canImport(Glibc)
    import Glibc
#endif

/// A connection of HTTP/1.1 as Hummingbird sets it up, with more handlers. They are deadlines for the client, rules for
/// requests, the microcache, and the order of bodies and answers.
struct HTTPServerChannel: ServerChildChannel {
    private let http: HTTP1Channel
    private let microcache: ResponseMicrocache
    private let journal: RequestJournal
    private let connections: ConnectionTable
    private let timeouts: ConnectionTimeouts
    /// nil for connections without TLS.
    private let certificates: TLSCertificates?
    /// nil without a limit of requests.
    private let limiter: RateLimiter<[UInt8]>?
    private let refused: MetricRegistry.Counter

    init(
        responder: @escaping HTTPChannelHandler.Responder, microcache: ResponseMicrocache, journal: RequestJournal,
        connections: ConnectionTable, certificates: TLSCertificates? = nil,
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
        timeouts = ConnectionTimeouts(connections.settings)
        self.certificates = certificates
        limiter = connections.settings.rateLimit.map { RateLimiter($0) }
        self.refused = refused
    }

    /// A connection with the requester that represents its client.
    struct Value: ServerChildChannelValue {
        let http: HTTP1Channel.Value
        let requester: WorkRequester

        var channel: any Channel { http.channel }
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        // Adds a connection that arrived before the listener was observed.
        let isNew = connections.connection(of: channel) == nil
        let isAccepted = connections.accept(channel) == .accepted
        if isNew, isAccepted {
            channel.closeFuture.whenComplete { [connections] _ in connections.remove(channel) }
        }
        let connection = connections.connection(of: channel)
        return http.setup(channel: channel, logger: logger).flatMapThrowing { http in
            let value = Value(http: http, requester: WorkRequester())
            guard isAccepted else {
                channel.close(promise: nil)
                return value
            }
            let pipeline = channel.pipeline.syncOperations
            let deadlines = DeadlineHandler(timeouts, connection: connection)
            try pipeline.addHandlers([deadlines, ClientPresenceHandler(value.requester)], position: .first)
            if let certificates {
                let secure = NIOSSLServerHandler(context: certificates.context)
                try pipeline.addHandlers([secure, TLSCloseHandler()], position: .first)
                deadlines.awaitHandshake(channel.eventLoop.now)
            }
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            let limit = limiter.map {
                RateLimitHandler(
                    $0, proxies: connections.proxies, connection: IPAddress(channel.remoteAddress), refused: refused)
            }
            let handlers: [(any ChannelHandler)?] = [
                RequestRulesHandler(deadlines), limit, MicrocacheHandler(microcache, journal), RequestBodyHandler(),
            ]
            try pipeline.addHandlers(handlers.compactMap { $0 }, position: .after(decoder))
            // The kernel ends connections whose client takes nothing and answers nothing, likewise.
            #if os(Linux)
                try? channel.syncOptions?.setOption(
                    .tcpOption(NIOBSDSocket.Option(rawValue: CInt(TCP_USER_TIMEOUT))),
                    value: Int(timeouts.write.nanoseconds / 1_000_000))
            #endif
            return value
        }
    }

    func handle(value: Value, logger: Logger) async {
        await ClientAddress.$ofRequest.withValue(ClientAddress(value.channel.remoteAddress)) {
            await WorkRequester.$current.withValue(value.requester) {
                await http.handle(value: value.http, logger: logger)
            }
        }
    }
}
