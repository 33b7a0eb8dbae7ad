/// Validates an upstream's URL.
package enum BaseURL {
    /// The URL without trailing slashes.
    package static func trimmed(_ url: String) -> String { String(url.reversed().drop { $0 == "/" }.reversed()) }

    /// All problems of a URL, one sentence each; empty if it is usable.
    ///
    /// - Parameter allowsPlainHTTP: whether a key may be sent over plain HTTP to another machine. To this machine it
    ///   always may.
    package static func problems(_ url: String, allowsPlainHTTP: Bool) -> [String] {
        var problems: [String] = []
        let isPlain = url.hasPrefix("http://")
        let rest = url.drop { $0 != "/" }.dropFirst(2)
        let authority = rest.prefix { $0 != "/" }
        if !isPlain, !url.hasPrefix("https://") {
            problems.append("the address must begin with https://")
        }
        if !isAuthority(authority) || url.contains("?") || url.contains("#")
            || !url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        {
            problems.append("the address must be https://host[:port][/path], without user, query or fragment")
        } else if isPlain, !allowsPlainHTTP, !isThisMachine(authority) {
            problems.append("the key would go over plain HTTP to \(authority): use https, or set allowsPlainHTTP")
        }
        return problems
    }

    /// Whether the text is `host` or `host:port`; an IPv6 address must be in brackets.
    private static func isAuthority(_ text: Substring) -> Bool {
        let isBracketed = text.hasPrefix("[")
        let host = isBracketed ? text.prefix { $0 != "]" }.dropFirst() : text.prefix { $0 != ":" }
        let rest = isBracketed ? text.dropFirst(host.count + 2) : text.dropFirst(host.count)
        guard !host.isEmpty, !host.contains(where: { "@[]\\\"<>^`{|}%".contains($0) }),
            !isBracketed || text.contains("]") && host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
        else { return false }
        guard !rest.isEmpty else { return true }
        let port = rest.dropFirst()
        return rest.first == ":" && port.allSatisfy(\.isNumber) && (1...65_535).contains(Int(port) ?? 0)
    }

    /// Whether the URL is on this machine, where only a simulator can run, not the real service.
    package static func isThisMachine(_ url: String) -> Bool {
        isThisMachine(url.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "/" })
    }

    private static func isThisMachine(_ authority: Substring) -> Bool {
        if authority.hasPrefix("[::1]") { return true }
        let host = authority.prefix { $0 != ":" }
        return host == "localhost" || host.hasPrefix("127.")
    }
}
