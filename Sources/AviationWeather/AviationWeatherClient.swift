public import AsyncHTTPClient
import Foundation
import NIOHTTP1
// Reports and `UpstreamError` belong to what a user of this library names, without a second import.
@_exported public import AviationFormats
@_exported public import UpstreamKit

/// Reads the data API of the US Aviation Weather Center. Holds no state: each call is one exchange, and how often to
/// ask is the caller's to keep: any one product at most once a minute, at most 100 calls a minute.
///
/// The HTTP client is the caller's too and must outlive this one: take `recommendedHTTPConfiguration`.
///
/// Source: aviationweather.gov Data API, schema 4.0 (September 2025)
///
/// ```swift
/// let http = HTTPClient(configuration: AviationWeatherClient.recommendedHTTPConfiguration)
/// let client = try AviationWeatherClient(httpClient: http)
/// do throws(UpstreamError) {
///     let reply = try await client.hazards(.internationalSigmets)
///     for report in reply.content?.reports ?? [] { print(report.series, report.validTo) }
///     // With the validators of the last reply, an unchanged answer costs no body.
///     let again = try await client.hazards(.internationalSigmets, since: reply.validators)
///     if again.content == nil { print("unchanged") }
/// } catch {
///     print("\(error.code.rawValue): \(error), again in \(error.retryAfterSeconds ?? 60) s")
/// }
/// ```
public struct AviationWeatherClient: Sendable {
    /// What to ask with the next time, so that an unchanged answer needs no body.
    public struct Validators: Sendable, Hashable {
        /// The answer's `ETag`.
        public var entityTag: String?
        /// The answer's `Last-Modified`.
        public var lastModified: String?

        /// The validators of an earlier answer.
        public init(entityTag: String? = nil, lastModified: String? = nil) {
            self.entityTag = entityTag
            self.lastModified = lastModified
        }
    }

    /// What came back.
    public struct Reply<Content: Sendable>: Sendable {
        /// nil where nothing has changed since the validators were given (304).
        public var content: Content?
        /// What to ask with the next time.
        public var validators: Validators
        /// Whether the answer said that it is made up.
        public var isSimulated: Bool
    }

    /// What it was made with.
    public let configuration: AviationWeatherConfiguration
    private let exchange: Exchange

    /// - Parameters:
    ///   - now: Unix seconds, to understand a `Retry-After` that is a date.
    ///   - configuration: address and limits.
    ///   - httpClient: what sends the requests.
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
            secrets: [], dialect: RefusalDialect(codeMember: nil, messageMember: "error", sendsKey: false), now: now)
    }

    /// Unix seconds of this machine.
    public static let systemClock: @Sendable () -> Int = UnixClock.seconds

    /// No redirects, ten seconds to connect, and a refused connection is told at once.
    public static var recommendedHTTPConfiguration: HTTPClient.Configuration { Exchange.recommendedHTTPConfiguration }

    /// Aircraft reports of an area. `AviationWeatherQuery.maximumResults` of them may not be all: ask for its quarters.
    public func pilotReports(in box: AviationWeatherBox, ageHours: Int, since validators: Validators = Validators())
        async throws(UpstreamError) -> Reply<PilotReportDecoder.Outcome>
    {
        try await reply(.pilotReports(box, ageHours: ageHours), since: validators) { data throws(DocumentError) in
            try PilotReportDecoder.decode(data)
        }
    }

    /// SIGMETs or G-AIRMETs.
    ///
    /// - Parameters:
    ///   - query: not pilot reports.
    ///   - validators: of an earlier answer, for a conditional request.
    public func hazards(_ query: AviationWeatherQuery, since validators: Validators = Validators())
        async throws(UpstreamError) -> Reply<HazardDecoder.Outcome>
    {
        if case .pilotReports = query { throw .invalidQuery("pilot reports are no hazards") }
        return try await reply(query, since: validators) { data throws(DocumentError) in
            try HazardDecoder.decode(data)
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
        // 204 is how the service says that nothing matches.
        case 200, 204:
            do throws(DocumentError) { return reply(try decode(Data(answer.bytes)), fresh) } catch {
                throw .unreadable(UnreadableAnswer(error))
            }
        case 304 where validators != Validators(): return reply(nil, validators)
        default: throw exchange.refusal(answer)
        }
    }
}

extension UnreadableAnswer {
    /// The same reason in the words that all upstreams share.
    init(_ error: DocumentError) {
        self =
            switch error {
            case .html: .html
            case .unknownForm, .malformed, .service: .undecodable(error.description)
            }
    }
}
