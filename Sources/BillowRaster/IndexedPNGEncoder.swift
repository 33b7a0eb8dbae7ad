import CDeflate

/// The validated dimensions of a palette picture, which both encoders need before they write it.
struct IndexedShape {
    /// 1, 2, 4 or 8: the fewest bits that can represent every index of the palette.
    let bitDepth: Int
    /// The number of tRNS entries: palette entries up to the last one that isn't opaque. It is 0 if all are opaque.
    let transparencyCount: Int

    /// - Throws: `sizeOutOfRange`, `wrongCount`, `paletteOutOfRange`, `indexOutsidePalette`.
    init(indices: Span<UInt8>, width: Int, height: Int, palette: [StraightColour]) throws(PNGError) {
        guard (1...PNG.largestSide).contains(width), (1...PNG.largestSide).contains(height) else {
            throw .sizeOutOfRange(width: width, height: height)
        }
        guard indices.count == width * height else {
            throw .wrongCount(actual: indices.count, expected: width * height)
        }
        guard (1...256).contains(palette.count) else { throw .paletteOutOfRange(count: palette.count) }
        let largest = indices.withUnsafeBufferPointer { pixels in
            var largest: UInt8 = 0
            for pixel in pixels { largest = max(largest, pixel) }
            return largest
        }
        guard Int(largest) < palette.count else {
            throw .indexOutsidePalette(index: Int(largest), paletteCount: palette.count)
        }
        bitDepth = palette.count <= 2 ? 1 : palette.count <= 4 ? 2 : palette.count <= 16 ? 4 : 8
        transparencyCount = (palette.lastIndex { $0.alpha < 255 } ?? -1) + 1
    }
}

/// The PNG encoder of the tile path: palette pictures by `RowDeflate` (or libdeflate), with Billow's own chunk framing.
/// It is several times as fast as libpng.
///
/// Each render worker has its own instance. It owns a compressor and buffers that it reuses from picture to picture. In
/// the steady state only the result is allocated. It isn't `Sendable`.
///
/// Rows have filter 0 (best for palettes: section 12.7), and there is no interlacing. The encoder never reorders the
/// palette. tRNS ends at the last entry that isn't opaque, so a caller saves bytes by putting translucent colours
/// first.
///
/// Source: Portable Network Graphics (PNG) Specification (Third Edition), W3C, sections 5.3, 7.2, 11.2 and 11.3.1.1
public final class IndexedPNGEncoder {
    /// 1 selects `RowDeflate`; 0 and 2 to 12 are libdeflate's levels. Higher levels are smaller and slower.
    public let level: Int

    private let compressor: OpaquePointer
    private let rowDeflate = RowDeflate()
    /// The filter byte and the packed pixels of every row.
    private var rows: [UInt8] = []
    /// The zlib stream.
    private var stream: [UInt8] = []

    /// The fastest level that compresses: `RowDeflate`. Measured on 256 × 256 hexagon pictures of zooms 4–9, one
    /// thread: 0.12 ms and 7,095 bytes. libdeflate's own level 1 took 0.23 ms for 2–3 % fewer bytes. Its level 5 took
    /// two to three times as long for 7–9 % fewer (`Benchmarks/run levels`).
    public static let defaultLevel = 1

    /// - Throws: `compressionLevelOutOfRange`, `compressorFailed` when out of memory.
    public init(level: Int = defaultLevel) throws(PNGError) {
        guard (0...12).contains(level) else { throw .compressionLevelOutOfRange(level, largest: 12) }
        guard let compressor = libdeflate_alloc_compressor(Int32(level)) else { throw .compressorFailed }
        self.level = level
        self.compressor = compressor
    }

    deinit { libdeflate_free_compressor(compressor) }

    /// Encodes a picture as a whole PNG file.
    ///
    /// - Parameters:
    ///   - indices: row-major from the top left, `width` × `height` of them, each below `palette.count`.
    ///   - palette: 1 to 256 colours; their number decides the bit depth (1, 2, 4 or 8).
    ///   - width: pixels.
    ///   - height: pixels.
    /// - Throws: `sizeOutOfRange`, `wrongCount`, `paletteOutOfRange`, `indexOutsidePalette`.
    /// - Complexity: O(width × height)
    public func encode(indices: Span<UInt8>, width: Int, height: Int, palette: [StraightColour]) throws(PNGError)
        -> [UInt8]
    {
        let shape = try IndexedShape(indices: indices, width: width, height: height, palette: palette)
        indices.withUnsafeBufferPointer { pack($0, width: width, height: height, bitDepth: shape.bitDepth) }
        let streamCount = try compress(rowBytes: (width * shape.bitDepth + 7) / 8 + 1)

        let contents = [13, 3 * palette.count, shape.transparencyCount, streamCount, 0]
        let total = PNGChunks.signature.count + contents.reduce(0) { $0 + PNGChunks.overhead + $1 }
        return [UInt8](unsafeUninitializedCapacity: total) { out, count in
            var chunks = PNGChunks(out)
            chunks.header(width: width, height: height, bitDepth: shape.bitDepth)
            chunks.write(.palette, count: 3 * palette.count) { bytes in
                for (i, colour) in palette.enumerated() {
                    bytes[3 * i] = colour.red
                    bytes[3 * i + 1] = colour.green
                    bytes[3 * i + 2] = colour.blue
                }
            }
            if shape.transparencyCount > 0 {
                chunks.write(.transparency, count: shape.transparencyCount) { bytes in
                    for i in 0..<shape.transparencyCount { bytes[i] = palette[i].alpha }
                }
            }
            chunks.write(.data, count: streamCount) { bytes in
                stream.withUnsafeBufferPointer { _ = bytes.update(fromContentsOf: $0[..<streamCount]) }
            }
            chunks.write(.end, count: 0) { _ in }
            count = chunks.offset
        }
    }

    /// Encodes a picture whose indices are in an array.
    public func encode(indices: [UInt8], width: Int, height: Int, palette: [StraightColour]) throws(PNGError)
        -> [UInt8]
    {
        try encode(indices: indices.span, width: width, height: height, palette: palette)
    }

    /// Fills `rows`: each row is the filter byte 0, then pixels packed from the left into the high bits first.
    private func pack(_ indices: UnsafeBufferPointer<UInt8>, width: Int, height: Int, bitDepth: Int) {
        let pixelsPerByte = 8 / bitDepth
        let packedWidth = (width + pixelsPerByte - 1) / pixelsPerByte
        let needed = (packedWidth + 1) * height + RowDeflate.slack
        if rows.count != needed { rows = [UInt8](repeating: 0, count: needed) }
        rows.withUnsafeMutableBufferPointer { rows in
            for y in 0..<height {
                let row = UnsafeBufferPointer(rebasing: indices[y * width..<(y + 1) * width])
                let start = y * (packedWidth + 1)
                rows[start] = 0
                let packed = UnsafeMutableBufferPointer(rebasing: rows[start + 1..<start + 1 + packedWidth])
                switch pixelsPerByte {
                case 1: _ = packed.update(fromContentsOf: row)
                case 2: IndexedPNGEncoder.pack(row, into: packed, pixelsPerByte: 2)
                case 4: IndexedPNGEncoder.pack(row, into: packed, pixelsPerByte: 4)
                default: IndexedPNGEncoder.pack(row, into: packed, pixelsPerByte: 8)
                }
            }
        }
    }

    /// Packs one row. Inlined for each constant `pixelsPerByte`, so that the inner loop unrolls.
    @inline(__always)
    private static func pack(
        _ row: UnsafeBufferPointer<UInt8>, into packed: UnsafeMutableBufferPointer<UInt8>, pixelsPerByte: Int
    ) {
        let bits = 8 / pixelsPerByte
        let whole = row.count / pixelsPerByte
        for i in 0..<whole {
            var byte: UInt8 = 0
            for k in 0..<pixelsPerByte {
                byte = byte &<< UInt8(truncatingIfNeeded: bits) | row[i &* pixelsPerByte &+ k]
            }
            packed[i] = byte
        }
        let rest = row.count - whole * pixelsPerByte
        if rest > 0 {
            var byte: UInt8 = 0
            for k in 0..<rest { byte = byte << bits | row[whole * pixelsPerByte + k] }
            packed[whole] = byte << (bits * (pixelsPerByte - rest))
        }
    }

    /// Compresses `rows` to a zlib stream at the start of `stream`, and returns its length.
    private func compress(rowBytes: Int) throws(PNGError) -> Int {
        let bytes = rows.count - RowDeflate.slack
        let bound = level == 1 ? RowDeflate.bound(bytes) : libdeflate_zlib_compress_bound(compressor, bytes)
        if stream.count < bound { stream = [UInt8](repeating: 0, count: bound) }
        let count = rows.withUnsafeBufferPointer { rows in
            stream.withUnsafeMutableBufferPointer { stream in
                level == 1
                    ? rowDeflate.compress(
                        rows, count: bytes, rowBytes: rowBytes,
                        checksum: libdeflate_adler32(1, rows.baseAddress, bytes), into: stream)
                    : libdeflate_zlib_compress(compressor, rows.baseAddress, bytes, stream.baseAddress, stream.count)
            }
        }
        guard count > 0 else { throw .compressorFailed }
        return count
    }
}

/// Writes PNG chunks one after another into memory that is known to be large enough.
struct PNGChunks {
    /// The four letters of a chunk as a big-endian word.
    enum Kind: UInt32 {
        case header = 0x4948_4452  // IHDR
        case palette = 0x504C_5445  // PLTE
        case transparency = 0x7452_4E53  // tRNS
        case data = 0x4944_4154  // IDAT
        case end = 0x4945_4E44  // IEND
    }

    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The bytes of length, kind and CRC around every chunk's content.
    static let overhead = 12

    private let out: UnsafeMutableBufferPointer<UInt8>
    private(set) var offset = 0

    init(_ out: UnsafeMutableBufferPointer<UInt8>) { self.out = out }

    /// Writes the signature and IHDR of a palette picture.
    mutating func header(width: Int, height: Int, bitDepth: Int) {
        for byte in PNGChunks.signature { append(byte) }
        write(.header, count: 13) { bytes in
            PNGChunks.store(UInt32(truncatingIfNeeded: width), in: bytes, at: 0)
            PNGChunks.store(UInt32(truncatingIfNeeded: height), in: bytes, at: 4)
            bytes[8] = UInt8(truncatingIfNeeded: bitDepth)
            bytes[9] = 3  // colour type: indexed
            bytes[10] = 0  // compression: deflate
            bytes[11] = 0  // filter method: the only one
            bytes[12] = 0  // no interlace
        }
    }

    /// Writes one chunk; `fill` writes its content in place.
    mutating func write(_ kind: Kind, count: Int, fill: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
        append(UInt32(truncatingIfNeeded: count))
        let start = offset
        append(kind.rawValue)
        fill(UnsafeMutableBufferPointer(rebasing: out[offset..<offset + count]))
        offset += count
        let checked = UnsafeBufferPointer(rebasing: out[start..<offset])
        append(libdeflate_crc32(0, checked.baseAddress, checked.count))
    }

    private mutating func append(_ byte: UInt8) {
        out[offset] = byte
        offset += 1
    }

    private mutating func append(_ word: UInt32) {
        PNGChunks.store(word, in: out, at: offset)
        offset += 4
    }

    private static func store(_ word: UInt32, in bytes: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
        for i in 0..<4 { bytes[start + i] = UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * i)) }
    }
}
