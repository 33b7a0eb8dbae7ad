/// Computes the delay before the next attempt.
package struct BackOff: Sendable {
    /// The interval between successful attempts.
    package var interval: Duration
    /// The maximum delay after failures (before the random spread), unless the interval is longer or the upstream
    /// demands more.
    package var maximum: Duration = .seconds(600)

    package init(interval: Duration) { self.interval = interval }

    /// The delay after consecutive failures. It doubles with each failure, and has a random spread of ±20 %, so that
    /// clients don't return simultaneously. It is never shorter than the upstream demands.
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
