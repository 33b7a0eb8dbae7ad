package import BillowRaster

/// The content of a picture of any size, split into blocks about as large as a tile. Blocks adjoin without a seam, as
/// tiles do. Besides the picture itself, memory and work are the same as for a tile.
package struct MapContent: Sendable {
    struct Block: Sendable {
        /// The block's position in the picture.
        var x: Int
        var y: Int
        var region: MapRegion
        var content: PictureContent
    }

    package let region: MapRegion
    /// The blocks that aren't empty.
    let blocks: [Block]

    /// The width and height of a block in pixels.
    private static let side = 512

    /// - Parameters:
    ///   - labels: see `PictureContent`.
    ///   - isHatched: see `PictureContent`.
    ///   - style: see `PictureContent`.
    ///   - list: the layers.
    ///   - data: the data of the layers.
    ///   - region: the region of the map.
    package init(
        _ list: LayerList, of data: PictureData, in region: MapRegion, labels: Int = PictureContent.defaultLabels,
        isHatched: Bool = false, style: Style? = nil
    ) {
        self.region = region
        var blocks: [Block] = []
        for y in stride(from: 0, to: region.height, by: MapContent.side) {
            for x in stride(from: 0, to: region.width, by: MapContent.side) {
                let part = region.part(
                    x: x, y: y, width: min(MapContent.side, region.width - x),
                    height: min(MapContent.side, region.height - y))
                let content = PictureContent(
                    list, of: data, in: part, labels: labels, within: region, isHatched: isHatched, style: style)
                if !content.isEmpty { blocks.append(Block(x: x, y: y, region: part, content: content)) }
            }
        }
        self.blocks = blocks
    }

    /// A 128-bit digest of everything that decides the picture's pixels.
    package func fingerprint(style: Style) throws(PictureError) -> Fingerprint {
        var fingerprint = Fingerprint()
        for side in [region.width, region.height, region.scale, region.originX, region.originY] {
            fingerprint.mix(UInt64(bitPattern: Int64(side)))
        }
        fingerprint.mix(region.projection == .mercator ? 0 : 1)
        for number in [region.worldPixels, region.worldRows, region.offset.x, region.offset.y] {
            fingerprint.mix(number.bitPattern)
        }
        for block in blocks {
            fingerprint.mix(UInt64(block.x) << 32 | UInt64(block.y))
            fingerprint.mix(try block.content.fingerprint(style: style).text)
        }
        return fingerprint
    }
}
