public import BillowRaster
public import Turbulence

/// Why a picture can't be drawn.
public enum PictureError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The style can't be used.
    case style(ParameterError)
    /// A text can't be drawn.
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

/// Draws any layers in any style. It reuses its buffers, so it draws one picture at a time and isn't `Sendable`.
public final class PicturePainter {
    private let tiles: TilePainter
    private let cells = CellPainter()
    private let labels = LabelPainter()

    /// - Parameter sprites: the cache of cell sprites; several painters may share one.
    public init(sprites: SpriteCache = SpriteCache()) { tiles = TilePainter(sprites: sprites) }

    /// Makes sprites in advance, which speeds up the next pictures of the same places. A call takes some tenths of a
    /// millisecond.
    ///
    /// - Returns: whether more sprites are waiting to be made.
    public func prepare() -> Bool { tiles.prepare(sprites: 100) }

    /// Whether `prepare` has anything to do.
    public var lacksSprites: Bool { tiles.lacksSprites }

    /// The PNG of a tile. A single layer of cells takes the exact path; other layers are drawn one over another.
    public func png(
        _ content: PictureContent, at coord: TileCoord, scale: TileScale, size: TileSize = .standard, style: Style,
        encoder: IndexedPNGEncoder
    ) throws(PictureError) -> [UInt8] {
        let region = MapRegion(coord, scale: scale, size: size)
        let picture: IndexedPicture
        if let plain = try plain(content, in: region, style: style) {
            picture = plain
        } else {
            picture = try canvas(content, in: region, style: style).indexed(keeping: style.fills)
        }
        do { return try encoder.encode(picture) } catch { throw .png(error) }
    }

    /// The PNG of a map by the path of tiles. It must be of one layer in plain colours and no larger than a block. A
    /// layer of cells must also be clear of the antimeridian. Returns nil for any other map.
    ///
    /// - Parameter background: the colour under the picture; nil leaves it transparent.
    package func png(
        likeTile map: MapContent, style: Style, background: StraightColour?, encoder: IndexedPNGEncoder
    ) throws(PictureError) -> [UInt8]? {
        guard map.blocks.count == 1, let block = map.blocks.first, block.region == map.region,
            let picture = try plain(block.content, in: map.region, style: style)
        else { return nil }
        do { return try encoder.encode(background.map(picture.on) ?? picture) } catch { throw .png(error) }
    }

    /// The picture of a region with one layer in plain colours, drawn directly to palette indices; nil for any other.
    private func plain(_ content: PictureContent, in region: MapRegion, style: Style) throws(PictureError)
        -> IndexedPicture?
    {
        guard content.parts.count == 1, content.labels.isEmpty, !content.isHatched else { return nil }
        switch content.parts[0] {
        case .cells(let cells, let isBordered) where !style.hasPatterns:
            return tiles.paint(cells, in: region, classes: try Self.classes(style, isBordered))
        case .field(let field) where FieldPainter.isPlain(style):
            return FieldPainter(style: style, region: region).picture(field)
        default: return nil
        }
    }

    /// The PNG of a canvas, with a palette. The colours in `exact` are unchanged by the quantisation.
    package func png(_ canvas: Canvas, keeping exact: [StraightColour], encoder: IndexedPNGEncoder)
        throws(PictureError) -> [UInt8]
    {
        do { return try encoder.encode(canvas.indexed(keeping: exact)) } catch { throw .png(error) }
    }

    private static func classes(_ style: Style, _ isBordered: Bool) throws(PictureError) -> HexagonClasses {
        guard isBordered else { return HexagonClasses(polygonsOf: style) }
        do { return try HexagonClasses(style) } catch { throw .style(error) }
    }

    /// The picture of a region about as large as a tile.
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
        _ part: PictureContent.LayerContent, in region: MapRegion, style: Style, onto canvas: inout Canvas
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
