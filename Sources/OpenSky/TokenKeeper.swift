import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import WireHTTP
import WireJSON

/// Keeps the token of an API client: fetched when it is first needed, by one call for all who wait, and renewed before it
/// ends.
///
/// Source: RFC 6749 section 4.4
actor TokenKeeper {
    private struct Token {
        let value: Secret
        /// Unix seconds.
        let renewAt: Int
    }

    /// A token is renewed this long before it ends.
    private static let marginSeconds = 30
    private static let maximumTokenSeconds = 86_400

    private let credentials: OpenSkyConfiguration.Credentials
    private let url: String
    private let exchange: Exchange
    private let now: @Sendable () -> Int
    private var current: Token?
    private var pending: Task<Result<Token, OpenSkyError>, Never>?

    init(
        _ credentials: OpenSkyConfiguration.Credentials, url: String, exchange: Exchange,
        now: @escaping @Sendable () -> Int
    ) {
        self.credentials = credentials
        self.url = url
        self.exchange = exchange
        self.now = now
    }

    func token() async throws(OpenSkyError) -> Secret {
        if let current, now() < current.renewAt { return current.value }
        let fetch = pending ?? Task { await self.fetch() }
        pending = fetch
        let result = await fetch.value
        // Whoever comes first after the answer settles it for all.
        if pending == fetch {
            pending = nil
            current = try? result.get()  // Why there is none is told to each who waited, below.
        }
        return try result.get().value
    }

    /// The upstream takes this token no more. One that was fetched meanwhile stays.
    func discard(_ token: Secret) {
        if current?.value == token { current = nil }
    }

    private func fetch() async -> Result<Token, OpenSkyError> {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.headers.add(name: "accept", value: "application/json")
        request.body = .bytes(
            ByteBuffer(
                string: "grant_type=client_credentials&client_id=\(Self.encoded(credentials.clientID))"
                    + "&client_secret=\(Self.encoded(credentials.clientSecret.value))"))
        let asked = now()
        let answer: Exchange.Answer
        do { answer = try await exchange.answer(to: request) } catch { return .failure(OpenSkyError(error)) }
        guard answer.status == 200 else {
            let error = OpenSkyError(
                answer, messageName: "error_description", secrets: [credentials.clientSecret], now: now())
            // Source: RFC 6749 section 5.2: a client that isn't known may be told by 400.
            if case .invalidRequest(let problem) = error { return .failure(.unauthorized(problem)) }
            return .failure(error)
        }
        do throws(OpenSkyError) { return .success(try Self.token(answer.bytes, asked: asked)) } catch {
            return .failure(error)
        }
    }

    private static func token(_ bytes: [UInt8], asked: Int) throws(OpenSkyError) -> Token {
        var text: String?
        var seconds: Double?
        do throws(UnreadableAnswer) {
            try UnreadableAnswer.reading(bytes) { (scanner) throws(JSONScanner.Malformed) in
                guard scanner.peek() == UInt8(ascii: "{") else { return try scanner.skipValue() }
                try scanner.object { (scanner, key) throws(JSONScanner.Malformed) in
                    let isToken = scanner.matches(key, Array("access_token".utf8))
                    let isLife = scanner.matches(key, Array("expires_in".utf8))
                    let value = try scanner.value()
                    if isToken, case .string(let range, let escaped) = value {
                        text = scanner.text(range, escaped: escaped)
                    }
                    if isLife { seconds = value.double }
                }
            }
        } catch {
            throw .unreadable(error)
        }
        guard let value = text.flatMap({ Secret($0) }) else { throw .unreadable(.missing("access_token")) }
        // Without a life it serves for one call.
        let life = seconds.flatMap { Int(exactly: $0.rounded(.down)) } ?? 0
        return Token(value: value, renewAt: asked + min(max(0, life), maximumTokenSeconds) - marginSeconds)
    }

    /// Source: RFC 3986 section 2.3, unreserved characters.
    static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(
            withAllowedCharacters: CharacterSet(
                charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")) ?? ""
    }
}
