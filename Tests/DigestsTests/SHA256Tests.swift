import Digests
import Testing

@Suite("SHA-256") struct SHA256Tests {
    /// Source: NIST, examples of SHA-256, https://csrc.nist.gov/projects/cryptographic-standards-and-guidelines
    @Test(
        "digests of the standard's examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func knownDigests(text: String, digest: String) {
        #expect(hexadecimal(SHA256.hash(text.utf8)) == digest)
    }

    @Test("parts give the digest of the whole") func parts() {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for size in [1, 63, 64, 65, 4_096, 99_999] {
            let hash = SHA256()
            for start in stride(from: 0, to: bytes.count, by: size) {
                hash.update(bytes[start..<min(start + size, bytes.count)])
            }
            #expect(hash.finalize() == SHA256.hash(bytes))
        }
        // Without contiguous storage.
        #expect(SHA256.hash(bytes.lazy.map { $0 }) == SHA256.hash(bytes))
    }

    /// Source: RFC 4231, sections 4.2, 4.3 and 4.7, https://www.rfc-editor.org/rfc/rfc4231
    @Test(
        "codes of the RFC's examples",
        arguments: [
            (
                [UInt8](repeating: 0x0b, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func knownCodes(key: [UInt8], text: String, code: String) {
        #expect(hexadecimal(SHA256.authenticationCode(of: text.utf8, key: key)) == code)
    }

    @Test("equal byte strings are equal, others are not") func comparison() {
        #expect(isEqualInConstantTime([], []))
        #expect(isEqualInConstantTime([1, 2], [1, 2]))
        #expect(!isEqualInConstantTime([1, 2], [1, 3]))
        #expect(!isEqualInConstantTime([1, 2], [1, 2, 3]))
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
