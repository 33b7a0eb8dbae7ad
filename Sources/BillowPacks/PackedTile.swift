package import BillowTiles

/// A tile of a pack.
package struct PackedTile: Sendable {
    package var coord: TileCoord
    /// As `/tiles` gives it: a PNG, or a vector tile that isn't compressed. nil where a file that is updated has it
    /// already.
    package var bytes: [UInt8]?
    /// Names what the tile shows; equal tags are equal bytes. Empty where nothing names it.
    package var tag: String

    package init(_ coord: TileCoord, _ bytes: [UInt8]?, tag: String) {
        self.coord = coord
        self.bytes = bytes
        self.tag = tag
    }
}

/// What a tileset is made of.
package enum TileForm: String, Sendable, Hashable, CaseIterable {
    /// Pictures.
    case png
    /// Vector tiles.
    case mvt
}

/// A tileset that is written tile by tile.
package protocol TilesetWriter: Sendable {
    /// Takes tiles, in rising order of `TileID`.
    func add(_ tiles: [PackedTile]) throws(PackError)

    /// Writes what is said of the whole; the file is whole then.
    func finish(_ metadata: PackMetadata) throws(PackError)
}
