package import AsyncHTTPClient
package import Datasets
import NIOCore
import NIOHTTP1
import Synchronization
package import UpstreamKit

/// Listens for the events of a mirrored server, so that a round follows its changes at once.
///
/// It reads nothing from an event but its name and id. A connection without a line for `silence` counts as lost.
///
/// Source: docs/http/events.md
package struct MirrorListener: UpstreamEvents {
    package let spacing: Duration
    private let request: HTTPClientRequest
    private let exchange: Exchange
    private let uptime: @Sendable () -> Duration
    private let random: @Sendable () -> Double
    private let sleep: @Sendable (Duration) async throws -> Void

    /// Three heartbeats of an older server. A newer one sends one every 2 s.
    static let silence = Duration.seconds(45)
    /// A connection that lasted as long was a good one.
    static let lasting = Duration.seconds(60)
    /// The wait after the first connection that failed. It doubles with each further one, up to `longestPause`.
    static let firstPause = Duration.seconds(3)
    static let longestPause = Duration.seconds(300)
    /// The wait after an answer that will hardly change, such as 404 of an older server.
    static let refusalPause = Duration.seconds(600)
    /// The most bytes in `lasting`, some ten times what a busy server sends.
    static let maximumBytes = 256 << 10

    /// - Parameters:
    ///   - spacing: the shortest time between two rounds that events cause.
    ///   - now: the Unix time in seconds, for a `Retry-After` that is a date.
    ///   - uptime: a monotonic clock.
    ///   - random: 0 ..< 1, for the jitter.
    ///   - sleep: waits, and throws when cancelled.
    /// - Throws: `.invalidConfiguration` with all problems.
    package init(
        configuration: BillowConfiguration, datasets: [Dataset], spacing: Duration, httpClient: HTTPClient,
        now: @escaping @Sendable () -> Int = UnixClock.seconds,
        uptime: @escaping @Sendable () -> Duration = SourceLoop.uptime,
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) },
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) throws(UpstreamError) {
        let problems = configuration.problems
        guard problems.isEmpty else { throw .invalidConfiguration(problems) }
        self.spacing = spacing
        request = configuration.request(configuration.path(ofEvents: datasets), Self.mediaType)
        exchange = configuration.exchange(by: httpClient, now: now)
        self.uptime = uptime
        self.random = random
        self.sleep = sleep
    }

    /// As for requests, with a connection for each source that mirrors a part of one server. Streams hold their
    /// connections, so requests need others.
    package static var recommendedHTTPConfiguration: HTTPClient.Configuration {
        var configuration = BillowClient.recommendedHTTPConfiguration
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
        return configuration
    }

    private static let mediaType = "text/event-stream"

    package func listen(_ report: @escaping @Sendable (UpstreamSignal) async -> Void) async {
        var failures = 0
        var lastEventID: String?
        while !Task.isCancelled {
            let connection = Connection(at: uptime(), lastEventID: lastEventID)
            let error = await read(connection, report)
            guard !Task.isCancelled else { return }
            lastEventID = connection.lastEventID
            if connection.hasLasted(Self.lasting, at: uptime()) { failures = 0 }
            failures += 1
            let pause = pause(after: error, failures: failures)
            await report(.closed(error, failures: failures, next: pause))
            // The only error is a cancellation.
            do { try await sleep(pause) } catch { return }
        }
    }

    /// Requests the events once, and reads up to the first line. The configuration's timeout bounds it.
    package func check() async throws(UpstreamError) {
        try await exchange.stream(request(after: nil)) { head, body in
            try await Self.accept(head, body)
            var parser = EventStreamParser()
            try await body.forEach { bytes in
                _ = try parser.events(in: bytes.readableBytesView)
                return parser.lineCount == 0
            }
            guard parser.lineCount > 0 else { throw Self.ended }
        }
    }

    private static let ended = UpstreamError.unreachable("the server ended its events")

    private func pause(after error: UpstreamError, failures: Int) -> Duration {
        var backOff = BackOff(interval: error.isTransient ? Self.firstPause : Self.refusalPause)
        backOff.maximum = Self.longestPause
        return backOff.delay(failures: failures, retryAfterSeconds: error.retryAfterSeconds, random: random())
    }

    /// Reads the events of one connection until it ends.
    private func read(
        _ connection: Connection, _ report: @escaping @Sendable (UpstreamSignal) async -> Void
    ) async -> UpstreamError {
        await withTaskGroup(of: UpstreamError.self) { group in
            group.addTask {
                do throws(UpstreamError) {
                    try await exchange.stream(request(after: connection.lastEventID), isEndless: true) { head, body in
                        try await events(head, body, connection, report)
                    }
                    return Self.ended
                } catch { return error }
            }
            group.addTask { await watch(connection) }
            defer { group.cancelAll() }
            return await group.next() ?? .cancelled
        }
    }

    /// Returns when the connection has been silent for too long, or when cancelled.
    private func watch(_ connection: Connection) async -> UpstreamError {
        while true {
            let rest = connection.lastLineAt + Self.silence - uptime()
            guard rest > .zero else { return .timeout }
            do { try await sleep(rest) } catch { return .cancelled }
        }
    }

    private func request(after lastEventID: String?) -> HTTPClientRequest {
        var request = request
        request.headers.add(name: "cache-control", value: "no-store")
        if let lastEventID { request.headers.add(name: "last-event-id", value: lastEventID) }
        return request
    }

    /// - Throws: for a response that is no stream of events.
    private static func accept(_ head: Exchange.Head, _ body: Exchange.BodyChunks) async throws {
        guard head.status == 200 else { throw body.refusal(head, words: try await body.words()) }
        let type = head.headers.first(name: "content-type")?.lowercased() ?? ""
        guard type.hasPrefix(mediaType) else {
            throw UpstreamError.unreadable(type.hasPrefix("text/html") ? .html : .undecodable("no stream of events"))
        }
    }

    private func events(
        _ head: Exchange.Head, _ body: Exchange.BodyChunks, _ connection: Connection,
        _ report: @Sendable (UpstreamSignal) async -> Void
    ) async throws {
        try await Self.accept(head, body)
        connection.open(at: uptime())
        await report(.opened)
        try await body.forEach { bytes in
            if try connection.take(bytes.readableBytesView, at: uptime()) { await report(.changed) }
            return true
        }
    }
}

/// The state of one connection, which its reader and its watch share.
private final class Connection: Sendable {
    private struct State {
        var parser = EventStreamParser()
        var lastLineAt: Duration
        var openedAt: Duration?
        var lastEventID: String?
        /// The bytes since a time, for the limit.
        var bytes = 0
        var bytesSince = Duration.zero
    }

    private let state: Mutex<State>

    init(at uptime: Duration, lastEventID: String?) {
        state = Mutex(State(lastLineAt: uptime, lastEventID: lastEventID))
    }

    /// When the last line ended, or before that the connection began.
    var lastLineAt: Duration { state.withLock { $0.lastLineAt } }

    /// The id that a later connection sends.
    var lastEventID: String? { state.withLock { $0.lastEventID } }

    func open(at uptime: Duration) {
        state.withLock { state in
            state.openedAt = uptime
            state.bytesSince = uptime
        }
    }

    func hasLasted(_ duration: Duration, at uptime: Duration) -> Bool {
        state.withLock { $0.openedAt.map { uptime - $0 >= duration } ?? false }
    }

    /// The longest id that is sent back.
    private static let longestID = 200

    /// Takes the next bytes.
    /// - Returns: whether they complete an event about data.
    func take(_ bytes: some Collection<UInt8>, at uptime: Duration) throws(UpstreamError) -> Bool {
        try state.withLock { state throws(UpstreamError) in
            if uptime - state.bytesSince >= MirrorListener.lasting { (state.bytes, state.bytesSince) = (0, uptime) }
            state.bytes += bytes.count
            guard state.bytes <= MirrorListener.maximumBytes else {
                throw .tooLarge(limitBytes: MirrorListener.maximumBytes)
            }
            let lines = state.parser.lineCount
            let events = try state.parser.events(in: bytes)
            // Bytes that end no line are no sign of life.
            if state.parser.lineCount > lines { state.lastLineAt = uptime }
            if let id = events.last?.lastEventID, !id.isEmpty, id.utf8.count <= Self.longestID,
                id.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            {
                state.lastEventID = id
            }
            return events.contains { $0.name == "data" }
        }
    }
}
