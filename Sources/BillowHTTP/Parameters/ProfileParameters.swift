package import BillowEngine
package import BillowRaster
package import BillowSnapshot
import Datasets
package import Geometry
import Turbulence

/// The parameters of `/profiles.json` and `/profiles.png`: those of a route (`RouteReader`), of a filter
/// (`FeatureParameters`), and these.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `width` | nautical miles, edge to edge | 1…250 | 40 |
/// | `stretch` | nautical miles | 1…500 | 10 |
/// | `time` | instant or `latest` | the log's extent | `latest` |
/// | `style` | PNG only: a style's id | | skypath |
/// | `theme` | PNG only: light or dark | | that of the style |
/// | `width-pixels`, `height-pixels` | PNG only | 320…4096, 200…2048 | 1000, 420 |
package struct ProfileParameters: Sendable {
    package let requested: RouteReader.RequestedRoute
    package let filter: Filter
    package let time: RequestedTime
    /// The length of a stretch in nautical miles.
    package let stretch: Double
    package let corridor: Corridor

    package static let names = QueryReader.filterNames.union(RouteReader.names)
        .union(["time", "stretch", "style", "width", "f"])
    /// The default width of the corridor around the route, in nautical miles, edge to edge.
    private static let defaultWidth = 40.0

    package init(_ reader: QueryReader, airports: AirportTable) throws(ParameterProblem) {
        requested = try RouteReader(airports).read(reader, nil, defaultWidth: Self.defaultWidth)
        filter = try reader.filter(of: [.hexagons], for: .pictures)
        time = try reader.time()
        stretch = try reader.number("stretch", in: 1...500) ?? 10
        corridor = try AreaReader.corridor(around: requested)
    }

    /// The parameters of the image alone.
    package struct Picture: Sendable {
        package let style: Style
        package let title: String
        /// The size in pixels.
        package let width: Int
        package let height: Int

        package static let names = ProfileParameters.names.union(["width-pixels", "height-pixels", "theme"])

        package init(_ reader: QueryReader, styles: StyleLibrary) throws(ParameterProblem) {
            let theme = try reader.choice("theme", Theme.allCases.map { ($0.rawValue, $0) })
            style = try styles.style(reader, theme: theme)
            title = reader.phrase("route") ?? "Along the route"
            width = try reader.integer("width-pixels", in: 320...4_096) ?? 1_000
            height = try reader.integer("height-pixels", in: 200...2_048) ?? 420
        }
    }
}
