import TestSupport
import Testing

@testable import BillowRaster

@Suite("The row compressor")
struct RowDeflateTests {
    /// Encoded and read back by libpng, which checks the stream, its codes and its checksum.
    private func roundTrip(_ indices: [UInt8], width: Int, height: Int, colours: Int) throws {
        let palette = (0..<colours).map { (colour: Int) -> StraightColour in
            StraightColour(red: UInt8(colour), green: UInt8(255 - colour), blue: 7, alpha: UInt8(colour % 3 * 100))
        }
        let png = try IndexedPNGEncoder(level: 1).encode(
            indices: indices, width: width, height: height, palette: palette)
        #expect(try PNG.decode(png).pixels == indices.map { palette[Int($0)] })
    }

    @Test("noise, runs, stripes and steps come back as they were", arguments: [1, 2, 5, 16, 17, 256])
    func kinds(colours: Int) throws {
        var random = SeededGenerator(seed: UInt64(colours))
        for (width, height) in [(1, 1), (3, 2), (8, 70), (255, 7), (100, 40)] {
            let count = width * height
            func index(_ value: Int) -> UInt8 { UInt8(value % colours) }
            try roundTrip(
                (0..<count).map { _ in index(Int(random.next() >> 33)) }, width: width, height: height,
                colours: colours)
            try roundTrip((0..<count).map { index($0 / 261) }, width: width, height: height, colours: colours)
            try roundTrip((0..<count).map { index($0 % width / 5) }, width: width, height: height, colours: colours)
            try roundTrip((0..<count).map { index($0 * $0 / 977) }, width: width, height: height, colours: colours)
            // Rare colours in a sea of one: codes of very different lengths.
            try roundTrip(
                (0..<count).map { _ in
                    let exponent = (random.next() | 1 << 20).trailingZeroBitCount
                    return index(exponent * exponent)
                }, width: width, height: height, colours: colours)
        }
    }

    @Test("one encoder gives the same bytes for the same picture, whatever it drew before")
    func noMemory() throws {
        var random = SeededGenerator(seed: 5)
        let encoder = try IndexedPNGEncoder(level: 1)
        let palette = (0..<200).map { StraightColour(red: UInt8($0), green: 0, blue: 0) }
        let one = (0..<65_536).map { UInt8($0 / 300 % 200) }
        let first = try encoder.encode(indices: one, width: 256, height: 256, palette: palette)
        let noise = (0..<20_000).map { _ in UInt8(random.next() % 200) }
        _ = try encoder.encode(indices: noise, width: 200, height: 100, palette: palette)
        #expect(try encoder.encode(indices: one, width: 256, height: 256, palette: palette) == first)
    }

    @Test("counts that would need codes of more than 15 bits come back as well")
    func deepCode() throws {
        // Fibonacci counts make the deepest of all Huffman trees.
        var indices: [UInt8] = []
        var (a, b) = (1, 1)
        for colour in 0..<22 {
            // Scattered so that no repetition is found.
            for at in 0..<a { indices.append(UInt8((colour * 7 + at % 2) % 44)) }
            (a, b) = (b, a + b)
        }
        var random = SeededGenerator(seed: 9)
        indices.shuffle(using: &random)
        indices.removeLast(indices.count % 100)
        try roundTrip(indices, width: 100, height: indices.count / 100, colours: 44)
    }
}
