import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import WireHTTP
import WireJSON

/// The call that gives an API client its token.
///
/// Source: RFC 6749 section 4.4
struct TokenCall: Sendable {
    typealias Token = TokenKeeper<OpenSkyError>.Token

    let credentials: OpenSkyConfiguration.Credentials
    let url: String
    let exchange: Exchange
    let now: @Sendable () -> Int

    private static let maximumTokenSeconds = 86_400

    func fetch() async -> Result<Token, OpenSkyError> {
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
        return Token(value: value, endsAt: asked + min(max(0, life), maximumTokenSeconds))
    }

    /// Source: RFC 3986 section 2.3, unreserved characters.
    static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(
            withAllowedCharacters: CharacterSet(
                charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")) ?? ""
    }
}
