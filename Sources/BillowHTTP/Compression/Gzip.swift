internal import CDeflate

/// Compression with the content coding `gzip`.
///
/// Source: RFC 1952
enum Gzip {
    /// The bytes as one gzip member; nil if memory is exhausted.
    /// - Parameter level: 1…12, the levels of libdeflate.
    static func compress(_ bytes: [UInt8], level: Int32) -> [UInt8]? {
        guard let compressor = libdeflate_alloc_compressor(level) else { return nil }
        defer { libdeflate_free_compressor(compressor) }
        let bound = libdeflate_gzip_compress_bound(compressor, bytes.count)
        let packed = [UInt8](unsafeUninitializedCapacity: bound) { out, count in
            count = libdeflate_gzip_compress(compressor, bytes, bytes.count, out.baseAddress, bound)
        }
        return packed.isEmpty ? nil : packed
    }
}
