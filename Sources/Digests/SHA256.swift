import COpenSSL

/// Computes the SHA-256 digest of bytes that come in parts.
///
/// Source: FIPS 180-4, https://doi.org/10.6028/NIST.FIPS.180-4
package struct SHA256: ~Copyable {
    /// The length of a digest in bytes.
    package static let byteCount = 32

    private let context: OpaquePointer

    package init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            fatalError("SHA-256: out of memory")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds the next bytes.
    package func update(_ bytes: some Collection<UInt8>) {
        withBuffer(of: bytes) { buffer in
            // Fails only without memory, which a digest doesn't allocate here.
            let result = EVP_DigestUpdate(context, buffer.baseAddress, buffer.count)
            precondition(result == 1, "SHA-256 can't be continued")
        }
    }

    /// The digest of all bytes: `byteCount` bytes.
    package consuming func finalize() -> [UInt8] {
        let context = context
        return [UInt8](unsafeUninitializedCapacity: Self.byteCount) { digest, count in
            let result = EVP_DigestFinal_ex(context, digest.baseAddress, nil)
            precondition(result == 1, "SHA-256 can't be finished")
            count = Self.byteCount
        }
    }

    /// The digest of some bytes.
    package static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        let hash = SHA256()
        hash.update(bytes)
        return hash.finalize()
    }

    /// The authentication code of some bytes by a key: HMAC with SHA-256, `byteCount` bytes.
    ///
    /// Source: RFC 2104, https://www.rfc-editor.org/rfc/rfc2104
    package static func authenticationCode(of bytes: some Collection<UInt8>, key: [UInt8]) -> [UInt8] {
        withBuffer(of: bytes) { buffer in
            [UInt8](unsafeUninitializedCapacity: byteCount) { code, count in
                let result = HMAC(
                    EVP_sha256(), key, Int32(key.count), buffer.baseAddress, buffer.count, code.baseAddress, nil)
                precondition(result != nil, "HMAC: out of memory")
                count = byteCount
            }
        }
    }
}

/// Whether two byte strings are equal. The time depends on their lengths only.
package func isEqualInConstantTime(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
}

/// Calls a closure with the bytes of a collection, which are copied only if they aren't contiguous.
private func withBuffer<Value>(
    of bytes: some Collection<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Value
) -> Value {
    if let value = bytes.withContiguousStorageIfAvailable(body) { return value }
    return Array(bytes).withUnsafeBufferPointer(body)
}
