package import BillowEngine
package import BillowRaster
package import BillowSnapshot
package import BillowTiles
package import Datasets
import Geometry
import Turbulence

/// The parameters of the tiles of OGC API – Tiles, beside the filters.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `datetime` | instant, or an interval whose end is shown | the collection's extent | the newest |
/// | `style`, `opacity`, `labels`, `incomplete` | pictures only: as of tiles | | |
/// | `mode`, `shape` | vector tiles only: as of tiles | | |
/// | `f` | format | png; mvt | by the route |
package enum OGCTileParameters {
    package static let pictureNames = QueryReader.filterNames.union([
        "datetime", "style", "opacity", "labels", "incomplete", "f",
    ])
    package static let vectorNames = QueryReader.filterNames.union(["datetime", "mode", "shape", "f"])

    /// The tile of a collection.
    ///
    /// - Parameter suffix: `.png` or `.mvt`.
    package static func tile(
        _ dataset: Dataset, z: String, row: String, column: String, suffix: String, _ reader: QueryReader,
        styles: StyleLibrary, _ frames: FrameSource, in snapshot: Snapshot
    ) throws(ParameterProblem) -> TileParameters {
        let format = String(suffix.dropFirst())
        _ = try reader.choice("f", [(format, 0)])
        let layers = LayerList(dataset)
        let time = try OGCTime(reader)
        return try TileParameters(
            layers: layers, time: time.requested(of: layers, frames, in: snapshot),
            place: TilePath(z: z, x: column, y: row + suffix, names: .ogcTiles), revision: nil, reader, styles: styles)
    }
}

/// The parameters of `/collections/{id}/map`, beside the filters.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `bbox` | four numbers in the order of `bbox-crs` | the earth | all that `crs` shows |
/// | `bbox-crs`, `crs` | URI or CURIE | `MapCRS` | CRS84 |
/// | `width`, `height` | pixels | 1…4096 | 1024, by the other side |
/// | `datetime` | instant, or an interval whose end is shown | the collection's extent | the newest |
/// | `transparent` | true or false | | true, but with `bgcolor` |
/// | `bgcolor` | 0xRRGGBB | | 0xFFFFFF |
/// | `style`, `opacity`, `labels`, `incomplete` | as of tiles | | |
/// | `legend`, `timestamp`, `scalebar` | true or false | | false |
/// | `f` | png | | png |
///
/// Source: OGC 20-058 (OGC API – Maps – Part 1: Core)
package struct OGCMapParameters: Sendable {
    package let layers: LayerList
    package let crs: MapCRS
    package let region: MapRegion
    /// The box of the image for `Content-Bbox`, in the axis order of `crs`.
    package let shownBox: String
    package let filter: Filter
    private let style: Style
    private let time: OGCTime
    private let background: StraightColour?
    private let labels: Int
    private let hatchesIncomplete: Bool
    private let hasLegend: Bool
    private let hasTime: Bool
    private let hasScaleBar: Bool

    package static let names = QueryReader.filterNames.union([
        "bbox", "bbox-crs", "crs", "width", "height", "datetime", "transparent", "bgcolor", "style", "opacity",
        "labels", "incomplete", "legend", "timestamp", "scalebar", "f",
    ])
    private static let defaultWidth = 1_024

    package init(_ dataset: Dataset, _ reader: QueryReader, styles: StyleLibrary) throws(ParameterProblem) {
        _ = try reader.choice("f", [("png", 0)])
        layers = LayerList(dataset)
        filter = try reader.filter(of: [dataset], for: .pictures)
        style = try styles.style(reader)
        time = try OGCTime(reader)
        crs = try Self.crs("crs", reader)
        let box = try Self.plane(reader, for: crs)
        let width = try reader.integer("width", in: MapRegion.sides)
        let height = try reader.integer("height", in: MapRegion.sides)
        let across = width ?? height.map { MapRegion.width(of: box, height: $0) } ?? Self.defaultWidth
        guard
            let region = MapRegion(
                crs.projection, exactly: box, width: across,
                height: height ?? MapRegion.height(of: box, width: across))
        else {
            throw reader.invalid(
                "bbox", reader.text("bbox") ?? "", "of pixels that are at least 4 cm wide and high")
        }
        self.region = region
        shownBox = crs.numbers(of: box)
        background = try Self.background(reader)
        labels = try reader.labels()
        hatchesIncomplete = try reader.hatchesIncomplete()
        hasLegend = try reader.boolean("legend") ?? false
        hasTime = try reader.boolean("timestamp") ?? false
        hasScaleBar = try reader.boolean("scalebar") ?? false
    }

    /// The map order for these parameters, and a description of its data.
    package func order(_ frames: FrameSource, _ policy: FreshnessPolicy, in snapshot: Snapshot) throws(EngineError)
        -> (order: MapComposition, dataStatus: DataStatus)
    {
        try frames.polygonHistories.require(filter, for: layers)
        let scene = try frames.scene(of: layers, at: time.requested(of: layers, frames, in: snapshot), in: snapshot)
        let dataStatus = policy.dataStatus(
            layers, scene: scene.layers, of: region.region, at: scene.instant, filter: filter, in: snapshot)
        let lookBackSeconds = scene.layers.historySeconds(filter)
        let request = MapRequest(
            layers: scene.layers, region: region, instant: scene.instant, filter: filter, style: style, labels: labels,
            furniture: MapFurniture(
                legend: hasLegend
                    ? scene.layers.legend(
                        style: style, severities: filter.severities, simulated: dataStatus.freshness.isSimulated,
                        notes: filter.notes(lookBackSeconds: lookBackSeconds)) : nil,
                timeStamp: hasTime
                    ? dataStatus.caption(filter, historySeconds: lookBackSeconds, asOf: snapshot.publication.asOf) : [],
                warnings: hasTime ? dataStatus.warnings(asOf: snapshot.publication.asOf) : [],
                showsScaleBar: hasScaleBar),
            isHatched: hatchesIncomplete && dataStatus.isIncomplete, ground: background.map { .colour($0) })
        return (MapComposition(request), dataStatus)
    }

    private static func crs(_ name: String, _ reader: QueryReader) throws(ParameterProblem) -> MapCRS {
        guard let text = reader.text(name) else { return .crs84 }
        guard let crs = MapCRS(uri: text) else {
            throw reader.invalid(name, text, "one of " + MapCRS.allCases.map(\.uri).joined(separator: ", "))
        }
        return crs
    }

    /// The image's rectangle in the plane of its CRS.
    private static func plane(_ reader: QueryReader, for crs: MapCRS) throws(ParameterProblem) -> PlaneBox {
        let given = try Self.crs("bbox-crs", reader)
        guard let text = reader.text("bbox") else { return crs.whole }
        if given == .crs84 {
            // The box may cross the antimeridian, have heights, and use either longitude convention.
            guard let box = try reader.bbox(), try reader.bboxWidth() ?? 0 <= 360,
                let plane = PlaneBox(box, crs.projection)
            else {
                throw reader.invalid(
                    "bbox", text, "a box with an area where the map reaches, at most 360 degrees wide")
            }
            return plane
        }
        let isLatitudeFirst = given == .geographic
        let plane: PlaneBox
        do throws(MapCRS.BoxProblem) { plane = try given.plane(text, isLatitudeFirst: isLatitudeFirst) } catch {
            throw reader.invalid("bbox", text, error.expected(given, isLatitudeFirst: isLatitudeFirst))
        }
        guard let own = plane.projected(from: given.projection, to: crs.projection) else {
            throw reader.invalid("bbox", text, "a box with an area where the map reaches")
        }
        return own
    }

    private static func background(_ reader: QueryReader) throws(ParameterProblem) -> StraightColour? {
        let text = reader.text("bgcolor")
        let isTransparent = try reader.boolean("transparent") ?? (text == nil)
        let given = text ?? "0xFFFFFF"
        guard given.lowercased().hasPrefix("0x"), given.utf8.count == 8,
            let colour = StraightColour("#\(given.dropFirst(2))")
        else { throw reader.invalid("bgcolor", given, "0x and six hexadecimal digits") }
        return isTransparent ? nil : colour
    }
}

extension MapCRS {
    /// The whole extent of maps in this CRS.
    var whole: PlaneBox {
        guard let box = PlaneBox(.world, projection) else { preconditionFailure("the world has an area") }
        return box
    }

    /// The coordinates of a rectangle in this CRS, in its axis order.
    func numbers(of box: PlaneBox) -> String {
        let numbers: [Double]
        switch self {
        case .mercator:
            let world = 2 * Self.mercatorEdge
            numbers = [
                (box.minX - 0.5) * world, (0.5 - box.maxY) * world, (box.maxX - 0.5) * world, (0.5 - box.minY) * world,
            ]
        case .crs84, .geographic:
            let (west, east) = ((box.minX - 0.5) * 360, (box.maxX - 0.5) * 360)
            let (south, north) = (90 - box.maxY * 360, 90 - box.minY * 360)
            numbers = self == .crs84 ? [west, south, east, north] : [south, west, north, east]
        }
        return numbers.map { "\(($0 * 1e7).rounded() / 1e7)" }.joined(separator: ",")
    }
}
