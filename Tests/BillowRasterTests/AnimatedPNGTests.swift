import Testing

@testable import BillowRaster

/// The chunks of a PNG file: kind and content.
private func chunks(_ file: [UInt8]) -> [(kind: String, content: [UInt8])] {
    var chunks: [(String, [UInt8])] = []
    var at = 8
    while at + 8 <= file.count {
        let count = word(file, at)
        chunks.append(
            (String(decoding: file[at + 4..<at + 8], as: UTF8.self), Array(file[at + 8..<at + 8 + count])))
        at += count + 12
    }
    return chunks
}

private func word(_ bytes: [UInt8], _ at: Int) -> Int { bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }

private let red = StraightColour(red: 255, green: 0, blue: 0, alpha: 204)
private let white = StraightColour(red: 255, green: 255, blue: 255, alpha: 255)
private let clear = StraightColour(red: 0, green: 0, blue: 0, alpha: 0)

@Suite("Animated PNG")
struct AnimatedPNGTests {
    private func frame(_ changed: [Int: StraightColour], delay: Int = 500) -> AnimationFrame {
        AnimationFrame(
            pixels: (0..<12).map { changed[$0] ?? clear }, delayMilliseconds: delay)
    }

    @Test("each frame holds the box that differs, with its delay, in sequence")
    func boxes() throws {
        let file = try AnimatedPNG.encode(
            width: 4, height: 3, frames: [frame([:]), frame([5: red, 10: white]), frame([5: red], delay: 1_500)],
            loops: 2)
        let found = chunks(file)
        #expect(
            found.map(\.kind) == [
                "IHDR", "acTL", "PLTE", "tRNS", "fcTL", "IDAT", "fcTL", "fdAT", "fcTL", "fdAT", "IEND",
            ])
        #expect(word(found[1].content, 0) == 3 && word(found[1].content, 4) == 2)
        let controls = found.filter { $0.kind == "fcTL" }.map(\.content)
        // Sequence, width, height, x, y.
        #expect(
            controls.map { control in [0, 4, 8, 12, 16].map { word(control, $0) } } == [
                [0, 4, 3, 0, 0], [1, 2, 2, 1, 1], [3, 1, 1, 2, 2],
            ])
        #expect(controls.map { Int($0[20]) << 8 | Int($0[21]) } == [500, 500, 1_500])
        #expect(controls.allSatisfy { Int($0[22]) << 8 | Int($0[23]) == 1_000 && $0[24] == 0 && $0[25] == 0 })
        #expect(found.filter { $0.kind == "fdAT" }.map { word($0.content, 0) } == [2, 4])
        // Whoever knows no animations sees the first frame.
        let first = try PNG.decode(file)
        #expect(first.pixels == frame([:]).pixels)
    }

    @Test("a frame like the one before only lengthens it")
    func same() throws {
        let file = try AnimatedPNG.encode(
            width: 4, height: 3, frames: [frame([1: red]), frame([1: red]), frame([2: red])], loops: 0)
        let controls = chunks(file).filter { $0.kind == "fcTL" }.map(\.content)
        #expect(controls.map { Int($0[20]) << 8 | Int($0[21]) } == [1_000, 500])
        let still = try AnimatedPNG.encode(width: 4, height: 3, frames: [frame([1: red]), frame([1: red])], loops: 0)
        #expect(!chunks(still).map(\.kind).contains("acTL"))
        #expect(try PNG.decode(still).pixels == frame([1: red]).pixels)
    }

    @Test("of more than 256 colours the most frequent stay exact and the others become near ones")
    func manyColours() throws {
        var pixels = [StraightColour](repeating: red, count: 600)
        for i in 0..<400 {
            pixels[i] = StraightColour(
                red: UInt8(i % 256), green: UInt8(i / 2), blue: 100, alpha: 255)
        }
        let file = try AnimatedPNG.encode(
            width: 30, height: 20, frames: [AnimationFrame(pixels: pixels, delayMilliseconds: 100)], loops: 0)
        let decoded = try PNG.decode(file)
        #expect(Set(decoded.pixels).count == 256)
        #expect(decoded.pixels[500] == red)
        for (a, b) in zip(decoded.pixels, pixels) {
            #expect(abs(Int(a.red) - Int(b.red)) < 40 && abs(Int(a.green) - Int(b.green)) < 40)
        }
    }

    @Test("an invalid animation is rejected")
    func refused() {
        #expect(throws: PNGError.wrongCount(actual: 0, expected: 1)) {
            try AnimatedPNG.encode(width: 1, height: 1, frames: [], loops: 0)
        }
        #expect(throws: PNGError.wrongCount(actual: 12, expected: 6)) {
            try AnimatedPNG.encode(width: 3, height: 2, frames: [frame([:])], loops: 0)
        }
        #expect(throws: PNGError.sizeOutOfRange(width: 0, height: 2)) {
            try AnimatedPNG.encode(width: 0, height: 2, frames: [], loops: 0)
        }
    }
}
