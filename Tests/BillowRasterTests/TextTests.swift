import Foundation
import Testing

@testable import BillowRaster

@Suite("Text")
struct TextTests {
    @Test("widths grow with the text, scale with the size and know kerning")
    func widths() throws {
        let text = try TextRenderer()
        #expect(try text.width(of: "", size: 12) == 0)
        let one = try text.width(of: "Moderate", size: 12)
        // DejaVu Sans: 1767 + 1253 + 1300 + 1260 + 842 + 1255 + 803 + 1260 of 2048 units an em, 57.07 pixels.
        #expect(abs(one - 57.07) < 0.3)
        #expect(abs(try text.width(of: "Moderate", size: 36) - 3 * one) < 0.5)
        let kerned = try text.width(of: "AV", size: 100)
        #expect(kerned < (try text.width(of: "A", size: 100)) + (try text.width(of: "V", size: 100)) - 2)
        #expect(abs(try text.capHeight(size: 100) - 72.9) < 0.2)
    }

    @Test("text is drawn between its start and its width, on and above the baseline, in its colour")
    func draws() throws {
        let text = try TextRenderer()
        var canvas = try Canvas(width: 80, height: 40)
        let colour = StraightColour(red: 20, green: 120, blue: 220)
        try text.draw("HELM", at: Point(x: 8, y: 30), size: 20, colour: colour, on: &canvas)
        let width = try text.width(of: "HELM", size: 20)
        var inked: [(x: Int, y: Int)] = []
        for y in 0..<40 { for x in 0..<80 where canvas[x, y] != .clear { inked.append((x, y)) } }
        #expect(inked.contains { canvas[$0.x, $0.y] == colour.premultiplied })
        #expect(inked.map(\.x).min() == 9 || inked.map(\.x).min() == 10)
        #expect(Double(try #require(inked.map(\.x).max())) < 8 + width)
        #expect(inked.map(\.y).max() == 29)
        let top = try #require(inked.map(\.y).min())
        #expect(abs(Double(30 - top) - (try text.capHeight(size: 20))) <= 1)
    }

    @Test("text beyond the canvas is cut, however far")
    func cut() throws {
        let text = try TextRenderer()
        var canvas = try Canvas(width: 10, height: 10)
        for (x, y) in [(-30.0, 8.0), (5, 100), (1e300, 5), (.nan, 5), (5, -.infinity), (-5, 14), (8, 3)] {
            try text.draw("Wide 💨 text", at: Point(x: x, y: y), size: 16, colour: CanvasTests.red, on: &canvas)
        }
        #expect(canvas.pixels.contains { $0 != .clear })
    }

    @Test("a font that is missing or no font is named")
    func errors() throws {
        #expect(throws: TextError.fontNotFound(path: "/nosuch/font.ttf")) {
            try TextRenderer(fontPath: "/nosuch/font.ttf")
        }
        #expect("\(TextError.fontNotFound(path: "/nosuch/font.ttf"))".contains("fonts-dejavu-core"))
        #expect(throws: TextError.notAFont(path: stylesFolder + "/README.md")) {
            try TextRenderer(fontPath: stylesFolder + "/README.md")
        }
        #expect(throws: TextError.self) { try TextRenderer(fontPath: "/") }
        #expect(throws: TextError.self) { try TextRenderer(fontPath: "") }
        #expect(throws: TextError.fontNotFound(path: "/nosuch/bold.ttf")) {
            try LegendRenderer(boldFontPath: "/nosuch/bold.ttf")
        }
    }

    @Test("sizes outside the range are refused", arguments: [0, 3.9, 513, -12, .nan, .infinity])
    func sizes(_ size: Double) throws {
        let text = try TextRenderer()
        #expect(throws: TextError.self) { try text.width(of: "x", size: size) }
    }
}
