import BillowEngine
import Logging
import NIOCore
import Synchronization

/// An accepted connection in the table.
final class Connection: Sendable {
    fileprivate let channel: any Channel
    fileprivate let address: ClientAddress?
    /// The time when it became idle, in nanoseconds of the system's clock; `busy` while a request is read or answered.
    private let idleSince: Atomic<UInt64>

    private static let busy = UInt64.max

    fileprivate init(channel: any Channel, address: ClientAddress?) {
        self.channel = channel
        self.address = address
        idleSince = Atomic(NIODeadline.now().uptimeNanoseconds)
    }

    /// nil while it is busy.
    fileprivate var idle: UInt64? {
        let since = idleSince.load(ordering: .relaxed)
        return since == Self.busy ? nil : since
    }

    func becomeBusy() { idleSince.store(Self.busy, ordering: .relaxed) }
    func becomeIdle() { idleSince.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed) }
}

/// The key for counting connections: an IPv4 address, or the IPv6 network that one client usually has.
struct ClientAddress: Hashable, Sendable {
    /// The address of the current request's client; nil for one of this machine.
    @TaskLocal static var ofRequest: ClientAddress?

    private let bytes: [UInt8]

    /// nil for addresses of this machine and of trusted proxies, which connect for all their clients, and for sockets
    /// without an address.
    init?(_ address: SocketAddress?, proxies: TrustedProxies = TrustedProxies([])) {
        guard let address = IPAddress(address), !address.isLoopback, !proxies.contains(address) else { return nil }
        bytes = address.network
    }
}

/// The open connections, limited by the number of descriptors. Idle connections are closed to make room for new ones,
/// longest idle first.
final class ConnectionTable: Sendable {
    enum Acceptance: Equatable {
        case accepted
        /// Idle connections are being closed to make room.
        case wait
        /// All connections are busy, or the address has reached its limit.
        case refused
    }

    fileprivate struct TableState {
        var connections: [ObjectIdentifier: Connection] = [:]
        var counts: [ClientAddress: Int] = [:]
        /// Open connections that the server has asked to close.
        var closing: Set<ObjectIdentifier> = []
        var isFull = false
        var closed = 0
        var refused = 0
        var addressRefusalLoggedAt: NIODeadline?
    }

    fileprivate enum LimitMessage {
        case full
        case over(closed: Int, refused: Int)
        case address
    }

    let settings: ConnectionSettings
    let proxies: TrustedProxies
    private let logger: Logger
    private let state = Mutex(TableState())
    private let streams = Atomic(0)
    /// The number of idle connections that are closed at a time, and the distance below the limit at which closing
    /// starts.
    private let margin: Int

    init(_ settings: ConnectionSettings, logger: Logger) {
        self.settings = settings
        proxies = TrustedProxies(settings.trustedProxies)
        self.logger = logger
        margin = max(1, settings.maximum / 16)
    }

    var count: Int { state.withLock { $0.connections.count } }

    /// Counts a stream of HTTP/2, a request of its own.
    /// - Returns: whether all connections together have room for it. Otherwise it must be refused.
    func openStream() -> Bool {
        streams.wrappingAdd(1, ordering: .relaxed).newValue <= settings.maximum
    }

    /// Must be called when a stream is closed, also a refused one.
    func closeStream() { streams.wrappingSubtract(1, ordering: .relaxed) }

    /// The connection of a channel; nil if the channel isn't a client's.
    func connection(of channel: any Channel) -> Connection? {
        state.withLock { $0.connections[ObjectIdentifier(channel)] }
    }

    /// Adds a connection if there is room. A second call for the same channel has no effect.
    func accept(_ channel: any Channel) -> Acceptance {
        let id = ObjectIdentifier(channel)
        var toClose: [Connection] = []
        var notice: LimitMessage?
        let acceptance = state.withLock { state -> Acceptance in
            if state.connections[id] != nil { return .accepted }
            let address = ClientAddress(channel.remoteAddress, proxies: proxies)
            if let address, let most = settings.maximumPerAddress, state.counts[address, default: 0] >= most {
                notice = state.noteAddressRefusal()
                return .refused
            }
            if state.connections.count >= settings.maximum - margin {
                toClose = state.closeIdle(atMost: margin)
                if !toClose.isEmpty { notice = state.noteLimitReached() }
            }
            guard state.connections.count < settings.maximum else {
                notice = state.noteLimitReached() ?? notice
                if !state.closing.isEmpty { return .wait }
                state.refused += 1
                return .refused
            }
            state.connections[id] = Connection(channel: channel, address: address)
            if let address { state.counts[address, default: 0] += 1 }
            return .accepted
        }
        for connection in toClose { connection.channel.close(promise: nil) }
        if let notice { log(notice) }
        return acceptance
    }

    /// Must be called when an accepted connection is closed.
    func remove(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let notice = state.withLock { state -> LimitMessage? in
            guard let connection = state.connections.removeValue(forKey: id) else { return nil }
            state.closing.remove(id)
            if let address = connection.address {
                let count = state.counts[address, default: 0] - 1
                state.counts[address] = count > 0 ? count : nil
            }
            guard state.isFull, state.connections.count <= settings.maximum * 3 / 4 else { return nil }
            return state.noteLimitPassed()
        }
        if let notice { log(notice) }
    }

    private func log(_ notice: LimitMessage) {
        switch notice {
        case .full:
            logger.warning(
                "the limit of connections is reached; idle connections are closed, or new ones if none is idle",
                metadata: ["limit": "\(settings.maximum)"])
        case .over(let closed, let refused):
            logger.notice(
                "the number of connections is below the limit again",
                metadata: ["closed": "\(closed)", "refused": "\(refused)"])
        case .address:
            logger.warning(
                "connections above the limit of one address are closed",
                metadata: ["limit": "\(settings.maximumPerAddress ?? 0)"])
        }
    }
}

extension ConnectionTable.TableState {
    /// Marks the longest idle connections as closing.
    /// - Complexity: O(n log n), once for `most` connections
    fileprivate mutating func closeIdle(atMost most: Int) -> [Connection] {
        guard closing.isEmpty else { return [] }
        let idle = connections.compactMap { id, connection in connection.idle.map { (id, connection, since: $0) } }
        let oldest = idle.sorted { $0.since < $1.since }.prefix(most)
        closing.formUnion(oldest.map(\.0))
        closed += oldest.count
        return oldest.map(\.1)
    }

    fileprivate mutating func noteLimitReached() -> ConnectionTable.LimitMessage? {
        guard !isFull else { return nil }
        isFull = true
        return .full
    }

    fileprivate mutating func noteLimitPassed() -> ConnectionTable.LimitMessage {
        defer { (isFull, closed, refused) = (false, 0, 0) }
        return .over(closed: closed, refused: refused)
    }

    /// Logs at most once a minute.
    fileprivate mutating func noteAddressRefusal() -> ConnectionTable.LimitMessage? {
        let now = NIODeadline.now()
        guard addressRefusalLoggedAt.map({ now - $0 >= .minutes(1) }) ?? true else { return nil }
        addressRefusalLoggedAt = now
        return .address
    }
}
