import Synchronization

/// When a streamed answer must be complete. Extensible, and paused while the reader works.
final class StreamDeadline: Sendable {
    private struct State {
        var end: ContinuousClock.Instant
        var pausedAt: ContinuousClock.Instant?
    }

    private let state: Mutex<State>

    /// How often a paused deadline is looked at again.
    private static let pausedPoll = Duration.seconds(1)

    init(after duration: Duration) { state = Mutex(State(end: .now + duration)) }

    func extend(by extra: Duration) { state.withLock { $0.end += extra } }

    func pause() { state.withLock { $0.pausedAt = .now } }

    func resume() {
        state.withLock { state in
            guard let pausedAt = state.pausedAt else { return }
            state.end += ContinuousClock.now - pausedAt
            state.pausedAt = nil
        }
    }

    /// Returns when the deadline has passed; throws when cancelled.
    func wait() async throws {
        while true {
            let now = ContinuousClock.now
            let rest = state.withLock { $0.pausedAt == nil ? $0.end - now : max($0.end - now, Self.pausedPoll) }
            guard rest > .zero else { return }
            try await Task.sleep(for: rest)
        }
    }
}
