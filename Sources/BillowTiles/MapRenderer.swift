public import BillowRaster
import Turbulence

/// Draws windows of up to 4,096 × 4,096 pixels, block by block: memory and work beyond the picture itself are those of a
/// tile. Blocks fit together as tiles do.
public final class MapRenderer {
    private let painter = PicturePainter()
    private static let block = 512

    public init() {}

    /// The picture, transparent where there is nothing.
    /// - Parameter labels: as of `PictureContent`.
    public func canvas(
        _ list: LayerList, of data: PictureData, in region: MapRegion, style: Style,
        labels: Int = PictureContent.defaultLabels
    ) throws(PictureError) -> Canvas {
        var canvas: Canvas
        do { canvas = try Canvas(width: region.width, height: region.height) } catch { throw .canvas(error) }
        for y in stride(from: 0, to: region.height, by: MapRenderer.block) {
            for x in stride(from: 0, to: region.width, by: MapRenderer.block) {
                let part = region.part(
                    x: x, y: y, width: min(MapRenderer.block, region.width - x),
                    height: min(MapRenderer.block, region.height - y))
                let content = PictureContent(list, of: data, in: part, labels: labels)
                if content.isEmpty { continue }
                canvas.lay(try painter.canvas(content, in: part, style: style), x: x, y: y)
            }
        }
        return canvas
    }
}
