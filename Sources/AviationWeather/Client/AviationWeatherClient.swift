public import AsyncHTTPClient
import Foundation
import NIOHTTP1
import WireHTTP
import WireJSON

/// Reads the data API of the US Aviation Weather Center. Holds no state: each call is one exchange, and how often to ask
/// is the caller's to keep: any one product at most once a minute, at most 100 calls a minute.
///
/// The HTTP client is the caller's too and must outlive this one: take `recommendedHTTPConfiguration`.
///
/// Source: aviationweather.gov Data API, schema 4.0 (September 2025)
public struct AviationWeatherClient: Sendable {
    /// What to ask with the next time, so that an unchanged answer needs no body.
    public struct Validators: Sendable, Hashable {
        public var entityTag: String?
        public var lastModified: String?

        public init(entityTag: String? = nil, lastModified: String? = nil) {
            self.entityTag = entityTag
            self.lastModified = lastModified
        }
    }

    /// What came back.
    public struct Reply<Content: Sendable>: Sendable {
        /// nil where nothing has changed since the validators were given (304).
        public var content: Content?
        public var validators: Validators
        /// Whether the answer said that it is made up.
        public var isSimulated: Bool
    }

    public let configuration: AviationWeatherConfiguration
    private let exchange: Exchange
    private let now: @Sendable () -> Int

    /// - Parameter now: Unix seconds, to understand a `Retry-After` that is a date.
    /// - Throws: `.invalidConfiguration` with all problems.
    public init(
        configuration: AviationWeatherConfiguration = AviationWeatherConfiguration(), httpClient: HTTPClient,
        now: @escaping @Sendable () -> Int = AviationWeatherClient.systemClock
    ) throws(AviationWeatherError) {
        let problems = configuration.problems
        guard problems.isEmpty else { throw .invalidConfiguration(problems) }
        self.configuration = configuration
        self.now = now
        exchange = Exchange(
            httpClient: httpClient, timeout: configuration.timeout, maximumBodyBytes: configuration.maximumBodyBytes,
            secrets: [])
    }

    /// Unix seconds of this machine.
    public static let systemClock: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }

    /// No redirects, ten seconds to connect, and a refused connection is told at once.
    public static var recommendedHTTPConfiguration: HTTPClient.Configuration { Exchange.recommendedHTTPConfiguration }

    /// Aircraft reports of an area. `AviationWeatherQuery.maximumResults` of them may not be all: ask for its quarters.
    public func pilotReports(in box: AviationWeatherBox, ageHours: Int, since validators: Validators = Validators())
        async throws(AviationWeatherError) -> Reply<PilotReportDecoder.Outcome>
    {
        try await reply(.pilotReports(box, ageHours: ageHours), since: validators) { data throws(DocumentError) in
            try PilotReportDecoder.decode(data)
        }
    }

    /// SIGMETs or G-AIRMETs.
    ///
    /// - Parameter query: not pilot reports.
    public func hazards(_ query: AviationWeatherQuery, since validators: Validators = Validators())
        async throws(AviationWeatherError) -> Reply<HazardDecoder.Outcome>
    {
        if case .pilotReports = query { throw .invalidQuery("pilot reports are no hazards") }
        return try await reply(query, since: validators) { data throws(DocumentError) in
            try HazardDecoder.decode(data)
        }
    }

    private func reply<Content: Sendable>(
        _ query: AviationWeatherQuery, since validators: Validators,
        decode: (Data) throws(DocumentError) -> Content
    ) async throws(AviationWeatherError) -> Reply<Content> {
        var target = try query.target()
        if !target.hasSuffix("?") { target += "&" }
        var request = HTTPClientRequest(url: configuration.baseURL + target + "format=\(configuration.form.rawValue)")
        request.headers.add(name: "user-agent", value: configuration.userAgent)
        request.headers.add(name: "accept", value: "application/json, application/geo+json")
        if let tag = validators.entityTag { request.headers.add(name: "if-none-match", value: tag) }
        if let date = validators.lastModified { request.headers.add(name: "if-modified-since", value: date) }
        let answer: Exchange.Answer
        do { answer = try await exchange.answer(to: request) } catch { throw AviationWeatherError(error) }
        let isSimulated = answer.headers.first(name: "x-simulated").map { $0.lowercased() != "false" } ?? false
        func reply(_ content: Content?, _ validators: Validators) -> Reply<Content> {
            Reply(content: content, validators: validators, isSimulated: isSimulated)
        }
        let fresh = Validators(
            entityTag: answer.headers.first(name: "etag"), lastModified: answer.headers.first(name: "last-modified"))
        switch answer.status {
        case 200 where answer.bytes.isEmpty: throw .empty
        // 204 is how the service says that nothing matches.
        case 200, 204:
            do throws(DocumentError) { return reply(try decode(Data(answer.bytes)), fresh) } catch {
                throw .unreadable(error)
            }
        case 304 where validators != Validators(): return reply(nil, validators)
        default: throw AviationWeatherError(answer, now: now())
        }
    }
}

extension AviationWeatherError {
    init(_ failure: Exchange.Failure) {
        self =
            switch failure {
            case .truncated: .truncated
            case .tooLarge(let limit): .tooLarge(limitBytes: limit)
            case .timeout: .timeout
            case .unreachable(let reason): .unreachable(reason)
            case .cancelled: .cancelled
            }
    }

    /// What a refusal says.
    init(_ answer: Exchange.Answer, now: Int) {
        struct Body: Decodable { var error: String? }
        // A refusal without the documented body is told by its status alone.
        let words = (try? JSONDecoder().decode(Body.self, from: Data(answer.bytes)))?.error
        let problem = AviationWeatherProblem(
            status: answer.status, message: words.map { String($0.printable.prefix(500)) })
        let wait = answer.headers.first(name: "retry-after").flatMap { RetryAfter.seconds($0, now: now) }
        self =
            switch answer.status {
            case 401, 403: .forbidden(problem)
            case 408: .timeout
            case 429: .rateLimited(problem, retryAfterSeconds: wait)
            case 400..<500: .invalidRequest(problem)
            case 500..<600: .server(problem, retryAfterSeconds: wait)
            default: .unexpectedStatus(answer.status)
            }
    }
}
