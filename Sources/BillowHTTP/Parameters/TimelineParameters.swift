package import BillowEngine
package import BillowRaster
import BillowSnapshot
package import BillowTimeline
import Datasets
import Turbulence

/// The parameters of `/timeline.json`: those of a filter (`FeatureParameters`), and these.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `start`, `end` | instant or offset | what the log has | the setting `timeline` |
/// | `intervals` | whole number of frames | 1…the setting's limit | the setting `timeline` |
/// | `anchor` | true or false | | the setting `timeline` |
/// | `layers` | list of layers, each once | `Catalogue.layers` | all |
/// | `composed` | true or false | | false |
/// | `counts` | true or false | | false |
/// | `time` | instant or offset | the timeline | none |
/// | `rule` | latest, nearest or exact | | latest |
/// | `style`, `opacity`, `incomplete`, `size` | passed on to the tiles | as of `TileParameters` | |
package struct TimelineParameters: Sendable {
    private let timeline: TimelineRequest
    private let layers: [Dataset]
    private let isComposed: Bool
    private let isCounted: Bool
    private let filter: Filter
    private let time: RequestedTimePoint?
    private let rule: FrameRule
    private let style: Style
    private let passedOn: String

    /// The parameters that are read; others are passed over.
    package static let names = passedOnNames.union(QueryReader.filterNames).union([
        "start", "end", "intervals", "anchor", "layers", "composed", "counts", "time", "rule",
    ])
    private static let passedOnNames = QueryReader.conditionNames.union(["style", "opacity", "incomplete", "size"])
    /// The maximum length of the parameters that each frame's address repeats, in encoded bytes.
    private static let maximumForwardedBytes = 512

    package init(_ query: QueryReader, styles: StyleLibrary, defaults: TimelineDefaults) throws(ParameterProblem) {
        // Every frame's address repeats them.
        passedOn = String(query.passedOn(Self.passedOnNames).dropFirst())
        guard passedOn.utf8.count <= Self.maximumForwardedBytes else {
            throw query.invalid(
                "source", "\(passedOn.prefix(100))…",
                "filters and style of at most \(Self.maximumForwardedBytes) bytes together"
            )
        }
        layers = query.has("layers") ? try Dataset.layers(query.text("layers") ?? "") : Catalogue.layers
        timeline = try query.timeline(defaults)
        isComposed = try query.boolean("composed") ?? false
        isCounted = try query.boolean("counts") ?? false
        filter = try query.filter(of: layers, for: .pictures)
        time = try query.timePoint("time")
        rule = try query.choice("rule", FrameRule.allCases.map { ($0.rawValue, $0) }) ?? .latest
        style = try styles.style(query)
        _ = try query.hatchesIncomplete()
        _ = try query.tileSize()
    }

    /// The request for a manifest.
    ///
    /// - Parameter address: makes an address of a template's path and query.
    package func request(address: @escaping @Sendable (String, SignedAddress.TemplateVariables) -> String)
        -> ManifestRequest
    {
        ManifestRequest(
            timeline: timeline, pictures: isComposed ? [layers] : layers.map { [$0] }, filter: filter, time: time,
            rule: rule, style: style, address: address, passedOn: passedOn, isCounted: isCounted)
    }
}
