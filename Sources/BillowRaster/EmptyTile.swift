extension PNG {
    /// A completely transparent square of the given side in pixels, 1 bit a pixel. Those of tiles (256, 512, 768) are
    /// made once, so that all empty tiles of a size have equal bytes.
    ///
    /// - Throws: `sizeOutOfRange`.
    package static func emptyTile(size: Int) throws(PNGError) -> [UInt8] {
        if let ready = emptyTiles[size] { return try ready.get() }
        return try makeEmptyTile(size: size)
    }

    private static let emptyTiles: [Int: Result<[UInt8], PNGError>] = {
        var tiles: [Int: Result<[UInt8], PNGError>] = [:]
        for size in [256, 512, 768] {
            tiles[size] = Result { () throws(PNGError) in try makeEmptyTile(size: size) }
        }
        return tiles
    }()

    private static func makeEmptyTile(size: Int) throws(PNGError) -> [UInt8] {
        guard (1...largestSide).contains(size) else { throw .sizeOutOfRange(width: size, height: size) }
        let indices = [UInt8](repeating: 0, count: size * size)
        return try IndexedPNGEncoder(level: 9).encode(indices: indices, width: size, height: size, palette: [.clear])
    }
}
