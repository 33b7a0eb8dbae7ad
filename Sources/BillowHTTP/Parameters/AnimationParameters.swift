package import BillowEngine
package import BillowRaster
package import BillowSnapshot
package import BillowTiles
package import BillowTimeline
import Turbulence

/// The parameters of `/animations/{layers}.png` and of `billow render map --animate`: those of a filter
/// (`FeatureParameters`), and these.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `start`, `end`, `intervals`, `anchor` | as of `TimelineParameters` | | |
/// | `bbox`, `width`, `height`, `scale` | as of `MapParameters` | | width 640 |
/// | `style`, `opacity`, `labels`, `incomplete`, `background` | as of `MapParameters` | | |
/// | `legend`, `timestamp` | true or false | | true |
/// | `form` | animation or sheet | | animation |
/// | `delay`, `hold` | milliseconds | 20…60000 | 500, three times `delay` |
/// | `loop` | times; 0 is for ever | 0…10000 | 0 |
package struct AnimationParameters: Sendable {
    private let layers: LayerList
    private let timeline: TimelineRequest
    private let filter: Filter
    private let region: MapRegion
    private let style: Style
    private let labels: Int
    private let hasLegend: Bool
    private let hasTimeStamp: Bool
    private let hatchesIncomplete: Bool
    private let ground: MapGround?
    private let form: AnimationRenderer.OutputFormat
    private let delay: Int
    private let hold: Int
    private let loops: Int

    /// Points of a picture whose width isn't named.
    package static let defaultWidth = 640

    /// The parameters that are read; others are passed over.
    package static let names = MapParameters.names.subtracting(["time", "scalebar"]).union([
        "start", "end", "intervals", "anchor", "form", "delay", "hold", "loop",
    ])

    package init(
        layers: LayerList, _ query: QueryReader, styles: StyleLibrary, defaults: TimelineDefaults
    ) throws(ParameterProblem) {
        self.layers = layers
        delay = try query.integer("delay", in: AnimationRenderer.delays) ?? AnimationRenderer.defaultDelay
        timeline = try query.timeline(defaults)
        filter = try query.filter(of: layers.layers, for: .pictures)
        region = try query.region(defaultWidth: Self.defaultWidth)
        ground = try query.ground(try styles.style(query))
        style = try styles.style(query, theme: ground?.theme)
        labels = try query.labels()
        hasLegend = try query.boolean("legend") ?? true
        hasTimeStamp = try query.boolean("timestamp") ?? true
        hatchesIncomplete = try query.hatchesIncomplete()
        form = try query.choice("form", [("animation", .animation), ("sheet", .sheet)]) ?? .animation
        hold =
            try query.integer("hold", in: AnimationRenderer.delays)
            ?? min(3 * delay, AnimationRenderer.delays.upperBound)
        loops = try query.integer("loop", in: 0...10_000) ?? 0
    }

    /// The animation request for these parameters.
    package func request(_ timelines: TimelineService, in snapshot: Snapshot) async throws
        -> AnimationRequest
    {
        let resolved = try timelines.timeline(timeline, in: snapshot)
        return AnimationRequest(
            layers: layers, timeline: timeline,
            times: try await timelines.times(of: layers.layers, resolved, filter, in: snapshot),
            region: region, filter: filter, style: style, labels: labels, hasLegend: hasLegend,
            hasTimeStamp: hasTimeStamp, hatchesIncomplete: hatchesIncomplete, ground: ground, form: form,
            delayMilliseconds: delay,
            holdMilliseconds: hold, loops: loops)
    }
}
