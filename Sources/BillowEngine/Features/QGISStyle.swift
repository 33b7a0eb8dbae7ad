import BillowPacks
import BillowRaster
import Datasets
import Turbulence

/// The style of a dataset in QGIS: by severity in a style's colours, with severer features on top, or in one colour for
/// features without severity.
///
/// Source: the style documents that QGIS 3 writes (https://docs.qgis.org, "QML – The QGIS Style File Format")
struct QGISStyle: Sendable {
    private let dataset: Dataset
    private let style: Style

    init(_ dataset: Dataset, _ style: Style) {
        self.dataset = dataset
        self.style = style
    }

    var tableStyle: GeoPackageMetadata.TableStyle { .init(name: style.id, document: document) }

    private var document: String {
        let severity = dataset.property(.severity).map { "\($0.name)" }
        return """
            <!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>
            <qgis version="3.22.0" styleCategories="Symbology">
            \(severity.map(categories(by:)) ?? single)
            <blendMode>0</blendMode><featureBlendMode>0</featureBlendMode><layerOpacity>1</layerOpacity>
            </qgis>

            """
    }

    private var single: String {
        """
        <renderer-v2 type="singleSymbol" symbollevels="0" enableorderby="0" forceraster="0">
        <symbols>\(symbol(0, fill: StraightColour(red: 47, green: 95, blue: 160), border: nil))</symbols>
        </renderer-v2>
        """
    }

    /// - Parameter property: the name of the property with the severity.
    private func categories(by property: String) -> String {
        let severities = Severity.allCases
        var categories = severities.map { severity in
            "<category symbol=\"\(severity.rawValue)\" value=\"\(severity.rawValue)\" type=\"long\" "
                + "label=\"\(XMLText.escaped(severity.label))\" render=\"true\"/>"
        }
        var symbols = severities.map { severity in
            symbol(
                Int(severity.rawValue), fill: style[severity].fill.colour, border: style[severity].border?.colour)
        }
        // For features without a severity.
        categories.append(
            "<category symbol=\"\(severities.count)\" value=\"\" type=\"string\" label=\"Other\" render=\"true\"/>")
        symbols.append(
            symbol(severities.count, fill: StraightColour(red: 128, green: 128, blue: 128, alpha: 102), border: nil))
        return """
            <renderer-v2 type="categorizedSymbol" attr="\(property)" symbollevels="0" enableorderby="1" \
            forceraster="0">
            <categories>\(categories.joined(separator: "\n"))</categories>
            <symbols>\(symbols.joined(separator: "\n"))</symbols>
            <orderby><orderByClause asc="1" nullsFirst="1">"\(property)"</orderByClause></orderby>
            </renderer-v2>
            """
    }

    private func symbol(_ number: Int, fill: StraightColour, border: StraightColour?) -> String {
        let (type, layer, properties): (String, String, [(String, String)]) =
            switch dataset.geometry {
            case .polygon:
                (
                    "fill", "SimpleFill",
                    [
                        ("color", Self.text(fill)), ("style", "solid"),
                        ("outline_color", Self.text(border ?? fill)), ("outline_style", "solid"),
                        ("outline_width", "0.1"), ("outline_width_unit", "MM"),
                    ]
                )
            case .point:
                (
                    "marker", "SimpleMarker",
                    [
                        ("name", "circle"), ("color", Self.text(fill)), ("outline_color", "60,60,60,204"),
                        ("outline_style", "solid"), ("outline_width", "0.1"), ("size", "1.8"), ("size_unit", "MM"),
                    ]
                )
            case .line:
                (
                    "line", "SimpleLine",
                    [
                        ("line_color", Self.text(fill)), ("line_style", "solid"), ("line_width", "0.4"),
                        ("line_width_unit", "MM"),
                    ]
                )
            }
        // QGIS reads options from 3.22 on, and properties before.
        let options = properties.map { "<Option type=\"QString\" name=\"\($0.0)\" value=\"\($0.1)\"/>" }
        let legacyProperties = properties.map { "<prop k=\"\($0.0)\" v=\"\($0.1)\"/>" }
        return "<symbol type=\"\(type)\" name=\"\(number)\" alpha=\"1\" clip_to_extent=\"1\" force_rhr=\"0\">"
            + "<layer class=\"\(layer)\" enabled=\"1\" locked=\"0\" pass=\"0\">"
            + "<Option type=\"Map\">\(options.joined())</Option>\(legacyProperties.joined())</layer></symbol>"
    }

    /// `red,green,blue,alpha`.
    private static func text(_ colour: StraightColour) -> String {
        "\(colour.red),\(colour.green),\(colour.blue),\(colour.alpha)"
    }
}
