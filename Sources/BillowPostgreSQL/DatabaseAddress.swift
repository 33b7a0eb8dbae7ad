/// The address of a PostgreSQL database: `postgres://user:password@host:port/database?parameter=value`.
///
/// Source: PostgreSQL documentation, "Connection URIs",
/// https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING
package struct DatabaseAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address as given; it may contain a password.
    package let text: String

    private static let schemes = ["postgres://", "postgresql://"]

    /// nil for anything else, such as the path of a file.
    package init?(_ text: String) {
        guard Self.schemes.contains(where: text.hasPrefix) else { return nil }
        self.text = text
    }

    /// The address without the password and the parameters, for logs and errors.
    package var description: String {
        var rest = Self.schemes.first(where: text.hasPrefix).map { text.dropFirst($0.count) } ?? ""
        if let query = rest.firstIndex(where: { $0 == "?" || $0 == "#" }) { rest = rest[..<query] }
        // A password may contain an unescaped @ by mistake, so the last one counts.
        guard let at = rest.lastIndex(of: "@") else { return "postgres://\(rest)" }
        let user = rest[..<at].prefix { $0 != ":" }
        return "postgres://\(user)\(rest[at...])"
    }
}
