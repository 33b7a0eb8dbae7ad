public import BillowRaster
public import BillowSnapshot
public import BillowTiles
public import Turbulence

/// Draws pictures of a region: for map images and for the frames of animations. One at a time, beside the tiles.
public final class MapRenderer: Sendable {
    /// What a picture is asked for.
    public struct Request: Sendable {
        public var layers: LayerList
        public var region: MapRegion
        public var instant: Instant
        public var filter: Filter
        public var style: Style
        /// Aircraft named in each 256 × 256 points.
        public var labels: Int
        public var furniture: MapFurniture

        public init(
            layers: LayerList, region: MapRegion, instant: Instant, filter: Filter, style: Style,
            labels: Int = PictureContent.defaultLabels, furniture: MapFurniture = MapFurniture()
        ) {
            self.layers = layers
            self.region = region
            self.instant = instant
            self.filter = filter
            self.style = style
            self.labels = labels
            self.furniture = furniture
        }
    }

    private let pictures: PictureSource
    private let pool: PaintPool

    /// A large picture takes a second: who comes after so many is turned away.
    private static let queueLimit = 16

    /// - Throws: `PNGError` when libdeflate can't be set up.
    public init(pictures: PictureSource) throws(PNGError) {
        self.pictures = pictures
        pool = try PaintPool(width: 1, queueLimit: MapRenderer.queueLimit)
    }

    /// The picture itself, transparent where there is nothing.
    /// - Throws: `Problem` 503 when too many wait; `PictureError`; `StoreError`; `CancellationError`.
    public func canvas(_ request: Request, in snapshot: Snapshot) async throws -> Canvas {
        try await draw(request, in: snapshot) { $0 }
    }

    /// The picture as a PNG file.
    public func png(_ request: Request, in snapshot: Snapshot) async throws -> [UInt8] {
        try await draw(request, in: snapshot) { try $0.png() }
    }

    private func draw<Value: Sendable>(
        _ request: Request, in snapshot: Snapshot, then finish: @escaping @Sendable (Canvas) throws -> Value
    ) async throws -> Value {
        let data = try await pictures.data(
            for: request.layers, at: request.instant, filter: request.filter, in: snapshot)
        return try await pool.run { painter, _ in
            var canvas = try painter.canvas(
                request.layers, of: data, in: request.region, style: request.style, labels: request.labels)
            try request.furniture.paint(request.region, style: request.style, onto: &canvas)
            return try finish(canvas)
        }
    }
}
