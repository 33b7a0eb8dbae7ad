import BillowEngine
import BillowParameters
import BillowRaster
import BillowTiles
import JSONKit

/// The base map as layers of a MapLibre style. They have the colours of map pictures with a background.
///
/// Source: MapLibre Style Specification 8, https://maplibre.org/maplibre-style-spec
struct BaseMapStyle {
    private let palette: BaseMap.Palette

    /// The name of the source.
    static let source = "basemap"
    /// The GeoJSON below the server's address: the level of detail that a map of a continent needs.
    static let path = "/\(BaseMapSource.path)/\(BaseMap.Detail.coarse.fileName)"
    static let attribution = "Base map: Natural Earth, GSHHG"

    init(theme: Theme) { palette = BaseMap.Palette(theme) }

    struct Layer: Encodable {
        var id: String
        var type: String
        var source = BaseMapStyle.source
        var filter: JSONValue
        var paint: JSONValue

        init(_ id: String, fill: StraightColour) {
            self.id = "basemap-\(id)"
            type = "fill"
            filter = Self.filter(id)
            // Neighbouring countries share the vertices of a border. Antialiasing would show a seam there.
            paint = ["fill-color": .string(fill.hexadecimal), "fill-antialias": false]
        }

        init(_ id: String, line: StraightColour, widths: (Double, Double)) {
            self.id = "basemap-\(id)"
            type = "line"
            filter = Self.filter(id)
            paint = [
                "line-color": .string(line.hexadecimal),
                "line-width": [
                    "interpolate", ["linear"], ["zoom"], 1, .number(widths.0), 6, .number(widths.1),
                ],
            ]
        }

        private static func filter(_ kind: String) -> JSONValue { ["==", ["get", "kind"], .string(kind)] }
    }

    var ocean: String { palette.ocean.hexadecimal }

    /// From bottom to top.
    var layers: [Layer] {
        [
            Layer("land", fill: palette.land), Layer("lake", fill: palette.ocean),
            Layer("border", line: palette.border, widths: BaseMap.borderWidths),
            Layer("coast", line: palette.coast, widths: BaseMap.coastWidths),
        ]
    }
}
