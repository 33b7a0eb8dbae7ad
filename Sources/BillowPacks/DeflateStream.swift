internal import CZlib
import Synchronization

/// Compresses a stream piece by piece. It uses zlib, because libdeflate needs all bytes at once.
///
/// Source: https://zlib.net/manual.html
package final class DeflateStream: Sendable {
    /// What lies around the compressed blocks.
    package enum Wrapper: Sendable {
        /// Nothing, as in an entry of a ZIP archive (RFC 1951).
        case none
        /// One gzip member (RFC 1952). Clients read only the first of several members.
        case gzip

        /// The window of 32 KiB, in zlib's code.
        fileprivate var windowBits: Int32 {
            switch self {
            case .none: -15
            case .gzip: 15 + 16
            }
        }
    }

    /// The approximate memory of a zlib stream: 2^(15 + 2) + 2^(8 + 9) bytes.
    package static let memoryBytes = 272 << 10

    private let state: Mutex<UnsafeMutablePointer<z_stream>>
    private static let outputBytes = 64 << 10

    /// nil if memory is exhausted.
    /// - Parameter level: 1…9, the levels of zlib.
    package init?(_ wrapper: Wrapper, level: Int32 = 6) {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let status = deflateInit2_(
            stream, level, Z_DEFLATED, wrapper.windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
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
    package func compress(_ bytes: [UInt8], isLast: Bool) -> [UInt8] {
        var input = bytes
        return state.withLock { stream in
            var output: [UInt8] = []
            input.withUnsafeMutableBufferPointer { input in
                stream.pointee.next_in = input.baseAddress
                stream.pointee.avail_in = UInt32(input.count)
                // If the output buffer is full, zlib may have more output.
                repeat {
                    output += [UInt8](unsafeUninitializedCapacity: Self.outputBytes) { room, count in
                        stream.pointee.next_out = room.baseAddress
                        stream.pointee.avail_out = UInt32(room.count)
                        deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                        count = Self.outputBytes - Int(stream.pointee.avail_out)
                    }
                } while stream.pointee.avail_out == 0
            }
            return output
        }
    }
}
