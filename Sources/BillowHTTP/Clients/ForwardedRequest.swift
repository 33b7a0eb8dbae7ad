import HTTPTypes

/// What a trusted proxy says about the request that it forwards.
///
/// Each proxy appends what it saw, so the list is read from its end. Entries are believed as long as trusted proxies
/// wrote them: the first address that is not trusted is the client's. Anything before it, the client could have
/// written.
///
/// Source: RFC 7239; for `X-Forwarded-…`
/// https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers/X-Forwarded-For
struct ForwardedRequest: Hashable {
    /// The client's address; nil if the proxies did not tell it.
    var client: IPAddress?
    /// `http` or `https`.
    var scheme: String?
    /// The host that the client requested.
    var authority: String?

    /// One entry of `Forwarded`, or the parts of it that a single value of `X-Forwarded-For` has.
    private struct Element {
        var address: IPAddress?
        var scheme: String?
        var authority: String?
    }

    /// The most entries that are read, which no real chain of proxies has.
    private static let mostElements = 32

    /// - Parameters:
    ///   - header: the values of a field, joined by commas; nil if the request has none.
    ///   - isTrusted: whether an address is that of a trusted proxy.
    init(header: (String) -> String?, isTrusted: (IPAddress) -> Bool) {
        // Two headers may contradict each other, so the standard one alone counts.
        if let forwarded = header("Forwarded") {
            for element in Self.elements(forwarded).suffix(Self.mostElements).reversed() {
                scheme = element.scheme ?? scheme
                authority = element.authority ?? authority
                guard let address = element.address else { return }
                client = address
                guard isTrusted(address) else { return }
            }
            return
        }
        scheme = header("X-Forwarded-Proto").flatMap { Self.scheme(Self.last($0)) }
        authority = header("X-Forwarded-Host").flatMap { Self.authority(Self.last($0)) }
        let addresses = header("X-Forwarded-For")?.split(separator: ",").suffix(Self.mostElements) ?? []
        for text in addresses.reversed() {
            guard let address = Self.address(Self.trimmed(text)) else { return }
            client = address
            guard isTrusted(address) else { return }
        }
    }

    // MARK: Values

    private static func trimmed(_ text: some StringProtocol) -> String {
        var text = Substring(text)
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }

    /// The last of several values, which the nearest proxy wrote.
    private static func last(_ text: String) -> String { trimmed(text.split(separator: ",").last ?? "") }

    private static func scheme(_ text: String) -> String? {
        let scheme = text.lowercased()
        return ["http", "https"].contains(scheme) ? scheme : nil
    }

    private static func authority(_ text: String) -> String? { Authority.isValid(text) ? text : nil }

    /// An address with an optional port, in brackets if it is IPv6 and has one.
    private static func address(_ text: String) -> IPAddress? {
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            return IPAddress(String(text[text.index(after: text.startIndex)..<end]))
        }
        if let address = IPAddress(text) { return address }
        guard let colon = text.firstIndex(of: ":") else { return nil }
        return IPAddress(String(text[..<colon]))
    }

    // MARK: Forwarded

    /// The entries of the header, in order. An entry that can't be read has no parts.
    private static func elements(_ text: String) -> [Element] {
        split(text, at: ",").map { part in
            var element = Element()
            for pair in split(part, at: ";") {
                guard let equals = pair.firstIndex(of: "=") else { continue }
                let value = unquoted(trimmed(pair[pair.index(after: equals)...]))
                switch trimmed(pair[..<equals]).lowercased() {
                case "for": element.address = address(value)
                case "proto": element.scheme = scheme(value)
                case "host": element.authority = authority(value)
                default: break
                }
            }
            return element
        }
    }

    /// Splits at a separator outside quoted strings.
    private static func split(_ text: some StringProtocol, at separator: Character) -> [String] {
        var parts = [""]
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if character == separator, !isQuoted {
                parts.append("")
                continue
            }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = character == "\\" && isQuoted && !isEscaped
            parts[parts.count - 1].append(character)
        }
        return parts
    }

    private static func unquoted(_ text: String) -> String {
        guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        return String(text.dropFirst().dropLast()).replacing("\\", with: "")
    }
}

/// The proxies whose words about clients are believed.
struct TrustedProxies: Sendable {
    private let blocks: [AddressBlock]

    init(_ blocks: [AddressBlock]) { self.blocks = blocks }

    var isEmpty: Bool { blocks.isEmpty }

    func contains(_ address: IPAddress) -> Bool { blocks.contains { $0.contains(address) } }

    /// What the proxy says; nil if the connection isn't that of a trusted proxy.
    func forwarded(over connection: IPAddress?, header: (String) -> String?) -> ForwardedRequest? {
        guard let connection, contains(connection) else { return nil }
        return ForwardedRequest(header: header, isTrusted: contains)
    }
}
