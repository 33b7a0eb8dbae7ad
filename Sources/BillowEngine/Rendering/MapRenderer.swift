package import BillowRaster
package import BillowSnapshot
import BillowStore
package import BillowTiles
import Geometry
package import Turbulence

/// A request for a map image.
package struct MapRequest: Sendable, Hashable {
    package var layers: LayerList
    package var region: MapRegion
    package var instant: Instant
    package var filter: Filter
    package var style: Style
    /// The most labelled aircraft per 256 × 256 pixels.
    package var labels: Int
    package var furniture: MapFurniture
    /// Whether it is hatched to mark missing data.
    package var isHatched: Bool
    /// What lies below the data; nil leaves the image transparent.
    package var ground: MapGround?

    package init(
        layers: LayerList, region: MapRegion, instant: Instant, filter: Filter, style: Style,
        labels: Int = PictureContent.defaultLabels, furniture: MapFurniture = MapFurniture(),
        isHatched: Bool = false, ground: MapGround? = nil
    ) {
        self.ground = ground
        self.layers = layers
        self.region = region
        self.instant = instant
        self.filter = filter
        self.style = style
        self.labels = labels
        self.furniture = furniture
        self.isHatched = isHatched
    }
}

/// A map image of one region in several styles.
package struct MapComposition: Sendable, Hashable {
    /// The parts from bottom to top, all with the same region. The first one's ground lies below all of them.
    package let parts: [MapRequest]

    /// - Parameters:
    ///   - first: the lowest part.
    ///   - others: the parts above it, with the same region and without a ground.
    package init(_ first: MapRequest, _ others: [MapRequest] = []) {
        precondition(others.allSatisfy { $0.region == first.region }, "parts of different regions")
        precondition(others.allSatisfy { $0.ground == nil }, "a ground between parts")
        parts = [first] + others
    }

    fileprivate var ground: MapGround? { parts[0].ground }

    /// Whether any part has furniture.
    package var isFurnished: Bool { parts.contains { $0.furniture != MapFurniture() } }

    /// The requested furniture that the image has no room for, by the names of its parameters.
    /// - Complexity: the text is measured: some milliseconds.
    package func omittedParts() throws(EngineError) -> [String] {
        var names: [String] = []
        for part in parts {
            do throws(PictureError) {
                names += try part.furniture.omitted(in: part.region, style: part.style).map(\.rawValue)
            } catch { throw .picture(error) }
        }
        return names
    }

    /// The approximate bytes of a cache key with it.
    fileprivate var estimatedBytes: Int {
        parts.reduce(0) { bytes, part in
            let words = part.furniture.timeStamp.reduce(0) { $0 + $1.utf8.count + 16 }
            return bytes + 1_000 + part.filter.estimatedBytes + words
        }
    }
}

/// Renders images of a region, for maps and for the frames of animations.
package final class MapRenderer: Sendable {
    private let pictures: PictureSource
    private let painters: PainterPool
    private let made: SharedCache<Fingerprint, [UInt8], EngineError>
    /// The fingerprints of recent images: a repeated request collects no data again.
    private let fingerprints: SharedCache<MapKey, Fingerprint, Never>

    /// The inputs of a map image.
    private struct MapKey: Hashable, Sendable {
        var head: Head
        var order: MapComposition
    }

    /// The memory budget that all caches of this server share.
    package var caches: CacheBudget { pictures.caches }

    /// The tile service that shares its painters, and their sprites, with maps.
    private let tiles: TileService?

    private let baseMaps: BaseMapSource

    /// - Parameters:
    ///   - pictures: the data.
    ///   - baseMaps: the base map.
    ///   - tiles: the tile service whose painters it shares; nil for its own.
    /// - Throws: `PNGError` if libdeflate can't be initialised.
    package init(pictures: PictureSource, baseMaps: BaseMapSource, tiles: TileService? = nil) throws(PNGError) {
        self.pictures = pictures
        self.baseMaps = baseMaps
        self.tiles = tiles
        made = SharedCache(pictures.caches) { $0.count }
        fingerprints = SharedCache(pictures.caches, keyBytes: { $0.order.estimatedBytes }) { _ in 0 }
        // One for maps, one for animations.
        if let tiles { painters = tiles.painters } else { painters = try PainterPool(expecting: 2) }
    }

    /// The image as a PNG file, from the cache if possible.
    package func picture(
        _ request: MapRequest, in snapshot: Snapshot, isUnchanged: @escaping @Sendable (String) -> Bool
    ) async throws(EngineError) -> EncodedPicture {
        try await picture(MapComposition(request), in: snapshot, isUnchanged: isUnchanged)
    }

    /// The cached image, or only its tag if the client has it already; nil if it must be drawn.
    package func known(
        _ order: MapComposition, in snapshot: Snapshot, isUnchanged: @Sendable (String) -> Bool
    ) async throws(EngineError) -> EncodedPicture? {
        guard let fingerprint = fingerprints.cachedValue(for: try await key(order, in: snapshot)) else { return nil }
        let entityTag = fingerprint.text
        if isUnchanged(entityTag) { return EncodedPicture(png: [], entityTag: entityTag) }
        return made.cachedValue(for: fingerprint).map { EncodedPicture(png: $0, entityTag: entityTag) }
    }

    private func key(_ order: MapComposition, in snapshot: Snapshot) async throws(EngineError) -> MapKey {
        var newest = Version.zero
        for part in order.parts {
            newest = max(
                newest,
                try await pictures.version(
                    of: part.layers, at: part.instant, filter: part.filter, in: snapshot))
        }
        return MapKey(head: Head(version: newest, log: snapshot.log), order: order)
    }

    /// The image of several parts.
    package func picture(
        _ order: MapComposition, in snapshot: Snapshot, isUnchanged: @escaping @Sendable (String) -> Bool
    ) async throws(EngineError) -> EncodedPicture {
        if let known = try await known(order, in: snapshot, isUnchanged: isUnchanged) { return known }
        let key = try await key(order, in: snapshot)
        var contents: [(request: MapRequest, content: MapContent)] = []
        var fingerprint = Fingerprint()
        fingerprint.mix(TileService.rendererBuild)
        for request in order.parts {
            let data = try await pictures.data(
                for: request.layers, at: request.instant, filter: request.filter, in: snapshot)
            WorkExecutor.assertIsJob()
            try WorkExecutor.checkCancellation()
            let content = MapContent(
                request.layers, of: data, in: request.region, labels: request.labels, isHatched: request.isHatched,
                style: request.style)
            do { fingerprint.mix(try content.fingerprint(style: request.style).text) } catch { throw .picture(error) }
            request.furniture.mix(into: &fingerprint, style: request.style)
            contents.append((request, content))
        }
        let ground = try await ground(order.ground, of: order.parts[0].region)
        ground?.mix(into: &fingerprint)
        fingerprints.insert(fingerprint, for: key)
        let entityTag = fingerprint.text
        if isUnchanged(entityTag) { return EncodedPicture(png: [], entityTag: entityTag) }
        let png = try await made.value(for: fingerprint) { [painters, contents] () async throws(EngineError) in
            try painters.paint { (painter, encoder) throws(PictureError) -> [UInt8] in
                if contents.count == 1, let (request, content) = contents.first,
                    request.furniture == MapFurniture(), ground?.baseMap == nil,
                    let png = try painter.png(
                        likeTile: content, style: request.style, background: ground?.colour, encoder: encoder)
                {
                    return png
                }
                var canvas: Canvas?
                for (request, content) in contents {
                    let part = try Self.draw(request, content, painter)
                    if canvas == nil { canvas = part } else { canvas?.lay(part) }
                }
                guard let canvas else { return [] }
                guard let ground else {
                    return try painter.png(canvas, keeping: order.parts.flatMap(\.style.fills), encoder: encoder)
                }
                return try painter.png(try ground.below(canvas), keeping: [], encoder: encoder)
            }
        }
        tiles?.prepare()
        return EncodedPicture(png: png, entityTag: entityTag)
    }

    /// The image as a PNG file.
    package func png(_ request: MapRequest, in snapshot: Snapshot) async throws(EngineError) -> [UInt8] {
        try await picture(request, in: snapshot) { _ in false }.png
    }

    /// The image as pixels, transparent where neither data nor a ground is.
    /// - Throws: `EngineError.picture`, `.store`, `.cancelled`.
    package func canvas(_ request: MapRequest, in snapshot: Snapshot) async throws(EngineError) -> Canvas {
        let data = try await pictures.data(
            for: request.layers, at: request.instant, filter: request.filter, in: snapshot)
        let ground = try await ground(request.ground, of: request.region)
        try WorkExecutor.checkCancellation()
        WorkExecutor.assertIsJob()
        return try painters.paint { (painter, _) throws(PictureError) in
            let content = MapContent(
                request.layers, of: data, in: request.region, labels: request.labels, isHatched: request.isHatched,
                style: request.style)
            let canvas = try Self.draw(request, content, painter)
            return try ground?.below(canvas) ?? canvas
        }
    }

    /// The ground of a region, with its base map.
    private func ground(_ ground: MapGround?, of region: MapRegion) async throws(EngineError) -> RegionGround? {
        switch ground {
        case nil: nil
        case .colour(let colour): RegionGround(region: region, form: .colour(colour))
        case .baseMap(let theme):
            RegionGround(region: region, form: .baseMap(try await baseMaps.map(for: region), theme))
        }
    }

    /// The place with the most data of some layers.
    func placeWithMostData(of layers: LayerList, at instant: Instant, filter: Filter, in snapshot: Snapshot)
        async throws(EngineError)
        -> LonLat?
    {
        try await pictures.data(for: layers, at: instant, filter: filter, in: snapshot).placeWithMostData
    }

    package var statistics: CacheStatistics { made.statistics }

    private static func draw(_ request: MapRequest, _ content: MapContent, _ painter: PicturePainter)
        throws(PictureError)
        -> Canvas
    {
        var canvas = try painter.canvas(content, style: request.style)
        try request.furniture.paint(request.region, style: request.style, onto: &canvas)
        return canvas
    }
}

/// The ground of a map image.
private struct RegionGround: Sendable {
    enum Form: Sendable {
        case colour(StraightColour)
        case baseMap(BaseMap, Theme)
    }

    let region: MapRegion
    let form: Form

    /// nil if the ground is the base map.
    var colour: StraightColour? { if case .colour(let colour) = form { colour } else { nil } }
    /// nil if the ground is a colour.
    var baseMap: BaseMap? { if case .baseMap(let map, _) = form { map } else { nil } }

    /// Mixes in everything that decides its pixels, besides the region.
    func mix(into fingerprint: inout Fingerprint) {
        switch form {
        case .colour(let colour): fingerprint.mix(colour.hexadecimal)
        case .baseMap(let map, let theme):
            fingerprint.mix(map.hash)
            fingerprint.mix(theme.rawValue)
        }
    }

    /// The ground with a picture on it.
    func below(_ picture: Canvas) throws(PictureError) -> Canvas {
        var ground: Canvas
        do throws(CanvasError) { ground = try Canvas(width: picture.width, height: picture.height) } catch {
            throw .canvas(error)
        }
        switch form {
        case .colour(let colour): ground.fill(with: colour)
        case .baseMap(let map, let theme): map.paint(region, theme: theme, onto: &ground)
        }
        ground.lay(picture)
        return ground
    }
}
