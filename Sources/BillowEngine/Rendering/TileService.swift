import BillowPacks
package import BillowRaster
package import BillowSnapshot
import BillowStore
package import BillowTiles
import Synchronization
package import Turbulence

/// What a tile is asked for.
package struct TileRequest: Sendable, Hashable {
    package var layers: LayerList
    package var coord: TileCoord
    package var scale: TileScale
    package var instant: Instant
    package var filter: Filter
    package var style: Style
    package var labels = PictureContent.defaultLabels
    /// Whether the picture is hatched, as one that lacks data.
    var isHatched = false

    package init(
        layers: LayerList, coord: TileCoord, scale: TileScale, instant: Instant, filter: Filter, style: Style,
        labels: Int = PictureContent.defaultLabels, isHatched: Bool = false
    ) {
        self.layers = layers
        self.coord = coord
        self.scale = scale
        self.instant = instant
        self.filter = filter
        self.style = style
        self.labels = labels
        self.isHatched = isHatched
    }
}

/// Makes tiles: finds the picture, gathers what a tile shows of it, and paints that unless the same was painted before.
package final class TileService: Sendable {
    /// Changes whenever the same inputs give other bytes, in pictures or vector tiles: then every frame has another
    /// address.
    static let rendererBuild: UInt64 = 10

    private let pictures: PictureSource
    private let work: WorkExecutor
    private let metrics: RenderMetrics
    let painters: PainterPool
    private let tiles: SharedCache<Fingerprint, [UInt8]>
    /// What tiles are known to show: a tile that is asked for again and again is not gathered again.
    private let shown: SharedCache<Shown, Fingerprint?>
    private let empty: [TileScale: [UInt8]]

    /// These decide what a tile shows.
    private struct Shown: Hashable, Sendable {
        /// Of what the layers show at the instant: most frames outlive many publications.
        var head: Head
        var request: TileRequest
    }

    /// - Throws: `PNGError` when libdeflate can't be set up.
    package init(
        pictures: PictureSource, work: WorkExecutor = WorkExecutor(), metrics: RenderMetrics = RenderMetrics()
    ) throws(PNGError) {
        self.metrics = metrics
        self.pictures = pictures
        self.work = work
        tiles = SharedCache(pictures.caches) { $0.count }
        shown = SharedCache(pictures.caches, keyBytes: { $0.request.keptBytes }) { _ in 0 }
        painters = try PainterPool(expecting: work.limits(.tile).threads + work.limits(.renewal).threads)
        var empty: [TileScale: [UInt8]] = [:]
        for scale in TileScale.allCases { empty[scale] = try PNG.emptyTile(size: scale.pixels) }
        self.empty = empty
    }

    /// - Parameter isRenewal: whether clients asked for the tile in an earlier snapshot. Such a tile doesn't wait
    ///   behind those that are asked for the first time.
    package func tile(
        _ request: TileRequest, in snapshot: Snapshot, isRenewal: Bool = false,
        isUnchanged: @escaping @Sendable (String) -> Bool
    ) async throws -> EncodedPicture {
        let version = try await pictures.version(
            of: request.layers, at: request.instant, filter: request.filter, in: snapshot)
        let key = Shown(head: Head(version: version, log: snapshot.log), request: request)
        if let known = cached(key, isUnchanged) { return known }
        let tile = try await work.run(isRenewal ? .renewal : .tile) { [self] in
            // Drawn for another request while this one waited?
            if let known = cached(key, isUnchanged) { return known }
            return try await made(key, in: snapshot, isUnchanged)
        }
        prepare()
        return tile
    }

    /// Tiles of a pack, all of one picture. They don't push the tiles that maps look at out of the caches.
    ///
    /// - Parameter known: the tag of the tile that is there already.
    func packed(
        _ requests: [TileRequest], in snapshot: Snapshot, known: @Sendable (TileCoord) throws -> String?
    ) async throws -> [PackedTile] {
        WorkExecutor.assertIsJob()
        guard let first = requests.first else { return [] }
        let data = try await pictures.data(for: first.layers, at: first.instant, filter: first.filter, in: snapshot)
        var packed: [PackedTile] = []
        for request in requests {
            try Task.checkCancellation()
            let content = PictureContent(
                request.layers, of: data, in: MapRegion(request.coord, scale: request.scale), labels: request.labels,
                isHatched: request.isHatched, style: request.style)
            let empty = content.isEmpty ? emptyTile(request.scale) : nil
            let fingerprint = content.isEmpty ? nil : try Self.fingerprint(content, request)
            let tag = empty?.entityTag ?? fingerprint?.text ?? ""
            if try known(request.coord) == tag {
                packed.append(PackedTile(request.coord, nil, tag: tag))
                continue
            }
            let png =
                try empty?.png ?? fingerprint.flatMap { tiles.kept($0) }
                ?? painters.paint { painter, encoder in
                    try painter.png(
                        content, at: request.coord, scale: request.scale, style: request.style, encoder: encoder)
                }
            packed.append(PackedTile(request.coord, png, tag: tag))
        }
        return packed
    }

    /// What is known of a tile, without any work.
    private func cached(_ key: Shown, _ isUnchanged: (String) -> Bool) -> EncodedPicture? {
        guard let known = shown.kept(key) else { return nil }
        guard let fingerprint = known else { return emptyTile(key.request.scale) }
        if isUnchanged(fingerprint.text) { return EncodedPicture(png: [], entityTag: fingerprint.text) }
        return tiles.kept(fingerprint).map { EncodedPicture(png: $0, entityTag: fingerprint.text) }
    }

    private func made(_ key: Shown, in snapshot: Snapshot, _ isUnchanged: (String) -> Bool) async throws
        -> EncodedPicture
    {
        let request = key.request
        let data = try await pictures.data(
            for: request.layers, at: request.instant, filter: request.filter, in: snapshot)
        WorkExecutor.assertIsJob()
        let region = MapRegion(request.coord, scale: request.scale)
        let content = PictureContent(
            request.layers, of: data, in: region, labels: request.labels, isHatched: request.isHatched,
            style: request.style)
        if content.isEmpty {
            shown.insert(nil, for: key)
            return emptyTile(request.scale)
        }
        let fingerprint = try Self.fingerprint(content, request)
        shown.insert(fingerprint, for: key)
        let entityTag = fingerprint.text
        if isUnchanged(entityTag) { return EncodedPicture(png: [], entityTag: entityTag) }
        let png = try await tiles.value(for: fingerprint) { [painters, metrics] in
            try metrics.timed(.png, request.layers, zoom: request.coord.z) {
                try painters.paint { painter, encoder in
                    try painter.png(
                        content, at: request.coord, scale: request.scale, style: request.style, encoder: encoder)
                }
            }
        }
        return EncodedPicture(png: png, entityTag: entityTag)
    }

    /// Has the painters prepare for the next tiles while none is asked for.
    func prepare() {
        painters.prepare(on: work) { [work] in work.statistics(.tile).running + work.statistics(.renewal).running == 0 }
    }

    /// The one tile of a scale that shows nothing.
    private func emptyTile(_ scale: TileScale) -> EncodedPicture {
        EncodedPicture(png: empty[scale] ?? [], entityTag: "empty-\(scale.rawValue)")
    }

    package var statistics: CacheStatistics { tiles.statistics }

    private static func fingerprint(_ content: PictureContent, _ request: TileRequest) throws -> Fingerprint {
        var fingerprint = try content.fingerprint(style: request.style)
        fingerprint.mix(rendererBuild)
        fingerprint.mix(UInt64(request.coord.z) << 56 | UInt64(request.coord.x) << 28 | UInt64(request.coord.y))
        fingerprint.mix(UInt64(request.scale.rawValue))
        return fingerprint
    }
}

/// A picture as it is answered.
package struct EncodedPicture: Sendable {
    /// Empty where the client has it.
    package var png: [UInt8]
    /// Names the inputs of the picture; equal inputs are equal bytes.
    package var entityTag: String
}
