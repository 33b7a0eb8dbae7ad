/// Hashes bytes. The result is equal in every process.
package enum ContentHash {
    /// Source: RFC 9923 (The FNV Non-Cryptographic Hash Algorithm), FNV-1a, 64 bits
    @inlinable
    package static func fnv1a(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// A hash of many bytes, eight at a time. It is FNV-1a of words, whose upper bits are folded into the lower ones.
    package static func ofWords(_ bytes: [UInt8]) -> UInt64 {
        var hash = start ^ UInt64(bytes.count)
        func add(_ word: UInt64) { hash = adding(word, to: hash) }
        bytes.withUnsafeBytes { bytes in
            let whole = bytes.count & ~7
            for start in stride(from: 0, to: whole, by: 8) {
                add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)))
            }
            for byte in bytes[whole...] { add(UInt64(byte)) }
        }
        return hash
    }

    /// A hash of some words.
    static func of(_ one: UInt64, _ two: UInt64, _ three: UInt64, _ four: UInt64) -> UInt64 {
        adding(four, to: adding(three, to: adding(two, to: adding(one, to: start))))
    }

    private static let start: UInt64 = 0xCBF2_9CE4_8422_2325

    private static func adding(_ word: UInt64, to hash: UInt64) -> UInt64 {
        let product = (hash ^ word) &* 0x100_0000_01B3
        return product ^ product >> 32
    }
}
