package import AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix
package import NIOHTTP1
import JSONKit

/// One call of an upstream and its whole answer, within a time and a size. Knows nothing of the content.
package struct Exchange: Sendable {
    /// An answer of any status. Of refusals (not 2xx) at most 64 KiB of the body, as far as it came.
    package struct Answer: Sendable {
        package var status: Int
        package var headers: HTTPHeaders
        package var bytes: [UInt8]

        /// Whether a header says that the answer is made up, as Billow's simulator does.
        package func isSimulated(header: String = "x-simulated") -> Bool {
            headers.first(name: header).map { $0.lowercased() != "false" } ?? false
        }
    }

    let httpClient: HTTPClient
    /// From connecting to the last byte.
    let timeout: Duration
    private let maximumBodyBytes: Int
    private let secrets: [Secret]
    private let dialect: RefusalDialect
    private let now: @Sendable () -> Int

    /// A refusal longer than this is not read to its end. Bytes.
    private static let maximumProblemBytes = 64 * 1_024

    /// - Parameters:
    ///   - secrets: what no error may repeat.
    ///   - dialect: how the upstream words a refusal.
    ///   - now: Unix seconds, for a `Retry-After` that is a date.
    package init(
        httpClient: HTTPClient, timeout: Duration, maximumBodyBytes: Int, secrets: [Secret],
        dialect: RefusalDialect = RefusalDialect(), now: @escaping @Sendable () -> Int
    ) {
        self.httpClient = httpClient
        self.timeout = timeout
        self.maximumBodyBytes = maximumBodyBytes
        self.secrets = secrets
        self.dialect = dialect
        self.now = now
    }

    /// No redirects (they would carry keys elsewhere), ten seconds to connect, and no retry of a refused connection.
    package static var recommendedHTTPConfiguration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = .seconds(10)
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }

    /// The same, with a token that no error may repeat either.
    package func redacting(_ token: Secret) -> Exchange {
        Exchange(
            httpClient: httpClient, timeout: timeout, maximumBodyBytes: maximumBodyBytes, secrets: secrets + [token],
            dialect: dialect, now: now)
    }

    /// The error that an answer of a bad status is.
    /// - Parameter dialect: where it differs from the exchange's own.
    package func refusal(_ answer: Answer, in dialect: RefusalDialect? = nil) -> UpstreamError {
        UpstreamError(answer, dialect ?? self.dialect, secrets: secrets, now: now())
    }

    /// The answer, whatever its status. Throws where there is none.
    package func answer(to request: HTTPClientRequest) async throws(UpstreamError) -> Answer {
        let timeout = timeout
        do {
            return try await withThrowingTaskGroup(of: Answer?.self) { group in
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

    private func fetch(_ request: HTTPClientRequest) async throws -> Answer {
        // The task group keeps the time, body included; this deadline is only out of the way.
        let response = try await httpClient.execute(request, deadline: .distantFuture)
        let status = Int(response.status.code)
        let bytes = (200..<300).contains(status) ? try await body(of: response) : try await problem(of: response)
        return Answer(status: status, headers: response.headers, bytes: bytes)
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
            // A connection that ends inside the body is a cut-off answer, not an unreachable host.
            if case .unreachable = failure(error) { throw UpstreamError.unreadable(.truncated) }
            throw error
        }
        return bytes
    }

    private func problem(of response: HTTPClientResponse) async throws -> [UInt8] {
        try await problem(response.body)
    }

    /// The words of a refusal, as far as they came.
    func problem(_ body: HTTPClientResponse.Body) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            for try await chunk in body {
                bytes.append(contentsOf: chunk.readableBytesView.prefix(Exchange.maximumProblemBytes - bytes.count))
                if bytes.count >= Exchange.maximumProblemBytes { break }
            }
        } catch {
            // The status alone says what matters; a cancelled task is told by the status too late to matter.
            if Task.isCancelled { throw UpstreamError.cancelled }
        }
        return bytes
    }

    /// Translates what the HTTP client throws, once, here.
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

    /// Why there was no connection, in words for people.
    private static func reason(_ error: any Error) -> String {
        if let error = error as? IOError { return String(cString: strerror(error.errnoCode)).lowercased() }
        if let error = error as? NIOConnectionError {
            if let failure = error.connectionErrors.first { return reason(failure.error) }
            return "the name \(error.host) does not resolve"
        }
        let text = "\(error)"
        // NIOSSL tells them apart by BoringSSL's own words only.
        if text.contains("CERTIFICATE_VERIFY_FAILED") { return "its certificate is not to be trusted" }
        if text.contains("WRONG_VERSION_NUMBER") { return "it doesn't speak TLS" }
        return text.hasPrefix("handshakeFailed") ? "the TLS handshake failed" : text
    }

    private func redacted(_ text: String) -> String {
        String(Secret.redacting(secrets, in: text).printable.prefix(300))
    }
}
