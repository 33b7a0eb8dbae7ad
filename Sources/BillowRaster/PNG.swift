import CPNG

/// An error in encoding a picture, or in decoding a PNG.
public enum PNGError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The width or height is outside 1...`PNG.largestSide`.
    case sizeOutOfRange(width: Int, height: Int)
    /// The number of pixels is not width × height.
    case wrongCount(actual: Int, expected: Int)
    /// The palette doesn't have 1 to 256 colours.
    case paletteOutOfRange(count: Int)
    /// A pixel's index is not in the palette.
    case indexOutsidePalette(index: Int, paletteCount: Int)
    /// The level is outside 0 to 12 for libdeflate, or 0 to 9 for libpng.
    case compressionLevelOutOfRange(Int, largest: Int)
    /// The compressor couldn't be made, or its buffer was too small.
    case compressorFailed
    /// An error of libpng, with its message.
    case library(String)

    public var description: String {
        switch self {
        case .sizeOutOfRange(let width, let height):
            "picture of \(width) × \(height) pixels; each side must be 1 to \(PNG.largestSide)"
        case .wrongCount(let actual, let expected): "\(actual) pixels given for a picture that has \(expected)"
        case .paletteOutOfRange(let count): "palette of \(count) colours; must be 1 to 256"
        case .indexOutsidePalette(let index, let count): "pixel of colour \(index) in a palette of \(count)"
        case .compressionLevelOutOfRange(let level, let largest): "compression level \(level); must be 0 to \(largest)"
        case .compressorFailed: "the compressor failed"
        case .library(let message): "libpng: \(message)"
        }
    }
}

/// A decoded picture: straight RGBA, 8 bits a channel, row-major from the top left.
package struct DecodedPNG: Sendable, Hashable {
    package let width: Int
    package let height: Int
    package let pixels: [StraightColour]

    /// The pixel in column x from the left and row y from the top; nil outside.
    package subscript(x: Int, y: Int) -> StraightColour? {
        guard x >= 0, y >= 0, x < width, y < height else { return nil }
        return pixels[y * width + x]
    }
}

/// PNG by libpng, for everything except the hot tile path (`IndexedPNGEncoder`).
///
/// Source: Portable Network Graphics (PNG) Specification (Third Edition), W3C
package enum PNG {
    /// The maximum side in pixels. Larger pictures are rejected before any memory is allocated for them.
    package static let largestSide = 16_384

    /// Encodes a palette picture with the smallest bit depth for the palette; no interlace, filter 0.
    ///
    /// - Parameters:
    ///   - indices: row-major from the top left, each below `palette.count`.
    ///   - palette: 1 to 256 colours.
    ///   - level: zlib's, 0 to 9.
    ///   - width: pixels.
    ///   - height: pixels.
    package static func encode(
        indexed indices: [UInt8], width: Int, height: Int, palette: [StraightColour], level: Int = 6
    ) throws(PNGError) -> [UInt8] {
        let shape = try IndexedShape(indices: indices.span, width: width, height: height, palette: palette)
        var picture = try BillowPNGPicture(width: width, height: height, level: level)
        picture.bit_depth = Int32(shape.bitDepth)
        picture.colour_type = PNG_COLOR_MASK_COLOR | PNG_COLOR_MASK_PALETTE
        picture.row_bytes = width
        return try write(
            picture, pixels: indices, palette: palette.flatMap { [$0.red, $0.green, $0.blue] },
            transparency: palette.prefix(shape.transparencyCount).map(\.alpha))
    }

    /// Encodes a true-colour picture with alpha.
    ///
    /// - Parameters:
    ///   - pixels: straight RGBA, row-major from the top left.
    ///   - level: zlib's, 0 to 9.
    ///   - width: pixels.
    ///   - height: pixels.
    package static func encode(rgba pixels: [StraightColour], width: Int, height: Int, level: Int = 6) throws(PNGError)
        -> [UInt8]
    {
        var picture = try BillowPNGPicture(width: width, height: height, level: level)
        guard pixels.count == width * height else {
            throw .wrongCount(actual: pixels.count, expected: width * height)
        }
        picture.bit_depth = 8
        picture.colour_type = PNG_COLOR_MASK_COLOR | PNG_COLOR_MASK_ALPHA
        picture.row_bytes = width * 4
        let bytes = [UInt8](unsafeUninitializedCapacity: pixels.count * 4) { bytes, count in
            for (i, pixel) in pixels.enumerated() {
                bytes[4 * i] = pixel.red
                bytes[4 * i + 1] = pixel.green
                bytes[4 * i + 2] = pixel.blue
                bytes[4 * i + 3] = pixel.alpha
            }
            count = pixels.count * 4
        }
        return try write(picture, pixels: bytes, palette: [], transparency: [])
    }

    /// Decodes any PNG (all colour types, depths and interlacing) to straight RGBA of 8 bits. Gamma and colour space
    /// chunks are not applied.
    ///
    /// - Throws: `library` for data that libpng rejects: not a PNG, truncated, damaged, or larger than `largestSide`.
    package static func decode(_ data: [UInt8]) throws(PNGError) -> DecodedPNG {
        var out = BillowPNGBuffer()
        var width: UInt32 = 0
        var height: UInt32 = 0
        let failure = failure { message in
            data.withUnsafeBufferPointer {
                billow_png_read($0.baseAddress, $0.count, UInt32(largestSide), &out, &width, &height, message) == 1
            }
        }
        if let failure { throw .library(failure) }
        defer { billow_png_free(out.bytes) }
        let bytes = UnsafeBufferPointer(start: out.bytes, count: out.count)
        let pixels = stride(from: 0, to: bytes.count, by: 4).map {
            StraightColour(red: bytes[$0], green: bytes[$0 + 1], blue: bytes[$0 + 2], alpha: bytes[$0 + 3])
        }
        return DecodedPNG(width: Int(width), height: Int(height), pixels: pixels)
    }

    private static func write(
        _ picture: BillowPNGPicture, pixels: [UInt8], palette: [UInt8], transparency: [UInt8]
    ) throws(PNGError) -> [UInt8] {
        var picture = picture
        var out = BillowPNGBuffer()
        let failure = failure { message in
            pixels.withUnsafeBufferPointer { pixels in
                palette.withUnsafeBufferPointer { palette in
                    transparency.withUnsafeBufferPointer { transparency in
                        picture.pixels = pixels.baseAddress
                        picture.palette = palette.baseAddress
                        picture.palette_count = Int32(palette.count / 3)
                        picture.transparency = transparency.baseAddress
                        picture.transparency_count = Int32(transparency.count)
                        return billow_png_write(&picture, &out, message) == 1
                    }
                }
            }
        }
        if let failure { throw .library(failure) }
        defer { billow_png_free(out.bytes) }
        return [UInt8](UnsafeBufferPointer(start: out.bytes, count: out.count))
    }

    /// nil if the body succeeds, otherwise the message that it wrote to the buffer.
    private static func failure(_ body: (UnsafeMutablePointer<CChar>) -> Bool) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: BILLOW_PNG_MESSAGE) { buffer in
            buffer.initialize(repeating: 0)
            guard let start = buffer.baseAddress, !body(start) else { return nil }
            return String(cString: start)
        }
    }
}

extension BillowPNGPicture {
    /// libpng rejects a side of 0.
    fileprivate init(width: Int, height: Int, level: Int) throws(PNGError) {
        guard let w = UInt32(exactly: width), let h = UInt32(exactly: height), w <= PNG.largestSide,
            h <= PNG.largestSide
        else { throw .sizeOutOfRange(width: width, height: height) }
        guard (0...9).contains(level) else { throw .compressionLevelOutOfRange(level, largest: 9) }
        self.init()
        self.width = w
        self.height = h
        self.level = Int32(level)
    }
}
