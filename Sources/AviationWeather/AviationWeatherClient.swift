public import AsyncHTTPClient
import Foundation
import NIOHTTP1
// The public interface uses reports and `UpstreamError`, so their modules are re-exported.
@_exported public import AviationFormats
@_exported public import UpstreamKit

/// A client of the data API of the US Aviation Weather Center. It is stateless: each call is one exchange. The caller
/// observes the service's limits: each product at most once a minute, at most 100 calls a minute.
///
/// The caller owns the HTTP client, which must outlive this one; use `recommendedHTTPConfiguration`.
///
/// Source: Data API of the Aviation Weather Center, https://aviationweather.gov/data/api/, schema 4.0 (September 2025)
///
/// ```swift
/// let http = HTTPClient(configuration: AviationWeatherClient.recommendedHTTPConfiguration)
/// let client = try AviationWeatherClient(httpClient: http)
/// do throws(UpstreamError) {
///     let reply = try await client.hazards(.internationalSigmets)
///     for report in reply.content?.reports ?? [] { print(report.series, report.validTo) }
///     // With the validators of the last reply, an unchanged response has no body.
///     let again = try await client.hazards(.internationalSigmets, since: reply.validators)
///     if again.content == nil { print("unchanged") }
/// } catch {
///     print("\(error.code.rawValue): \(error), again in \(error.retryAfterSeconds ?? 60) s")
/// }
/// ```
public struct AviationWeatherClient: Sendable {
    /// The validators for the next conditional request. An unchanged response then has no body.
    public struct Validators: Sendable, Hashable {
        /// The response's `ETag`.
        public var entityTag: String?
        /// The response's `Last-Modified`.
        public var lastModified: String?

        /// Makes the validators of an earlier response.
        public init(entityTag: String? = nil, lastModified: String? = nil) {
            self.entityTag = entityTag
            self.lastModified = lastModified
        }
    }

    /// The reply to a request.
    public struct Reply<Content: Sendable>: Sendable {
        /// The content; nil if it hasn't changed since the given validators (304).
        public var content: Content?
        /// The validators for the next request.
        public var validators: Validators
        /// Whether the response is marked as simulated.
        public var isSimulated: Bool
    }

    /// The client's configuration.
    public let configuration: AviationWeatherConfiguration
    private let exchange: Exchange

    /// - Parameters:
    ///   - now: the clock in Unix seconds, for a `Retry-After` with a date.
    ///   - configuration: address and limits.
    ///   - httpClient: the client that sends the requests.
    /// - Throws: `.invalidConfiguration` with all problems.
    public init(
        configuration: AviationWeatherConfiguration = AviationWeatherConfiguration(), httpClient: HTTPClient,
        now: @escaping @Sendable () -> Int = AviationWeatherClient.systemClock
    ) throws(UpstreamError) {
        let problems = configuration.problems
        guard problems.isEmpty else { throw .invalidConfiguration(problems) }
        self.configuration = configuration
        exchange = Exchange(
            httpClient: httpClient, timeout: configuration.timeout, maximumBodyBytes: configuration.maximumBodyBytes,
            secrets: [], dialect: ErrorResponseFormat(codeMember: nil, messageMember: "error", sendsKey: false),
            now: now)
    }

    /// The local clock in Unix seconds.
    public static let systemClock: @Sendable () -> Int = UnixClock.seconds

    /// No redirects, and a connect timeout of ten seconds. A refused connection fails at once.
    public static var recommendedHTTPConfiguration: HTTPClient.Configuration { Exchange.recommendedHTTPConfiguration }

    /// Fetches the aircraft reports of an area. If there are `AviationWeatherQuery.maximumResults` of them, there may
    /// be more: request the area's quarters.
    public func pilotReports(in box: GeographicBox, ageHours: Int, since validators: Validators = Validators())
        async throws(UpstreamError) -> Reply<PilotReportDecoder.Outcome>
    {
        try await reply(.pilotReports(box, ageHours: ageHours), since: validators) { data throws(DocumentError) in
            try PilotReportDecoder.decode(data)
        }
    }

    /// Fetches SIGMETs or G-AIRMETs.
    ///
    /// - Parameters:
    ///   - query: any except pilot reports.
    ///   - validators: of an earlier response, for a conditional request.
    public func hazards(_ query: AviationWeatherQuery, since validators: Validators = Validators())
        async throws(UpstreamError) -> Reply<HazardDecoder.Outcome>
    {
        guard let product = query.hazards else { throw .invalidQuery("pilot reports are no hazards") }
        let decoder = HazardDecoder(of: [product])
        return try await reply(query, since: validators) { data throws(DocumentError) in
            try decoder.decode(data)
        }
    }

    private func reply<Content: Sendable>(
        _ query: AviationWeatherQuery, since validators: Validators,
        decode: (Data) throws(DocumentError) -> Content
    ) async throws(UpstreamError) -> Reply<Content> {
        var target = try query.target()
        if !target.hasSuffix("?") { target += "&" }
        var request = HTTPClientRequest(url: configuration.baseURL + target + "format=\(configuration.form.rawValue)")
        request.headers.add(name: "user-agent", value: configuration.userAgent)
        request.headers.add(name: "accept", value: "application/json, application/geo+json")
        if let tag = validators.entityTag { request.headers.add(name: "if-none-match", value: tag) }
        if let date = validators.lastModified { request.headers.add(name: "if-modified-since", value: date) }
        let answer = try await exchange.answer(to: request)
        let isSimulated = answer.isSimulated()
        func reply(_ content: Content?, _ validators: Validators) -> Reply<Content> {
            Reply(content: content, validators: validators, isSimulated: isSimulated)
        }
        let fresh = Validators(
            entityTag: answer.headers.first(name: "etag"), lastModified: answer.headers.first(name: "last-modified"))
        switch answer.status {
        case 200 where answer.bytes.isEmpty: throw .unreadable(.empty)
        // The service sends 204 if nothing matches.
        case 200, 204:
            do throws(DocumentError) { return reply(try decode(Data(answer.bytes)), fresh) } catch {
                throw .unreadable(UnreadableResponse(error))
            }
        case 304 where validators != Validators(): return reply(nil, validators)
        default: throw exchange.refusal(answer)
        }
    }
}

extension UnreadableResponse {
    /// Converts a format's error to the type that all upstreams share.
    init(_ error: DocumentError) {
        self =
            switch error {
            case .html: .html
            case .notJSON(let byte): .notJSON(atByte: byte)
            case .unknownForm, .service: .undecodable(error.description)
            }
    }
}
