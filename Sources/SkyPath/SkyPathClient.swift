public import AsyncHTTPClient
import Foundation
import Geometry
import NIOCore
import NIOHTTP1
import WireHTTP

/// Reads SkyPath's data API. Holds no state: each call is one exchange, retries and cursors are the caller's.
///
/// The HTTP client is the caller's too and must outlive this one. It should not follow redirects (they would carry the
/// key elsewhere): take `recommendedHTTPConfiguration`.
public struct SkyPathClient: Sendable {
    public let configuration: SkyPathConfiguration
    private let httpClient: HTTPClient
    private let now: @Sendable () -> Int

    /// - Parameter now: Unix seconds, to understand a `Retry-After` that is a date.
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
        if let token = configuration.accessToken {
            request.headers.add(name: configuration.wire.accessTokenHeader, value: token.value)
        }
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

    /// The answer of a 200, within the timeout.
    private func exchange(_ request: HTTPClientRequest) async throws(SkyPathError) -> Answer {
        let answer: Exchange.Answer
        do {
            answer = try await Exchange(
                httpClient: httpClient, timeout: configuration.timeout,
                maximumBodyBytes: configuration.maximumBodyBytes, secrets: secrets
            ).answer(to: request)
        } catch {
            throw SkyPathError(error)
        }
        guard answer.status == 200 else { throw refusal(answer) }
        let mark = answer.headers.first(name: configuration.wire.simulatedHeader)
        return Answer(bytes: answer.bytes, isSimulated: mark.map { $0.lowercased() != "false" } ?? false)
    }

    private var secrets: [Secret] { [configuration.apiKey, configuration.accessToken].compactMap { $0 } }

    private func refusal(_ answer: Exchange.Answer) -> SkyPathError {
        let status = answer.status
        let problem = SkyPathProblem(status: status, body: answer.bytes, redacting: secrets)
        let retryAfter = answer.headers.first(name: "retry-after").flatMap {
            RetryAfter.seconds($0, now: now())
        }
        switch status {
        case 401: return .unauthorized(problem)
        case 403: return .forbidden(problem)
        case 408: return .timeout
        case 423: return .locked(problem, retryAfterSeconds: retryAfter)
        case 426: return .upgradeRequired(problem)
        case 429: return .rateLimited(problem, retryAfterSeconds: retryAfter)
        case 400..<500: return .invalidRequest(problem)
        case 500..<600: return .server(problem, retryAfterSeconds: retryAfter)
        default: return .unexpectedStatus(status)
        }
    }
}

extension SkyPathError {
    fileprivate init(_ failure: Exchange.Failure) {
        self =
            switch failure {
            case .truncated: .unreadable(.truncated)
            case .tooLarge(let limit): .tooLarge(limitBytes: limit)
            case .timeout: .timeout
            case .unreachable(let reason): .unreachable(reason)
            case .cancelled: .cancelled
            }
    }
}
