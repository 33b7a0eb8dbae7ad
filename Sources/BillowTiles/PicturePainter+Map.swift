package import BillowRaster

extension PicturePainter {
    /// The picture of a region of up to 4,096 × 4,096 pixels, drawn block by block. Empty pixels are transparent.
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

    /// The picture of some layers in a region.
    /// - Parameters:
    ///   - labels: see `PictureContent`.
    ///   - list: the layers.
    ///   - data: the data of the layers.
    ///   - region: the region of the map.
    ///   - style: the style of the layers.
    package func canvas(
        _ list: LayerList, of data: PictureData, in region: MapRegion, style: Style,
        labels: Int = PictureContent.defaultLabels
    ) throws(PictureError) -> Canvas {
        try canvas(MapContent(list, of: data, in: region, labels: labels, style: style), style: style)
    }
}
