import TestSupport
import Testing

@testable import BillowRaster

@Suite("Canvas")
struct CanvasTests {
    static let red = StraightColour(red: 255, green: 0, blue: 0)

    static func ring(_ points: [(Double, Double)]) -> [Point] { points.map { Point(x: $0.0, y: $0.1) } }

    @Test("a pattern is worked out once, however many marks ask for it", arguments: Pattern.Kind.allCases)
    func patterns(_ kind: Pattern.Kind) {
        let first = Pattern(kind, period: 48, width: 3.3)
        let second = Pattern(kind, period: 48, width: 3.3)
        let (one, other) = (
            first.coverage.withUnsafeBufferPointer { $0.baseAddress },
            second.coverage.withUnsafeBufferPointer { $0.baseAddress }
        )
        #expect(one == other)
        #expect(first == second)
        #expect(first != Pattern(kind, period: 48, width: 6.6))
        #expect(first.coverage.count == 48 * 48)
    }

    @Test("a rectangle covers whole pixels wholly and cut pixels by their share")
    func rectangle() {
        let mask = Mask(
            rings: [CanvasTests.ring([(1.5, 1), (4, 1), (4, 3.25), (1.5, 3.25)])], canvasWidth: 8, canvasHeight: 8)
        #expect(mask.left == 1 && mask.top == 1 && mask.width == 3 && mask.height == 3)
        #expect(mask.coverage == [128, 255, 255, 128, 255, 255, 32, 64, 64])
    }

    /// The area of a convex ring inside one pixel, by cutting the ring with the pixel's four sides.
    static func area(_ ring: [Point], pixel x: Double, _ y: Double) -> Double {
        var ring = ring
        for (a, b, c) in [(1.0, 0.0, -x), (-1, 0, x + 1), (0, 1, -y), (0, -1, y + 1)] {
            var kept: [Point] = []
            for (i, p) in ring.enumerated() {
                let q = ring[(i + 1) % ring.count]
                let (dp, dq) = (a * p.x + b * p.y + c, a * q.x + b * q.y + c)
                if dp >= 0 { kept.append(p) }
                if dp * dq < 0 {
                    kept.append(Point(x: p.x + (q.x - p.x) * dp / (dp - dq), y: p.y + (q.y - p.y) * dp / (dp - dq)))
                }
            }
            ring = kept
        }
        var doubled = 0.0
        for (i, p) in ring.enumerated() {
            let q = ring[(i + 1) % ring.count]
            doubled += p.x * q.y - q.x * p.y
        }
        return abs(doubled) / 2
    }

    @Test("coverage is the exact area, rounded to the nearest 255th: random triangles, also beyond the canvas")
    func oracle() {
        var random = SeededGenerator(seed: 21)
        let (width, height) = (12, 9)
        for _ in 0..<150 {
            let corners = (0..<3).map { _ in
                Point(x: .random(in: -5...17, using: &random), y: .random(in: -5...14, using: &random))
            }
            let mask = Mask(rings: [corners], canvasWidth: width, canvasHeight: height)
            var worst = 0.0
            for y in 0..<height {
                for x in 0..<width {
                    let (column, row) = (x - mask.left, y - mask.top)
                    let within = column >= 0 && row >= 0 && column < mask.width && row < mask.height
                    let covered = within ? Double(mask[column, row]) : 0
                    worst = max(worst, abs(covered - 255 * CanvasTests.area(corners, pixel: Double(x), Double(y))))
                }
            }
            #expect(worst < 0.5 + 1e-6, "\(corners)")
        }
    }

    @Test("a hole takes its area away, and both windings cover alike")
    func hole() {
        let outer = CanvasTests.ring([(0, 0), (4, 0), (4, 4), (0, 4)])
        let inner = CanvasTests.ring([(1, 1), (3, 1), (3, 3), (1, 3)])
        let mask = Mask(rings: [outer, inner.reversed()], canvasWidth: 4, canvasHeight: 4)
        #expect(mask.coverage == [255, 255, 255, 255, 255, 0, 0, 255, 255, 0, 0, 255, 255, 255, 255, 255])
        #expect(Mask(rings: [outer.reversed(), inner], canvasWidth: 4, canvasHeight: 4) == mask)
    }

    @Test("nothing, a line, wild and unlimited coordinates cover nothing and trap nothing")
    func degenerate() {
        for ring in [
            [], [(1, 1)], [(1, 1), (3, 3)], [(.nan, 0), (4, 0), (4, 4)], [(.infinity, 0), (4, 0), (4, 4)],
            [(-9, -9), (-5, -9), (-5, -5)], [(1e300, 1e300), (2e300, 1e300), (1e300, 2e300)],
        ] as [[(Double, Double)]] {
            let mask = Mask(rings: [CanvasTests.ring(ring)], canvasWidth: 4, canvasHeight: 4)
            #expect(mask.coverage.allSatisfy { $0 == 0 })
        }
        let all = Mask(
            rings: [CanvasTests.ring([(-1e9, -1e9), (1e9, -1e9), (1e9, 1e9), (-1e9, 1e9)])], canvasWidth: 2,
            canvasHeight: 2)
        #expect(all.coverage == [255, 255, 255, 255])
    }

    @Test("two shapes of one layer that share a pixel leave no gap between them")
    func oneLayer() throws {
        let left = CanvasTests.ring([(0, 0), (1.4, 0), (1.4, 1), (0, 1)])
        let right = CanvasTests.ring([(1.4, 0), (3, 0), (3, 1), (1.4, 1)])
        var canvas = try Canvas(width: 3, height: 1)
        canvas.fill(parts: [.init([left], CanvasTests.red), .init([right], CanvasTests.red)])
        #expect(canvas.pixels == [PremultipliedColour](repeating: CanvasTests.red.premultiplied, count: 3))
    }

    @Test("source-over is rounded once to the nearest, for every alpha over an opaque pixel")
    func over() throws {
        let pixel = [CanvasTests.ring([(0, 0), (1, 0), (1, 1), (0, 1)])]
        for alpha in UInt8.min...UInt8.max {
            var canvas = try Canvas(width: 1, height: 1)
            canvas.fill(pixel, with: StraightColour(red: 10, green: 200, blue: 77))
            canvas.fill(pixel, with: StraightColour(red: 255, green: 3, blue: 128, alpha: alpha))
            let share = Double(alpha) / 255
            let expected = [(255.0, 10.0), (3, 200), (128, 77)].map { ($0 * share + $1 * (1 - share)).rounded() }
            let result = try #require(canvas[0, 0])
            #expect([result.red, result.green, result.blue].map(Double.init) == expected && result.alpha == 255)
        }
    }

    @Test("a translucent colour over nothing stays itself")
    func overNothing() throws {
        var canvas = try Canvas(width: 1, height: 1)
        let colour = StraightColour(red: 255, green: 240, blue: 76, alpha: 204)
        canvas.fill([CanvasTests.ring([(0, 0), (1, 0), (1, 1), (0, 1)])], with: colour)
        #expect(canvas[0, 0] == colour.premultiplied)
        #expect(try PNG.decode(canvas.png())[0, 0] == colour)
    }

    @Test(
        "sizes outside the limits are refused",
        arguments: [(0, 1), (1, 0), (-1, 5), (16_385, 1), (16_384, 16_384), (.max, .max)])
    func sizes(_ width: Int, _ height: Int) {
        #expect(throws: CanvasError.sizeOutOfRange(width: width, height: height)) {
            try Canvas(width: width, height: height)
        }
    }

    @Test("a picture of thousands of colours gets a palette: common and named colours exact, the others near")
    func palette() throws {
        var canvas = try Canvas(width: 200, height: 200)
        let named = StraightColour(red: 255, green: 240, blue: 76, alpha: 204)
        for y in 0..<200 {
            for x in 0..<200 where x < 100 {
                // A tenth is of one colour, the rest of nearly as many colours as pixels.
                let colour =
                    x < 20
                    ? StraightColour(red: 10, green: 20, blue: 30)
                    : StraightColour(red: UInt8(x), green: UInt8(y), blue: UInt8((x * y) % 256), alpha: UInt8(56 + y))
                canvas.lay(colour.premultiplied, x: x, y: y)
            }
        }
        canvas.lay(named.premultiplied, x: 150, y: 7)
        let picture = canvas.indexed(keeping: [named])
        #expect(picture.palette.count <= 256 && picture.shareSteps < 64)
        let drawn = try PNG.decode(try canvas.indexedPNG(keeping: [named]))
        #expect(drawn[150, 7] == named && drawn[3, 3] == StraightColour(red: 10, green: 20, blue: 30))
        #expect(drawn[190, 190]?.alpha == 0)
        for (index, pixel) in drawn.pixels.enumerated() {
            let (seen, exact) = (pixel.premultiplied, canvas.pixels[index])
            for (a, b) in [(seen.red, exact.red), (seen.green, exact.green), (seen.alpha, exact.alpha)] {
                #expect(abs(Int(a) - Int(b)) <= 255 / picture.shareSteps + 4)
            }
        }
        // Every pixel exactly, if requested.
        #expect(try PNG.decode(canvas.png()).pixels == canvas.pixels.map(\.straight))
    }

    @Test("a palette holds no colour that no pixel has", arguments: [1, 2, 3, 4, 5, 16, 17])
    func fewestBits(colours: Int) throws {
        var canvas = try Canvas(width: 64, height: 4)
        for y in 0..<4 {
            for x in 0..<64 {
                canvas.lay(
                    StraightColour(red: UInt8(x % colours), green: 0, blue: 9, alpha: 255).premultiplied, x: x, y: y)
            }
        }
        let unused = StraightColour(red: 200, green: 0, blue: 0)
        #expect(canvas.indexed(keeping: [unused]).palette.count == colours)
        // In the header.
        let depth = colours <= 2 ? 1 : colours <= 4 ? 2 : colours <= 16 ? 4 : 8
        #expect(try canvas.indexedPNG(keeping: [unused])[24] == UInt8(depth))
    }
}
