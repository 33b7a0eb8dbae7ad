import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import UpstreamKit
import JSONKit

/// The request for an API client's token.
///
/// Source: RFC 6749 section 4.4
struct TokenCall: Sendable {
    let credentials: OpenSkyConfiguration.Credentials
    let url: String
    let exchange: Exchange
    let now: @Sendable () -> Int

    private static let maximumTokenSeconds = 86_400

    /// Fetches a token.
    func token() async throws(UpstreamError) -> TokenCache.Token {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        request.headers.add(name: "accept", value: "application/json")
        request.body = .bytes(
            ByteBuffer(
                string: "grant_type=client_credentials&client_id=\(Self.encoded(credentials.clientID))"
                    + "&client_secret=\(Self.encoded(credentials.clientSecret.value))"))
        let requestedAt = now()
        let answer = try await exchange.answer(to: request)
        guard answer.status == 200 else {
            let error = exchange.refusal(answer, in: Self.dialect)
            // Source: RFC 6749 section 5.2: an unknown client may cause a 400.
            if case .invalidRequest(let problem) = error { throw .unauthorized(problem) }
            throw error
        }
        return try Self.token(answer.bytes, requestedAt: requestedAt)
    }

    /// Source: RFC 6749 section 5.2
    private static let dialect = ErrorResponseFormat(
        codeMember: "error", messageMember: "error_description",
        waitHeaders: ["x-rate-limit-retry-after-seconds", "retry-after"])

    private static func token(_ bytes: [UInt8], requestedAt: Int) throws(UpstreamError) -> TokenCache.Token {
        var text: String?
        var seconds: Double?
        do throws(UnreadableResponse) {
            try UnreadableResponse.reading(bytes) { (scanner) throws(JSONScanner.Malformed) in
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
        // Without a lifetime, the token is valid for one call.
        let life = seconds.flatMap { Int(exactly: $0.rounded(.down)) } ?? 0
        return TokenCache.Token(value: value, endsAt: requestedAt + min(max(0, life), maximumTokenSeconds))
    }

    /// Source: RFC 3986 section 2.3, unreserved characters.
    static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(
            withAllowedCharacters: CharacterSet(
                charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")) ?? ""
    }
}
