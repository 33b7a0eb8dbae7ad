import BillowParameters
import BillowTiles

/// The tile matrix set WebMercatorQuad, which numbers the tiles of the web mercator map.
///
/// Source: OGC 17-083r4 (Two Dimensional Tile Matrix Set) annex D.1
enum TileMatrixSet {
    static let id = WMTSTileParameters.matrixSets[0]
    static let title = "Google Maps Compatible for the World"
    static let uri = "http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad"
    static let wellKnownScaleSet = "http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible"
    static let edge = MapCRS.mercatorEdge

    struct Matrix: Sendable {
        let z: Int

        /// The pixels of a tile, each way.
        var side: Int { TileScale.one.pixels }
        /// The tiles of the map, each way.
        var count: Int { 1 << z }
        /// Metres per pixel at the equator.
        var cellSize: Double { 2 * TileMatrixSet.edge / Double(side << z) }
        /// Source: OGC 07-057r7 section 6.1: pixels of 0.28 mm
        var scaleDenominator: Double { cellSize / 0.000_28 }
    }

    static let matrices = (0...TileCoord.maximumZoom).map(Matrix.init)
}
