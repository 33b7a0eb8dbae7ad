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

    init(after duration: Duration, from now: ContinuousClock.Instant = .now) {
        state = Mutex(State(end: now + duration))
    }

    func extend(by extra: Duration) { state.withLock { $0.end += extra } }

    func pause(at now: ContinuousClock.Instant = .now) { state.withLock { $0.pausedAt = now } }

    func resume(at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            guard let pausedAt = state.pausedAt else { return }
            state.end += now - pausedAt
            state.pausedAt = nil
        }
    }

    /// How long to wait before the deadline can have passed; not above zero where it has.
    func rest(at now: ContinuousClock.Instant) -> Duration {
        state.withLock { $0.pausedAt == nil ? $0.end - now : max($0.end - now, Self.pausedPoll) }
    }

    /// Returns when the deadline has passed; throws when cancelled.
    func wait() async throws {
        while true {
            let rest = rest(at: .now)
            guard rest > .zero else { return }
            try await Task.sleep(for: rest)
        }
    }
}
