public import BillowRaster
public import Turbulence

/// Why a picture can't be drawn.
public enum PictureError: Error, Sendable, Hashable, CustomStringConvertible {
    case style(ParameterError)
    case text(TextError)
    case canvas(CanvasError)
    case png(PNGError)

    public var description: String {
        switch self {
        case .style(let error): "\(error)"
        case .text(let error): "\(error)"
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

    /// - Parameter stamps: where the stamps of small cells are kept; several painters may have them in common.
    public init(stamps: StampStore = StampStore()) { tiles = TilePainter(stamps: stamps) }

    /// Works out ahead what makes the next pictures of the same places faster, for some tenths of a millisecond.
    ///
    /// - Returns: whether there is more to do.
    public func prepare() -> Bool { tiles.prepare(stamps: 100) }

    /// The PNG of a tile: by the exact path for a layer of cells alone, else layer over layer.
    public func png(
        _ content: PictureContent, at coord: TileCoord, scale: TileScale, style: Style, encoder: IndexedPNGEncoder
    ) throws(PictureError) -> [UInt8] {
        do {
            if content.parts.count == 1, content.labels.isEmpty, !content.isHatched,
                case .cells(let cells, let isBordered) = content.parts[0], !style.hasPatterns
            {
                let classes = isBordered ? try HexagonClasses(style) : HexagonClasses(polygonsOf: style)
                return try encoder.encode(tiles.paint(cells, at: coord, scale: scale, classes: classes))
            }
            let canvas = try canvas(content, in: MapRegion(coord, scale: scale), style: style)
            return try encoder.encode(canvas.indexed(keeping: style.fills))
        } catch { throw PictureError(error) }
    }

    /// The picture of a window about as large as a tile.
    public func canvas(_ content: PictureContent, in region: MapRegion, style: Style) throws(PictureError) -> Canvas {
        do {
            var canvas = try Canvas(width: region.width, height: region.height)
            for part in content.parts { try paint(part, in: region, style: style, onto: &canvas) }
            for label in content.labels {
                try label.paint(style, scale: Double(region.scale), onto: &canvas, text: labels)
            }
            if content.isHatched { IncompleteMark.paint(region, theme: style.theme, onto: &canvas) }
            return canvas
        } catch { throw PictureError(error) }
    }

    private func paint(
        _ part: PictureContent.Part, in region: MapRegion, style: Style, onto canvas: inout Canvas
    ) throws {
        let scale = Double(region.scale)
        switch part {
        case .cells(let content, let isBordered):
            try cells.paint(content, isBordered: isBordered, style: style, region: region, onto: &canvas)
        case .polygons(let marks): PolygonMark.paint(marks, style: style, region: region, onto: &canvas)
        case .areas(let marks): for mark in marks { mark.paint(style, region: region, onto: &canvas) }
        case .tracks(let marks): for mark in marks { mark.paint(style, scale: scale, onto: &canvas) }
        case .traffic(let marks): for mark in marks { mark.paint(style, scale: scale, onto: &canvas) }
        case .reports(let marks): for mark in marks { mark.paint(style, scale: scale, onto: &canvas) }
        }
    }
}

extension PictureError {
    /// What the parts of this module throw.
    fileprivate init(_ error: any Error) {
        switch error {
        case let error as PictureError: self = error
        case let error as ParameterError: self = .style(error)
        case let error as TextError: self = .text(error)
        case let error as CanvasError: self = .canvas(error)
        case let error as PNGError: self = .png(error)
        default: preconditionFailure("an unforeseen error of drawing: \(error)")
        }
    }
}

extension IndexedPNGEncoder {
    fileprivate func encode(_ picture: IndexedPicture) throws(PNGError) -> [UInt8] {
        try encode(
            indices: picture.indices, width: picture.width, height: picture.height, palette: picture.palette)
    }
}
