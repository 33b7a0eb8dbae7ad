import BillowPacks
package import BillowRaster
package import BillowSnapshot
import BillowStore
package import BillowTiles
import Synchronization
package import Turbulence

/// A request for a tile.
package struct TileRequest: Sendable, Hashable {
    package var coord: TileCoord
    package var scale: TileScale
    package var size: TileSize
    package var instant: Instant
    private let look: HashedValue<Look>

    /// What a tile shows, and how.
    private struct Look: Sendable, Hashable {
        var layers: LayerList
        var filter: Filter
        var style: Style
        var labels: Int
        var isHatched: Bool
    }

    /// - Parameter isHatched: whether the picture is hatched to mark missing data.
    package init(
        layers: LayerList, coord: TileCoord, scale: TileScale, size: TileSize = .standard, instant: Instant,
        filter: Filter, style: Style, labels: Int = PictureContent.defaultLabels, isHatched: Bool = false
    ) {
        self.coord = coord
        self.scale = scale
        self.size = size
        self.instant = instant
        look = HashedValue(
            Look(layers: layers, filter: filter, style: style, labels: labels, isHatched: isHatched))
    }

    package var layers: LayerList { look.content.layers }
    package var filter: Filter { look.content.filter }
    package var style: Style { look.content.style }
    package var labels: Int { look.content.labels }
    /// Whether the picture is hatched to mark missing data.
    var isHatched: Bool { look.content.isHatched }

    fileprivate var region: MapRegion { MapRegion(coord, scale: scale, size: size) }
    /// Pixels a side.
    fileprivate var pixels: Int { size.pixels(scale) }
}

/// Makes tiles. It finds the frame, collects the tile's content, and draws it unless a tile with equal content is
/// cached.
package final class TileService: Sendable {
    /// The version of the drawing code. It is raised whenever equal inputs give other bytes in pictures or vector
    /// tiles, so that every frame gets another address.
    static let rendererBuild: UInt64 = 13

    private let pictures: PictureSource
    private let work: WorkExecutor
    private let metrics: RenderMetrics
    let painters: PainterPool
    private let tiles: SharedCache<Fingerprint, [UInt8], EngineError>
    /// The fingerprints of the contents of recent tiles, so that a repeated request collects no data.
    private let fingerprints: SharedCache<TileKey, Fingerprint?, Never>
    /// The empty tiles by their pixels a side.
    private let empty: [Int: [UInt8]]

    /// The inputs of a tile's content.
    private struct TileKey: Hashable, Sendable {
        /// The version of the layers' data at the instant: most frames outlive many publications.
        var head: Head
        var request: TileRequest
    }

    /// The bytes of the sprites of small cells.
    package var spriteBytes: Int { painters.spriteBytes }

    /// - Throws: `PNGError` if libdeflate can't be initialised.
    package init(
        pictures: PictureSource, work: WorkExecutor = WorkExecutor(), metrics: RenderMetrics = RenderMetrics()
    ) throws(PNGError) {
        self.metrics = metrics
        self.pictures = pictures
        self.work = work
        tiles = SharedCache(pictures.caches) { $0.count }
        fingerprints = SharedCache(pictures.caches, keyBytes: { $0.request.estimatedBytes }) { _ in 0 }
        painters = try PainterPool(expecting: work.limits(.tile).threads + work.limits(.renewal).threads)
        var empty: [Int: [UInt8]] = [:]
        for side in Set(TileSize.allCases.flatMap { $0.scales.map($0.pixels) }) {
            empty[side] = try PNG.emptyTile(size: side)
        }
        self.empty = empty
    }

    /// - Parameter isRenewal: whether clients requested the tile in an earlier snapshot. Such a tile does not wait
    ///   behind tiles that are requested for the first time.
    package func tile(
        _ request: TileRequest, in snapshot: Snapshot, isRenewal: Bool = false,
        isUnchanged: @escaping @Sendable (String) -> Bool
    ) async throws(EngineError) -> EncodedPicture {
        let version = try await pictures.version(
            of: request.layers, at: request.instant, filter: request.filter, in: snapshot)
        let key = TileKey(head: Head(version: version, log: snapshot.log), request: request)
        if let known = cached(key, isUnchanged) { return known }
        let tile = try await work.run(isRenewal ? .renewal : .tile) { [self] () async throws(EngineError) in
            // Another request may have drawn it while this one waited.
            if let known = cached(key, isUnchanged) { return known }
            return try await made(key, in: snapshot, isUnchanged)
        }
        prepare()
        return tile
    }

    /// Tiles of a pack, all of one frame. They are not cached, so that they don't evict tiles that maps show.
    ///
    /// - Parameter known: the tag of the existing tile.
    func packed(
        _ requests: [TileRequest], in snapshot: Snapshot, known: @Sendable (TileCoord) throws(PackError) -> String?
    ) async throws(EngineError) -> [PackedTile] {
        WorkExecutor.assertIsJob()
        guard let first = requests.first else { return [] }
        let data = try await pictures.data(for: first.layers, at: first.instant, filter: first.filter, in: snapshot)
        var packed: [PackedTile] = []
        for request in requests {
            try WorkExecutor.checkCancellation()
            let content = PictureContent(
                request.layers, of: data, in: request.region, labels: request.labels, isHatched: request.isHatched,
                style: request.style)
            let empty = content.isEmpty ? emptyTile(request) : nil
            let fingerprint = content.isEmpty ? nil : try Self.fingerprint(content, request)
            let tag = empty?.entityTag ?? fingerprint?.text ?? ""
            let old: String?
            do { old = try known(request.coord) } catch { throw .pack(error) }
            if old == tag {
                packed.append(PackedTile(request.coord, nil, tag: tag))
                continue
            }
            var png = empty?.png ?? fingerprint.flatMap { tiles.cachedValue(for: $0) }
            if png == nil {
                png = try painters.paint { (painter, encoder) throws(PictureError) in
                    try painter.png(
                        content, at: request.coord, scale: request.scale, size: request.size, style: request.style,
                        encoder: encoder)
                }
            }
            packed.append(PackedTile(request.coord, png, tag: tag))
        }
        return packed
    }

    /// The cached answer for a tile, if there is one.
    private func cached(_ key: TileKey, _ isUnchanged: (String) -> Bool) -> EncodedPicture? {
        guard let known = fingerprints.cachedValue(for: key) else { return nil }
        guard let fingerprint = known else { return emptyTile(key.request) }
        if isUnchanged(fingerprint.text) { return EncodedPicture(png: [], entityTag: fingerprint.text) }
        return tiles.cachedValue(for: fingerprint).map { EncodedPicture(png: $0, entityTag: fingerprint.text) }
    }

    private func made(_ key: TileKey, in snapshot: Snapshot, _ isUnchanged: (String) -> Bool) async throws(EngineError)
        -> EncodedPicture
    {
        let request = key.request
        let data = try await pictures.data(
            for: request.layers, at: request.instant, filter: request.filter, in: snapshot)
        WorkExecutor.assertIsJob()
        let content = PictureContent(
            request.layers, of: data, in: request.region, labels: request.labels, isHatched: request.isHatched,
            style: request.style)
        if content.isEmpty {
            fingerprints.insert(nil, for: key)
            return emptyTile(request)
        }
        let fingerprint = try Self.fingerprint(content, request)
        fingerprints.insert(fingerprint, for: key)
        let entityTag = fingerprint.text
        if isUnchanged(entityTag) { return EncodedPicture(png: [], entityTag: entityTag) }
        // Painting takes less than a millisecond, and a task of its own would cost two changes of threads.
        let png = try await tiles.valueMadeHere(for: fingerprint) { () throws(EngineError) in
            try metrics.timed(.png, request.layers, zoom: request.coord.z) { () throws(EngineError) in
                try painters.paint { (painter, encoder) throws(PictureError) in
                    try painter.png(
                        content, at: request.coord, scale: request.scale, size: request.size, style: request.style,
                        encoder: encoder)
                }
            }
        }
        return EncodedPicture(png: png, entityTag: entityTag)
    }

    /// Lets the painters prepare for the next tiles while there are no requests.
    func prepare() {
        painters.prepare(on: work) { [work] in work.statistics(.tile).running + work.statistics(.renewal).running == 0 }
    }

    /// The empty tile of a request's size and scale.
    private func emptyTile(_ request: TileRequest) -> EncodedPicture {
        let number = request.size == .standard ? request.scale.rawValue : request.pixels
        return EncodedPicture(png: empty[request.pixels] ?? [], entityTag: "empty-\(number)")
    }

    package var statistics: CacheStatistics { tiles.statistics }

    private static func fingerprint(_ content: PictureContent, _ request: TileRequest) throws(EngineError)
        -> Fingerprint
    {
        var fingerprint: Fingerprint
        do { fingerprint = try content.fingerprint(style: request.style) } catch { throw .picture(error) }
        fingerprint.mix(rendererBuild)
        fingerprint.mix(UInt64(request.coord.z) << 56 | UInt64(request.coord.x) << 28 | UInt64(request.coord.y))
        fingerprint.mix(UInt64(request.scale.rawValue | request.size.addedZooms << 8))
        return fingerprint
    }
}

/// An encoded picture for a response.
package struct EncodedPicture: Sendable {
    /// The PNG; empty if the client has it.
    package var png: [UInt8]
    /// Identifies the inputs of the picture: equal tags mean equal bytes.
    package var entityTag: String
}
