/// The hosts that requests may name, so that no foreign name gets into a link or a cache.
///
/// Source: RFC 9110 sections 7.4 and 15.5.20
package struct AllowedHosts: Sendable, Hashable {
    /// A name or address: exactly, or every name below a domain.
    package struct Pattern: Sendable, Hashable {
        /// In lower case; without `*` for names below a domain.
        fileprivate let host: String
        /// nil for every port.
        fileprivate let port: String?
        fileprivate let isDomain: Bool

        /// Reads `example.com`, `*.example.com`, `192.0.2.1` or `[2001:db8::1]`, each with an optional port; nil for
        /// another text.
        package init?(_ text: String) {
            isDomain = text.hasPrefix("*.")
            let name = isDomain ? String(text.dropFirst(2)) : text
            guard Authority.isValid(name), !name.hasSuffix(":"), !isDomain || !name.hasPrefix("[") else { return nil }
            (host, port) = Authority.parts(name)
        }

        fileprivate func allows(host: String, port: String?) -> Bool {
            guard self.port == nil || self.port == port else { return false }
            return isDomain ? host.hasSuffix(".\(self.host)") : host == self.host
        }
    }

    private let patterns: [Pattern]

    /// - Parameter patterns: none for every host.
    package init(_ patterns: [Pattern] = []) { self.patterns = patterns }

    /// Whether a request may name a host, with or without a port. A request without one is allowed, because its links
    /// have this machine's address.
    func allows(_ authority: String?) -> Bool {
        guard !patterns.isEmpty, let authority else { return true }
        let (host, port) = Authority.parts(authority)
        return patterns.contains { $0.allows(host: host, port: port) }
    }
}
