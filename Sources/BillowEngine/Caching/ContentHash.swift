/// Hashes bytes. The result is equal in every process.
package enum ContentHash {
    /// Source: RFC 9923 (The FNV Non-Cryptographic Hash Algorithm), FNV-1a, 64 bits
    @inlinable
    package static func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// A hash of many bytes, eight at a time. It is FNV-1a of words, whose upper bits are folded into the lower ones.
    package static func ofWords(_ bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ UInt64(bytes.count)
        func add(_ word: UInt64) {
            hash = (hash ^ word) &* 0x100_0000_01B3
            hash ^= hash >> 32
        }
        bytes.withUnsafeBytes { bytes in
            let whole = bytes.count & ~7
            for start in stride(from: 0, to: whole, by: 8) {
                add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)))
            }
            for byte in bytes[whole...] { add(UInt64(byte)) }
        }
        return hash
    }
}
