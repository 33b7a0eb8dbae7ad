public import BillowRaster
public import BillowSnapshot
import BillowTiles
import HTTPTypes
import Synchronization
import Turbulence

/// Makes tiles: finds the picture, gathers what a tile shows of it, and paints that unless the same was painted before.
public final class TileService: Sendable {
    /// What a tile is asked for.
    struct Request: Sendable, Hashable {
        var layers: LayerList
        var coord: TileCoord
        var scale: TileScale
        var instant: Instant
        var filter: Filter
        var style: Style
        var labels = PictureContent.defaultLabels
    }

    /// Changes whenever the same inputs give other bytes, in pictures or vector tiles: then every frame has another address.
    static let rendererBuild: UInt64 = 8

    private let pictures: PictureSource
    let pool: PaintPool
    private let tiles: SharedCache<Fingerprint, [UInt8]>
    /// What tiles are known to show: a tile that is asked for again and again is not gathered again.
    private let shown: SharedCache<Shown, Fingerprint?>
    private let empty: [TileScale: [UInt8]]

    /// What a tile shows is settled by these.
    private struct Shown: Hashable, Sendable {
        var version: Version
        var request: Request
    }

    /// - Throws: `PNGError` when libdeflate can't be set up.
    public init(pictures: PictureSource, paintersAtOnce: Int) throws(PNGError) {
        self.pictures = pictures
        tiles = SharedCache(pictures.caches) { $0.count }
        shown = SharedCache(pictures.caches) { _ in 300 }
        pool = try PaintPool(width: paintersAtOnce, queueLimit: 1_024)
        var empty: [TileScale: [UInt8]] = [:]
        for scale in TileScale.allCases { empty[scale] = try PNG.emptyTile(size: scale.pixels) }
        self.empty = empty
    }

    func tile(_ request: Request, in snapshot: Snapshot, isUnchanged: @Sendable (String) -> Bool) async throws
        -> EncodedPicture
    {
        let key = Shown(version: snapshot.publication.version, request: request)
        if let known = shown.kept(key) {
            guard let fingerprint = known else { return emptyTile(request.scale) }
            if isUnchanged(fingerprint.text) { return EncodedPicture(png: [], entityTag: fingerprint.text) }
            if let png = tiles.kept(fingerprint) { return EncodedPicture(png: png, entityTag: fingerprint.text) }
        }
        let data = try await pictures.data(
            for: request.layers, at: request.instant, filter: request.filter, in: snapshot)
        let region = MapRegion(request.coord, scale: request.scale)
        let content = PictureContent(request.layers, of: data, in: region, labels: request.labels)
        if content.isEmpty {
            shown.keep(nil, for: key)
            return emptyTile(request.scale)
        }
        let fingerprint = try Self.fingerprint(content, request)
        shown.keep(fingerprint, for: key)
        let entityTag = fingerprint.text
        if isUnchanged(entityTag) { return EncodedPicture(png: [], entityTag: entityTag) }
        let png = try await tiles.value(for: fingerprint) { [pool] in
            try await pool.run { painter, encoder in
                try painter.png(
                    content, at: request.coord, scale: request.scale, style: request.style, encoder: encoder)
            }
        }
        return EncodedPicture(png: png, entityTag: entityTag)
    }

    /// The one tile of a scale that shows nothing.
    private func emptyTile(_ scale: TileScale) -> EncodedPicture {
        EncodedPicture(png: empty[scale] ?? [], entityTag: "empty-\(scale.rawValue)")
    }

    /// The picture of a tile, `z/x/y` with or without `@2x`, as `/tiles` would draw it for the same parameters.
    /// - Throws: `Problem` for what can't be read.
    public func png(
        layers: String, place: String, parameters: [String: String], frames: FrameSource, snapshot: Snapshot,
        styles: StyleLibrary
    ) async throws -> [UInt8] {
        let parts = place.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3 else {
            throw Problem(ParameterError(parameter: "tile", value: place, expected: "z/x/y or z/x/y@2x"))
        }
        let path = try TilePath(z: parts[0], x: parts[1], y: parts[2] + ".png")
        let query = QueryReader(parameters)
        let list = try LayerList(parameter: layers)
        let scene = try frames.scene(of: list, at: try query.time(), in: snapshot)
        let request = Request(
            layers: scene.layers, coord: path.coord, scale: path.scale, instant: scene.instant,
            filter: try query.filter(),
            style: try styles.style(query), labels: try query.labels())
        return try await tile(request, in: snapshot) { _ in false }.png
    }

    var statistics: CacheStatistics { tiles.statistics }

    private static func fingerprint(_ content: PictureContent, _ request: Request) throws -> Fingerprint {
        var fingerprint = try content.fingerprint(style: request.style)
        fingerprint.mix(rendererBuild)
        fingerprint.mix(UInt64(request.coord.z) << 56 | UInt64(request.coord.x) << 28 | UInt64(request.coord.y))
        fingerprint.mix(UInt64(request.scale.rawValue))
        return fingerprint
    }
}

/// A picture as it is answered.
struct EncodedPicture: Sendable {
    /// Empty where whoever asked has it.
    var png: [UInt8]
    /// Names the inputs of the picture; equal inputs are equal bytes.
    var entityTag: String
}
