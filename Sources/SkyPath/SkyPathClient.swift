public import AsyncHTTPClient
import Foundation
import Geometry
import NIOCore
import NIOHTTP1

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
    public static var recommendedHTTPConfiguration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = .seconds(10)
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

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

    private var writer: RequestWriter {
        RequestWriter(wire: configuration.wire, limits: configuration.limits)
    }
    private var reader: ReplyReader {
        ReplyReader(wire: configuration.wire, limits: configuration.limits)
    }

    // MARK: The exchange

    /// A refusal longer than this is not read to its end. Bytes.
    private static let maximumProblemBytes = 64 * 1_024

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
        let timeout = configuration.timeout
        do {
            return try await withThrowingTaskGroup(of: Answer?.self) { group in
                group.addTask { try await fetch(request) }
                group.addTask {
                    try await Task.sleep(for: timeout)
                    return nil
                }
                defer { group.cancelAll() }
                guard let first = try await group.next(), let answer = first else {
                    throw SkyPathError.timeout
                }
                return answer
            }
        } catch {
            throw translated(error)
        }
    }

    private func fetch(_ request: HTTPClientRequest) async throws -> Answer {
        // The task group keeps the time, body included; this deadline is only out of the way.
        let response = try await httpClient.execute(request, deadline: .distantFuture)
        let status = Int(response.status.code)
        guard status == 200 else { throw await refusal(response, status: status) }
        let limit = configuration.maximumBodyBytes
        if let length = response.headers.first(name: "content-length").flatMap({ Int($0) }),
            length > limit
        {
            throw SkyPathError.tooLarge(limitBytes: limit)
        }
        var bytes: [UInt8] = []
        do {
            for try await chunk in response.body {
                guard bytes.count + chunk.readableBytes <= limit else {
                    throw SkyPathError.tooLarge(limitBytes: limit)
                }
                bytes.append(contentsOf: chunk.readableBytesView)
            }
        } catch let error as SkyPathError {
            throw error
        } catch {
            // A connection that ends inside the body is a cut-off answer, not an unreachable host.
            if case .unreachable = translated(error) { throw SkyPathError.unreadable(.truncated) }
            throw error
        }
        let mark = response.headers.first(name: configuration.wire.simulatedHeader)
        return Answer(bytes: bytes, isSimulated: mark.map { $0.lowercased() != "false" } ?? false)
    }

    private func refusal(_ response: HTTPClientResponse, status: Int) async -> SkyPathError {
        var bytes: [UInt8] = []
        do {
            for try await chunk in response.body {
                bytes.append(
                    contentsOf: chunk.readableBytesView.prefix(
                        SkyPathClient.maximumProblemBytes - bytes.count))
                if bytes.count >= SkyPathClient.maximumProblemBytes { break }
            }
        } catch {
            // The status alone says what matters; a cancelled task is told by the status too late to matter.
            if Task.isCancelled { return .cancelled }
        }
        let secrets = [configuration.apiKey.value, configuration.accessToken?.value].compactMap { $0 }
        let problem = ReplyReader.problem(status: status, bytes, redacting: secrets)
        let retryAfter = response.headers.first(name: "retry-after").flatMap {
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

    /// Translates what the HTTP client throws, once, here.
    private func translated(_ error: any Error) -> SkyPathError {
        if let error = error as? SkyPathError { return error }
        if error is CancellationError { return .cancelled }
        guard let error = error as? HTTPClientError else { return .unreachable(redacted("\(error)")) }
        switch error {
        case .cancelled: return .cancelled
        case .deadlineExceeded, .readTimeout, .writeTimeout: return .timeout
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout:
            return .unreachable("no connection in time")
        case .remoteConnectionClosed: return .unreachable("the connection was closed without an answer")
        default: return .unreachable(redacted(error.shortDescription))
        }
    }

    private func redacted(_ text: String) -> String {
        var text = text.replacing(configuration.apiKey.value, with: "[secret]")
        if let token = configuration.accessToken {
            text = text.replacing(token.value, with: "[secret]")
        }
        return String(text.prefix(300))
    }
}
