import Synchronization

/// What happened, in order, from any thread.
final class Recorder: Sendable {
    private let state = Mutex<[String]>([])

    func add(_ event: String) { state.withLock { $0.append(event) } }
    var events: [String] { state.withLock { $0 } }
}
