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

    package init(
        layers: LayerList, region: MapRegion, instant: Instant, filter: Filter, style: Style,
        labels: Int = PictureContent.defaultLabels, furniture: MapFurniture = MapFurniture(),
        isHatched: Bool = false
    ) {
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

/// A map image of one region in several styles, or on a background of one colour.
package struct MapComposition: Sendable, Hashable {
    /// The parts from bottom to top, all with the same region.
    package let parts: [MapRequest]
    /// The colour below all parts; nil for none.
    package let background: StraightColour?

    /// - Parameters:
    ///   - first: the lowest part.
    ///   - others: the parts above it, with the same region.
    ///   - background: the colour below all of them; nil leaves the image transparent.
    package init(_ first: MapRequest, _ others: [MapRequest] = [], background: StraightColour? = nil) {
        precondition(others.allSatisfy { $0.region == first.region }, "parts of different regions")
        parts = [first] + others
        self.background = background
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

    /// - Parameter tiles: the tile service whose painters it shares; nil for its own.
    /// - Throws: `PNGError` if libdeflate can't be initialised.
    package init(pictures: PictureSource, tiles: TileService? = nil) throws(PNGError) {
        self.pictures = pictures
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
        fingerprint.mix(order.background?.hexadecimal ?? "")
        fingerprints.insert(fingerprint, for: key)
        let entityTag = fingerprint.text
        if isUnchanged(entityTag) { return EncodedPicture(png: [], entityTag: entityTag) }
        let png = try await made.value(for: fingerprint) { [painters, contents] () async throws(EngineError) in
            try painters.paint { (painter, encoder) throws(PictureError) -> [UInt8] in
                if contents.count == 1, let (request, content) = contents.first,
                    request.furniture == MapFurniture(),
                    let png = try painter.png(
                        likeTile: content, style: request.style, background: order.background, encoder: encoder)
                {
                    return png
                }
                var canvas: Canvas?
                for (request, content) in contents {
                    let part = try Self.draw(request, content, painter)
                    if canvas == nil { canvas = part } else { canvas?.lay(part) }
                }
                guard let canvas else { return [] }
                guard let background = order.background else {
                    return try painter.png(canvas, keeping: order.parts.flatMap(\.style.fills), encoder: encoder)
                }
                var ground: Canvas
                do throws(CanvasError) { ground = try Canvas(width: canvas.width, height: canvas.height) } catch {
                    throw .canvas(error)
                }
                let (right, bottom) = (Double(canvas.width), Double(canvas.height))
                ground.fill(
                    [
                        [
                            Point(x: 0, y: 0), Point(x: right, y: 0), Point(x: right, y: bottom),
                            Point(x: 0, y: bottom),
                        ]
                    ], with: background)
                ground.lay(canvas)
                return try painter.png(ground, keeping: [], encoder: encoder)
            }
        }
        tiles?.prepare()
        return EncodedPicture(png: png, entityTag: entityTag)
    }

    /// The image as a PNG file.
    package func png(_ request: MapRequest, in snapshot: Snapshot) async throws(EngineError) -> [UInt8] {
        try await picture(request, in: snapshot) { _ in false }.png
    }

    /// The image as pixels, transparent where no data is.
    /// - Throws: `EngineError.picture`, `.store`, `.cancelled`.
    package func canvas(_ request: MapRequest, in snapshot: Snapshot) async throws(EngineError) -> Canvas {
        let data = try await pictures.data(
            for: request.layers, at: request.instant, filter: request.filter, in: snapshot)
        try WorkExecutor.checkCancellation()
        WorkExecutor.assertIsJob()
        return try painters.paint { (painter, _) throws(PictureError) in
            let content = MapContent(
                request.layers, of: data, in: request.region, labels: request.labels, isHatched: request.isHatched,
                style: request.style)
            return try Self.draw(request, content, painter)
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
