import Foundation
import Testing
import Turbulence

@testable import BillowRaster

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite("Legend")
struct LegendTests {
    /// The layout that both drawings are made from, measured by the real fonts.
    static func layout(_ legend: Legend, _ theme: Theme, _ orientation: Orientation) throws -> LegendLayout {
        let regular = try TextRenderer()
        let bold = try TextRenderer(fontPath: LegendRenderer.defaultBoldFontPath)
        return try LegendLayout(legend, theme: theme, orientation: orientation) {
            (text, size, weight) throws(TextError) in
            let font = weight == .bold ? bold : regular
            return (try font.width(of: text, size: size), try font.capHeight(size: size))
        }
    }

    /// Style, theme, orientation, scale: every value of each at least once.
    static let drawings: [(String, Theme, Orientation, Int)] = [
        ("skypath", .light, .vertical, 1), ("skypath", .dark, .horizontal, 1), ("skypath", .dark, .vertical, 2),
        ("skypath", .light, .horizontal, 3), ("skypath-web", .light, .vertical, 1), ("night", .dark, .vertical, 1),
        ("night", .light, .horizontal, 1), ("high-contrast", .light, .vertical, 1),
        ("colour-blind", .light, .horizontal, 2), ("colour-blind", .dark, .vertical, 1),
    ]

    @Test("each swatch's centre is exactly its colour over the card", arguments: drawings)
    func swatches(_ id: String, _ theme: Theme, _ orientation: Orientation, _ scale: Int) throws {
        let style = try #require(try StyleLibrary(folder: stylesFolder)[id])
        let legend = Legend(style: style, layer: "hexagons")
        let card = LegendLayout.Colours(theme).card
        let layout = try LegendTests.layout(legend, theme, orientation)
        let options = try LegendOptions(scale: scale, theme: theme, orientation: orientation)
        let picture = try PNG.decode(LegendRenderer().png(legend, options: options))
        #expect(picture.width == layout.width * scale && picture.height == layout.height * scale)
        var severities: [Severity] = []
        for case .hexagon(let centre, let radius, let paint) in layout.items {
            let (x, y) = (Int(centre.x * Double(scale)), Int(centre.y * Double(scale)))
            #expect(picture[x, y] == LegendTests.over(paint.fill.colour, card))
            severities += Severity.allCases.filter { style[$0] == paint }
            // The border's band is whole pixels wide at the left side of a vertical legend's swatches.
            if let border = paint.border, orientation == .vertical {
                let edge = Int(((centre.x - Hexagon.width(radius: radius) / 2) * Double(scale)).rounded())
                #expect(picture[edge, y] == LegendTests.over(border.colour, card))
            }
        }
        #expect(severities == Severity.allCases)
        #expect(picture[0, 0] == .clear)
        #expect(picture[picture.width / 2, 3 * scale] == card)
    }

    /// Computed apart from the canvas, in floating point.
    static func over(_ colour: StraightColour, _ card: StraightColour) -> StraightColour {
        let share = Double(colour.alpha) / 255
        func blend(_ above: UInt8, _ below: UInt8) -> UInt8 {
            UInt8((Double(above) * share + Double(below) * (1 - share)).rounded())
        }
        return StraightColour(
            red: blend(colour.red, card.red), green: blend(colour.green, card.green),
            blue: blend(colour.blue, card.blue))
    }

    @Test("JSON has the members of its documentation")
    func json() throws {
        let style = try StyleLibrary(folder: stylesFolder).default
        let legend = Legend(style: style, layer: "hexagons", simulated: true, notes: ["Stale."])
        let encoded = try JSONSerialization.jsonObject(with: JSONEncoder().encode(legend))
        let members = try #require(encoded as? [String: Any])
        #expect(members["title"] as? String == "Turbulence" && members["style"] as? String == "skypath")
        #expect(members["layer"] as? String == "hexagons" && members["theme"] as? String == "light")
        #expect(members["simulated"] as? Bool == true)
        #expect(members["notes"] as? [String] == ["Simulated data", "Stale."])
        let entries = try #require(members["entries"] as? [[String: Any]])
        #expect(entries.map { $0["severity"] as? Int } == [0, 1, 2, 3, 4])
        #expect(
            entries.map { $0["label"] as? String } == [
                "Smooth", "Light", "Light-Moderate", "Moderate", "Moderate-Occasionally Severe",
            ])
        #expect(entries[3]["name"] as? String == "moderate" && entries[3]["fill"] as? String == "#FF7100")
        #expect(entries[3]["opacity"] as? Double == 0.8 && entries[3]["rgba"] as? [Int] == [255, 113, 0, 204])
        #expect(entries[3]["border"] == nil)
        let border = try #require(entries[0]["border"] as? [String: Any])
        #expect(border["colour"] as? String == "#898989" && border["opacity"] as? Double == 0.8)
        #expect(border["rgba"] as? [Int] == [137, 137, 137, 204])
    }

    @Test("only the requested severities are listed")
    func severities() throws {
        let style = try StyleLibrary(folder: stylesFolder).default
        let legend = Legend(style: style, layer: "hexagons", severities: .atLeast(.moderate))
        #expect(legend.entries.map(\.severity) == [.moderate, .moderateSevere])
        let none = Legend(style: style, layer: "hexagons", severities: [])
        for orientation in Orientation.allCases {
            let options = try LegendOptions(orientation: orientation)
            #expect(try PNG.decode(LegendRenderer().png(none, options: options)).width > 80)
        }
    }

    @Test("simulated data is said plainly, first, on a notice of its own; real data has no notice")
    func simulated() throws {
        let style = try StyleLibrary(folder: stylesFolder).default
        let notice = LegendLayout.Colours(.light).noticeFill
        let renderer = try LegendRenderer()
        for (simulated, texts) in [(false, [String]()), (true, ["Simulated data"])] {
            let legend = Legend(style: style, layer: "hexagons", simulated: simulated)
            #expect(legend.notes == texts)
            for orientation in Orientation.allCases {
                let options = try LegendOptions(orientation: orientation)
                let picture = try PNG.decode(renderer.png(legend, options: options))
                let area = picture.pixels.count { $0 == notice }
                #expect(simulated ? area > 2000 : area == 0)
                let svg = try renderer.svg(legend, options: options)
                #expect(svg.contains(">Simulated data</text>") == simulated)
            }
        }
        let twice = Legend(style: style, layer: "hexagons", simulated: true, notes: ["Simulated data", "Old."])
        #expect(twice.notes == ["Simulated data", "Old."])
    }

    @Test("long notes are wrapped inside the card; one long word widens it; wild text traps nothing")
    func notes() throws {
        let style = try StyleLibrary(folder: stylesFolder).default
        let plain = try LegendTests.layout(Legend(style: style, layer: "x"), .light, .vertical)
        let sentence = "Data from skypath is stale: the last successful fetch was at 02:14 UTC, two hours ago."
        let wrapped = try LegendTests.layout(
            Legend(style: style, layer: "x", notes: [sentence]), .light, .vertical)
        #expect(wrapped.width == plain.width && wrapped.height > plain.height)
        let wide = try LegendTests.layout(
            Legend(style: style, layer: "x", notes: [String(repeating: "W", count: 60)]), .light, .vertical)
        #expect(wide.width > 2 * plain.width)
        // Refused as too large a picture, or drawn; never a trap.
        let renderer = try LegendRenderer()
        for text in ["", " \n\t ", "é中🌪\u{0}\u{202E}", String(repeating: "W", count: 20_000)] {
            let legend = Legend(style: style, layer: "x", title: text, notes: [text])
            do {
                #expect(try !renderer.png(legend, options: LegendOptions(scale: 3)).isEmpty)
            } catch LegendError.canvas(.sizeOutOfRange) { #expect(text.count > 1000) }
        }
    }

    @Test("the SVG is well-formed XML with the exact colours and opacities, whatever the title")
    func svg() throws {
        let style = try StyleLibrary(folder: stylesFolder).default
        let legend = Legend(style: style, layer: "hexagons", title: "<\"T\"> & 'u' \u{1}\u{FFFF}", simulated: true)
        let options = try LegendOptions(scale: 2)
        let svg = try LegendRenderer().svg(legend, options: options)
        let parser = XMLParser(data: Data(svg.utf8))
        #expect(parser.parse(), "\(String(describing: parser.parserError))\n\(svg)")
        for (fill, opacity) in [
            ("#FFFFFF", "0.6"), ("#898989", "0.8"), ("#FFF04C", "0.8"), ("#FFBC09", "0.8"), ("#FF7100", "0.8"),
            ("#FF0000", "0.8"),
        ] {
            #expect(svg.contains("fill=\"\(fill)\" fill-opacity=\"\(opacity)\""))
        }
        let layout = try LegendTests.layout(legend, .light, .vertical)
        #expect(svg.contains("width=\"\(layout.width * 2)\" height=\"\(layout.height * 2)\""))
        #expect(svg.contains("viewBox=\"0 0 \(layout.width) \(layout.height)\""))
    }

    @Test("scales outside 1 to 3 are refused", arguments: [0, 4, -1, .max])
    func scales(_ scale: Int) {
        #expect(throws: LegendError.scaleOutOfRange(scale)) { try LegendOptions(scale: scale) }
    }
}
