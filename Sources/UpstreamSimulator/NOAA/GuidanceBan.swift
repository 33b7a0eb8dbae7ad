import Synchronization

/// Blocks clients temporarily after too many requests within a minute.
final class GuidanceBan: Sendable {
    private struct BanState {
        /// The times of the last minute's requests in Unix seconds.
        var recent: [Int] = []
        var until = 0
    }

    private let limit: Int?
    private let seconds: Int
    private let state = Mutex(BanState())

    init(limit: Int?, seconds: Int) {
        self.limit = limit
        self.seconds = seconds
    }

    /// Counts a request, and returns whether it is blocked.
    func refuses(now: Int) -> Bool {
        guard let limit else { return false }
        return state.withLock { state in
            if now < state.until { return true }
            state.recent.removeAll { $0 <= now - 60 }
            state.recent.append(now)
            guard state.recent.count > limit else { return false }
            state.until = now + seconds
            state.recent = []
            return true
        }
    }
}
