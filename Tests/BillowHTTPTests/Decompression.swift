import CBrotli
import CZlib
import CZstandard
import NIOCore

@testable import BillowHTTP

extension ContentCoding {
    /// The decompressed body, by the coding's own library; nil if the body is invalid, or if bytes follow its end.
    func decompress(_ packed: ByteBuffer) -> [UInt8]? {
        switch self {
        case .identity: Array(buffer: packed)
        case .gzip: gunzip(packed)
        case .brotli: Self.unbrotli(Array(buffer: packed))
        case .zstandard: Self.unzstandard(Array(buffer: packed))
        }
    }

    private static func unbrotli(_ packed: [UInt8]) -> [UInt8]? {
        guard let decoder = BrotliDecoderCreateInstance(nil, nil, nil) else { return nil }
        defer { BrotliDecoderDestroyInstance(decoder) }
        var output: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 1 << 16)
        return packed.withUnsafeBufferPointer { packed in
            var (next, available) = (packed.baseAddress, packed.count)
            while true {
                let (result, count) = room.withUnsafeMutableBufferPointer { room in
                    var (nextOut, left) = (room.baseAddress, room.count)
                    let result = BrotliDecoderDecompressStream(decoder, &available, &next, &left, &nextOut, nil)
                    return (result, room.count - left)
                }
                output += room.prefix(count)
                switch result {
                case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: continue
                case BROTLI_DECODER_RESULT_SUCCESS: return available == 0 ? output : nil
                default: return nil
                }
            }
        }
    }

    private static func unzstandard(_ packed: [UInt8]) -> [UInt8]? {
        guard let decoder = ZSTD_createDStream() else { return nil }
        defer { ZSTD_freeDStream(decoder) }
        // The largest window that a client of HTTP must support is 8 MiB (RFC 9659).
        ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, 23)
        var output: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 1 << 16)
        return packed.withUnsafeBytes { packed in
            var input = ZSTD_inBuffer(src: packed.baseAddress, size: packed.count, pos: 0)
            while true {
                let (left, count) = room.withUnsafeMutableBytes { room in
                    var out = ZSTD_outBuffer(dst: room.baseAddress, size: room.count, pos: 0)
                    let left = ZSTD_decompressStream(decoder, &out, &input)
                    return (left, out.pos)
                }
                output += room.prefix(count)
                if ZSTD_isError(left) != 0 { return nil }
                if left == 0 { return input.pos == input.size ? output : nil }
                if count == 0, input.pos == input.size { return nil }
            }
        }
    }
}

/// The decompressed gzip body, by zlib; nil if the body is invalid, or if bytes follow its first member.
func gunzip(_ packed: ByteBuffer) -> [UInt8]? {
    var stream = z_stream()
    guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    var input = Array(packed.readableBytesView)
    var output: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 1 << 16)
    var status = Z_OK
    var left = 0
    input.withUnsafeMutableBufferPointer { input in
        stream.next_in = input.baseAddress
        stream.avail_in = UInt32(input.count)
        while status == Z_OK {
            room.withUnsafeMutableBufferPointer { room in
                stream.next_out = room.baseAddress
                stream.avail_out = UInt32(room.count)
                status = inflate(&stream, Z_NO_FLUSH)
            }
            output += room.prefix(room.count - Int(stream.avail_out))
        }
        left = Int(stream.avail_in)
    }
    return status == Z_STREAM_END && left == 0 ? output : nil
}
