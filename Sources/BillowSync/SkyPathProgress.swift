import Synchronization
import Turbulence

/// What of a source's types lasts from round to round, in memory only.
final class SkyPathProgress: Sendable {
    private struct State {
        var nowcastAt: Instant?
        var disabled: [DataQuery.DataType: (since: Instant, message: String)] = [:]
    }

    private let state = Mutex(State())

    /// A type that the account may not have is tried again after this. Seconds.
    private static let restSeconds = 3_600

    /// When the nowcast was taken last.
    var nowcastAt: Instant? {
        get { state.withLock { $0.nowcastAt } }
        set { state.withLock { $0.nowcastAt = newValue } }
    }

    /// The types that rest, and what the upstream said of each.
    func disabled(at now: Instant) -> [DataQuery.DataType: String] {
        state.withLock { state in
            state.disabled.filter { $0.value.since.advanced(by: Self.restSeconds) > now }.mapValues(\.message)
        }
    }

    func disable(_ type: DataQuery.DataType, at now: Instant, _ message: String) {
        state.withLock { $0.disabled[type] = (now, message) }
    }

    func enable(_ type: DataQuery.DataType) { state.withLock { $0.disabled[type] = nil } }

    func forget() { state.withLock { $0 = State() } }

    /// For another query, which may need the nowcast at once.
    func asking() -> SkyPathProgress {
        let other = SkyPathProgress()
        let disabled = state.withLock { $0.disabled }
        other.state.withLock { $0.disabled = disabled }
        return other
    }
}
