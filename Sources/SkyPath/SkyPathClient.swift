public import AsyncHTTPClient
import NIOCore
import NIOHTTP1
// The public interface uses `LonLat`, `Secret` and `UpstreamError`, so their modules are re-exported.
@_exported public import Geometry
@_exported public import UpstreamKit

/// A client of SkyPath's data API. Its only state is the session, if there is an account. Each call is one exchange;
/// the caller handles retries and cursors.
///
/// The caller owns the HTTP client, which must outlive this one. It should not follow redirects, because they would
/// send the key to another host; use `recommendedHTTPConfiguration`.
///
/// ```swift
/// let http = HTTPClient(configuration: SkyPathClient.recommendedHTTPConfiguration)
/// let client = try SkyPathClient(
///     configuration: SkyPathConfiguration(environment: .production, apiKey: key), httpClient: http)
/// do throws(UpstreamError) {
///     let reply = try await client.map(SkyPathMapQuery(.hours(2)))
///     for record in reply.records { print(record.cell, record.altitudeThousands, record.severity) }
/// } catch {
///     print("\(error.code.rawValue): \(error), again in \(error.retryAfterSeconds ?? 60) s")
/// }
/// ```
public struct SkyPathClient: Sendable {
    /// The client's configuration.
    public let configuration: SkyPathConfiguration
    private let exchange: Exchange
    private let tokens: TokenCache?

    /// - Parameters:
    ///   - now: the clock in Unix seconds, for the session's expiry and for a `Retry-After` with a date.
    ///   - configuration: key, account and limits.
    ///   - httpClient: the client that sends the requests.
    /// - Throws: `.invalidConfiguration` with all problems.
    public init(
        configuration: SkyPathConfiguration, httpClient: HTTPClient,
        now: @escaping @Sendable () -> Int = SkyPathClient.systemClock
    ) throws(UpstreamError) {
        let problems = configuration.problems
        guard problems.isEmpty else { throw .invalidConfiguration(problems) }
        self.configuration = configuration
        let exchange = Exchange(
            httpClient: httpClient, timeout: configuration.timeout, maximumBodyBytes: configuration.maximumBodyBytes,
            secrets: [configuration.apiKey], now: now)
        self.exchange = exchange
        tokens = configuration.account.map { account in
            let call = SessionCall(account: account, configuration: configuration, exchange: exchange)
            return TokenCache(now: now) { () async throws(UpstreamError) in try await call.token() }
        }
    }

    /// The open session; nil before the first call, after the session was rejected, and without an account.
    public var session: SkyPathSession? {
        get async { await tokens?.current.map { SkyPathSession(token: $0.value, expiresAt: $0.endsAt) } }
    }

    /// Resumes an earlier session until it expires.
    public func resume(_ session: SkyPathSession) async {
        await tokens?.resume(TokenCache.Token(value: session.token, endsAt: session.expiresAt))
    }

    /// The local clock in Unix seconds.
    public static let systemClock: @Sendable () -> Int = UnixClock.seconds

    /// No redirects, and a connect timeout of ten seconds. A refused connection fails at once instead of being retried
    /// until then.
    public static var recommendedHTTPConfiguration: HTTPClient.Configuration { Exchange.recommendedHTTPConfiguration }

    /// `POST /observations/v5/corridor`: the computed turbulence of an area, complete or as a delta.
    public func corridor(_ query: SkyPathCorridorQuery) async throws(UpstreamError)
        -> SkyPathCorridorReply
    {
        let answer = try await post(configuration.wire.corridorPath, try writer.corridor(query))
        var reply = try reader.corridor(answer.bytes)
        reply.isSimulated = answer.isSimulated
        return reply
    }

    /// `GET /adsb/v5/hexagons/{hexId}`: all records under a coarse cell.
    public func hexagons(_ query: SkyPathHexagonsQuery) async throws(UpstreamError)
        -> SkyPathHexagonsReply
    {
        let answer = try await send(request(try writer.hexagons(query)))
        var reply = try reader.hexagons(answer.bytes, parent: query.parent)
        reply.isSimulated = answer.isSimulated
        return reply
    }

    /// `POST /v4/map`: all records in an area or the world, complete or as a delta since a tick.
    public func map(_ query: SkyPathMapQuery) async throws(UpstreamError) -> SkyPathMapReply {
        let answer = try await post(configuration.wire.mapPath, try writer.map(query))
        var reply = try reader.map(answer.bytes)
        reply.isSimulated = answer.isSimulated
        return reply
    }

    // MARK: Calls that are not public

    /// The turbulence polygons of the world for one history. The path and format of this call and the three below are
    /// assumptions.
    public func polygons(hours: Double) async throws(UpstreamError) -> SkyPathReply<SkyPathArea> {
        try await whole(configuration.wire.polygonsPath + "?\(configuration.wire.hoursAgo)=\(hours)") {
            (reader, bytes) throws(UpstreamError) in try reader.areas(bytes)
        }
    }

    /// The newest issue of the nowcast, with all its hours.
    public func nowcast() async throws(UpstreamError) -> SkyPathReply<SkyPathArea> {
        try await whole(configuration.wire.nowcastPath) { (reader, bytes) throws(UpstreamError) in
            try reader.areas(bytes)
        }
    }

    /// The aircraft that reported within the last minutes.
    public func flights() async throws(UpstreamError) -> SkyPathReply<SkyPathFlight> {
        try await whole(configuration.wire.flightsPath) { (reader, bytes) throws(UpstreamError) in
            try reader.flights(bytes)
        }
    }

    /// The pilot reports of the last hours.
    public func pilotReports(hours: Double) async throws(UpstreamError) -> SkyPathReply<SkyPathPilotReport> {
        try await whole(configuration.wire.pirepsPath + "?\(configuration.wire.hoursAgo)=\(hours)") {
            (reader, bytes) throws(UpstreamError) in try reader.pilotReports(bytes)
        }
    }

    private func whole<Record>(
        _ path: String, _ read: (AssumedReader, [UInt8]) throws(UpstreamError) -> SkyPathReply<Record>
    ) async throws(UpstreamError) -> SkyPathReply<Record> {
        let answer = try await send(request(path))
        var reply = try read(AssumedReader(limits: configuration.limits), answer.bytes)
        reply.isSimulated = answer.isSimulated
        return reply
    }

    private var writer: RequestWriter {
        RequestWriter(wire: configuration.wire, limits: configuration.limits)
    }
    private var reader: SkyPathReplyReader {
        SkyPathReplyReader(wire: configuration.wire, limits: configuration.limits)
    }

    // MARK: The exchange

    private func request(_ path: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: configuration.environment.baseURL + path)
        request.headers.add(name: configuration.wire.apiKeyHeader, value: configuration.apiKey.value)
        request.headers.add(name: "accept", value: "application/json")
        return request
    }

    /// The body of a 200 response, and whether it is marked as simulated.
    private struct Answer: Sendable {
        var bytes: [UInt8]
        var isSimulated: Bool
    }

    private func post(_ path: String, _ body: String) async throws(UpstreamError) -> Answer {
        var request = request(path)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(ByteBuffer(string: body))
        return try await send(request)
    }

    /// Sends a request and returns a 200 response within the timeout. A rejected session is discarded, and the call
    /// isn't retried: opening another session automatically could lock the account.
    private func send(_ request: HTTPClientRequest) async throws(UpstreamError) -> Answer {
        var request = request
        var exchange = exchange
        let token = try await tokens?.token()
        if let token {
            request.headers.add(name: configuration.wire.accessTokenHeader, value: token.value)
            exchange = exchange.redacting(token)
        }
        let answer = try await exchange.answer(to: request)
        guard answer.status == 200 else {
            if answer.status == 401, let token { await tokens?.discard(token) }
            throw exchange.refusal(answer)
        }
        return Answer(
            bytes: answer.bytes, isSimulated: answer.isSimulated(header: configuration.wire.simulatedHeader))
    }
}
