import BillowAreas
import BillowRaster
import BillowSnapshot
import BillowTiles
import Geometry
import Turbulence

/// The tile and the area of one observation.
public struct ExamplePicture: Sendable {
    /// A tile of 256 × 256 pixels.
    public var png: [UInt8]
    /// The ETag of the tile, which changes when its pixels change.
    public var entityTag: String
    /// The outline of the moderate turbulence.
    public var area: MultiPolygon
}

/// Draws one observation at FL350 and dissolves its hexagon, without a store, a server or a clock.
/// - Parameters:
///   - place: the place of the observation.
///   - instant: the time of the observation.
///   - tile: the tile to draw.
///   - styles: the folder with the styles.
public func picture(
    of place: LonLat, at instant: Instant, in tile: TileCoord, styles: String
) throws -> ExamplePicture? {
    guard let level = AltitudeBlock(thousands: 35), let source = SourceID("example") else { return nil }
    let row = ObservationRow(
        key: ObservationKey(observedAt: instant, tag: 1), cell: H3.cell(at: place), altitude: AltitudeBand(level),
        intensity: .reported(.moderate, edr: nil), observedAt: instant, category: nil,
        source: SourceNumber(rawValue: 1), kind: .inSitu, since: .zero)
    let window = Window(rows: [row], sources: [SourceRecord(number: row.source, id: source, merge: .keep)])
    let frame = Frame(window: window, at: instant, filter: Filter(history: .oneHour), table: SeverityTable())
    let plane = frame.plane()

    let style = try StyleLibrary(folder: styles).default
    let content = PictureContent(
        try LayerList("hexagons"), of: PictureData(instant: instant, plane: plane),
        in: MapRegion(tile, scale: .one))
    let png = try PicturePainter().png(content, at: tile, scale: .one, style: style, encoder: IndexedPNGEncoder())
    let areas = DissolvedCells(CellClasses(plane))
    return ExamplePicture(
        png: png, entityTag: try content.fingerprint(style: style).text,
        area: areas.area(of: CellClasses.value(.moderate)))
}
