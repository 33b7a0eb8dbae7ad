/// How long to wait before the next attempt.
package struct BackOff: Sendable {
    /// Between attempts that succeed.
    package var interval: Duration
    /// The longest wait after failures (spread aside), unless the interval is longer or the upstream asks for more.
    package var maximum: Duration = .seconds(600)

    package init(interval: Duration) { self.interval = interval }

    /// The wait after some failures in a row: doubled with each, spread by ±20 % so that many clients don't come back
    /// together, and never shorter than what the upstream asked for.
    ///
    /// - Parameter random: 0 ..< 1.
    package func delay(failures: Int, retryAfterSeconds: Int?, random: Double) -> Duration {
        guard failures > 0 else { return interval }
        let first = max(interval, .seconds(1))
        let longest = max(first, maximum)
        var wait = first
        for _ in 1..<min(failures, 32) where wait < longest { wait = min(wait * 2, longest) }
        let share = random >= 0 ? min(random, 1) : 0
        return max(wait * (0.8 + 0.4 * share), .seconds(retryAfterSeconds ?? 0))
    }
}
