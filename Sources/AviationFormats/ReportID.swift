/// The id of a report, which the service doesn't give. Reports with equal text and time are the same.
enum ReportID {
    /// `p` and the 128-bit FNV-1a hash of the time and the text as 32 hexadecimal digits. It needn't be cryptographic:
    /// a forger who controls the text could choose an id as well.
    ///
    /// Source: RFC 9923 (The FNV Non-Cryptographic Hash Algorithm), 128-bit offset basis and prime
    static func make(text: some StringProtocol, observedAtSeconds: Int) -> String {
        var hash: UInt128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d
        func mix(_ bytes: some Sequence<UInt8>) {
            for byte in bytes {
                hash ^= UInt128(byte)
                hash &*= 0x0000_0000_0100_0000_0000_0000_0000_013b
            }
        }
        mix(String(observedAtSeconds).utf8)
        mix(CollectionOfOne(0))
        mix(text.utf8)
        let digits = String(hash, radix: 16)
        return "p" + String(repeating: "0", count: 32 - digits.count) + digits
    }
}
