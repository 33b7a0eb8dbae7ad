public import Turbulence

/// A key that opens what is not open to everybody. Whoever holds the key's text has its scopes; the store keeps the
/// text's hash only.
public struct AccessKey: Sendable, Hashable {
    /// 16 hexadecimal digits: names the key in lists, in logs and in signed addresses.
    public var id: String
    /// What its owner calls it, 1 to 100 characters.
    public var name: String
    /// SHA-256 of the key's text, 64 hexadecimal digits in lower case.
    public var hash: String
    public var scopes: AccessScopes
    public var createdAt: Instant
    /// From when on it opens nothing; nil while it does.
    public var revokedAt: Instant?

    public init(
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
public struct AccessScopes: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue & 0b111 }

    /// Everything that shows data, where `server.anonymousRead` is off.
    public static let read = AccessScopes(rawValue: 1)
    /// Sending observations.
    public static let ingest = AccessScopes(rawValue: 2)
    /// Steering the sources.
    public static let admin = AccessScopes(rawValue: 4)

    private static let named: [(name: String, scope: AccessScopes)] = [
        ("read", .read), ("ingest", .ingest), ("admin", .admin),
    ]

    /// The words for its scopes.
    public var names: [String] { Self.named.filter { contains($0.scope) }.map(\.name) }

    /// Every scope's word.
    public static var allNames: [String] { named.map(\.name) }

    /// A list of words such as `read,ingest`; nil where one is unknown, or there is none.
    public init?(list: some StringProtocol) {
        var scopes: AccessScopes = []
        for word in list.split(separator: ",", omittingEmptySubsequences: false) {
            guard let match = Self.named.first(where: { $0.name == word }) else { return nil }
            scopes.insert(match.scope)
        }
        self = scopes
    }
}
