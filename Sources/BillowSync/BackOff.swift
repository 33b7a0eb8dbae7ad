/// How long to wait before the next attempt.
public struct BackOff: Sendable {
    /// Between attempts that succeed.
    public var interval: Duration
    /// The longest wait after failures, unless the upstream asks for more.
    public var maximum: Duration = .seconds(600)

    public init(interval: Duration) { self.interval = interval }

    /// The wait after some failures in a row: doubled with each, spread by ±20 % so that many clients don't come back
    /// together, and never shorter than what the upstream asked for.
    ///
    /// - Parameter random: 0 ..< 1.
    public func delay(failures: Int, retryAfterSeconds: Int?, random: Double) -> Duration {
        guard failures > 0 else { return interval }
        let doubled = max(interval, .seconds(1)) * (1 << min(failures - 1, 20))
        let spread = min(doubled, maximum) * (0.8 + 0.4 * min(max(random, 0), 1))
        return max(spread, .seconds(retryAfterSeconds ?? 0))
    }
}
