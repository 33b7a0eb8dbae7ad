public import BillowRaster

extension PicturePainter {
    /// Pixels: a window larger than this is drawn in blocks.
    private static let block = 512

    /// The picture of a window of up to 4,096 × 4,096 pixels, transparent where there is nothing. It is drawn block by
    /// block, which fit together as tiles do: beyond the picture itself, memory and work are those of a tile.
    /// - Parameter labels: as of `PictureContent`.
    public func canvas(
        _ list: LayerList, of data: PictureData, in region: MapRegion, style: Style,
        labels: Int = PictureContent.defaultLabels
    ) throws(PictureError) -> Canvas {
        var canvas: Canvas
        do { canvas = try Canvas(width: region.width, height: region.height) } catch { throw .canvas(error) }
        for y in stride(from: 0, to: region.height, by: PicturePainter.block) {
            for x in stride(from: 0, to: region.width, by: PicturePainter.block) {
                let part = region.part(
                    x: x, y: y, width: min(PicturePainter.block, region.width - x),
                    height: min(PicturePainter.block, region.height - y))
                let content = PictureContent(list, of: data, in: part, labels: labels)
                if content.isEmpty { continue }
                canvas.lay(try self.canvas(content, in: part, style: style), x: x, y: y)
            }
        }
        return canvas
    }
}
