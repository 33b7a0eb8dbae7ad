import Synchronization

/// The deadline of a streamed response. It can be extended, and is paused while the reader works.
final class StreamDeadline: Sendable {
    private struct State {
        var end: ContinuousClock.Instant
        var pausedAt: ContinuousClock.Instant?
    }

    private let state: Mutex<State>

    /// The polling interval while the deadline is paused.
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

    /// The time until the deadline can pass; zero or negative if it has passed.
    func rest(at now: ContinuousClock.Instant) -> Duration {
        state.withLock { $0.pausedAt == nil ? $0.end - now : max($0.end - now, Self.pausedPoll) }
    }

    /// Returns when the deadline has passed; throws if cancelled.
    func wait() async throws {
        while true {
            let rest = rest(at: .now)
            guard rest > .zero else { return }
            try await Task.sleep(for: rest)
        }
    }
}
