import BillowSnapshot
import ServiceLifecycle
import Turbulence

/// Draws the hot tiles of a new publication before clients request them, so that the first request after an update
/// doesn't wait. It draws one tile at a time, up to a limit: requests have priority on all painters but one.
package struct Prerenderer: Service {
    package let publisher: SnapshotPublisher
    let tiles: TileService
    let latestTiles: LatestTileRequests

    package init(publisher: SnapshotPublisher, tiles: TileService, latestTiles: LatestTileRequests) {
        self.publisher = publisher
        self.tiles = tiles
        self.latestTiles = latestTiles
    }

    /// The most tiles of one publication.
    private static let most = 300
    /// The time limit of one publication; remaining tiles are drawn on request.
    private static let longest = Duration.seconds(2)

    package func run() async {
        for await _ in publisher.publications { await prerender() }
    }

    /// Draws the hot tiles of the newest publication within its limits.
    func prerender() async {
        guard let snapshot = publisher.snapshot else { return }
        let clock = ContinuousClock()
        let end = clock.now + Self.longest
        for request in latestTiles.requests(for: snapshot.publication, limit: Self.most) {
            guard clock.now < end, !Task.isCancelled, publisher.snapshot?.publication == snapshot.publication else {
                return
            }
            // A failed tile, for example due to a full queue, is drawn or rejected on request.
            _ = try? await tiles.tile(request, in: snapshot, isRenewal: true) { _ in false }
        }
    }
}
