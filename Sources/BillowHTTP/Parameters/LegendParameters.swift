import BillowEngine
package import BillowRaster
package import BillowSnapshot
package import BillowTiles
import Turbulence

/// The parameters of `/legend.json`, `.png` and `.svg`: those of a filter (`FeatureParameters`), and these.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `layer` | list of layers | `Catalogue.layers` | hexagons |
/// | `style`, `opacity` | a style's id, number | 0…1 | skypath, 1 |
/// | `scale` | pictures only: pixels of a point | `LegendOptions.scales` | 1 |
/// | `theme` | pictures only: light or dark | | that of the style |
/// | `orientation` | pictures only | vertical, horizontal | vertical |
package struct LegendParameters: Sendable {
    package let layers: LayerList
    package let filter: Filter
    package let style: Style

    /// The parameters that are read; others are passed over.
    package static let names = QueryReader.filterNames.union(["layer", "style", "opacity"])
    /// The names of the parameters of a legend as a picture.
    package static let pictureNames = names.union(["scale", "theme", "orientation"])

    /// - Parameter options: those of the picture; nil for the legend as JSON.
    package init(_ reader: QueryReader, styles: StyleLibrary, options: LegendOptions? = nil) throws(ParameterProblem) {
        layers = try reader.layers("layer")
        filter = try reader.filter(of: layers.layers, for: .pictures)
        // Marks must stand out from the panel.
        style = try styles.style(reader, theme: options?.theme)
    }

    /// The options of a legend image.
    package static func options(_ reader: QueryReader) throws -> LegendOptions {
        try LegendOptions(
            scale: try reader.integer("scale", in: LegendOptions.scales) ?? 1,
            theme: try reader.choice("theme", Theme.allCases.map { ($0.rawValue, $0) }),
            orientation: try reader.choice("orientation", Orientation.allCases.map { ($0.rawValue, $0) }) ?? .vertical)
    }
}
