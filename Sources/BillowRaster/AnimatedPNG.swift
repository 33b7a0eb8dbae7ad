import CDeflate

/// One picture of an animation and its delay.
package struct AnimationFrame: Sendable {
    /// The pixels as straight RGBA, row-major from the top left.
    package var pixels: [StraightColour]
    /// How long the picture is shown, from 1 to 65,535 ms.
    package var delayMilliseconds: Int

    package init(pixels: [StraightColour], delayMilliseconds: Int) {
        self.pixels = pixels
        self.delayMilliseconds = delayMilliseconds
    }
}

/// Encodes animated PNG with a palette. Each frame after the first holds only the box that differs from the one before.
/// A viewer without support for animations shows the first frame.
///
/// Source: Portable Network Graphics (PNG) Specification (Third Edition), W3C, sections 4.9 and 11.3.6 (acTL, fcTL,
/// fdAT)
package enum AnimatedPNG {
    /// Encodes an animation. All frames share one palette. If there are more than 256 colours, the most frequent ones
    /// stay exact and the others are replaced by the nearest of those.
    ///
    /// - Parameters:
    ///   - frames: at least one, each of width × height pixels.
    ///   - loops: how often it plays; 0 means forever.
    ///   - width: pixels.
    ///   - height: pixels.
    /// - Throws: `sizeOutOfRange`, `wrongCount`, `compressorFailed`.
    /// - Complexity: O(frames × pixels)
    package static func encode(width: Int, height: Int, frames: [AnimationFrame], loops: Int) throws(PNGError)
        -> [UInt8]
    {
        guard (1...PNG.largestSide).contains(width), (1...PNG.largestSide).contains(height) else {
            throw .sizeOutOfRange(width: width, height: height)
        }
        for frame in frames where frame.pixels.count != width * height {
            throw .wrongCount(actual: frame.pixels.count, expected: width * height)
        }
        guard !frames.isEmpty else { throw .wrongCount(actual: 0, expected: width * height) }
        let palette = SharedPalette(frames.map(\.pixels))
        let canvas = Size(width: width, height: height)
        let parts = parts(of: frames, palette, canvas)

        var file = ChunkWriter()
        let header = ChunkWriter.words(UInt32(width), UInt32(height)) + [8, 3, 0, 0, 0]
        file.write("IHDR", header)
        if parts.count > 1 {
            file.write("acTL", ChunkWriter.words(UInt32(parts.count), UInt32(clamping: loops)))
        }
        file.write("PLTE", palette.colours.flatMap { [$0.red, $0.green, $0.blue] })
        let translucent = (palette.colours.lastIndex { $0.alpha < 255 } ?? -1) + 1
        if translucent > 0 { file.write("tRNS", palette.colours[..<translucent].map(\.alpha)) }
        var sequence: UInt32 = 0
        for (number, part) in parts.enumerated() {
            let data = try compress(part, canvas)
            if parts.count > 1 {
                file.write("fcTL", ChunkWriter.words(sequence) + part.control)
                sequence += 1
            }
            if number == 0 {
                file.write("IDAT", data)
            } else {
                file.write("fdAT", ChunkWriter.words(sequence) + data)
                sequence += 1
            }
        }
        file.write("IEND", [])
        return file.bytes
    }

    private struct Size {
        var width: Int
        var height: Int
    }

    /// A changed box of a frame, with the indices of the whole frame.
    private struct Part {
        var columns: Range<Int>
        var rows: Range<Int>
        var indices: [UInt8]
        var delayMilliseconds: Int

        /// The fcTL chunk without its sequence number. The box replaces the pixels below it (blend 0), and it isn't
        /// removed afterwards (dispose 0).
        var control: [UInt8] {
            let delay = UInt16(clamping: delayMilliseconds)
            let thousandths: UInt16 = 1_000
            let box = ChunkWriter.words(
                UInt32(columns.count), UInt32(rows.count), UInt32(columns.lowerBound), UInt32(rows.lowerBound))
            let times = [delay, thousandths].flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
            return box + times + [0, 0]
        }
    }

    /// The changed part of each frame. A frame equal to the one before only extends its delay, up to the maximum delay.
    private static func parts(of frames: [AnimationFrame], _ palette: SharedPalette, _ size: Size) -> [Part] {
        var parts: [Part] = []
        for frame in frames {
            let indices = palette.indices(of: frame.pixels)
            guard let previous = parts.last else {
                parts.append(
                    Part(
                        columns: 0..<size.width, rows: 0..<size.height, indices: indices,
                        delayMilliseconds: frame.delayMilliseconds))
                continue
            }
            if let (columns, rows) = difference(previous.indices, indices, size) {
                parts.append(
                    Part(columns: columns, rows: rows, indices: indices, delayMilliseconds: frame.delayMilliseconds))
            } else if previous.delayMilliseconds + frame.delayMilliseconds <= Int(UInt16.max) {
                parts[parts.count - 1].delayMilliseconds += frame.delayMilliseconds
            } else {
                // The delay is at its maximum, so repeat one unchanged pixel.
                parts.append(
                    Part(columns: 0..<1, rows: 0..<1, indices: indices, delayMilliseconds: frame.delayMilliseconds))
            }
        }
        return parts
    }

    /// The smallest box that contains all differences between two frames; nil if they are equal.
    private static func difference(_ a: [UInt8], _ b: [UInt8], _ size: Size) -> (Range<Int>, Range<Int>)? {
        var columns = (first: size.width, last: -1)
        var rows = (first: size.height, last: -1)
        for row in 0..<size.height {
            let range = row * size.width..<(row + 1) * size.width
            guard let first = range.first(where: { a[$0] != b[$0] }), let last = range.last(where: { a[$0] != b[$0] })
            else { continue }
            columns = (min(columns.first, first - range.lowerBound), max(columns.last, last - range.lowerBound))
            rows = (min(rows.first, row), row)
        }
        return rows.last < 0 ? nil : (columns.first..<columns.last + 1, rows.first..<rows.last + 1)
    }

    /// The highest compression level: an animation is encoded once and sent often.
    private static let level: Int32 = 9

    private static func compress(_ part: Part, _ size: Size) throws(PNGError) -> [UInt8] {
        guard let compressor = libdeflate_alloc_compressor(level) else { throw .compressorFailed }
        defer { libdeflate_free_compressor(compressor) }
        var rows: [UInt8] = []
        rows.reserveCapacity((part.columns.count + 1) * part.rows.count)
        for row in part.rows {
            rows.append(0)
            rows +=
                part.indices[row * size.width + part.columns.lowerBound..<row * size.width + part.columns.upperBound]
        }
        let bound = libdeflate_zlib_compress_bound(compressor, rows.count)
        let stream = [UInt8](unsafeUninitializedCapacity: bound) { out, count in
            count = libdeflate_zlib_compress(compressor, rows, rows.count, out.baseAddress, bound)
        }
        guard !stream.isEmpty else { throw .compressorFailed }
        return stream
    }
}

/// A palette of at most 256 colours for several pictures.
private struct SharedPalette {
    let colours: [StraightColour]
    private let index: [StraightColour: UInt8]

    init(_ pictures: [[StraightColour]]) {
        var counts: [StraightColour: Int] = [:]
        for picture in pictures {
            var run = 0
            for (place, colour) in picture.enumerated() {
                run += 1
                if place + 1 == picture.count || picture[place + 1] != colour {
                    counts[colour, default: 0] += run
                    run = 0
                }
            }
        }
        // Equally frequent colours are ordered by a hash, so that the selected ones spread over all of them.
        let spread = { (colour: StraightColour) in colour.bits &* 0x9E37_79B1 }
        let ordered = counts.sorted { ($0.value, spread($1.key)) > ($1.value, spread($0.key)) }.map(\.key)
        // Translucent colours come first: tRNS ends at the last of them.
        let kept = ordered.prefix(256).sorted {
            ($0.alpha == 255 ? 1 : 0, $0.bits) < ($1.alpha == 255 ? 1 : 0, $1.bits)
        }
        var index: [StraightColour: UInt8] = [:]
        for (place, colour) in kept.enumerated() { index[colour] = UInt8(truncatingIfNeeded: place) }
        for colour in ordered.dropFirst(256) {
            let nearest = kept.indices.min { colour.distance(to: kept[$0]) < colour.distance(to: kept[$1]) }
            index[colour] = UInt8(truncatingIfNeeded: nearest ?? 0)
        }
        colours = kept
        self.index = index
    }

    func indices(of picture: [StraightColour]) -> [UInt8] {
        var last: (colour: StraightColour, index: UInt8)?
        return picture.map { colour in
            if let last, last.colour == colour { return last.index }
            let found = index[colour] ?? 0
            last = (colour, found)
            return found
        }
    }
}

extension StraightColour {
    fileprivate var bits: UInt32 { UInt32(red) << 24 | UInt32(green) << 16 | UInt32(blue) << 8 | UInt32(alpha) }

    /// The squared distance of two colours by their premultiplied channels and alphas, which are what they add to a
    /// picture.
    fileprivate func distance(to other: StraightColour) -> Int {
        func channel(_ a: UInt8, _ b: UInt8) -> Int {
            let difference = (Int(a) * Int(alpha) - Int(b) * Int(other.alpha)) / 255
            return difference * difference
        }
        let difference = Int(alpha) - Int(other.alpha)
        return channel(red, other.red) + channel(green, other.green) + channel(blue, other.blue)
            + difference * difference
    }
}

/// Writes PNG chunks of any kind one after another.
private struct ChunkWriter {
    private(set) var bytes = PNGChunks.signature

    mutating func write(_ kind: String, _ content: [UInt8]) {
        let checked = Array(kind.utf8) + content
        bytes += ChunkWriter.words(UInt32(content.count)) + checked
        bytes += ChunkWriter.words(libdeflate_crc32(0, checked, checked.count))
    }

    /// The bytes of words in big-endian order.
    static func words(_ words: UInt32...) -> [UInt8] {
        words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) } }
    }
}
