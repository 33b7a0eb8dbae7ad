package import BillowRaster
package import BillowSnapshot
package import BillowTiles
package import Geometry
package import Turbulence

/// An overview of layers: a row for each style and list of layers, a column for each zoom.
package struct ContactSheet: Sendable {
    package var layers: [LayerList]
    package var styles: [Style]
    package var zooms: [Int]
    /// The center of the maps; nil for the place with the most data of each list of layers.
    package var center: LonLat?
    package var filter: Filter

    package init(layers: [LayerList], styles: [Style], zooms: [Int], center: LonLat?, filter: Filter) {
        self.layers = layers
        self.styles = styles
        self.zooms = zooms
        self.center = center
        self.filter = filter
    }

    /// The layout in pixels.
    private static let cellWidth = 240
    private static let cellHeight = 150
    private static let gap = 6
    private static let captionHeight = 20
    private static let paper = StraightColour(red: 0xFF, green: 0xFF, blue: 0xFF)
    private static let ink = StraightColour(red: 0x14, green: 0x18, blue: 0x1D)
    private static let lightMap = StraightColour(red: 0xDD, green: 0xE3, blue: 0xE8)
    private static let darkMap = StraightColour(red: 0x1B, green: 0x20, blue: 0x26)

    /// - Throws: `EngineError.invalid` if the sheet exceeds the size limit of images.
    package func png(_ maps: MapRenderer, at instant: Instant, in snapshot: Snapshot) async throws(EngineError)
        -> [UInt8]
    {
        let rows = layers.count * styles.count
        let row = Self.cellHeight + Self.captionHeight + Self.gap
        var sheet: Canvas
        do {
            sheet = try Canvas(
                width: zooms.count * (Self.cellWidth + Self.gap) + Self.gap, height: rows * row + Self.gap)
        } catch {
            throw .invalid(
                ParameterError(
                    parameter: "sheet", value: "\(rows) rows of \(zooms.count)",
                    expected: "fewer layers, styles or zooms"))
        }
        sheet.fill([Self.box(0, 0, sheet.width, sheet.height)], with: Self.paper)
        let font: TextRenderer
        do { font = try TextRenderer() } catch { throw .picture(.text(error)) }
        var top = Self.gap
        for list in layers {
            let busiest = try await maps.placeWithMostData(of: list, at: instant, filter: filter, in: snapshot)
            // Without any data, the place doesn't matter.
            guard let middle = center ?? busiest ?? LonLat(longitude: 0, latitude: 0) else { continue }
            for style in styles {
                do {
                    try font.draw(
                        "\(list) · \(style.id) · zoom \(zooms.map(String.init).joined(separator: ", "))",
                        at: Point(x: Double(Self.gap), y: Double(top + 14)), size: 12, colour: Self.ink, on: &sheet)
                } catch { throw .picture(.text(error)) }
                for (column, zoom) in zooms.enumerated() {
                    guard
                        let region = MapRegion(
                            center: middle, zoom: zoom, width: Self.cellWidth, height: Self.cellHeight)
                    else {
                        throw .invalid(
                            ParameterError(parameter: "zooms", value: "\(zoom)", expected: "0 to 22"))
                    }
                    let picture = try await maps.canvas(
                        MapRequest(
                            layers: list, region: region, instant: instant, filter: filter, style: style), in: snapshot)
                    let (x, y) = (Self.gap + column * (Self.cellWidth + Self.gap), top + Self.captionHeight)
                    sheet.fill(
                        [Self.box(x, y, Self.cellWidth, Self.cellHeight)],
                        with: style.theme == .dark ? Self.darkMap : Self.lightMap)
                    sheet.lay(picture, x: x, y: y)
                }
                top += row
            }
        }
        do { return try sheet.png() } catch { throw .picture(.png(error)) }
    }

    private static func box(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> [Point] {
        [(0, 0), (width, 0), (width, height), (0, height)].map {
            Point(x: Double(x + $0.0), y: Double(y + $0.1))
        }
    }
}
