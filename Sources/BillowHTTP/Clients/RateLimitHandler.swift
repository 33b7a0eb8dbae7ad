import BillowEngine
import NIOCore
import NIOHTTP1

/// Limits the requests of each address, ahead of the microcache.
///
/// A request beyond the limit is marked by a header. The router answers it with 429 when it is its turn, so that
/// answers leave in the order of the requests.
final class RateLimitHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// The header that marks a request beyond the limit. Its value is the number of seconds until the next one is
    /// allowed.
    static let mark = "Billow-Rate-Limited"
    static let policyHeader = "RateLimit-Policy"
    static let stateHeader = "RateLimit"
    private static let name = "address"

    private let limiter: RateLimiter<[UInt8]>
    private let proxies: TrustedProxies
    private let connection: IPAddress?
    private let policy: String
    private let refused: MetricRegistry.Counter
    /// The states after each request without a response, oldest first; nil for requests that aren't limited.
    private var states = CircularBuffer<String?>(initialCapacity: 2)

    init(
        _ limiter: RateLimiter<[UInt8]>, proxies: TrustedProxies, connection: IPAddress?,
        refused: MetricRegistry.Counter
    ) {
        self.limiter = limiter
        self.proxies = proxies
        self.connection = connection
        self.refused = refused
        policy = limiter.policy(Self.name)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        let isForged = head.headers.contains(name: Self.mark)
        if isForged { head.headers.remove(name: Self.mark) }
        guard let client = client(of: head.headers) else {
            states.append(nil)
            return context.fireChannelRead(isForged ? wrapInboundOut(.head(head)) : data)
        }
        let decision = limiter.request(of: client, at: NIODeadline.now().uptimeNanoseconds)
        states.append(RateLimiter<[UInt8]>.state(Self.name, decision))
        if !decision.isAllowed {
            head.headers.add(name: Self.mark, value: "\(max(1, decision.seconds))")
            refused.increment(by: 1)
        }
        context.fireChannelRead(decision.isAllowed && !isForged ? data : wrapInboundOut(.head(head)))
    }

    /// What counts as one client; nil for this machine, whose proxies send the requests of others.
    private func client(of headers: HTTPHeaders) -> [UInt8]? {
        let forwarded =
            proxies.isEmpty
            ? nil
            : proxies.forwarded(over: connection) { name in
                let values = headers[name]
                return values.isEmpty ? nil : values.joined(separator: ",")
            }
        guard let address = forwarded?.client ?? connection, !address.isLoopback else { return nil }
        return address.network
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            guard head.status.code >= 200, let state = states.first ?? nil else { break }
            head.headers.add(name: Self.policyHeader, value: policy)
            head.headers.add(name: Self.stateHeader, value: state)
            return context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end: if !states.isEmpty { states.removeFirst() }
        default: break
        }
        context.write(data, promise: promise)
    }
}
