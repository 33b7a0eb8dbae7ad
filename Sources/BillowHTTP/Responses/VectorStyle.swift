import BillowRaster
import Datasets
import Turbulence

/// The layers of a MapLibre style that draws vector tiles in the colours of a style.
///
/// Each severity has a layer of its own, with a filter of the older form: QGIS 3.22 reads neither `match` with numbers
/// nor other expressions of several values.
///
/// Source: MapLibre Style Specification 8, https://maplibre.org/maplibre-style-spec/layers and
/// https://maplibre.org/maplibre-style-spec/deprecations/#other-filter
struct VectorStyle {
    let style: Style
    /// The factor of all opacities, 0…1.
    let opacity: Double

    /// A style layer.
    struct Layer: Encodable {
        enum Value: Encodable {
            case text(String)
            case number(Double)
            case list([Value])

            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                switch self {
                case .text(let text): try container.encode(text)
                case .number(let number): try container.encode(number)
                case .list(let values): try container.encode(values)
                }
            }
        }

        var id: String
        var type: String
        var source: String
        var sourceLayer: String
        var filter: Value?
        var layout: [String: String]
        var paint: [String: Value]

        enum CodingKeys: String, CodingKey {
            case id, type, source
            case sourceLayer = "source-layer"
            case filter, layout, paint
        }
    }

    /// The style layers of a dataset, from bottom to top. The id of each begins with the dataset's.
    func layers(of dataset: Dataset) -> [Layer] {
        let marks = style.marks
        switch dataset.drawing {
        case nil: return []
        case .cells, .polygons, .field:
            return Severity.allCases.flatMap { severity in
                let paint = style[severity]
                let fill = layer(
                    dataset, "\(severity.rawValue)", "fill", filter: Self.severity(severity),
                    ["fill-color": colour(paint.fill.colour), "fill-opacity": opacity(paint.fill.opacity)])
                guard let border = paint.border else { return [fill] }
                let line = layer(
                    dataset, "\(severity.rawValue)-border", "line", filter: Self.severity(severity),
                    [
                        "line-color": colour(border.colour), "line-opacity": opacity(border.opacity),
                        "line-width": Self.borderWidth,
                    ])
                return [fill, line]
            }
        case .reports:
            let size: [String: Layer.Value] = [
                "circle-radius": .number(5), "circle-stroke-color": colour(marks.ink),
                "circle-stroke-width": .number(1), "circle-stroke-opacity": opacity(1),
            ]
            let all = layer(
                dataset, "all", "circle", filter: nil,
                size.merging(["circle-color": colour(marks.halo), "circle-opacity": opacity(1)]) { $1 })
            return [all]
                + Severity.allCases.map { severity in
                    let fill = style[severity].fill
                    return layer(
                        dataset, "\(severity.rawValue)", "circle", filter: Self.severity(severity),
                        size.merging(
                            ["circle-color": colour(fill.colour), "circle-opacity": opacity(fill.opacity)]) { $1 })
                }
        case .areas(let drawing):
            let isForecast = drawing.legend.allSatisfy { $0.sign == .forecast }
            guard !isForecast else { return area(dataset, "area", filter: nil, marks.forecast) }
            return area(dataset, "other", filter: Self.hazards("!in"), marks.otherHazard)
                + area(dataset, "warning", filter: Self.hazards("in"), marks.hazard)
        case .aircraft:
            return [
                layer(
                    dataset, "aircraft", "circle", filter: nil,
                    [
                        "circle-color": colour(marks.aircraft), "circle-radius": .number(3),
                        "circle-stroke-color": colour(marks.halo), "circle-stroke-width": .number(1),
                        "circle-opacity": opacity(1), "circle-stroke-opacity": opacity(1),
                    ])
            ]
        case .tracks:
            return [
                layer(
                    dataset, "trail", "line", filter: nil,
                    [
                        "line-color": colour(marks.track), "line-width": .number(1.5), "line-opacity": opacity(1),
                    ])
            ]
        }
    }

    private func area(
        _ dataset: Dataset, _ name: String, filter: Layer.Value?, _ mark: StraightColour
    ) -> [Layer] {
        [
            layer(
                dataset, name, "fill", filter: filter, ["fill-color": colour(mark), "fill-opacity": opacity(0.08)]),
            layer(
                dataset, "\(name)-outline", "line", filter: filter,
                ["line-color": colour(mark), "line-width": .number(2), "line-opacity": opacity(1)]),
        ]
    }

    private func layer(
        _ dataset: Dataset, _ name: String, _ type: String, filter: Layer.Value?, _ paint: [String: Layer.Value]
    ) -> Layer {
        Layer(
            id: "\(dataset.id)-\(name)", type: type, source: dataset.id, sourceLayer: dataset.id, filter: filter,
            layout: ["visibility": dataset.isShownAtFirst ? "visible" : "none"], paint: paint)
    }

    private func colour(_ colour: StraightColour) -> Layer.Value { .text(colour.hexadecimal) }

    private func opacity(_ own: Double) -> Layer.Value { .number(own * opacity) }

    /// Narrow where cells are small: in pictures a border is at most 6 % of the cell's width.
    private static let borderWidth = Layer.Value.list([
        .text("interpolate"), .list([.text("linear")]), .list([.text("zoom")]), .number(4), .number(0.2), .number(8),
        .number(1),
    ])

    private static func severity(_ severity: Severity) -> Layer.Value {
        .list([.text("=="), .text("severity"), .number(Double(severity.rawValue))])
    }

    /// The hazards of aviationweather.gov that warn of turbulence or wind shear. Pictures go by words in them.
    private static let turbulence = ["TURB", "TURB-HI", "TURB-LO", IssuedArea.windShear, "MTW", "SFC_WIND"]

    private static func hazards(_ comparison: String) -> Layer.Value {
        .list([.text(comparison), .text("hazard")] + turbulence.map(Layer.Value.text))
    }
}
