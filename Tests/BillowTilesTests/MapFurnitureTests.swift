import Geometry
import Testing
import Turbulence

@testable import BillowRaster
@testable import BillowTiles

@Suite("Decorations of a map")
struct MapFurnitureTests {
    private static let legend = try! LayerList("hexagons,hazards").legend(
        style: TilePainterTests.style, severities: .all, simulated: true, notes: ["Last 2 hours"])
    private static let words = ["2026-11-21 12:00 UTC", "INCOMPLETE", "SIMULATED", "FL300–FL400"]

    private static func canvas(_ width: Int, _ height: Int, scale: Int = 1, _ furniture: MapFurniture) throws -> Canvas
    {
        let box = try #require(BoundingBox(west: -100, south: -60, east: 100, north: -30))
        let region = try #require(MapRegion(box, width: width, height: height, scale: scale))
        var canvas = try Canvas(width: region.width, height: region.height)
        try furniture.paint(region, style: TilePainterTests.style, onto: &canvas)
        return canvas
    }

    @Test(
        "a picture of any size can be drawn with everything on it, and its warnings never vanish",
        arguments: [(1, 1), (2, 7), (3, 9)])
    func sizes(scale: Int, step: Int) throws {
        for side in stride(from: 1, through: 80, by: step) {
            for (width, height) in [(side, side), (side, 80), (80, side), (side, 1), (1, side)] {
                for options in [0, 2, 4, 7] {
                    let furniture = MapFurniture(
                        legend: options & 1 == 0 ? nil : Self.legend, timeStamp: options & 2 == 0 ? [] : Self.words,
                        warnings: options & 2 == 0 ? [] : ["INCOMPLETE", "SIMULATED"], showsScaleBar: options & 4 != 0)
                    let canvas = try Self.canvas(width, height, scale: scale, furniture)
                    let isMarked = canvas.pixels.contains { $0.alpha > 200 }
                    if options & 2 != 0 { #expect(isMarked, "\(width) × \(height)") }
                    if options == 0 { #expect(!isMarked) }
                }
            }
        }
    }

    @Test("a time stamp without warnings is left out where it doesn't fit, and smaller where it does")
    func words() throws {
        let plain = MapFurniture(timeStamp: ["2026-11-21 12:00 UTC"])
        #expect(try Self.canvas(20, 20, plain).pixels.allSatisfy { $0 == .clear })
        #expect(try Self.canvas(120, 40, plain).pixels.contains { $0 != .clear })
        // The warnings alone, where the whole doesn't fit: other than the mark, which begins in the corner.
        let warned = MapFurniture(timeStamp: Self.words, warnings: ["STALE"])
        let small = try Self.canvas(48, 16, warned)
        #expect(small.pixels[0] == .clear && small.pixels.contains { $0 != .clear })
        #expect(try Self.canvas(8, 8, warned).pixels[0] != .clear)
    }

    @Test("a map that ends at a pole has no bar of distances without a number")
    func poles() throws {
        for south in [-120.0, -90, 60, 84, 89.9] {
            guard let box = BoundingBox(west: 0, south: max(south, -90), east: 1, north: min(south + 30, 90)) else {
                continue
            }
            let region = try #require(MapRegion(box, width: 300, height: 200))
            var canvas = try Canvas(width: region.width, height: region.height)
            try MapFurniture(showsScaleBar: true).paint(region, style: TilePainterTests.style, onto: &canvas)
        }
    }
}
