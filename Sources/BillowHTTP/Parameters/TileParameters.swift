import BillowAreas
package import BillowEngine
package import BillowRaster
package import BillowSnapshot
package import BillowTiles
import Turbulence

/// The parameters of `/tiles/{layers}/{time}/{z}/{x}/{y}` and of `billow render tile`: those of a filter
/// (`FeatureParameters`), and these.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `v` | a frame's version | what the timeline names | none |
/// | `s` | a frame's render key | 16 hexadecimal digits | none |
/// | `style`, `opacity` | a style's id, number | 0…1 | skypath, 1 |
/// | `labels` | pictures only: aircraft named in a block | 0…100 | 25 |
/// | `incomplete` | pictures only: hatch or none | | none |
/// | `size` | pictures only: points a side | 256 or 512 | 256 |
/// | `shape` | of fields: cells, in vector tiles contours too | | cells |
/// | `mode` | exact or atLeast; a picture is the same by both | | exact |
package struct TileParameters: Sendable {
    package let layers: LayerList
    package let time: RequestedTime
    package let place: TilePath
    /// The frame revision in the URL; nil without one, or for `latest`.
    package let revision: FrameRevision?
    package let filter: Filter
    package let style: Style
    private let size: TileSize
    private let labels: Int
    private let hatchesIncomplete: Bool
    private let mode: PolygonMode
    private let isContoured: Bool

    /// The parameters that are read; others are passed over.
    package static let names = TileJSONParameters.passedOnNames.union(QueryReader.filterNames).union(["v", "s"])

    package init(
        layers: LayerList, time: RequestedTime, place: TilePath, revision: FrameRevision?, _ query: QueryReader,
        styles: StyleLibrary
    ) throws(ParameterProblem) {
        self.layers = layers
        self.time = time
        self.place = place
        self.revision = revision
        let isPicture = place.format == .picture
        mode = try query.polygonMode()
        isContoured = try query.isContoured(in: place.format)
        filter = try query.filter(of: layers.layers, for: .pictures, isContoured: isContoured)
        style = try styles.style(query)
        size = isPicture ? try query.tileSize(of: place) : .standard
        labels = isPicture ? try query.labels() : PictureContent.defaultLabels
        hatchesIncomplete = isPicture ? try query.hatchesIncomplete() : false
    }

    /// Reads the parts of a tile's path.
    package init(
        layers: String, time: String, z: String, x: String, y: String, _ query: QueryReader, styles: StyleLibrary
    ) throws(ParameterProblem) {
        let time = try QueryReader.time(time)
        // `latest` has no fixed version.
        let revision = if case .instant = time.moment { try query.frameRevision() } else { nil as FrameRevision? }
        try self.init(
            layers: LayerList(parameter: layers), time: time, place: TilePath(z: z, x: x, y: y), revision: revision,
            query, styles: styles)
    }

    /// Reads the command line's parameters: `z/x/y` with or without `@2x`, and `time` in the query.
    package init(layers: String, place: String, _ query: QueryReader, styles: StyleLibrary) throws(ParameterProblem) {
        let parts = place.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else {
            throw ParameterProblem(ParameterError(parameter: "tile", value: place, expected: "z/x/y or z/x/y@2x"))
        }
        let path = try TilePath(z: parts[0], x: parts[1], y: parts[2] + ".png")
        try self.init(
            layers: LayerList(parameter: layers), time: query.time(), place: path, revision: nil, query, styles: styles)
    }

    /// The raster tile request for a scene.
    package func request(_ scene: FrameSource.Scene, isIncomplete: Bool) -> TileRequest {
        TileRequest(
            layers: scene.layers, coord: place.coord, scale: place.scale, size: size, instant: scene.instant,
            filter: filter, style: style, labels: labels, isHatched: hatchesIncomplete && isIncomplete)
    }

    /// The vector tile request for a scene.
    package func vectorRequest(_ scene: FrameSource.Scene) -> VectorTileRequest {
        VectorTileRequest(
            layers: scene.layers, coord: place.coord, instant: scene.instant, filter: filter, mode: mode,
            isContoured: isContoured)
    }
}

/// The path of `/v2/radar/{frame}/{size}/{z}/{x}/{y}/{color}/{options}`, as `/public/weather-maps.json` gives it.
///
/// | part | type | range |
/// | --- | --- | --- |
/// | frame | `{layer}-{time}-{v}-{s}` | a path of `/public/weather-maps.json` |
/// | size | pixels | 256 or 512 |
/// | z, x, y | whole numbers | the grid |
/// | color, options | any text | ignored |
package struct WeatherMapTileParameters: Sendable {
    package let tile: TileParameters
    package let layer: String
    package let time: String

    package init(
        frame: String, size: String, z: String, x: String, y: String, styles: StyleLibrary
    ) throws(ParameterProblem) {
        let parts = frame.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, let instant = Instant(parts[1]), let number = PlainInteger.parse(parts[2]),
            let renderKey = RenderKey(parts[3])
        else {
            throw ParameterProblem(
                .unknownFrame, detail: "There is no frame '\(frame.prefix(100))'.",
                parameter: "frame",
                value: String(frame.prefix(100)), allowed: "a path of /public/weather-maps.json")
        }
        let sizes = ["256": ".png", "512": "@2x.png"]
        guard let suffix = sizes[size] else {
            throw ParameterProblem(ParameterError(parameter: "size", value: size, expected: "256 or 512"))
        }
        layer = parts[0]
        time = parts[1]
        tile = try TileParameters(
            layers: LayerList(parameter: parts[0]), time: .instant(instant), place: TilePath(z: z, x: x, y: y + suffix),
            revision: FrameRevision(version: Version(rawValue: Int64(number)), renderKey: renderKey), QueryReader([:]),
            styles: styles)
    }
}

/// The parameters of `/tiles/{layers}.json`: those of its tiles, and these.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `time` | instant or `latest` | the layers' extent | `latest` |
/// | `f` | form of the tiles that it names | png, mvt, json | png |
package struct TileJSONParameters: Sendable {
    package let layers: LayerList
    package let time: RequestedTime
    package let filter: Filter
    package let style: Style
    package let size: TileSize
    /// The suffix of the tiles' URLs.
    package let suffix: String
    /// The query of the tiles' URLs, with its question mark; empty for none.
    package let passedOn: String
    /// The filters in the legend's URL; empty for none.
    package let legendFilters: Substring

    /// The parameters of a tile, which tile URLs repeat; others are ignored, and stand in no tile URL.
    fileprivate static let passedOnNames = QueryReader.conditionNames.union([
        "style", "opacity", "labels", "mode", "shape", "incomplete", "size",
    ])
    /// The parameters that are read; others are passed over.
    package static let names = passedOnNames.union(QueryReader.filterNames).union(["time", "f"])

    package init(layers: LayerList, _ query: QueryReader, styles: StyleLibrary) throws(ParameterProblem) {
        self.layers = layers
        suffix = try query.choice("f", [("png", "png"), ("mvt", "mvt"), ("json", "png")]) ?? "png"
        let isContoured = try query.isContoured(in: suffix == "png" ? .picture : .vector)
        filter = try query.filter(of: layers.layers, for: .pictures, isContoured: isContoured)
        style = try styles.style(query)
        _ = try query.labels()
        _ = try query.hatchesIncomplete()
        // Vector tiles have no size in points.
        size = suffix == "png" ? try query.tileSize() : .standard
        time = try query.time()
        passedOn = query.passedOn(Self.passedOnNames)
        legendFilters = query.passedOn(QueryReader.conditionNames.union(["opacity"])).dropFirst()
    }
}
