package import Turbulence

/// An access key for protected routes. A client that sends the key's text has its scopes. The store holds only a hash
/// of the text.
package struct AccessKey: Sendable, Hashable {
    /// 16 hexadecimal digits. The id names the key in lists, in logs and in signed URLs.
    package var id: String
    /// The name that its owner gave it, 1 to 100 characters.
    package var name: String
    /// SHA-256 of the key's text, 64 hexadecimal digits in lower case.
    package var hash: String
    package var scopes: AccessScopes
    package var createdAt: Instant
    /// The time of its revocation; nil for a valid key.
    package var revokedAt: Instant?

    package init(
        id: String, name: String, hash: String, scopes: AccessScopes, createdAt: Instant, revokedAt: Instant? = nil
    ) {
        self.id = id
        self.name = name
        self.hash = hash
        self.scopes = scopes
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }
}

/// The permissions of a key. No scope includes another.
package struct AccessScopes: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue & 0b111 }

    /// Reading data, where `server.anonymousRead` is off.
    package static let read = AccessScopes(rawValue: 1)
    /// Sending observations.
    package static let ingest = AccessScopes(rawValue: 2)
    /// Controlling the sources.
    package static let admin = AccessScopes(rawValue: 4)

    private static let named: [(name: String, scope: AccessScopes)] = [
        ("read", .read), ("ingest", .ingest), ("admin", .admin),
    ]

    /// The names of its scopes.
    package var names: [String] { Self.named.filter { contains($0.scope) }.map(\.name) }

    /// The name of every scope.
    package static var allNames: [String] { named.map(\.name) }

    /// Parses a list of names such as `read,ingest`; nil for an unknown name or an empty list.
    package init?(list: some StringProtocol) {
        var scopes: AccessScopes = []
        for word in list.split(separator: ",", omittingEmptySubsequences: false) {
            guard let match = Self.named.first(where: { $0.name == word }) else { return nil }
            scopes.insert(match.scope)
        }
        self = scopes
    }
}
