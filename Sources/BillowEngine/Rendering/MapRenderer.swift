package import BillowRaster
package import BillowSnapshot
package import BillowTiles
import Geometry
package import Turbulence

/// What a picture is asked for.
package struct MapRequest: Sendable, Hashable {
    package var layers: LayerList
    package var region: MapRegion
    package var instant: Instant
    package var filter: Filter
    package var style: Style
    /// Aircraft named in each 256 × 256 points.
    package var labels: Int
    package var furniture: MapFurniture
    /// Whether it is hatched, as a picture that lacks data.
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

/// Draws pictures of a region: for map images and for the frames of animations.
package final class MapRenderer: Sendable {
    private let pictures: PictureSource
    private let painters: PainterPool
    private let made: SharedCache<Fingerprint, [UInt8]>
    /// What all caches of this server keep together.
    package var caches: CacheBudget { pictures.caches }

    /// - Throws: `PNGError` when libdeflate can't be set up.
    package init(pictures: PictureSource) throws(PNGError) {
        self.pictures = pictures
        made = SharedCache(pictures.caches) { $0.count }
        // One for maps, one for animations.
        painters = try PainterPool(expecting: 2)
    }

    /// The picture as a PNG file, drawn unless the same was before.
    package func picture(_ request: MapRequest, in snapshot: Snapshot, isUnchanged: @Sendable (String) -> Bool)
        async throws
        -> EncodedPicture
    {
        let data = try await pictures.data(
            for: request.layers, at: request.instant, filter: request.filter, in: snapshot)
        WorkExecutor.assertIsJob()
        let content = MapContent(
            request.layers, of: data, in: request.region, labels: request.labels, isHatched: request.isHatched,
            style: request.style)
        var fingerprint = try content.fingerprint(style: request.style)
        fingerprint.mix(TileService.rendererBuild)
        request.furniture.mix(into: &fingerprint, style: request.style)
        let entityTag = fingerprint.text
        if isUnchanged(entityTag) { return EncodedPicture(png: [], entityTag: entityTag) }
        let png = try await made.value(for: fingerprint) { [painters] in
            try painters.paint { painter, _ in
                try Self.draw(request, content, painter).indexedPNG(keeping: request.style.fills)
            }
        }
        return EncodedPicture(png: png, entityTag: entityTag)
    }

    /// The picture as a PNG file.
    package func png(_ request: MapRequest, in snapshot: Snapshot) async throws -> [UInt8] {
        try await picture(request, in: snapshot) { _ in false }.png
    }

    /// The picture itself, transparent where there is nothing.
    /// - Throws: `PictureError`; `StoreError`; `CancellationError`.
    package func canvas(_ request: MapRequest, in snapshot: Snapshot) async throws -> Canvas {
        let data = try await pictures.data(
            for: request.layers, at: request.instant, filter: request.filter, in: snapshot)
        try Task.checkCancellation()
        WorkExecutor.assertIsJob()
        return try painters.paint { painter, _ in
            let content = MapContent(
                request.layers, of: data, in: request.region, labels: request.labels, isHatched: request.isHatched,
                style: request.style)
            return try Self.draw(request, content, painter)
        }
    }

    /// Where there is most to see of some layers.
    func busiestPlace(of layers: LayerList, at instant: Instant, filter: Filter, in snapshot: Snapshot) async throws
        -> LonLat?
    {
        try await pictures.data(for: layers, at: instant, filter: filter, in: snapshot).busiestPlace
    }

    package var statistics: CacheStatistics { made.statistics }

    private static func draw(_ request: MapRequest, _ content: MapContent, _ painter: PicturePainter) throws -> Canvas {
        var canvas = try painter.canvas(content, style: request.style)
        try request.furniture.paint(request.region, style: request.style, onto: &canvas)
        return canvas
    }
}
