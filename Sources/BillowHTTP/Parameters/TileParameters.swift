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
/// | `shape` | vector tiles of fields only: cells or contours | | cells |
/// | `mode` | vector tiles only: exact or atLeast | | exact |
package struct TileParameters: Sendable {
    package let layers: LayerList
    package let time: RequestedTime
    package let place: TilePath
    /// What of a frame the address names; nil where it names none, or asks for the newest.
    package let revision: FrameRevision?
    package let filter: Filter
    package let style: Style
    private let labels: Int
    private let hatchesIncomplete: Bool
    private let mode: PolygonMode
    private let isContoured: Bool

    package init(
        layers: LayerList, time: RequestedTime, place: TilePath, revision: FrameRevision?, _ query: QueryReader,
        styles: StyleLibrary
    ) throws(ParameterProblem) {
        self.layers = layers
        self.time = time
        self.place = place
        self.revision = revision
        filter = try query.filter()
        style = try styles.style(query)
        let isPicture = place.format == .picture
        labels = isPicture ? try query.labels() : PictureContent.defaultLabels
        hatchesIncomplete = isPicture ? try query.hatchesIncomplete() : false
        mode = isPicture ? .exact : try query.polygonMode()
        isContoured = isPicture ? false : try query.isContoured()
    }

    /// Of a tile's own route, by the parts of its path.
    package init(
        layers: String, time: String, z: String, x: String, y: String, _ query: QueryReader, styles: StyleLibrary
    ) throws(ParameterProblem) {
        let time = try QueryReader.time(time)
        // What is newest has no version of its own.
        let revision = if case .instant = time { try query.frameRevision() } else { nil as FrameRevision? }
        try self.init(
            layers: LayerList(parameter: layers), time: time, place: TilePath(z: z, x: x, y: y), revision: revision,
            query, styles: styles)
    }

    /// Of the command line: `z/x/y` with or without `@2x`, and `time` among the parameters.
    package init(layers: String, place: String, _ query: QueryReader, styles: StyleLibrary) throws(ParameterProblem) {
        let parts = place.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else {
            throw ParameterProblem(ParameterError(parameter: "tile", value: place, expected: "z/x/y or z/x/y@2x"))
        }
        let path = try TilePath(z: parts[0], x: parts[1], y: parts[2] + ".png")
        try self.init(
            layers: LayerList(parameter: layers), time: query.time(), place: path, revision: nil, query, styles: styles)
    }

    /// The picture that is drawn of a scene.
    package func request(_ scene: FrameSource.Scene, isIncomplete: Bool) -> TileRequest {
        TileRequest(
            layers: scene.layers, coord: place.coord, scale: place.scale, instant: scene.instant, filter: filter,
            style: style, labels: labels, isHatched: hatchesIncomplete && isIncomplete)
    }

    /// The vector tile that is made of a scene.
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
        guard parts.count == 4, let instant = Instant(parts[1]), let number = Digits.integer(parts[2]),
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
    /// What the tiles' addresses end with.
    package let suffix: String
    /// The query of the tiles' addresses, with its question mark; empty for none.
    package let passedOn: String
    /// The filters of the legend's address; empty for none.
    package let legendFilters: Substring

    /// The parameters of a tile; others are ignored, and passed on to no address.
    private static let passedOnNames = QueryReader.filterNames.union([
        "style", "opacity", "labels", "mode", "shape", "incomplete",
    ])

    package init(layers: LayerList, _ query: QueryReader, styles: StyleLibrary) throws(ParameterProblem) {
        self.layers = layers
        filter = try query.filter()
        style = try styles.style(query)
        _ = try query.labels()
        _ = try query.hatchesIncomplete()
        time = try query.time()
        suffix = try query.choice("f", [("png", "png"), ("mvt", "mvt"), ("json", "png")]) ?? "png"
        passedOn = query.passedOn(Self.passedOnNames)
        legendFilters = query.passedOn(QueryReader.filterNames.union(["opacity"])).dropFirst()
    }
}
