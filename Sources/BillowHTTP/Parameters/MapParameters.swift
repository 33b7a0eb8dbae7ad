package import BillowEngine
package import BillowRaster
package import BillowSnapshot
package import BillowTiles
import Turbulence

/// The parameters of `/maps/{layers}.png` and of `billow render map`: those of a filter (`FeatureParameters`), and
/// these.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `time` | instant or `latest` | the layers' extent | `latest` |
/// | `bbox` | west,south,east,north in degrees | a box with an area, at most 360 wide | the world |
/// | `width`, `height` | points | 1…4096 | 1024, by the other side |
/// | `scale` | pixels of a point | 1…3 | 1 |
/// | `style`, `opacity` | a style's id, number | 0…1 | skypath, 1 |
/// | `labels` | aircraft named in a block | 0…100 | 25 |
/// | `legend`, `timestamp`, `scalebar` | true or false | | false |
/// | `incomplete` | hatch or none | | none |
/// | `background` | none, map, light, dark, or six hexadecimal digits | | none |
package struct MapParameters: Sendable {
    private let layers: LayerList
    private let time: RequestedTime
    private let filter: Filter
    private let style: Style
    private let region: MapRegion
    private let labels: Int
    private let hasLegend: Bool
    private let hasTime: Bool
    private let hasScaleBar: Bool
    private let hatchesIncomplete: Bool
    private let ground: MapGround?

    /// Points of a picture whose width isn't named.
    package static let defaultWidth = 1_024

    /// The parameters that are read; others are passed over.
    package static let names = QueryReader.filterNames.union([
        "time", "bbox", "width", "height", "scale", "style", "opacity", "labels", "legend", "timestamp", "scalebar",
        "incomplete", "background",
    ])

    package init(layers: LayerList, _ query: QueryReader, styles: StyleLibrary) throws(ParameterProblem) {
        self.layers = layers
        time = try query.time()
        filter = try query.filter(of: layers.layers, for: .pictures)
        ground = try query.ground(try styles.style(query))
        style = try styles.style(query, theme: ground?.theme)
        hasLegend = try query.boolean("legend") ?? false
        hasTime = try query.boolean("timestamp") ?? false
        region = try query.region(defaultWidth: Self.defaultWidth)
        labels = try query.labels()
        hasScaleBar = try query.boolean("scalebar") ?? false
        hatchesIncomplete = try query.hatchesIncomplete()
    }

    /// The map request for these parameters, and a description of its data.
    package func request(_ frames: FrameSource, _ policy: FreshnessPolicy, in snapshot: Snapshot) throws(EngineError)
        -> (request: MapRequest, dataStatus: DataStatus)
    {
        let scene = try frames.scene(of: layers, at: time, in: snapshot)
        let dataStatus = policy.dataStatus(
            layers, scene: scene.layers, of: region.region, at: scene.instant, filter: filter, in: snapshot)
        let lookBackSeconds = scene.layers.historySeconds(filter)
        let legend = scene.layers.legend(
            style: style, severities: filter.severities, simulated: dataStatus.freshness.isSimulated,
            notes: filter.notes(lookBackSeconds: lookBackSeconds))
        let request = MapRequest(
            layers: scene.layers, region: region, instant: scene.instant, filter: filter, style: style, labels: labels,
            furniture: MapFurniture(
                legend: hasLegend ? legend : nil,
                timeStamp: hasTime
                    ? dataStatus.caption(filter, historySeconds: lookBackSeconds, asOf: snapshot.publication.asOf) : [],
                warnings: hasTime ? dataStatus.warnings(asOf: snapshot.publication.asOf) : [],
                showsScaleBar: hasScaleBar),
            isHatched: hatchesIncomplete && dataStatus.isIncomplete, ground: ground)
        return (request, dataStatus)
    }
}
