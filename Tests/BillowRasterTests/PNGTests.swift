import Foundation
import TestSupport
import Testing

@testable import BillowRaster

@Suite("PNG")
struct PNGTests {
    /// Palette sizes at and beside every change of bit depth.
    static let paletteSizes = [1, 2, 3, 4, 5, 15, 16, 17, 33, 255, 256]

    /// A palette with translucent and opaque entries and a picture of runs, as tiles have.
    static func picture(width: Int, height: Int, colours: Int, seed: UInt64) -> ([UInt8], [StraightColour]) {
        var random = SeededGenerator(seed: seed)
        let palette = (0..<colours).map { i in
            StraightColour(
                red: .random(in: 0...255, using: &random), green: .random(in: 0...255, using: &random),
                blue: .random(in: 0...255, using: &random),
                alpha: i % 3 == 0 ? 255 : .random(in: 0...255, using: &random))
        }
        var indices: [UInt8] = []
        while indices.count < width * height {
            let index = UInt8(Int.random(in: 0..<colours, using: &random))
            indices += [UInt8](repeating: index, count: .random(in: 1...40, using: &random))
        }
        return (Array(indices.prefix(width * height)), palette)
    }

    static func bitDepth(_ png: [UInt8]) -> UInt8? { png.count > 24 ? png[24] : nil }

    static func expectedDepth(colours: Int) -> UInt8 { colours <= 2 ? 1 : colours <= 4 ? 2 : colours <= 16 ? 4 : 8 }

    @Test("both palette encoders give back the pixels, in the smallest depth", arguments: paletteSizes)
    func palettes(colours: Int) throws {
        let encoder = try IndexedPNGEncoder()
        for (width, height) in [(1, 1), (7, 3), (8, 8), (9, 2), (31, 17), (64, 33)] {
            let (indices, palette) = PNGTests.picture(
                width: width, height: height, colours: colours, seed: UInt64(colours * 1000 + width))
            let expected = indices.map { palette[Int($0)] }
            for png in [
                try encoder.encode(indices: indices, width: width, height: height, palette: palette),
                try PNG.encode(indexed: indices, width: width, height: height, palette: palette),
            ] {
                let decoded = try PNG.decode(png)
                #expect(decoded.width == width && decoded.height == height)
                #expect(decoded.pixels == expected)
                #expect(PNGTests.bitDepth(png) == PNGTests.expectedDepth(colours: colours))
            }
        }
    }

    @Test("one encoder serves any sequence of sizes, palettes and levels with nothing left over from the one before")
    func reuse() throws {
        var random = SeededGenerator(seed: 7)
        for level in [0, 1, 6, 12] {
            let encoder = try IndexedPNGEncoder(level: level)
            for _ in 0..<24 {
                let width = Int.random(in: 1...80, using: &random)
                let height = Int.random(in: 1...80, using: &random)
                let (indices, palette) = PNGTests.picture(
                    width: width, height: height, colours: .random(in: 1...256, using: &random), seed: random.next())
                let png = try encoder.encode(indices: indices, width: width, height: height, palette: palette)
                #expect(try PNG.decode(png).pixels == indices.map { palette[Int($0)] })
            }
        }
    }

    @Test("straight RGBA round trip")
    func rgba() throws {
        var random = SeededGenerator(seed: 3)
        let pixels = (0..<41 * 23).map { _ in
            StraightColour(
                red: .random(in: 0...255, using: &random), green: .random(in: 0...255, using: &random),
                blue: .random(in: 0...255, using: &random), alpha: .random(in: 0...255, using: &random))
        }
        let decoded = try PNG.decode(PNG.encode(rgba: pixels, width: 41, height: 23))
        #expect(decoded.pixels == pixels && decoded.width == 41 && decoded.height == 23)
        #expect(decoded[40, 22] == pixels.last && decoded[41, 0] == nil && decoded[0, -1] == nil)
    }

    @Test("tRNS is left out for an opaque palette and ends at the last translucent entry")
    func transparency() throws {
        let red = StraightColour(red: 255, green: 0, blue: 0)
        let half = StraightColour(red: 0, green: 0, blue: 255, alpha: 128)
        let encoder = try IndexedPNGEncoder()
        let indices: [UInt8] = [0, 1, 2, 0]
        let opaque = try encoder.encode(indices: indices, width: 2, height: 2, palette: [red, red, red])
        #expect(PNGTests.chunks(opaque).map(\.kind) == ["IHDR", "PLTE", "IDAT", "IEND"])
        let first = try encoder.encode(indices: indices, width: 2, height: 2, palette: [half, red, red])
        #expect(PNGTests.chunks(first).first { $0.kind == "tRNS" }?.count == 1)
        let last = try encoder.encode(indices: indices, width: 2, height: 2, palette: [red, red, half])
        #expect(PNGTests.chunks(last).first { $0.kind == "tRNS" }?.count == 3)
    }

    @Test("empty tiles are transparent, 1 bit deep, small and always the same bytes", arguments: [1, 256, 512, 768])
    func emptyTiles(size: Int) throws {
        let tile = try PNG.emptyTile(size: size)
        #expect(tile == (try PNG.emptyTile(size: size)))
        #expect(PNGTests.bitDepth(tile) == 1)
        #expect(tile.count < 200)
        let decoded = try PNG.decode(tile)
        #expect(decoded.width == size && decoded.height == size)
        #expect(decoded.pixels.allSatisfy { $0 == .clear } && decoded.pixels.count == size * size)
    }

    static let pngcheck = "/usr/bin/pngcheck"

    @Test(
        "pngcheck finds nothing",
        .enabled(if: FileManager.default.isExecutableFile(atPath: pngcheck), "Scripts/setup test installs it"))
    func pngcheckIsSilent() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "billow-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // a leftover temporary folder harms nobody
        var files: [String] = []
        func save(_ name: String, _ png: [UInt8]) throws {
            let file = folder.appending(path: name + ".png")
            try Data(png).write(to: file)
            files.append(file.path(percentEncoded: false))
        }
        for level in [0, 1, 6] {
            let encoder = try IndexedPNGEncoder(level: level)
            for colours in PNGTests.paletteSizes {
                let (indices, palette) = PNGTests.picture(width: 61, height: 40, colours: colours, seed: 11)
                try save(
                    "fast-\(level)-\(colours)",
                    try encoder.encode(indices: indices, width: 61, height: 40, palette: palette))
                try save(
                    "libpng-\(level)-\(colours)",
                    try PNG.encode(indexed: indices, width: 61, height: 40, palette: palette, level: level))
            }
        }
        for size in [1, 256, 512, 768] { try save("empty-\(size)", try PNG.emptyTile(size: size)) }
        try save("rgba", try PNG.encode(rgba: [.clear, .clear], width: 2, height: 1))

        let process = Process()
        process.executableURL = URL(filePath: PNGTests.pngcheck)
        process.arguments = ["-q"] + files
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.runWithDeadline()
        let words = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && words.isEmpty, "\(words)")
    }

    @Test("bad pictures are refused with the value and the range")
    func refuses() throws {
        let encoder = try IndexedPNGEncoder()
        let red = StraightColour(red: 255, green: 0, blue: 0)
        #expect(throws: PNGError.indexOutsidePalette(index: 2, paletteCount: 2)) {
            try encoder.encode(indices: [0, 1, 2, 0], width: 2, height: 2, palette: [red, red])
        }
        #expect(throws: PNGError.wrongCount(actual: 3, expected: 4)) {
            try encoder.encode(indices: [0, 0, 0], width: 2, height: 2, palette: [red])
        }
        #expect(throws: PNGError.paletteOutOfRange(count: 0)) {
            try encoder.encode(indices: [0], width: 1, height: 1, palette: [])
        }
        #expect(throws: PNGError.paletteOutOfRange(count: 257)) {
            try PNG.encode(indexed: [0], width: 1, height: 1, palette: [StraightColour](repeating: red, count: 257))
        }
        #expect(throws: PNGError.sizeOutOfRange(width: 0, height: 4)) {
            try encoder.encode(indices: [], width: 0, height: 4, palette: [red])
        }
        #expect(throws: PNGError.sizeOutOfRange(width: Int.max, height: 4)) {
            try encoder.encode(indices: [], width: .max, height: 4, palette: [red])
        }
        #expect(throws: PNGError.sizeOutOfRange(width: -1, height: 4)) {
            try PNG.encode(rgba: [], width: -1, height: 4)
        }
        #expect(throws: PNGError.wrongCount(actual: 1, expected: 4)) {
            try PNG.encode(rgba: [red], width: 2, height: 2)
        }
        #expect(throws: PNGError.compressionLevelOutOfRange(13, largest: 12)) { try IndexedPNGEncoder(level: 13) }
        #expect(throws: PNGError.compressionLevelOutOfRange(-1, largest: 9)) {
            try PNG.encode(rgba: [red], width: 1, height: 1, level: -1)
        }
        #expect(throws: PNGError.sizeOutOfRange(width: 0, height: 0)) { try PNG.emptyTile(size: 0) }
        #expect("\(PNGError.indexOutsidePalette(index: 2, paletteCount: 2))" == "pixel of colour 2 in a palette of 2")
    }

    @Test("an error inside libpng comes out as a Swift error, a thousand times over, when writing")
    func writeErrorPath() {
        for _ in 0..<1000 {
            // A width of 0 is found by libpng itself, in png_set_IHDR, after both structs were made.
            #expect(throws: PNGError.library("Invalid IHDR data")) { try PNG.encode(rgba: [], width: 0, height: 1) }
        }
    }

    @Test("data cut short at any byte, or damaged, is an error of libpng and not a picture")
    func readErrorPath() throws {
        let (indices, palette) = PNGTests.picture(width: 19, height: 13, colours: 9, seed: 5)
        let png = try PNG.encode(indexed: indices, width: 19, height: 13, palette: palette)
        for count in 0..<png.count {
            #expect(throws: PNGError.self) { try PNG.decode(Array(png.prefix(count))) }
        }
        for position in 0..<png.count - 12 {
            var damaged = png
            damaged[position] ^= 0x40
            // A damaged chunk name may leave an ancillary chunk to be skipped; anything decoded has its whole size.
            if let picture = try? PNG.decode(damaged) {
                #expect(picture.pixels.count == picture.width * picture.height, "byte \(position)")
            }
        }
        #expect(throws: PNGError.library("Not a PNG file")) { try PNG.decode(Array("GIF89a not a PNG".utf8)) }
        #expect(throws: PNGError.library("the data ends too early")) { try PNG.decode([]) }
    }

    @Test("a picture larger than the limit is refused before its pixels are allocated")
    func largeHeader() throws {
        var png = try PNG.emptyTile(size: 256)
        png.replaceSubrange(16..<20, with: [0x7F, 0xFF, 0xFF, 0xFF])
        #expect(throws: PNGError.self) { try PNG.decode(png) }
    }

    struct Chunk {
        let kind: String
        let count: Int
    }

    static func chunks(_ png: [UInt8]) -> [Chunk] {
        var chunks: [Chunk] = []
        var offset = 8
        while offset + 8 <= png.count {
            let count = png[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            chunks.append(Chunk(kind: String(decoding: png[offset + 4..<offset + 8], as: UTF8.self), count: count))
            offset += 12 + count
        }
        return chunks
    }
}
