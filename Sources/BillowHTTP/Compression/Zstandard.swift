internal import CZstandard
import Synchronization

/// Compression with the content coding `zstd`.
///
/// Source: RFC 8878, https://facebook.github.io/zstd/zstd_manual.html
enum Zstandard {
    /// The bytes as one frame; nil if memory is exhausted.
    /// - Parameter level: 1…9. Higher levels of the library use larger windows than RFC 9659 permits.
    static func compress(_ bytes: [UInt8], level: Int32) -> [UInt8]? {
        let bound = ZSTD_compressBound(bytes.count)
        let packed = [UInt8](unsafeUninitializedCapacity: bound) { out, count in
            let size = ZSTD_compress(out.baseAddress, bound, bytes, bytes.count, level)
            count = ZSTD_isError(size) == 0 ? size : 0
        }
        return packed.isEmpty ? nil : packed
    }
}

/// Compresses a stream piece by piece with the content coding `zstd`.
///
/// Source: https://facebook.github.io/zstd/zstd_manual.html
final class ZstandardStream: CompressionStream {
    private static let level: Int32 = 1

    /// The context of this level, rounded up. A test measures it.
    static let memoryBytes = 2 << 20

    private let state: Mutex<OpaquePointer>

    /// nil if memory is exhausted.
    init?() {
        guard let context = ZSTD_createCCtx() else { return nil }
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, Self.level)
        state = Mutex(context)
    }

    deinit { state.withLock { _ = ZSTD_freeCCtx($0) } }

    /// The memory of the context now, in bytes.
    var usedBytes: Int { state.withLock { ZSTD_sizeof_CCtx($0) } }

    func compress(_ bytes: [UInt8], isLast: Bool) -> [UInt8] {
        state.withLock { context in
            var output: [UInt8] = []
            bytes.withUnsafeBytes { bytes in
                var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
                var isDone = false
                repeat {
                    output += [UInt8](unsafeUninitializedCapacity: CompressionPiece.bytes) { room, count in
                        var out = ZSTD_outBuffer(dst: room.baseAddress, size: CompressionPiece.bytes, pos: 0)
                        let left = ZSTD_compressStream2(context, &out, &input, isLast ? ZSTD_e_end : ZSTD_e_continue)
                        isDone = ZSTD_isError(left) != 0 || (isLast ? left == 0 : input.pos == input.size)
                        count = out.pos
                    }
                } while !isDone
            }
            return output
        }
    }
}
