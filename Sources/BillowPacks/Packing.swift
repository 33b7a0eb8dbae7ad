internal import CDeflate

/// Compression and checksums.
enum Packing {
    /// The compression level of libdeflate, 1…12.
    private static let level: Int32 = 6

    /// Compresses to a single gzip member. The result depends only on the bytes.
    ///
    /// Source: RFC 1952
    static func gzip(_ bytes: [UInt8]) throws(PackError) -> [UInt8] {
        try packed(bytes, bound: libdeflate_gzip_compress_bound, by: libdeflate_gzip_compress)
    }

    /// Compresses to a raw deflate stream.
    ///
    /// Source: RFC 1951
    static func deflate(_ bytes: [UInt8]) throws(PackError) -> [UInt8] {
        try packed(bytes, bound: libdeflate_deflate_compress_bound, by: libdeflate_deflate_compress)
    }

    private static func packed(
        _ bytes: [UInt8], bound: (OpaquePointer?, Int) -> Int,
        by compress: (OpaquePointer?, UnsafeRawPointer?, Int, UnsafeMutableRawPointer?, Int) -> Int
    ) throws(PackError) -> [UInt8] {
        guard let compressor = libdeflate_alloc_compressor(level) else { throw .memory }
        defer { libdeflate_free_compressor(compressor) }
        let limit = bound(compressor, bytes.count)
        let packed = [UInt8](unsafeUninitializedCapacity: limit) { out, count in
            count = compress(compressor, bytes, bytes.count, out.baseAddress, limit)
        }
        guard !packed.isEmpty else { throw .memory }
        return packed
    }

    /// Continues a CRC-32, which starts with 0.
    static func crc32(_ sum: UInt32, _ bytes: [UInt8]) -> UInt32 { libdeflate_crc32(sum, bytes, bytes.count) }
}
