import BillowSnapshot
import Geometry
import ServiceLifecycle
import Turbulence

/// Computes the outlines of cells with data before they are drawn, so that the first tile of a place doesn't wait for
/// them. It processes one chunk after the other and yields after each: some 0.5 ms and 20 kB each, once per process.
package struct OutlineWarmer: Service {
    package let publisher: SnapshotPublisher

    package init(publisher: SnapshotPublisher) {
        self.publisher = publisher
    }

    package func run() async {
        // Every first frame needs these, even one of an archive without live data.
        _ = CellTree.shared
        for resolution in 0...Cell.resolution { _ = CellTable.of(resolution: resolution) }
        var warm = Set<Int>()
        var seen: Version?
        for await snapshot in publisher.publications where snapshot.versions.observations != seen {
            seen = snapshot.versions.observations
            for chunk in snapshot.window.occupiedChunks where warm.insert(chunk).inserted {
                if ServicePause.hasEnded { return }
                Self.warm(chunk)
                await Task.yield()
            }
        }
    }

    /// Computes the outlines of a chunk of cells and of the coarser ones above it.
    private static func warm(_ chunk: Int) {
        var index = chunk
        for resolution in stride(from: Cell.resolution, through: 0, by: -1) {
            _ = CellTable.of(resolution: resolution).chunk(index)
            index /= 7
        }
    }
}
