/// Hashes bytes. The result is equal in every process.
package enum ContentHash {
    /// Source: RFC 9923 (The FNV Non-Cryptographic Hash Algorithm), FNV-1a, 64 bits
    @inlinable
    package static func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
