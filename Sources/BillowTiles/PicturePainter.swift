public import BillowRaster
public import Turbulence

/// Why a picture can't be drawn.
public enum PictureError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A style can't be drawn with.
    case style(ParameterError)
    /// Words can't be drawn.
    case text(TextError)
    /// The legend can't be drawn.
    case legend(LegendError)
    /// The picture is too large.
    case canvas(CanvasError)
    /// The picture can't be encoded.
    case png(PNGError)

    public var description: String {
        switch self {
        case .style(let error): "\(error)"
        case .text(let error): "\(error)"
        case .legend(let error): "\(error)"
        case .canvas(let error): "\(error)"
        case .png(let error): "\(error)"
        }
    }
}

/// Draws any layers in any style. Holds the buffers that it draws in, so it serves one at a time. Not `Sendable`.
public final class PicturePainter {
    private let tiles: TilePainter
    private let cells = CellPainter()
    private let labels = LabelPainter()

    /// - Parameter sprites: where the sprites of small cells are kept; several painters may have them in common.
    public init(sprites: SpriteCache = SpriteCache()) { tiles = TilePainter(sprites: sprites) }

    /// Works out ahead what makes the next pictures of the same places faster, for some tenths of a millisecond.
    ///
    /// - Returns: whether there is more to do.
    public func prepare() -> Bool { tiles.prepare(sprites: 100) }

    /// The PNG of a tile: by the exact path for a layer of cells alone, else layer over layer.
    public func png(
        _ content: PictureContent, at coord: TileCoord, scale: TileScale, style: Style, encoder: IndexedPNGEncoder
    ) throws(PictureError) -> [UInt8] {
        let picture: IndexedPicture
        if content.parts.count == 1, content.labels.isEmpty, !content.isHatched,
            case .cells(let cells, let isBordered) = content.parts[0], !style.hasPatterns
        {
            picture = tiles.paint(cells, at: coord, scale: scale, classes: try Self.classes(style, isBordered))
        } else if content.parts.count == 1, content.labels.isEmpty, !content.isHatched,
            case .field(let field) = content.parts[0], FieldPainter.isPlain(style)
        {
            picture = FieldPainter(style: style, region: MapRegion(coord, scale: scale)).picture(field)
        } else {
            picture = try canvas(content, in: MapRegion(coord, scale: scale), style: style)
                .indexed(keeping: style.fills)
        }
        do { return try encoder.encode(picture) } catch { throw .png(error) }
    }

    private static func classes(_ style: Style, _ isBordered: Bool) throws(PictureError) -> HexagonClasses {
        guard isBordered else { return HexagonClasses(polygonsOf: style) }
        do { return try HexagonClasses(style) } catch { throw .style(error) }
    }

    /// The picture of a window about as large as a tile.
    public func canvas(_ content: PictureContent, in region: MapRegion, style: Style) throws(PictureError) -> Canvas {
        var canvas: Canvas
        do { canvas = try Canvas(width: region.width, height: region.height) } catch { throw .canvas(error) }
        for part in content.parts { try paint(part, in: region, style: style, onto: &canvas) }
        do {
            for label in content.labels {
                try label.paint(style, scale: Double(region.scale), onto: &canvas, text: labels)
            }
        } catch { throw .text(error) }
        if content.isHatched { IncompleteMark.paint(region, theme: style.theme, onto: &canvas) }
        return canvas
    }

    private func paint(
        _ part: PictureContent.Part, in region: MapRegion, style: Style, onto canvas: inout Canvas
    ) throws(PictureError) {
        let scale = Double(region.scale)
        switch part {
        case .cells(let content, let isBordered):
            do {
                try cells.paint(content, isBordered: isBordered, style: style, region: region, onto: &canvas)
            } catch { throw .style(error) }
        case .field(let content): FieldPainter(style: style, region: region).paint(content, onto: &canvas)
        case .polygons(let marks): PolygonMark.paint(marks, style: style, region: region, onto: &canvas)
        case .areas(let marks): for mark in marks { mark.paint(style, region: region, onto: &canvas) }
        case .tracks(let marks): for mark in marks { mark.paint(style, scale: scale, onto: &canvas) }
        case .traffic(let marks): for mark in marks { mark.paint(style, scale: scale, onto: &canvas) }
        case .reports(let marks): for mark in marks { mark.paint(style, scale: scale, onto: &canvas) }
        }
    }
}

extension IndexedPNGEncoder {
    fileprivate func encode(_ picture: IndexedPicture) throws(PNGError) -> [UInt8] {
        try encode(
            indices: picture.indices, width: picture.width, height: picture.height, palette: picture.palette)
    }
}
