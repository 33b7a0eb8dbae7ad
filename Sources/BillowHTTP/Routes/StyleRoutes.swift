import BillowEngine
import BillowParameters
import BillowRaster
import BillowTiles
import Datasets
import HTTPTypes
import Hummingbird

/// `/styles` and `/styles/{id}.json`.
struct StyleRoutes: Sendable {
    let styleStore: StyleStore
    let publicURL: String?

    private var styles: StyleLibrary { styleStore.current }

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/styles") { request, _ in
            try JSONResponse.make(
                ["styles": styles.styles.map { StyleEntry($0) }], headers: [.cacheControl: "no-cache"], request: request
            )
        }
        router.get("/styles/:id") { request, context in try document(request, context.parameters.text("id")) }
    }

    private struct StyleEntry: Encodable {
        var id: String
        var title: String
        var description: String
        var theme: Theme

        init(_ style: Style) {
            id = style.id
            title = style.title
            description = style.description
            theme = style.theme
        }
    }

    /// Source: MapLibre Style Specification 8, https://maplibre.org/maplibre-style-spec
    private struct StyleDocument: Encodable {
        struct Source: Encodable {
            var type: String
            var url: String?
            var tileSize: Int?
            /// The address of GeoJSON.
            var data: String?
            var attribution: String?
        }

        struct PlainLayer: Encodable {
            var id: String
            var type: String
            var source: String?
            var layout: [String: String]?
            var paint: [String: String]?
        }

        enum Layer: Encodable {
            case plain(PlainLayer)
            case vector(VectorStyle.Layer)
            case ground(BaseMapStyle.Layer)

            func encode(to encoder: any Encoder) throws {
                switch self {
                case .plain(let layer): try layer.encode(to: encoder)
                case .vector(let layer): try layer.encode(to: encoder)
                case .ground(let layer): try layer.encode(to: encoder)
                }
            }
        }

        var version = 8
        var name: String
        var metadata: [String: String]
        var sources: [String: Source]
        var layers: [Layer]
    }

    /// 200, 304, 400 for a filter that can't be read, 404 for a style that isn't there.
    private func document(_ request: Request, _ name: String) throws -> Response {
        guard name.hasSuffix(".json"), let style = styles[String(name.dropLast(5))] else {
            throw Problem(
                .unknownStyle, detail: "There is no style '\(name.prefix(100))'.", parameter: "id",
                value: String(name.prefix(100)), allowed: styles.styles.map { "\($0.id).json" }.joined(separator: ", "))
        }
        let parsed = try StyleParameters(QueryReader(request))
        let base = BaseURL.of(request, publicURL)
        let baseMap = BaseMapStyle(theme: style.theme)
        let ground = StyleDocument.PlainLayer(
            id: "ground", type: "background", paint: ["background-color": baseMap.ocean])
        let shown = parsed.hasVectorTiles ? Catalogue.menu : Catalogue.stack
        let tail = ([parsed.hasVectorTiles ? "f=mvt" : "style=\(style.id)"] + [String(parsed.passedOn)])
            .filter { !$0.isEmpty }.joined(separator: "&")
        var sources = [
            BaseMapStyle.source: StyleDocument.Source(
                type: "geojson", data: base + BaseMapStyle.path, attribution: BaseMapStyle.attribution)
        ]
        for layer in shown {
            sources[layer.id] = StyleDocument.Source(
                type: parsed.hasVectorTiles ? "vector" : "raster",
                url: base + AddressSigner.signed("/tiles/\(layer.id).json?\(tail)"),
                tileSize: parsed.hasVectorTiles ? nil : 256)
        }
        let vector = VectorStyle(style: style, opacity: parsed.opacity)
        let layers: [StyleDocument.Layer] = shown.flatMap { layer -> [StyleDocument.Layer] in
            guard !parsed.hasVectorTiles else { return vector.layers(of: layer).map { .vector($0) } }
            return [
                .plain(
                    StyleDocument.PlainLayer(
                        id: layer.id, type: "raster", source: layer.id,
                        layout: ["visibility": layer.isShownAtFirst ? "visible" : "none"]))
            ]
        }
        let document = StyleDocument(
            name: "Billow: \(style.title)",
            metadata: [
                "billow:legend": base + AddressSigner.signed("/legend.png?style=\(style.id)"),
                "billow:description": style.description,
            ],
            sources: sources, layers: [.plain(ground)] + baseMap.layers.map { .ground($0) } + layers)
        return try JSONResponse.make(document, headers: [.cacheControl: "no-cache"], request: request)
    }
}
