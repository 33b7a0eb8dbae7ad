/// What an upstream's address must be like.
package enum BaseURL {
    /// Without a slash at the end.
    package static func trimmed(_ url: String) -> String { String(url.reversed().drop { $0 == "/" }.reversed()) }

    /// All that is wrong with an address, a sentence each; empty where it can be used.
    ///
    /// - Parameter allowsPlainHTTP: whether a key may go over plain HTTP to another machine. To this machine it always may.
    package static func problems(_ url: String, allowsPlainHTTP: Bool) -> [String] {
        var problems: [String] = []
        let isPlain = url.hasPrefix("http://")
        let rest = url.drop { $0 != "/" }.dropFirst(2)
        let authority = rest.prefix { $0 != "/" }
        if !isPlain, !url.hasPrefix("https://") {
            problems.append("the base URL must begin with https://: \(url)")
        }
        if authority.isEmpty || authority.contains("@") || url.contains("?") || url.contains("#")
            || !url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        {
            problems.append("the base URL must be https://host[:port][/path], without user, query or fragment")
        } else if isPlain, !allowsPlainHTTP, !isThisMachine(authority) {
            problems.append("the key would go over plain HTTP to \(authority): use https, or set allowsPlainHTTP")
        }
        return problems
    }

    /// Whether it names this machine, where a simulator may run and the real service does not.
    package static func isThisMachine(_ url: String) -> Bool {
        isThisMachine(url.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "/" })
    }

    private static func isThisMachine(_ authority: Substring) -> Bool {
        if authority.hasPrefix("[::1]") { return true }
        let host = authority.prefix { $0 != ":" }
        return host == "localhost" || host.hasPrefix("127.")
    }
}
