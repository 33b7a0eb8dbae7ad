package import Turbulence

/// A key that opens what is not open to everybody. Whoever holds the key's text has its scopes; the store keeps the
/// text's hash only.
package struct AccessKey: Sendable, Hashable {
    /// 16 hexadecimal digits: names the key in lists, in logs and in signed addresses.
    package var id: String
    /// What its owner calls it, 1 to 100 characters.
    package var name: String
    /// SHA-256 of the key's text, 64 hexadecimal digits in lower case.
    package var hash: String
    package var scopes: AccessScopes
    package var createdAt: Instant
    /// From when on it opens nothing; nil while it does.
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

/// What a key opens. No scope includes another.
package struct AccessScopes: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue & 0b111 }

    /// Everything that shows data, where `server.anonymousRead` is off.
    package static let read = AccessScopes(rawValue: 1)
    /// Sending observations.
    package static let ingest = AccessScopes(rawValue: 2)
    /// Steering the sources.
    package static let admin = AccessScopes(rawValue: 4)

    private static let named: [(name: String, scope: AccessScopes)] = [
        ("read", .read), ("ingest", .ingest), ("admin", .admin),
    ]

    /// The words for its scopes.
    package var names: [String] { Self.named.filter { contains($0.scope) }.map(\.name) }

    /// Every scope's word.
    package static var allNames: [String] { named.map(\.name) }

    /// A list of words such as `read,ingest`; nil where one is unknown, or there is none.
    package init?(list: some StringProtocol) {
        var scopes: AccessScopes = []
        for word in list.split(separator: ",", omittingEmptySubsequences: false) {
            guard let match = Self.named.first(where: { $0.name == word }) else { return nil }
            scopes.insert(match.scope)
        }
        self = scopes
    }
}
