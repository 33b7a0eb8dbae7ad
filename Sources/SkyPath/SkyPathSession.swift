import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import UpstreamKit
import JSONKit

/// The account of a session: a company, and a user id that is unique within it.
///
/// Source: docs/upstreams/skypath.md, "Session"
public struct SkyPathAccount: Sendable, Hashable {
    /// The airline's ICAO code, or another registered name of the company.
    public let company: String
    /// The user's id.
    public let user: String

    /// Returns nil if one of them is empty or has more than 100 characters.
    public init?(company: String, user: String) {
        guard (1...100).contains(company.count), (1...100).contains(user.count) else { return nil }
        self.company = company
        self.user = user
    }
}

/// A session with SkyPath. Its token is sent with the key until it expires.
public struct SkyPathSession: Sendable, Hashable {
    /// The token sent with each call.
    public let token: Secret
    /// The expiry in Unix seconds.
    public let expiresAt: Int

    /// Makes a session from stored values.
    public init(token: Secret, expiresAt: Int) {
        self.token = token
        self.expiresAt = expiresAt
    }

    /// The expiry and the token in clear text, for storage that only its owner can read.
    package var text: String { "\(expiresAt) \(token.value)" }

    /// Parses the result of `text`; nil for any other text.
    package init?(text: some StringProtocol) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let expiresAt = Int(parts[0]), let token = Secret(String(parts[1])) else {
            return nil
        }
        self.init(token: token, expiresAt: expiresAt)
    }
}

/// The call that opens a session. Its path and format are not public. The request has `company` and `userId`, and the
/// response has `data.accessToken` and `data.expiresAt` (Unix seconds).
///
/// Source: docs/upstreams/skypath.md, "Session" (an assumption)
struct SessionCall: Sendable {
    let account: SkyPathAccount
    let configuration: SkyPathConfiguration
    let exchange: Exchange

    private struct Body: Encodable {
        var company: String
        var userId: String
    }

    /// Opens a session and returns its token.
    func token() async throws(UpstreamError) -> TokenCache.Token {
        var request = HTTPClientRequest(url: configuration.environment.baseURL + configuration.wire.sessionPath)
        request.method = .POST
        request.headers.add(name: configuration.wire.apiKeyHeader, value: configuration.apiKey.value)
        request.headers.add(name: "accept", value: "application/json")
        request.headers.add(name: "content-type", value: "application/json")
        // Encoding two strings can't fail.
        let body = (try? JSONEncoder().encode(Body(company: account.company, userId: account.user))) ?? Data()
        request.body = .bytes(ByteBuffer(bytes: body))
        let answer = try await exchange.answer(to: request)
        guard (200...201).contains(answer.status) else { throw exchange.refusal(answer) }
        var tree = JSONValue.null
        do throws(UnreadableResponse) {
            try UnreadableResponse.reading(answer.bytes) { (scanner) throws(JSONScanner.Malformed) in
                tree = try scanner.tree()
            }
        } catch {
            throw .unreadable(error)
        }
        guard let value = (tree["data"]?["accessToken"]?.string).flatMap({ Secret($0) }) else {
            throw .unreadable(.missing("data.accessToken"))
        }
        // Without an expiry, the token is valid for one call.
        return TokenCache.Token(value: value, endsAt: tree["data"]?["expiresAt"]?.integer ?? 0)
    }
}
