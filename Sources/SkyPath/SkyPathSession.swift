import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import UpstreamKit
import JSONKit

/// Whose session it is: SkyPath knows a company, and users who are unique within it.
///
/// Source: docs/upstreams/skypath.md, "Session"
public struct SkyPathAccount: Sendable, Hashable {
    /// The airline's ICAO code, or what else the company is registered as.
    public let company: String
    /// The user's id.
    public let user: String

    /// nil where one of them is empty or has more than 100 characters.
    public init?(company: String, user: String) {
        guard (1...100).contains(company.count), (1...100).contains(user.count) else { return nil }
        self.company = company
        self.user = user
    }
}

/// A session with SkyPath: its token is sent beside the key until it ends.
public struct SkyPathSession: Sendable, Hashable {
    /// What the calls carry.
    public let token: Secret
    /// Unix seconds.
    public let expiresAt: Int

    /// A session that was opened before.
    public init(token: Secret, expiresAt: Int) {
        self.token = token
        self.expiresAt = expiresAt
    }

    /// The token in the clear, to be kept where only its owner reads.
    package var text: String { "\(expiresAt) \(token.value)" }

    /// nil for anything but what `text` gave.
    package init?(text: some StringProtocol) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let expiresAt = Int(parts[0]), let token = Secret(String(parts[1])) else {
            return nil
        }
        self.init(token: token, expiresAt: expiresAt)
    }
}

/// The call that opens a session. Its path and shape are not public: it takes `company` and `userId`, and gives
/// `data.accessToken` and `data.expiresAt` (Unix seconds).
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

    /// Opens a session.
    func token() async throws(UpstreamError) -> TokenKeeper.Token {
        var request = HTTPClientRequest(url: configuration.environment.baseURL + configuration.wire.sessionPath)
        request.method = .POST
        request.headers.add(name: configuration.wire.apiKeyHeader, value: configuration.apiKey.value)
        request.headers.add(name: "accept", value: "application/json")
        request.headers.add(name: "content-type", value: "application/json")
        // Two texts can always be written.
        let body = (try? JSONEncoder().encode(Body(company: account.company, userId: account.user))) ?? Data()
        request.body = .bytes(ByteBuffer(bytes: body))
        let answer = try await exchange.answer(to: request)
        guard (200...201).contains(answer.status) else { throw exchange.refusal(answer) }
        var tree = JSONValue.null
        do throws(UnreadableAnswer) {
            try UnreadableAnswer.reading(answer.bytes) { (scanner) throws(JSONScanner.Malformed) in
                tree = try scanner.tree()
            }
        } catch {
            throw .unreadable(error)
        }
        guard let value = (tree["data"]?["accessToken"]?.string).flatMap({ Secret($0) }) else {
            throw .unreadable(.missing("data.accessToken"))
        }
        // Without an end it serves for one call.
        return TokenKeeper.Token(value: value, endsAt: tree["data"]?["expiresAt"]?.integer ?? 0)
    }
}
