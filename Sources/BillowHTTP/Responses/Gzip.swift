internal import CDeflate
internal import CZlib
import NIOCore
import Synchronization

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

/// Compresses a stream as one gzip member. It uses zlib, because libdeflate needs all bytes at once, and clients read
/// only the first of several members.
///
/// Source: https://zlib.net/manual.html
final class GzipStream: Sendable {
    /// The approximate memory of a zlib stream: 2^(15 + 2) + 2^(8 + 9) bytes.
    static let bytes = 272 << 10

    private let state: Mutex<UnsafeMutablePointer<z_stream>>

    /// nil if memory is exhausted.
    /// - Parameter level: 1…9, the levels of zlib.
    init?(level: Int32 = 6) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // Adding 16 to the window bits selects gzip.
        let status = deflateInit2_(
            stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        guard status == Z_OK else {
            stream.deallocate()
            return nil
        }
        state = Mutex(stream)
    }

    deinit {
        state.withLock { stream in
            deflateEnd(stream)
            stream.deallocate()
        }
    }

    /// Compresses bytes.
    /// - Parameter isLast: whether these are the last bytes.
    /// - Returns: the available output; may be empty until the end.
    func compress(_ bytes: ByteBuffer, isLast: Bool) -> ByteBuffer {
        var input = Array(bytes.readableBytesView)
        return state.withLock { stream in
            var output = ByteBuffer()
            input.withUnsafeMutableBufferPointer { input in
                stream.pointee.next_in = input.baseAddress
                stream.pointee.avail_in = UInt32(input.count)
                // If the output buffer is full, zlib may have more output.
                repeat {
                    output.writeWithUnsafeMutableBytes(minimumWritableBytes: 64 << 10) { room in
                        stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
                        stream.pointee.avail_out = UInt32(room.count)
                        deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                        return room.count - Int(stream.pointee.avail_out)
                    }
                } while stream.pointee.avail_out == 0
            }
            return output
        }
    }
}
