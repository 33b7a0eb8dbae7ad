package import BillowTiles

/// A tile of a pack.
package struct PackedTile: Sendable {
    package var coord: TileCoord
    /// The bytes that `/tiles` returns: a PNG, or an uncompressed vector tile. nil if the updated file already has the
    /// tile.
    package var bytes: [UInt8]?
    /// Identifies the content of the tile: equal tags mean equal bytes. Empty if there is none.
    package var tag: String

    package init(_ coord: TileCoord, _ bytes: [UInt8]?, tag: String) {
        self.coord = coord
        self.bytes = bytes
        self.tag = tag
    }
}

/// The kind of tiles in a tileset.
package enum TileKind: String, Sendable, Hashable, CaseIterable {
    /// Pictures.
    case png
    /// Vector tiles.
    case mvt
}

/// Writes a tileset tile by tile.
package protocol TilesetWriter: Sendable {
    /// Adds tiles, in rising order of `TileID`.
    func add(_ tiles: [PackedTile]) throws(PackError)

    /// Writes the metadata and completes the file.
    func finish(_ metadata: PackMetadata) throws(PackError)
}
