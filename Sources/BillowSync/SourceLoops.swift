import Synchronization
public import Turbulence

/// The loops that run, by their sources.
public final class SourceLoops: Sendable {
    private let loops = Mutex<[SourceID: SourceLoop]>([:])

    public init() {}

    public func add(_ loop: SourceLoop) { loops.withLock { $0[loop.id] = loop } }

    public subscript(_ id: SourceID) -> SourceLoop? { loops.withLock { $0[id] } }
}
