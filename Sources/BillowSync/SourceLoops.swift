import Synchronization
package import Turbulence

/// The running loops, by source.
package final class SourceLoops: Sendable {
    private let loops = Mutex<[SourceID: SourceLoop]>([:])

    package init() {}

    package func add(_ loop: SourceLoop) { loops.withLock { $0[loop.id] = loop } }

    /// Forgets a loop that runs no more.
    package func remove(_ id: SourceID) { _ = loops.withLock { $0.removeValue(forKey: id) } }

    package subscript(_ id: SourceID) -> SourceLoop? { loops.withLock { $0[id] } }
}
