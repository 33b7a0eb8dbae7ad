package import BillowAreas
package import BillowPacks
package import BillowRaster
package import BillowSnapshot
package import BillowTiles
package import Geometry

/// The arrangement of tilesets in a pack file.
package enum PackLayout: Sendable, Hashable {
    /// One tileset of one instant, because neither format supports times.
    case tileset(TilesetFormat)
    /// A ZIP archive with a tileset per frame and a manifest with their times.
    case frames(TilesetFormat)
    /// A ZIP archive in the form of a ForeFlight content pack, with MBTiles.
    case foreFlight
}

/// The format of a tileset.
package enum TilesetFormat: String, Sendable, Hashable, CaseIterable {
    case mbtiles, pmtiles
}

/// A request for a pack.
package struct PackRequest: Sendable {
    package var layers: LayerList
    /// One scene per tileset, in rising order of time.
    package var scenes: [FrameSource.Scene]
    package var cover: TileCover
    /// The region of its tiles.
    package var region: GeographicRegion
    package var filter: Filter
    package var style: Style
    package var tiles: TileKind
    package var scale: TileScale
    package var labels: Int
    package var mode: PolygonMode
    package var isContoured: Bool
    package var form: PackLayout
    /// The query parameters of the request, for the metadata.
    package var query: String

    package init(
        layers: LayerList, scenes: [FrameSource.Scene], cover: TileCover, region: GeographicRegion, filter: Filter,
        style: Style, tiles: TileKind, scale: TileScale, labels: Int, mode: PolygonMode, isContoured: Bool,
        form: PackLayout, query: String
    ) {
        self.layers = layers
        self.scenes = scenes
        self.cover = cover
        self.region = region
        self.filter = filter
        self.style = style
        self.tiles = tiles
        self.scale = scale
        self.labels = labels
        self.mode = mode
        self.isContoured = isContoured
        self.form = form
        self.query = query
    }
}

/// The limits of packs.
package enum PackLimits {
    /// The most tiles of all frames. The world up to zoom 8 has 87,381.
    package static let tiles = 100_000
    package static let zooms = 0...14
    /// The zooms of a request without any.
    package static let defaultZooms = 0...8
}
