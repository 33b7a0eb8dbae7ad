import BillowEngine
import NIOCore

/// The value of a `Host` header, which links in responses use.
///
/// It accepts only the characters of host names, a subset of RFC 3986: no `%`, quotes or brackets can get into a link.
///
/// Source: RFC 9112 section 3.2; RFC 3986 section 3.2.2
enum Authority {
    /// Whether a text is a host's name or address with an optional port.
    static func isValid(_ text: some StringProtocol) -> Bool {
        let bytes = Array(text.utf8)
        guard (1...longest).contains(bytes.count) else { return false }
        if bytes[0] == UInt8(ascii: "[") {
            guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return false }
            let address = String(decoding: bytes[1..<end], as: UTF8.self)
            guard case .v6? = try? SocketAddress(ipAddress: address, port: 0), !address.contains("%") else {
                return false
            }
            return isPort(bytes[(end + 1)...])
        }
        let end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        return end > 0 && bytes[..<end].allSatisfy(isOfName) && isPort(bytes[end...])
    }

    /// The host in lower case, and the port; nil without one. A final dot of a name is left out.
    ///
    /// - Parameter text: a valid authority.
    static func parts(_ text: String) -> (host: String, port: String?) {
        var host = text[...]
        var port: String?
        if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
            host = text[..<colon]
            let digits = text[text.index(after: colon)...]
            port = digits.isEmpty ? nil : String(digits)
        }
        if host.count > 1, host.last == "." { host.removeLast() }
        return (host.lowercased(), port)
    }

    /// A name of 255 bytes and a port.
    private static let longest = 261

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    /// Whether the bytes are empty, or a colon with a port number.
    private static func isPort(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard !bytes.isEmpty else { return true }
        let digits = bytes.dropFirst()
        guard bytes.first == UInt8(ascii: ":"), (1...5).contains(digits.count),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return false }
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } <= 65_535
    }
}
