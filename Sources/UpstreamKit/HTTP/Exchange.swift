package import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
package import NIOHTTP1
import JSONKit

/// Sends one request to an upstream and reads the whole response, within a time and a size. It does not parse content.
package struct Exchange: Sendable {
    /// A response of any status. For a status other than 2xx, it has at most 64 KiB of the body, as far as received.
    package struct Response: Sendable {
        package var status: Int
        package var headers: HTTPHeaders
        package var bytes: [UInt8]

        /// Whether a header marks the response as simulated, as Billow's simulator does.
        package func isSimulated(header: String = "x-simulated") -> Bool {
            headers.first(name: header).map { $0.lowercased() != "false" } ?? false
        }
    }

    let httpClient: HTTPClient
    /// The time limit from connecting to the last byte.
    let timeout: Duration
    private let maximumBodyBytes: Int
    private let secrets: [Secret]
    private let dialect: ErrorResponseFormat
    private let now: @Sendable () -> Int

    /// The most bytes that are read of an error response.
    private static let maximumProblemBytes = 64 * 1_024

    /// - Parameters:
    ///   - secrets: texts that no error message may contain.
    ///   - dialect: the format of the upstream's error responses.
    ///   - now: the Unix time in seconds, for a `Retry-After` that is a date.
    package init(
        httpClient: HTTPClient, timeout: Duration, maximumBodyBytes: Int, secrets: [Secret],
        dialect: ErrorResponseFormat = ErrorResponseFormat(), now: @escaping @Sendable () -> Int
    ) {
        self.httpClient = httpClient
        self.timeout = timeout
        self.maximumBodyBytes = maximumBodyBytes
        self.secrets = secrets
        self.dialect = dialect
        self.now = now
    }

    /// No redirects, because they could send keys to another host; ten seconds to connect; no retry of a refused
    /// connection.
    package static var recommendedHTTPConfiguration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = .seconds(10)
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    /// The same exchange with one more secret: a token.
    package func redacting(_ token: Secret) -> Exchange {
        Exchange(
            httpClient: httpClient, timeout: timeout, maximumBodyBytes: maximumBodyBytes, secrets: secrets + [token],
            dialect: dialect, now: now)
    }

    /// Converts a response with an error status to an error.
    /// - Parameter dialect: replaces the exchange's own.
    package func refusal(_ answer: Response, in dialect: ErrorResponseFormat? = nil) -> UpstreamError {
        UpstreamError(answer, dialect ?? self.dialect, secrets: secrets, now: now())
    }

    /// Returns the response, whatever its status.
    /// - Throws: if there is no response.
    package func answer(to request: HTTPClientRequest) async throws(UpstreamError) -> Response {
        let timeout = timeout
        do {
            return try await withThrowingTaskGroup(of: Response?.self) { group in
                group.addTask { try await fetch(request) }
                group.addTask {
                    try await Task.sleep(for: timeout)
                    return nil
                }
                defer { group.cancelAll() }
                guard let first = try await group.next(), let answer = first else { throw UpstreamError.timeout }
                return answer
            }
        } catch {
            throw failure(error)
        }
    }

    private func fetch(_ request: HTTPClientRequest) async throws -> Response {
        // The task group limits the time, including that of the body. This deadline is never reached.
        let response = try await httpClient.execute(request, deadline: .distantFuture)
        let status = Int(response.status.code)
        let bytes = (200..<300).contains(status) ? try await body(of: response) : try await problem(of: response)
        return Response(status: status, headers: response.headers, bytes: bytes)
    }

    private func body(of response: HTTPClientResponse) async throws -> [UInt8] {
        let limit = maximumBodyBytes
        let announced = response.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        guard announced <= limit else { throw UpstreamError.tooLarge(limitBytes: limit) }
        var bytes: [UInt8] = []
        do {
            for try await chunk in response.body {
                guard bytes.count + chunk.readableBytes <= limit else {
                    throw UpstreamError.tooLarge(limitBytes: limit)
                }
                TransferMeter.current?.add(chunk.readableBytes)
                bytes.append(contentsOf: chunk.readableBytesView)
            }
        } catch let error as UpstreamError {
            throw error
        } catch {
            // A connection that ends within the body gives a truncated response, not an unreachable host.
            if case .unreachable = failure(error) { throw UpstreamError.unreadable(.truncated) }
            throw error
        }
        return bytes
    }

    private func problem(of response: HTTPClientResponse) async throws -> [UInt8] {
        try await problem(response.body)
    }

    /// The text of an error response, as far as received.
    func problem(_ body: HTTPClientResponse.Body) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            for try await chunk in body {
                bytes.append(contentsOf: chunk.readableBytesView.prefix(Exchange.maximumProblemBytes - bytes.count))
                if bytes.count >= Exchange.maximumProblemBytes { break }
            }
        } catch {
            // Without the body, the status is enough for the error.
            if Task.isCancelled { throw UpstreamError.cancelled }
        }
        return bytes
    }

    /// Converts errors of the HTTP client.
    func failure(_ error: any Error) -> UpstreamError {
        if let error = error as? UpstreamError { return error }
        if error is CancellationError { return .cancelled }
        guard let error = error as? HTTPClientError else { return .unreachable(redacted(Self.reason(error))) }
        switch error {
        case .cancelled: return .cancelled
        case .deadlineExceeded, .readTimeout, .writeTimeout: return .timeout
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout:
            return .unreachable("no connection in time")
        case .remoteConnectionClosed: return .unreachable("the connection was closed without an answer")
        default: return .unreachable(redacted(error.shortDescription))
        }
    }

    /// The reason for a failed connection, for people.
    private static func reason(_ error: any Error) -> String {
        if let error = error as? IOError { return String(cString: strerror(error.errnoCode)).lowercased() }
        if let error = error as? NIOConnectionError {
            if let failure = error.connectionErrors.first { return reason(failure.error) }
            return "the name \(error.host) does not resolve"
        }
        let text = "\(error)"
        // NIOSSL distinguishes these errors only by BoringSSL's texts.
        if text.contains("CERTIFICATE_VERIFY_FAILED") { return "its certificate is not trusted" }
        if text.contains("WRONG_VERSION_NUMBER") { return "it doesn't speak TLS" }
        return text.hasPrefix("handshakeFailed") ? "the TLS handshake failed" : text
    }

    private func redacted(_ text: String) -> String {
        String(Secret.redacting(secrets, in: text).printable.prefix(300))
    }
}
