package import BillowRaster

extension PicturePainter {
    /// The picture of a window of up to 4,096 × 4,096 pixels, transparent where there is nothing, drawn block by block.
    package func canvas(_ content: MapContent, style: Style) throws(PictureError) -> Canvas {
        var canvas: Canvas
        do { canvas = try Canvas(width: content.region.width, height: content.region.height) } catch {
            throw .canvas(error)
        }
        for block in content.blocks {
            canvas.lay(try self.canvas(block.content, in: block.region, style: style), x: block.x, y: block.y)
        }
        return canvas
    }

    /// The same of some data.
    /// - Parameters:
    ///   - labels: as of `PictureContent`.
    ///   - list: the layers.
    ///   - data: what they show.
    ///   - region: the window of the map.
    ///   - style: what they are drawn with.
    package func canvas(
        _ list: LayerList, of data: PictureData, in region: MapRegion, style: Style,
        labels: Int = PictureContent.defaultLabels
    ) throws(PictureError) -> Canvas {
        try canvas(MapContent(list, of: data, in: region, labels: labels, style: style), style: style)
    }
}
