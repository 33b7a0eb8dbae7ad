package import BillowAreas
import BillowExchange
import BillowFields
import BillowPacks
import BillowRaster
package import BillowSnapshot
package import BillowStore
package import BillowTiles
package import Datasets
import Foundation
import Geometry
package import Turbulence

package struct VectorTileRequest: Sendable, Hashable {
    package var layers: LayerList
    package var coord: TileCoord
    package var instant: Instant
    package var filter: Filter
    /// The mode of polygons and contours.
    var mode = PolygonMode.exact
    /// Whether fields are areas by severity instead of cells.
    var isContoured = false

    package init(
        layers: LayerList, coord: TileCoord, instant: Instant, filter: Filter, mode: PolygonMode = PolygonMode.exact,
        isContoured: Bool = false
    ) {
        self.layers = layers
        self.coord = coord
        self.instant = instant
        self.filter = filter
        self.mode = mode
        self.isContoured = isContoured
    }
}

/// Makes vector tiles. They have the content of pictures as features, with the properties of GeoJSON and its id as
/// `id`. Lists of GeoJSON are JSON texts. Issued polygons have their issued outlines. At low zooms, where pictures show
/// coarser cells, a cell has the properties of `Schema.coarseCells`, and polygons have the outlines of those cells.
package final class VectorTileSource: Sendable {
    private struct Key: Hashable, Sendable {
        var request: VectorTileRequest
        /// The version of the layers' data at the instant.
        var head: Head
    }

    private typealias TileProperty = (name: String, value: VectorTile.Value)

    /// The features of a layer in a tile, before they are encoded.
    private enum Content {
        case none
        /// Hexagons, whose details are still to be read.
        case hexagons([Hexagon])
        /// All others.
        case others(() -> [VectorTile.Feature])
    }

    private let frames: FrameSource
    private let pictures: PictureSource
    private let polygons: PolygonSource
    private let store: any Store
    private let work: WorkExecutor
    private let metrics: RenderMetrics
    private let tiles: SharedCache<Key, [UInt8], EngineError>
    /// The contours of fields, which all tiles of a frame share.
    private let contours: SharedCache<ContourKey, [FieldFeature], EngineError>

    private struct ContourKey: Hashable, Sendable {
        var planes: FieldCaches.PlaneKey
        var filter: Filter
        var mode: PolygonMode
    }

    package init(
        frames: FrameSource, pictures: PictureSource, polygons: PolygonSource, store: any Store, work: WorkExecutor,
        metrics: RenderMetrics = RenderMetrics()
    ) {
        self.metrics = metrics
        self.frames = frames
        self.pictures = pictures
        self.polygons = polygons
        self.store = store
        self.work = work
        tiles = SharedCache(frames.caches, keyBytes: { $0.request.filter.estimatedBytes }) { $0.count }
        contours = SharedCache(frames.caches, keyBytes: { $0.filter.estimatedBytes }) { $0.count * 256 }
    }

    /// The tile; empty if it has no features.
    package func tile(_ request: VectorTileRequest, in snapshot: Snapshot) async throws(EngineError) -> [UInt8] {
        let version = try await frames.frameVersion(
            of: request.layers.layers, at: request.instant, filter: request.filter, in: snapshot)
        let key = Key(request: request, head: Head(version: version, log: snapshot.log))
        if let tile = tiles.cachedValue(for: key) { return tile }
        return try await work.run(.tile) { [self] () async throws(EngineError) in try await made(key, in: snapshot) }
    }

    private func made(_ key: Key, in snapshot: Snapshot) async throws(EngineError) -> [UInt8] {
        let request = key.request
        return try await tiles.value(for: key) { [self] () async throws(EngineError) in
            try await bytes(request, in: snapshot)
        }
    }

    private func bytes(_ request: VectorTileRequest, in snapshot: Snapshot) async throws(EngineError) -> [UInt8] {
        try await bytes([request], in: snapshot).first ?? []
    }

    /// Makes tiles of the same layers, instant and filter. The details of their hexagons are read at once.
    private func bytes(_ requests: [VectorTileRequest], in snapshot: Snapshot) async throws(EngineError) -> [[UInt8]] {
        WorkExecutor.assertIsJob()
        guard let first = requests.first else { return [] }
        let data = try await pictures.data(for: first.layers, at: first.instant, filter: first.filter, in: snapshot)
        var tiles: [[(layer: Dataset, content: Content)]] = []
        var keys: Set<ObservationKey> = []
        for request in requests {
            try WorkExecutor.checkCancellation()
            var contents: [(layer: Dataset, content: Content)] = []
            for layer in request.layers.layers {
                let content = try await content(layer, data, request, in: snapshot)
                if case .hexagons(let hexagons) = content { keys.formUnion(hexagons.map(\.record.row.key)) }
                contents.append((layer, content))
            }
            tiles.append(contents)
        }
        let details =
            keys.isEmpty
            ? [:]
            : try await frames.reading(in: snapshot) { () async throws(StoreError) in
                try await store.details(of: Array(keys))
            }
        return zip(requests, tiles).map { request, contents in
            metrics.timed(.mvt, request.layers, zoom: request.coord.z) {
                var tile = VectorTile(request.coord)
                for (layer, content) in contents { tile.add(layer: layer.id, Self.features(content, details)) }
                return tile.bytes
            }
        }
    }

    /// Tiles of a pack, all of one frame. Tiles without features are left out.
    func packed(_ requests: [VectorTileRequest], in snapshot: Snapshot) async throws(EngineError) -> [PackedTile] {
        zip(requests, try await bytes(requests, in: snapshot)).compactMap { request, bytes in
            bytes.isEmpty ? nil : PackedTile(request.coord, bytes, tag: "")
        }
    }

    package var statistics: CacheStatistics { tiles.statistics }

    private static func features(_ content: Content, _ details: [ObservationKey: ObservationDetails])
        -> [VectorTile.Feature]
    {
        switch content {
        case .none: []
        case .hexagons(let hexagons): hexagons.map { feature($0, details[$0.record.row.key]) }
        case .others(let make): make()
        }
    }

    private func content(_ layer: Dataset, _ data: PictureData, _ request: VectorTileRequest, in snapshot: Snapshot)
        async throws(EngineError)
        -> Content
    {
        if layer.content == .field { return try await fieldContent(request, in: snapshot) }
        guard layer.showsCells else { return .others { Self.features(layer, data, request.coord) } }
        var (plane, filter) = (data.plane, request.filter)
        if layer.isPolygons {
            switch data.polygons {
            case .issued(let areas):
                // Later features are drawn on top.
                let order = areas.sorted { ($0.severity ?? .smooth, $0.id) < ($1.severity ?? .smooth, $1.id) }
                return .others { order.map { Self.feature(Feature(polygon: $0)) } }
            case .cells(let own): (plane, filter) = (own, filter.ofOwnPolygons)
            case nil: return .none
            }
        }
        guard let plane else { return .none }
        let (resolution, cells) = VectorTile.cells(of: plane, in: request.coord)
        guard !cells.isEmpty else { return .none }
        if layer.showsPolygons(atZoom: request.coord.z) {
            let polygons = try await polygons.facts(at: request.instant, filter, mode: request.mode, in: snapshot)
            return .others { [filter] in
                polygons.compactMap { Self.area($0, of: cells, resolution: resolution, filter) }
            }
        }
        guard resolution == Cell.resolution else {
            return .others {
                let properties = Severity.allCases.reduce(into: [Severity: [TileProperty]]()) {
                    $0[$1] = Self.properties(Schema.coarseCells, of: CoarseCell(severity: $1, resolution: resolution))
                }
                return cells.map { dense, severity in
                    VectorTile.Feature(
                        id: UInt64(dense), shape: VectorTile.shape(dense: Int(dense), resolution: resolution),
                        properties: properties[severity] ?? [])
                }
            }
        }
        return .hexagons(try await hexagons(Set(cells.map(\.dense)), request, in: snapshot))
    }

    // MARK: - Cells

    /// The part of a turbulence polygon in a tile, as the outline of the tile's cells.
    private static func area(
        _ polygon: TurbulencePolygon, of cells: [(dense: UInt32, severity: Severity)], resolution: Int, _ filter: Filter
    ) -> VectorTile.Feature? {
        let own = cells.filter {
            polygon.mode == .exact ? $0.severity == polygon.severity : $0.severity >= polygon.severity
        }
        guard !own.isEmpty else { return nil }
        var feature = feature(Feature(polygon, filter), id: UInt64(polygon.severity.rawValue))
        feature.shape = VectorTile.outline(of: own.map { Int($0.dense) }, resolution: resolution)
        if resolution != Cell.resolution { feature.properties.append(Self.property(ofResolution: resolution)) }
        return feature
    }

    private func hexagons(_ shown: Set<UInt32>, _ request: VectorTileRequest, in snapshot: Snapshot)
        async throws(EngineError)
        -> [Hexagon]
    {
        let frame = try await frames.frame(at: request.instant, filter: request.filter, in: snapshot)
        return frame.hexagons(area: CellArea(request.coord.bounds)).filter {
            shown.contains($0.record.row.cell.dense)
        }
    }

    private static func feature(_ hexagon: Hexagon, _ details: ObservationDetails?) -> VectorTile.Feature {
        let cell = hexagon.record.row.cell
        let feature = FeatureSource.feature(hexagon, details)
        return VectorTile.Feature(
            id: UInt64(cell.dense), shape: VectorTile.shape(dense: Int(cell.dense), resolution: Cell.resolution),
            properties: properties(id: feature.id, Schema.hexagons, of: feature))
    }

    /// The cells of a turbulence field, with the resolution of hexagons at the zoom.
    private func fieldContent(_ request: VectorTileRequest, in snapshot: Snapshot) async throws(EngineError) -> Content
    {
        let values = try await frames.fieldValues(at: request.instant, filter: request.filter, in: snapshot)
        guard let values else { return .none }
        let resolution = DrawnResolution.of(zoom: request.coord.z)
        let cells = try await frames.cells(of: values, resolution: resolution, in: snapshot)
        let field = FilteredField(values, cells, request.filter, snapshot)
        let box = VectorTile.box(of: request.coord)
        if request.isContoured {
            // The properties describe the whole area, as in GeoJSON features. The outline is made of the tile's cells.
            let key = ContourKey(
                planes: FieldCaches.PlaneKey(log: snapshot.log, rows: values.levels.map(\.row)), filter: request.filter,
                mode: request.mode)
            let areas = try await contours.value(for: key) { [frames] () async throws(EngineError) in
                let finest = try await frames.cells(of: values, resolution: Cell.resolution, in: snapshot)
                let whole = FilteredField(values, finest, request.filter, snapshot)
                return whole.contours(
                    of: finest.entries.compactMap { entry in whole.severity(of: entry).map { (entry, $0) } },
                    request.mode)
            }
            return .others { Self.contours(field, areas, request.mode, in: box) }
        }
        return .others {
            cells.entries(touching: box).compactMap { entry in
                guard let feature = field.feature(entry) else { return nil }
                return VectorTile.Feature(
                    id: UInt64(entry.dense), shape: VectorTile.shape(dense: Int(entry.dense), resolution: resolution),
                    properties: Self.properties(id: feature.id, Schema.gtg, of: feature)
                        + [Self.property(ofResolution: resolution)])
            }
        }
    }

    /// The parts of a field's areas in a box.
    ///
    /// - Parameters:
    ///   - field: the cells of the zoom.
    ///   - areas: the areas with their properties.
    private static func contours(
        _ field: FilteredField, _ areas: [FieldFeature], _ mode: PolygonMode, in box: GridBox
    ) -> [VectorTile.Feature] {
        let resolution = field.cells.resolution
        let inside = field.cells.entries(touching: box).compactMap { entry in
            field.severity(of: entry).map { (dense: Int(entry.dense), severity: $0) }
        }
        guard !inside.isEmpty else { return [] }
        return areas.compactMap { feature in
            let own = inside.filter {
                mode == .exact ? $0.severity == feature.severity : $0.severity >= feature.severity
            }
            guard !own.isEmpty else { return nil }
            return VectorTile.Feature(
                id: UInt64(feature.severity.rawValue),
                shape: VectorTile.outline(of: own.map(\.dense), resolution: resolution),
                properties: properties(id: feature.id, Schema.gtg, of: feature)
                    + [property(ofResolution: resolution)])
        }
    }

    // MARK: - Observations

    private static func features(_ layer: Dataset, _ data: PictureData, _ coord: TileCoord) -> [VectorTile.Feature] {
        switch layer.drawing {
        case nil, .cells, .polygons, .field: []
        case .reports: PictureContent.shown(data.rankedReports, in: coord).map { feature(Feature($0)) }
        case .areas: (layer.areas.flatMap { data.drawnAreas[$0]?.areas } ?? []).map { feature(Feature($0.area)) }
        case .aircraft:
            PictureContent.shown(data.traffic, in: coord).map {
                feature(Feature($0), id: UInt64($0.icao24.rawValue))
            }
        case .tracks: data.tracks.compactMap(track)
        }
    }

    private static func properties<Record>(id: String, _ schema: Schema<Record>, of record: Record)
        -> [TileProperty]
    {
        var found = properties(schema, of: record)
        found.insert(("id", .text(id)), at: 0)
        return found
    }

    private static func properties<Record>(_ schema: Schema<Record>, of record: Record) -> [TileProperty] {
        schema.fields.compactMap { field in
            guard field.property.isInTiles, let found = field.value(record) else { return nil }
            return (field.property.text, value(found))
        }
    }

    private static func property(ofResolution resolution: Int) -> TileProperty {
        (Property.resolution.name.description, .integer(resolution))
    }

    private static func feature(_ feature: Feature) -> VectorTile.Feature { self.feature(feature, id: nil) }

    private static func feature(_ feature: Feature, id: UInt64?) -> VectorTile.Feature {
        VectorTile.Feature(
            id: id ?? number(feature.id), shape: shape(feature.geometry),
            properties: [("id", .text(feature.id))] + feature.properties.map { ($0.name.description, value($0.value)) })
    }

    private static func track(_ track: [AircraftPosition]) -> VectorTile.Feature? {
        guard let last = track.last, let first = track.first, track.count > 1 else { return nil }
        var line: [Point] = []
        for position in track {
            var point = VectorTile.unit(position.place)
            if let before = line.last { point.x -= (point.x - before.x).rounded() }
            line.append(point)
        }
        let feature = TrackFeature(newest: last, observedFrom: first.observedAt, observedTo: last.observedAt)
        return VectorTile.Feature(
            id: UInt64(last.icao24.rawValue), shape: .lines([line]),
            properties: properties(id: last.icao24.text, Schema.tracks, of: feature))
    }

    /// A hash of a text below 2⁵³. Equal texts have equal hashes.
    private static func number(_ id: String) -> UInt64 { ContentHash.fnv1a(id.utf8) >> 11 }

    private static func value(_ value: PropertyValue) -> VectorTile.Value {
        switch value {
        case .text(let text): .text(text)
        case .integer(let number): .integer(number)
        // As in GeoJSON. The quotient is the double that is nearest to the decimal number.
        case .decimal(let number, let decimals):
            .number((number * powersOfTen[min(decimals, 9)]).rounded() / powersOfTen[min(decimals, 9)])
        case .flag(let flag): .flag(flag)
        case .instant(let instant): .text(instant.description)
        case .instants, .groups: .text(value.json)
        }
    }

    private static func shape(_ geometry: FeatureGeometry) -> VectorTile.Shape {
        func rings(_ polygon: [[LonLat]]) -> [[Point]] { polygon.map { $0.dropLast().map(VectorTile.unit) } }
        return switch geometry {
        case .point(let place): .point(VectorTile.unit(place))
        case .lineString(let line): .lines([line.map(VectorTile.unit)])
        case .multiLineString(let lines): .lines(lines.map { $0.map(VectorTile.unit) })
        case .polygon(let polygon): .polygons([rings(polygon)])
        case .multiPolygon(let polygons): .polygons(polygons.map(rings))
        case .encoded: .lines([])
        }
    }
}

private let powersOfTen = (0...9).map { pow(10, Double($0)) }

extension Dataset {
    /// The properties of its features in vector tiles, with their types in TileJSON.
    package var vectorFields: [String: String] {
        tileProperties.reduce(into: ["id": "String"]) { $0[$1.name.description] = $1.tileType }
    }
}
