import Synchronization
package import Turbulence

/// The running loops, by source.
package final class SourceLoops: Sendable {
    private let loops = Mutex<[SourceID: SourceLoop]>([:])

    package init() {}

    package func add(_ loop: SourceLoop) { loops.withLock { $0[loop.id] = loop } }

    package subscript(_ id: SourceID) -> SourceLoop? { loops.withLock { $0[id] } }
}
