import CMemory
import Foundation
import ServiceLifecycle

/// Returns free heap memory to the system. Responses and publications leave it in small pieces between live
/// allocations. It runs every two seconds, because the memory of a large response may be freed only some time after it
/// was sent. It skips a round if the process was idle.
package struct HeapTrimmer: Service {
    package init() {}

    private static let pause = Duration.seconds(2)
    /// The CPU seconds of all threads since the last trim that make another one worthwhile.
    private static let work = 0.05

    package func run() async {
        var worked = Self.processorSeconds
        while await ServicePause.rest(Self.pause) {
            guard Self.processorSeconds - worked > Self.work else { continue }
            billow_memory_trim()
            worked = Self.processorSeconds
        }
    }

    private static var processorSeconds: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}
