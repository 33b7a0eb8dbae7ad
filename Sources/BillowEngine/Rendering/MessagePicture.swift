package import BillowRaster
import BillowTiles

/// A picture of a text message, for clients that can show only pictures.
package struct MessagePicture: Sendable {
    private let text: String
    private let width: Int
    private let height: Int
    private let background: StraightColour?

    private static let textSize = 12.0
    private static let lineHeight = 16.0
    private static let margin = 8.0

    /// - Parameters:
    ///   - text: empty for a picture without words.
    ///   - background: nil for a transparent picture.
    package init(_ text: String, width: Int, height: Int, background: StraightColour?) {
        self.text = text
        self.width = width
        self.height = height
        self.background = background
    }

    /// The picture as a PNG. Words that don't fit are left out.
    package func png() throws(EngineError) -> [UInt8] {
        var canvas: Canvas
        do { canvas = try Canvas(width: width, height: height) } catch { throw .picture(.canvas(error)) }
        let (right, bottom) = (Double(width), Double(height))
        if let background {
            canvas.fill(
                [[Point(x: 0, y: 0), Point(x: right, y: 0), Point(x: right, y: bottom), Point(x: 0, y: bottom)]],
                with: background)
        }
        do {
            let font = try TextRenderer()
            for (number, line) in try lines(font).enumerated() {
                let place = Point(x: Self.margin, y: Self.margin + Self.lineHeight * Double(number) + Self.textSize)
                guard place.y < bottom else { break }
                try font.draw(line, at: place, size: Self.textSize, colour: Self.ink(on: background), on: &canvas)
            }
        } catch { throw .picture(.text(error)) }
        do { return try canvas.png() } catch { throw .picture(.png(error)) }
    }

    private static func ink(on ground: StraightColour?) -> StraightColour {
        let light = ground.map { Int($0.red) * 2 + Int($0.green) * 5 + Int($0.blue) } ?? 8 * 255
        return light > 4 * 255
            ? StraightColour(red: 160, green: 0, blue: 0) : StraightColour(red: 255, green: 200, blue: 200)
    }

    private func lines(_ font: TextRenderer) throws(TextError) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            let longer = lines.last.map { "\($0) \(word)" }
            if let longer, try font.width(of: longer, size: Self.textSize) <= Double(width) - 2 * Self.margin {
                lines[lines.count - 1] = longer
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
