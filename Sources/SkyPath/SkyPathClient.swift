public import AsyncHTTPClient
import Foundation
import Geometry
import NIOCore
import NIOHTTP1
import WireHTTP

/// Reads SkyPath's data API. Its only state is its session, where there is an account: each call is one exchange, retries and
/// cursors are the caller's.
///
/// The HTTP client is the caller's too and must outlive this one. It should not follow redirects (they would carry the
/// key elsewhere): take `recommendedHTTPConfiguration`.
public struct SkyPathClient: Sendable {
    public let configuration: SkyPathConfiguration
    private let httpClient: HTTPClient
    private let now: @Sendable () -> Int
    private let keeper: TokenKeeper<SkyPathError>?

    /// - Parameter now: Unix seconds, for the session's end and to understand a `Retry-After` that is a date.
    /// - Throws: `.invalidConfiguration` with all problems.
    public init(
        configuration: SkyPathConfiguration, httpClient: HTTPClient,
        now: @escaping @Sendable () -> Int = SkyPathClient.systemClock
    ) throws(SkyPathError) {
        let problems = configuration.problems
        guard problems.isEmpty else { throw .invalidConfiguration(problems) }
        self.configuration = configuration
        self.httpClient = httpClient
        self.now = now
        let exchange = Exchange(
            httpClient: httpClient, timeout: configuration.timeout, maximumBodyBytes: configuration.maximumBodyBytes,
            secrets: [configuration.apiKey])
        keeper = configuration.account.map { account in
            let call = SessionCall(account: account, configuration: configuration, exchange: exchange, now: now)
            return TokenKeeper(now: now) { await call.fetch() }
        }
    }

    /// The session that is open; nil before the first call, after it was refused, and without an account.
    public var session: SkyPathSession? {
        get async { await keeper?.current.map { SkyPathSession(token: $0.value, expiresAt: $0.endsAt) } }
    }

    /// Goes on with a session from before, as long as it lasts.
    public func resume(_ session: SkyPathSession) async {
        await keeper?.resume(TokenKeeper.Token(value: session.token, endsAt: session.expiresAt))
    }

    /// Unix seconds of this machine.
    public static let systemClock: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }

    /// No redirects, ten seconds to connect, and a refused connection is told at once rather than tried again until then.
    public static var recommendedHTTPConfiguration: HTTPClient.Configuration { Exchange.recommendedHTTPConfiguration }

    /// `POST /observations/v5/corridor`: the computed turbulence of an area, whole or what changed.
    public func corridor(_ query: SkyPathCorridorQuery) async throws(SkyPathError)
        -> SkyPathCorridorReply
    {
        let answer = try await post(configuration.wire.corridorPath, try writer.corridor(query))
        var reply = try reader.corridor(answer.bytes)
        reply.isSimulated = answer.isSimulated
        return reply
    }

    /// `GET /adsb/v5/hexagons/{hexId}`: everything under a coarse cell, whole.
    public func hexagons(_ query: SkyPathHexagonsQuery) async throws(SkyPathError)
        -> SkyPathHexagonsReply
    {
        let answer = try await exchange(request(try writer.hexagons(query)))
        var reply = try reader.hexagons(answer.bytes, parent: query.parent)
        reply.isSimulated = answer.isSimulated
        return reply
    }

    /// `POST /v4/map`: everything in an area or the world, whole or what changed since a tick.
    public func map(_ query: SkyPathMapQuery) async throws(SkyPathError) -> SkyPathMapReply {
        let answer = try await post(configuration.wire.mapPath, try writer.map(query))
        var reply = try reader.map(answer.bytes)
        reply.isSimulated = answer.isSimulated
        return reply
    }

    // MARK: Calls that are not public

    /// The turbulence polygons of the world for one history. Path and shape are assumptions, as of the three below.
    public func polygons(hours: Double) async throws(SkyPathError) -> SkyPathReply<SkyPathArea> {
        try await whole(configuration.wire.polygonsPath + "?\(configuration.wire.hoursAgo)=\(hours)") {
            (reader, bytes) throws(SkyPathError) in try reader.areas(bytes)
        }
    }

    /// The newest issue of the nowcast, all its hours.
    public func nowcast() async throws(SkyPathError) -> SkyPathReply<SkyPathArea> {
        try await whole(configuration.wire.nowcastPath) { (reader, bytes) throws(SkyPathError) in
            try reader.areas(bytes)
        }
    }

    /// Aircraft that reported within the last minutes.
    public func flights() async throws(SkyPathError) -> SkyPathReply<SkyPathFlight> {
        try await whole(configuration.wire.flightsPath) { (reader, bytes) throws(SkyPathError) in
            try reader.flights(bytes)
        }
    }

    /// Pilot reports of the last hours.
    public func pilotReports(hours: Double) async throws(SkyPathError) -> SkyPathReply<SkyPathPilotReport> {
        try await whole(configuration.wire.pirepsPath + "?\(configuration.wire.hoursAgo)=\(hours)") {
            (reader, bytes) throws(SkyPathError) in try reader.pilotReports(bytes)
        }
    }

    private func whole<Record>(
        _ path: String, _ read: (AssumedReader, [UInt8]) throws(SkyPathError) -> SkyPathReply<Record>
    ) async throws(SkyPathError) -> SkyPathReply<Record> {
        let answer = try await exchange(request(path))
        var reply = try read(AssumedReader(limits: configuration.limits), answer.bytes)
        reply.isSimulated = answer.isSimulated
        return reply
    }

    private var writer: RequestWriter {
        RequestWriter(wire: configuration.wire, limits: configuration.limits)
    }
    private var reader: ReplyReader {
        ReplyReader(wire: configuration.wire, limits: configuration.limits)
    }

    // MARK: The exchange

    private func request(_ path: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: configuration.environment.baseURL + path)
        request.headers.add(name: configuration.wire.apiKeyHeader, value: configuration.apiKey.value)
        request.headers.add(name: "accept", value: "application/json")
        return request
    }

    /// A 200's body, and whether it said that it is made up.
    private struct Answer: Sendable {
        var bytes: [UInt8]
        var isSimulated: Bool
    }

    private func post(_ path: String, _ body: String) async throws(SkyPathError) -> Answer {
        var request = request(path)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        request.body = .bytes(ByteBuffer(string: body))
        return try await exchange(request)
    }

    /// The answer of a 200, within the timeout. A session that is refused is over: opening another one by itself could lock the
    /// account.
    private func exchange(_ request: HTTPClientRequest) async throws(SkyPathError) -> Answer {
        var request = request
        var secrets = [configuration.apiKey]
        let token = try await keeper?.token()
        if let token {
            request.headers.add(name: configuration.wire.accessTokenHeader, value: token.value)
            secrets.append(token)
        }
        let answer: Exchange.Answer
        do {
            answer = try await Exchange(
                httpClient: httpClient, timeout: configuration.timeout,
                maximumBodyBytes: configuration.maximumBodyBytes, secrets: secrets
            ).answer(to: request)
        } catch {
            throw SkyPathError(error)
        }
        guard answer.status == 200 else {
            if answer.status == 401, let token { await keeper?.discard(token) }
            throw SkyPathError(answer, secrets: secrets, now: now())
        }
        let mark = answer.headers.first(name: configuration.wire.simulatedHeader)
        return Answer(bytes: answer.bytes, isSimulated: mark.map { $0.lowercased() != "false" } ?? false)
    }
}

extension SkyPathError {
    init(_ failure: Exchange.Failure) {
        self =
            switch failure {
            case .truncated: .unreadable(.truncated)
            case .tooLarge(let limit): .tooLarge(limitBytes: limit)
            case .timeout: .timeout
            case .unreachable(let reason): .unreachable(reason)
            case .cancelled: .cancelled
            }
    }

    /// Why an answer is none: by its status, and in its own words.
    init(_ answer: Exchange.Answer, secrets: [Secret], now: Int) {
        let status = answer.status
        let problem = SkyPathProblem(status: status, body: answer.bytes, redacting: secrets)
        let retryAfter = answer.headers.first(name: "retry-after").flatMap { RetryAfter.seconds($0, now: now) }
        self =
            switch status {
            case 401: .unauthorized(problem)
            case 403: .forbidden(problem)
            case 408: .timeout
            case 423: .locked(problem, retryAfterSeconds: retryAfter)
            case 426: .upgradeRequired(problem)
            case 429: .rateLimited(problem, retryAfterSeconds: retryAfter)
            case 400..<500: .invalidRequest(problem)
            case 500..<600: .server(problem, retryAfterSeconds: retryAfter)
            default: .unexpectedStatus(status)
            }
    }
}
