import Synchronization
import Turbulence

/// What of a source's types lasts from round to round, in memory only.
final class SkyPathProgress: Sendable {
    private struct State {
        var nowcastAt: Instant?
        var disabled: [DataQuery.DataType: (since: Instant, message: String)] = [:]
        var hasResumed = false
        var keptSession: String?
    }

    private let state = Mutex(State())

    /// A type that the account may not have is tried again after this. Seconds.
    private static let restSeconds = 3_600

    /// When the nowcast was taken last.
    var nowcastAt: Instant? {
        get { state.withLock { $0.nowcastAt } }
        set { state.withLock { $0.nowcastAt = newValue } }
    }

    /// Whether the session of before the restart was looked for.
    var hasResumed: Bool {
        get { state.withLock { $0.hasResumed } }
        set { state.withLock { $0.hasResumed = newValue } }
    }

    /// The session as the store has it.
    var keptSession: String? {
        get { state.withLock { $0.keptSession } }
        set { state.withLock { $0.keptSession = newValue } }
    }

    /// The types that rest, what the upstream said of each, and when it may be asked again.
    func disabled(at now: Instant) -> [DataQuery.DataType: (message: String, until: Instant)] {
        state.withLock { state in
            state.disabled.mapValues { ($0.message, $0.since.advanced(by: Self.restSeconds)) }
                .filter { $0.value.1 > now }
        }
    }

    func disable(_ type: DataQuery.DataType, at now: Instant, _ message: String) {
        state.withLock { $0.disabled[type] = (now, message) }
    }

    func enable(_ type: DataQuery.DataType) { state.withLock { $0.disabled[type] = nil } }

    /// Has all types asked for again.
    func enableAll() { state.withLock { $0.disabled = [:] } }

    /// Lets go of all that was fetched.
    func forget() {
        state.withLock { state in
            state.nowcastAt = nil
            state.disabled = [:]
        }
    }

    /// For another query, which may need the nowcast at once.
    func asking() -> SkyPathProgress {
        let other = SkyPathProgress()
        var state = state.withLock { $0 }
        state.nowcastAt = nil
        other.state.withLock { [state] in $0 = state }
        return other
    }
}
