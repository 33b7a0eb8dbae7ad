internal import CBrotli
import Synchronization

/// Compression with the content coding `br`.
///
/// Source: RFC 7932, https://www.brotli.org/encode.html
enum Brotli {
    /// A window of 256 KiB, as the base-2 logarithm. The library's own 4 MiB take 34 MB, and make features larger.
    private static let windowBits: Int32 = 18

    /// The compressed bytes; nil if memory is exhausted.
    /// - Parameter quality: 0…11, the qualities of the library.
    static func compress(_ bytes: [UInt8], quality: Int32) -> [UInt8]? {
        // 0 for more bytes than the library can compress.
        let bound = BrotliEncoderMaxCompressedSize(bytes.count)
        guard bound > 0 else { return nil }
        let packed = [UInt8](unsafeUninitializedCapacity: bound) { out, count in
            count = bound
            let isDone = BrotliEncoderCompress(
                quality, windowBits, BROTLI_MODE_GENERIC, bytes.count, bytes, &count, out.baseAddress)
            if isDone == BROTLI_FALSE { count = 0 }
        }
        return packed.isEmpty ? nil : packed
    }
}

/// Compresses a stream piece by piece with the content coding `br`.
///
/// Source: https://www.brotli.org/encode.html
final class BrotliStream: CompressionStream {
    /// A window of 64 KiB, as the base-2 logarithm. A larger window takes more memory and makes features larger.
    private static let windowBits: UInt32 = 16
    private static let quality: UInt32 = 5

    /// The memory of this quality and window: 1.87 MB were measured by the library's own allocator, rounded up.
    static let memoryBytes = 2 << 20

    private let state: Mutex<OpaquePointer>

    /// nil if memory is exhausted.
    init?() {
        guard let encoder = BrotliEncoderCreateInstance(nil, nil, nil) else { return nil }
        BrotliEncoderSetParameter(encoder, BROTLI_PARAM_QUALITY, Self.quality)
        BrotliEncoderSetParameter(encoder, BROTLI_PARAM_LGWIN, Self.windowBits)
        state = Mutex(encoder)
    }

    deinit { state.withLock { BrotliEncoderDestroyInstance($0) } }

    func compress(_ bytes: [UInt8], isLast: Bool) -> [UInt8] {
        state.withLock { encoder in
            var output: [UInt8] = []
            bytes.withUnsafeBufferPointer { input in
                var next = input.baseAddress
                var available = input.count
                repeat {
                    output += [UInt8](unsafeUninitializedCapacity: CompressionPiece.bytes) { room, count in
                        var nextOut = room.baseAddress
                        var left = CompressionPiece.bytes
                        BrotliEncoderCompressStream(
                            encoder, isLast ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_PROCESS, &available, &next,
                            &left, &nextOut, nil)
                        count = CompressionPiece.bytes - left
                    }
                } while available > 0 || BrotliEncoderHasMoreOutput(encoder) != BROTLI_FALSE
            }
            return output
        }
    }
}
