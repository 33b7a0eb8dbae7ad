import BillowEngine
import BillowParameters
import BillowRaster
import BillowSnapshot
import BillowTiles
import Datasets
import Geometry
import HTTPTypes
import Hummingbird
import Turbulence

/// `/tileMatrixSets`, `/collections/{id}/tiles`, `/collections/{id}/map/tiles` and `/collections/{id}/map`: the images
/// and vector tiles of a collection, by OGC API – Tiles and OGC API – Maps.
///
/// Source: OGC 20-057 (OGC API – Tiles – Part 1: Core); OGC 20-058 (OGC API – Maps – Part 1: Core)
struct OGCTileRoutes: Sendable {
    let frames: FrameSource
    let tiles: TileRoutes
    let maps: MapRenderer
    let policy: FreshnessPolicy
    let styleStore: StyleStore
    let publicURL: String?
    let work: WorkExecutor

    private static let tilesClass = "http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/"
    private static let mapsClass = "http://www.opengis.net/spec/ogcapi-maps-1/1.0/conf/"
    /// The conformance classes of these routes.
    ///
    /// Source: OGC 20-057 annex A; OGC 20-058 annex A
    static let classes =
        ["core", "tileset", "tilesets-list", "geodata-tilesets", "datetime", "mvt", "png"].map { tilesClass + $0 }
        + ["core", "collection-map", "datetime", "png", "tilesets"].map { mapsClass + $0 }

    static let schemes = "http://www.opengis.net/def/rel/ogc/1.0/tiling-schemes"
    private static let scheme = "http://www.opengis.net/def/rel/ogc/1.0/tiling-scheme"
    private static let geodata = "http://www.opengis.net/def/rel/ogc/1.0/geodata"

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/tileMatrixSets") { request, _ in try matrixSets(request) }
        router.get("/tileMatrixSets/:set") { request, context in try matrixSet(request, context.parameters) }
        router.get("/collections/:id/tiles") { request, context in
            try tileSets(request, context.parameters, .vector)
        }
        router.get("/collections/:id/tiles/:set") { request, context in
            try tileSet(request, context.parameters, .vector)
        }
        router.get("/collections/:id/tiles/:set/:matrix/:row/:column") { request, context in
            try await tile(request, context.parameters, .vector)
        }
        router.get("/collections/:id/map/tiles") { request, context in
            try tileSets(request, context.parameters, .map)
        }
        router.get("/collections/:id/map/tiles/:set") { request, context in
            try tileSet(request, context.parameters, .map)
        }
        router.get("/collections/:id/map/tiles/:set/:matrix/:row/:column") { request, context in
            try await tile(request, context.parameters, .map)
        }
        router.get("/collections/:id/map") { request, context in try await map(request, context.parameters) }
    }

    /// The links of a collection with tiles and maps.
    static func links(_ base: String, _ dataset: Dataset) -> [Link] {
        guard dataset.drawing != nil else { return [] }
        let path = "\(base)/collections/\(dataset.id)"
        return TileSetKind.allCases.map { Link($0.relation, "\(path)/\($0.folder)", title: $0.title) } + [
            Link("http://www.opengis.net/def/rel/ogc/1.0/map", "\(path)/map", type: "image/png", title: "A map")
        ]
    }

    /// The kind of tiles in a tile set.
    enum TileSetKind: CaseIterable {
        case vector, map

        fileprivate var folder: String { self == .vector ? "tiles" : "map/tiles" }
        fileprivate var mediaType: String { self == .vector ? "application/vnd.mapbox-vector-tile" : "image/png" }
        fileprivate var suffix: String { self == .vector ? ".mvt" : ".png" }
        fileprivate var title: String { self == .vector ? "Vector tiles" : "Map tiles" }
        fileprivate var names: Set<String> {
            self == .vector ? OGCTileParameters.vectorNames : OGCTileParameters.pictureNames
        }
        fileprivate var relation: String {
            "http://www.opengis.net/def/rel/ogc/1.0/tilesets-\(self == .vector ? "vector" : "map")"
        }
    }

    // MARK: - Descriptions

    /// Source: OGC 17-083r4 section 8 (JSON encoding of tile matrix sets)
    private struct MatrixSet: Encodable {
        struct Matrix: Encodable {
            var id: String
            var scaleDenominator: Double
            var cellSize: Double
            var cornerOfOrigin = "topLeft"
            var pointOfOrigin = [-TileMatrixSet.edge, TileMatrixSet.edge]
            var tileWidth: Int
            var tileHeight: Int
            var matrixWidth: Int
            var matrixHeight: Int

            init(_ matrix: TileMatrixSet.Matrix) {
                id = "\(matrix.z)"
                scaleDenominator = matrix.scaleDenominator
                cellSize = matrix.cellSize
                tileWidth = matrix.side
                tileHeight = matrix.side
                matrixWidth = matrix.count
                matrixHeight = matrix.count
            }
        }

        var id = TileMatrixSet.id
        var title = TileMatrixSet.title
        var uri = TileMatrixSet.uri
        var crs = MapCRS.mercator.uri
        var orderedAxes = ["X", "Y"]
        var wellKnownScaleSet = TileMatrixSet.wellKnownScaleSet
        var tileMatrices = TileMatrixSet.matrices.map(Matrix.init)
    }

    private struct MatrixSets: Encodable {
        struct Entry: Encodable {
            var id = TileMatrixSet.id
            var title = TileMatrixSet.title
            var uri = TileMatrixSet.uri
            var crs = MapCRS.mercator.uri
            var links: [Link]
        }

        var tileMatrixSets: [Entry]
    }

    private func matrixSets(_ request: Request) throws -> Response {
        _ = try DocumentParameters(request)
        let link = Link("self", "\(BaseURL.of(request, publicURL))/tileMatrixSets/\(TileMatrixSet.id)")
        return try JSONResponse.make(
            MatrixSets(tileMatrixSets: [MatrixSets.Entry(links: [link])]), headers: [.cacheControl: "no-cache"],
            request: request)
    }

    private func matrixSet(_ request: Request, _ parameters: Parameters) throws -> Response {
        _ = try DocumentParameters(request)
        try requireSet(parameters)
        return try JSONResponse.make(MatrixSet(), headers: [.cacheControl: "no-cache"], request: request)
    }

    private func requireSet(_ parameters: Parameters) throws(Problem) {
        let set = parameters.text("set")
        guard set == TileMatrixSet.id else {
            throw Problem(
                .noSuchRoute, detail: "There is no tile matrix set '\(set.prefix(100))'.", parameter: "tileMatrixSetId",
                value: String(set.prefix(100)), allowed: TileMatrixSet.id)
        }
    }

    /// - Throws: 404 for an unknown collection, and for one without tiles and maps.
    private func drawn(_ parameters: Parameters) throws -> Dataset {
        let id = parameters.text("id")
        guard Catalogue.dataset(id) != nil else { throw ParameterProblem.unknownCollection(id) }
        guard let layer = Catalogue.layer(id) else {
            throw Problem(
                .unknownLayer, detail: "The collection '\(id)' has no pictures.", parameter: "collection", value: id,
                allowed: Catalogue.layers.map(\.id).joined(separator: ", "))
        }
        return layer
    }

    /// Source: OGC 17-083r4 section 9 (tile set metadata); OGC 20-057 section 8
    private struct TileSet: Encodable {
        struct Box: Encodable {
            var lowerLeft: [Double]
            var upperRight: [Double]
            var crs = Link.crs84
        }

        struct Layer: Encodable {
            var id: String
            var title: String
            var description: String
            var dataType: String
        }

        var title: String
        var dataType: String
        var crs = MapCRS.mercator.uri
        var tileMatrixSetURI = TileMatrixSet.uri
        var tileMatrixSetId = TileMatrixSet.id
        var attribution: String?
        var boundingBox: Box?
        var layers: [Layer]?
        var links: [Link]
    }

    private struct TileSets: Encodable {
        var links: [Link]
        var tilesets: [TileSet]
    }

    private func tileSets(_ request: Request, _ parameters: Parameters, _ kind: TileSetKind) throws -> Response {
        _ = try DocumentParameters(request)
        let dataset = try drawn(parameters)
        let base = BaseURL.of(request, publicURL)
        let path = "\(base)/collections/\(dataset.id)/\(kind.folder)"
        var set = describe(dataset, kind, base)
        (set.boundingBox, set.layers) = (nil, nil)
        return try JSONResponse.make(
            TileSets(links: [Link("self", path)], tilesets: [set]), headers: [.cacheControl: "no-cache"],
            request: request)
    }

    private func tileSet(_ request: Request, _ parameters: Parameters, _ kind: TileSetKind) throws -> Response {
        _ = try DocumentParameters(request)
        let dataset = try drawn(parameters)
        try requireSet(parameters)
        return try JSONResponse.make(
            describe(dataset, kind, BaseURL.of(request, publicURL)), headers: [.cacheControl: "no-cache"],
            request: request)
    }

    private func describe(_ dataset: Dataset, _ kind: TileSetKind, _ base: String) -> TileSet {
        let path = "\(base)/collections/\(dataset.id)/\(kind.folder)/\(TileMatrixSet.id)"
        let most = UnitMercator.maximumLatitude
        return TileSet(
            title: "\(dataset.title): \(kind.title.lowercased())", dataType: kind == .vector ? "vector" : "map",
            attribution: dataset.attribution,
            boundingBox: TileSet.Box(lowerLeft: [-180, -most], upperRight: [180, most]),
            layers: kind == .vector
                ? [
                    TileSet.Layer(
                        id: dataset.id, title: dataset.title, description: dataset.summary, dataType: "vector")
                ] : nil,
            links: [
                Link("self", path, title: "This document"),
                Link(Self.scheme, "\(base)/tileMatrixSets/\(TileMatrixSet.id)", title: "The numbering of tiles"),
                Link(
                    template: "item", "\(path)/{tileMatrix}/{tileRow}/{tileCol}", type: kind.mediaType,
                    title: "A tile"),
                Link(Self.geodata, "\(base)/collections/\(dataset.id)", title: dataset.title),
            ])
    }

    // MARK: - Tiles and maps

    /// Responds like `/tiles`: 200, 204 for an empty vector tile, 304, 400, 404, 503.
    private func tile(_ request: Request, _ parameters: Parameters, _ kind: TileSetKind) async throws -> Response {
        let dataset = try drawn(parameters)
        try requireSet(parameters)
        let parsed = try OGCTileParameters.tile(
            dataset, z: parameters.text("matrix"), row: parameters.text("row"), column: parameters.text("column"),
            suffix: kind.suffix, QueryReader(request, known: kind.names), styles: styleStore.current, frames,
            in: try frames.snapshot())
        return try await tiles.tile(parsed, request) { _ in request.uri.string }
    }

    /// Responds with 200 image/png or 304. 400 for an invalid request, 404 for a collection without maps or a time
    /// outside retention, 503 if overloaded.
    private func map(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let dataset = try drawn(parameters)
        let parsed = try OGCMapParameters(
            dataset, QueryReader(request, known: OGCMapParameters.names), styles: styleStore.current)
        let snapshot = try frames.snapshot()
        let (order, dataStatus) = try parsed.order(frames, policy, in: snapshot)
        let known = EntityTags(request.headers[.ifNoneMatch])
        let picture = try await maps.picture(order, in: snapshot, on: work) { known.match($0) }
        var headers = ResponseHeaders.make(dataStatus, freshSeconds: frames.freshSeconds(of: snapshot))
        headers.omit(try await order.omittedParts(on: work))
        // Source: OGC 20-058 section 8.3
        headers[.contentCRS] = "<\(parsed.crs.uri)>"
        headers[.contentBox] = parsed.shownBox
        return try PictureResponse.make(picture, headers: headers, known: known)
    }
}

extension HTTPField.Name {
    static let contentCRS = Self.make("Content-Crs")
    static let contentBox = Self.make("Content-Bbox")
}
