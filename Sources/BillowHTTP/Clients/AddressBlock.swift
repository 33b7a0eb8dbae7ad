import NIOCore

/// A range of IP addresses in CIDR notation, or a single address.
///
/// Source: RFC 4632 section 3.1; RFC 4291 section 2.3
package struct AddressBlock: Sendable, Hashable {
    private let bytes: [UInt8]
    private let bits: Int

    /// Parses `10.0.0.0/8`, `2001:db8::/32` or an address; nil for anything else, also for bits set behind the prefix.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let bytes = IPAddress(String(parts[0]))?.bytes else { return nil }
        var bits = bytes.count * 8
        if parts.count == 2 {
            guard let given = Int(parts[1]), String(given) == parts[1], (0...bits).contains(given) else { return nil }
            bits = given
        }
        self.bytes = bytes
        self.bits = bits
        guard Self.prefix(bytes, bits) == bytes else { return nil }
    }

    func contains(_ address: IPAddress) -> Bool {
        address.bytes.count == bytes.count && Self.prefix(address.bytes, bits) == bytes
    }

    /// The address with all bits behind the prefix cleared.
    private static func prefix(_ bytes: [UInt8], _ bits: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let kept = min(8, max(0, bits - index * 8))
            return kept == 0 ? 0 : byte & ~UInt8(truncatingIfNeeded: 0xFF >> kept)
        }
    }
}

/// An IP address without a port. An IPv4 address that is mapped into IPv6 counts as IPv4.
struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// The address of the current request's connection: of the client, or of a proxy.
    @TaskLocal static var ofConnection: IPAddress?

    /// 4 or 16 bytes in network order.
    let bytes: [UInt8]

    /// The bytes of the address in a `sockaddr_in` and a `sockaddr_in6`, after family, port and flow information.
    ///
    /// Source: RFC 3493 section 3.3
    private static let bytesV4 = 4..<8
    private static let bytesV6 = 8..<24

    /// nil for sockets without an IP address.
    init?(_ address: SocketAddress?) {
        switch address {
        case .v4(let address): bytes = withUnsafeBytes(of: address.address) { Array($0[Self.bytesV4]) }
        case .v6(let address):
            let all = withUnsafeBytes(of: address.address) { Array($0[Self.bytesV6]) }
            let isMapped = all[..<10].allSatisfy { $0 == 0 } && all[10] == 0xFF && all[11] == 0xFF
            bytes = isMapped ? Array(all[12...]) : all
        default: return nil
        }
    }

    /// Parses an address; nil for anything else, such as a name or an address with a zone.
    init?(_ text: String) {
        guard !text.contains("%"), let address = try? SocketAddress(ipAddress: text, port: 0) else { return nil }
        self.init(address)
    }

    var description: String {
        (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0))?.ipAddress ?? ""
    }

    /// Whether it is an address of the machine itself.
    var isLoopback: Bool { bytes.count == 4 ? bytes[0] == 127 : bytes == Array(repeating: 0, count: 15) + [1] }

    /// What one client usually has: an IPv4 address, or a /64 of IPv6.
    ///
    /// Source: RFC 6177 (a site has a /64 or more)
    var network: [UInt8] { bytes.count == 4 ? bytes : Array(bytes[..<8]) }
}
