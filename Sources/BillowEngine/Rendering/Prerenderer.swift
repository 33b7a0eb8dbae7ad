import BillowSnapshot
import ServiceLifecycle
import Turbulence

/// Draws the hot tiles of a new publication before clients ask for them, so that the first after an update doesn't
/// wait. One at a time, and only so many: whoever asks meanwhile comes first at all painters but one.
package struct Prerenderer: Service {
    package let publisher: SnapshotPublisher
    let tiles: TileService
    let hot: HotTiles

    package init(publisher: SnapshotPublisher, tiles: TileService, hot: HotTiles) {
        self.publisher = publisher
        self.tiles = tiles
        self.hot = hot
    }

    /// Tiles of one publication.
    private static let most = 300
    /// Time for one publication; what isn't drawn by then is drawn when it is asked for.
    private static let longest = Duration.seconds(2)

    package func run() async throws {
        for await _ in publisher.publications { await prerender() }
    }

    /// Draws the hot tiles of the newest publication, as far as its budget goes.
    func prerender() async {
        guard let snapshot = publisher.snapshot else { return }
        let clock = ContinuousClock()
        let end = clock.now + Self.longest
        for request in hot.requests(for: snapshot.publication, limit: Self.most) {
            guard clock.now < end, !Task.isCancelled, publisher.snapshot?.publication == snapshot.publication else {
                return
            }
            // A tile that can't be drawn now, in a full queue say, is drawn or refused when it is asked for.
            _ = try? await tiles.tile(request, in: snapshot, isRenewal: true) { _ in false }
        }
    }
}
