import CMemory
import Foundation
import ServiceLifecycle

/// Gives memory back to the system that answers and publications leave free, in small pieces between what is kept.
/// Every two seconds, because a large answer's may be free only some time after it was sent; but not while nothing is
/// done.
package struct HeapTrimmer: Service {
    package init() {}

    private static let pause = Duration.seconds(2)
    /// Seconds of the processor, of all threads, by which there is something to look for.
    private static let work = 0.05

    package func run() async throws {
        var worked = Self.processorSeconds
        while await ServicePause.rest(Self.pause) {
            guard Self.processorSeconds - worked > Self.work else { continue }
            billow_memory_trim()
            worked = Self.processorSeconds
        }
    }

    private static var processorSeconds: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}
