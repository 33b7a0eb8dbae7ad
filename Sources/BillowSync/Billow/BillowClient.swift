package import AsyncHTTPClient
package import Datasets
import NIOHTTP1
import NIOHTTPCompression
package import UpstreamKit

/// A server whose data is mirrored.
package protocol MirroredServer: Sendable {
    var configuration: BillowConfiguration { get }

    /// Requests the changes of a dataset since a cursor, or everything without one.
    func changes(of dataset: Dataset, since cursor: String?) async throws(UpstreamError) -> MirrorAnswer
}

/// Sends requests for changes to a mirrored server. It is stateless: each call is one exchange.
///
/// Source: docs/http/features.md, "Changes" and "Mirrors"
package struct BillowClient: MirroredServer {
    package let configuration: BillowConfiguration
    private let exchange: Exchange

    /// - Throws: `.invalidConfiguration` with all problems.
    package init(
        configuration: BillowConfiguration, httpClient: HTTPClient,
        now: @escaping @Sendable () -> Int = UnixClock.seconds
    ) throws(UpstreamError) {
        let problems = configuration.problems
        guard problems.isEmpty else { throw .invalidConfiguration(problems) }
        self.configuration = configuration
        exchange = configuration.exchange(by: httpClient, now: now)
    }

    /// As for other upstreams, with decompression. The exchange limits the decompressed bytes.
    package static var recommendedHTTPConfiguration: HTTPClient.Configuration {
        var configuration = Exchange.recommendedHTTPConfiguration
        configuration.decompression = .enabled(limit: .none)
        return configuration
    }

    package func changes(of dataset: Dataset, since cursor: String?) async throws(UpstreamError) -> MirrorAnswer {
        var request = configuration.request(configuration.path(of: dataset, since: cursor), "application/geo+json")
        request.headers.add(name: "accept-encoding", value: "gzip")
        let answer = try await exchange.answer(to: request)
        guard answer.status == 200 else { throw exchange.refusal(answer) }
        do throws(UnreadableResponse) {
            var changes = try MirrorAnswer(answer.bytes, of: dataset)
            if answer.isSimulated() { changes.isSimulated = true }
            return changes
        } catch {
            throw .unreadable(error)
        }
    }
}

extension BillowConfiguration {
    /// The exchange of requests to the server, whose errors never contain the key.
    func exchange(by httpClient: HTTPClient, now: @escaping @Sendable () -> Int) -> Exchange {
        Exchange(
            httpClient: httpClient, timeout: timeout, maximumBodyBytes: maximumBodyBytes,
            secrets: [apiKey].compactMap(\.self),
            dialect: ErrorResponseFormat(messageMember: "detail", sendsKey: apiKey != nil), now: now)
    }

    /// A request of a path for a media type, with the key.
    func request(_ path: String, _ mediaType: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: baseURL + path)
        request.headers.add(name: "user-agent", value: "Billow turbulence server")
        request.headers.add(name: "accept", value: mediaType)
        if let apiKey { request.headers.add(name: "x-api-key", value: apiKey.value) }
        return request
    }
}
