import BillowFields
package import BillowPacks
import BillowRaster
package import BillowSnapshot
import BillowTiles
package import Datasets
import JSONKit
package import Turbulence

/// Makes the tiles and the metadata of packs. The bytes equal those of `/tiles`.
package struct PackSource: Sendable {
    package let frames: FrameSource
    private let tiles: TileService
    private let vectors: VectorTileSource
    private let policy: FreshnessPolicy
    private let legends: LegendPainter

    package init(frames: FrameSource, tiles: TileService, vectors: VectorTileSource, policy: FreshnessPolicy) {
        self.frames = frames
        self.tiles = tiles
        self.vectors = vectors
        self.policy = policy
        legends = LegendPainter(frames.caches)
    }

    /// Tiles of a frame. Vector tiles without features are left out. A picture without features is an empty tile.
    ///
    /// - Parameter known: the tag of an existing tile, which is not made again if the tag is equal.
    func tiles(
        _ coords: ArraySlice<TileCoord>, of scene: FrameSource.Scene, _ request: PackRequest, in snapshot: Snapshot,
        known: @escaping @Sendable (TileCoord) throws(PackError) -> String? = { _ in nil }
    ) async throws(EngineError) -> [PackedTile] {
        let slices = stride(from: coords.startIndex, to: coords.endIndex, by: Self.slice).map {
            Array(coords[$0..<min($0 + Self.slice, coords.endIndex)])
        }
        let made: [[PackedTile]] = try await WorkExecutor.computing(slices) { (slice) async throws(EngineError) in
            switch request.tiles {
            case .png:
                let wanted = slice.map { coord in
                    TileRequest(
                        layers: scene.layers, coord: coord, scale: request.scale, instant: scene.instant,
                        filter: request.filter, style: request.style, labels: request.labels)
                }
                return try await tiles.packed(wanted, in: snapshot, known: known)
            case .mvt:
                let wanted = slice.map { coord in
                    VectorTileRequest(
                        layers: scene.layers, coord: coord, instant: scene.instant, filter: request.filter,
                        mode: request.mode, isContoured: request.isContoured)
                }
                return try await vectors.packed(wanted, in: snapshot)
            }
        }
        return made.flatMap(\.self)
    }

    /// The tiles that one thread makes at a time.
    private static let slice = 64

    // MARK: Metadata

    /// The metadata of a tileset.
    package func metadata(of scene: FrameSource.Scene, _ request: PackRequest, in snapshot: Snapshot)
        async throws(EngineError)
        -> PackMetadata
    {
        let dataStatus = dataStatus(scene, request, in: snapshot)
        let freshness = dataStatus.freshness
        let validUntil = try await validUntil(scene, request, in: snapshot)
        let options: LegendOptions
        do { options = try LegendOptions() } catch { throw .picture(.legend(error)) }
        let legend = scene.layers.legend(
            style: request.style, severities: request.filter.severities, simulated: freshness.isSimulated,
            notes: request.filter.notes(lookBackSeconds: scene.layers.historySeconds(request.filter)))
        let words = dataStatus.warnings(asOf: snapshot.publication.asOf)
        let title =
            "\(request.layers.title), \(scene.instant.displayText), valid until \(validUntil.displayText)"
            + (words.isEmpty ? "" : ", \(words.joined(separator: ", "))")
        var more: [(name: String, value: String)] = [
            ("layers", scene.layers.description), ("time", scene.instant.description),
            ("valid_until", validUntil.description), ("simulated", "\(freshness.isSimulated)"),
            ("stale", "\(freshness.isStale)"), ("incomplete", "\(dataStatus.isIncomplete || !scene.isWhole)"),
            ("style", request.style.id), ("tile_size", "\(request.tiles == .png ? request.scale.pixels : 512)"),
            ("query", request.query),
        ]
        if let time = freshness.dataTime { more.append(("data_time", time.description)) }
        if let time = freshness.completeSince { more.append(("complete_since", time.description)) }
        if let field = dataStatus.field { more.append(("field", field.displayText)) }
        return PackMetadata(
            name: title,
            description: request.layers.layers.map(\.summary).joined(separator: " ") + " Not for operational use.",
            attribution: Self.attribution(of: request.layers.layers, isSimulated: freshness.isSimulated),
            region: request.cover.box, zooms: request.cover.zooms, form: request.tiles,
            version: snapshot.publication.version.rawValue,
            vectorLayers: request.layers.layers.map { $0.vectorLayer(request.cover.zooms) },
            legend: try await legends.png(legend, options: options), more: more)
    }

    /// The freshness and completeness of a frame in the pack's region.
    package func dataStatus(_ scene: FrameSource.Scene, _ request: PackRequest, in snapshot: Snapshot) -> DataStatus {
        policy.dataStatus(
            request.layers, scene: scene.layers, of: request.region, at: scene.instant, filter: request.filter,
            in: snapshot)
    }

    /// The attribution line of these layers.
    package static func attribution(of layers: [Dataset], isSimulated: Bool) -> String {
        if isSimulated { return "SIMULATED turbulence, not for operational use" }
        return (["Turbulence: Billow"] + layers.compactMap(\.attribution)).joined(separator: " | ")
    }

    /// The end of a frame's validity.
    package func validUntil(_ scene: FrameSource.Scene, _ request: PackRequest, in snapshot: Snapshot)
        async throws(EngineError)
        -> Instant
    {
        try await frames.validUntil(scene.layers.layers, at: scene.instant, filter: request.filter, in: snapshot)
    }
}

extension Dataset {
    /// A layer of vector tiles as described in TileJSON.
    fileprivate func vectorLayer(_ zooms: ClosedRange<Int>) -> JSONValue {
        .object([
            "id": .string(id), "description": .string(summary), "minzoom": .number(Double(zooms.lowerBound)),
            "maxzoom": .number(Double(zooms.upperBound)), "fields": .object(vectorFields.mapValues { .string($0) }),
        ])
    }
}
