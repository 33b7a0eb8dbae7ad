import BillowSnapshot
import Geometry
import ServiceLifecycle
import Turbulence

/// Works out the outlines of the cells of which there is data before they are drawn, so that the first tile of a place
/// doesn't wait for them. One chunk after the other, giving way after each: some 0.5 ms each, 20 kB, once a process.
package struct OutlineWarmer: Service {
    package let publisher: SnapshotPublisher

    package init(publisher: SnapshotPublisher) {
        self.publisher = publisher
    }

    package func run() async throws {
        // Every first picture needs these, of an archive without live data too.
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

    /// A chunk of cells and the coarser ones above it.
    private static func warm(_ chunk: Int) {
        var index = chunk
        for resolution in stride(from: Cell.resolution, through: 0, by: -1) {
            _ = CellTable.of(resolution: resolution).chunk(index)
            index /= 7
        }
    }
}
