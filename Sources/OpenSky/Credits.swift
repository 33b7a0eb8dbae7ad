import UpstreamKit

/// The three credit budgets of an account, which are independent of each other.
public enum CreditBucket: String, Sendable, Hashable, CaseIterable {
    /// The budgets of state vectors, tracks, and flights.
    case states, tracks, flights
}

/// The credits of each budget, and the period for which they must last.
///
/// Source: docs/upstreams/opensky.md, "Credits"
public struct CreditAllowance: Sendable, Hashable {
    /// The credits of a period.
    public var credits: Int
    /// The length of the period in seconds.
    public var periodSeconds: Int

    /// Returns nil unless both are above 0.
    public init?(credits: Int, periodSeconds: Int) {
        guard credits > 0, periodSeconds > 0 else { return nil }
        self.init(credits, periodSeconds)
    }

    private init(_ credits: Int, _ periodSeconds: Int) {
        self.credits = credits
        self.periodSeconds = periodSeconds
    }

    private static let daySeconds = 86_400

    /// The allowance without a token, by IP address.
    public static let anonymous = CreditAllowance(400, daySeconds)
    /// The allowance of an API client.
    public static let standard = CreditAllowance(4_000, daySeconds)
    /// The allowance of users whose receiver is online.
    public static let feeder = CreditAllowance(8_000, daySeconds)
    /// The allowance of a licence.
    public static let licensed = CreditAllowance(14_400, 3_600)

    /// The rate in credits per second.
    var rate: Double { Double(credits) / Double(periodSeconds) }

    /// The interval in seconds between calls of a cost that lasts for the whole period, rounded up.
    public func interval(cost: Int) -> Int { Int((Double(cost) / rate).rounded(.up)) }
}

/// The costs of calls.
///
/// Source: docs/upstreams/opensky.md, "Credits"
enum CreditCost {
    /// The cost of state vectors, by the area of the box; nil is the world.
    static func states(in box: GeographicBox?) -> Int {
        switch box?.area ?? .infinity {
        case ...25: 1
        case ...100: 2
        case ...400: 3
        default: 4
        }
    }

    private static let day = 86_400

    /// The cost of flights or a track, by the days (UTC) that the interval overlaps. Within the last 24 hours it is
    /// that of live data.
    static func history(from: Int, to: Int, now: Int) -> Int {
        if from > now - day { return 4 }
        let days = max(1, to / day - from / day + 1)
        return switch days {
        case ...2: 30
        case ...10: 60 * days
        case ...15: 120 * days
        case ...20: 240 * days
        case ...25: 480 * days
        default: 960 * days
        }
    }
}

/// Spreads the credits evenly over their period. At most an hour's share accumulates. A call that costs more may be
/// made when that maximum is reached; the debt is paid off afterwards.
struct CreditLedger: Sendable {
    private struct Account {
        /// The available credits; negative after an expensive call.
        var level: Double
        /// The time of `level` in Unix seconds.
        var at: Int
        /// The end of the upstream's block in Unix seconds.
        var blockedUntil = 0
    }

    private let allowance: CreditAllowance?
    private var accounts: [CreditBucket: Account] = [:]

    /// - Parameter allowance: nil disables counting.
    init(_ allowance: CreditAllowance?) { self.allowance = allowance }

    private func capacity(_ allowance: CreditAllowance) -> Double {
        max(1, allowance.rate * Double(min(3_600, allowance.periodSeconds)))
    }

    private func account(_ bucket: CreditBucket, now: Int) -> Account {
        guard let allowance else { return accounts[bucket] ?? Account(level: 0, at: now) }
        let full = capacity(allowance)
        guard var account = accounts[bucket] else { return Account(level: full, at: now) }
        account.level = min(full, account.level + Double(max(0, now - account.at)) * allowance.rate)
        account.at = now
        return account
    }

    /// The seconds until a call may be made; 0 if it may be made now.
    func wait(for cost: Int, of bucket: CreditBucket, now: Int) -> Int {
        let account = account(bucket, now: now)
        let blocked = max(0, account.blockedUntil - now)
        guard let allowance else { return blocked }
        let missing = min(Double(cost), capacity(allowance)) - account.level
        // A rounding error doesn't count as debt.
        return max(blocked, Int((max(0, missing - 1e-6) / allowance.rate).rounded(.up)))
    }

    /// Subtracts the cost of a call.
    mutating func spend(_ cost: Int, of bucket: CreditBucket, now: Int) {
        var account = account(bucket, now: now)
        account.level -= allowance == nil ? 0 : Double(cost)
        accounts[bucket] = account
    }

    /// Records the remaining credits reported by the upstream, if they are fewer than counted.
    mutating func note(remaining: Int, of bucket: CreditBucket, now: Int) {
        var account = account(bucket, now: now)
        if allowance != nil { account.level = min(account.level, Double(remaining)) }
        accounts[bucket] = account
    }

    /// Records that the upstream accepts no call for some seconds.
    mutating func block(_ bucket: CreditBucket, seconds: Int, now: Int) {
        var account = account(bucket, now: now)
        account.blockedUntil = max(account.blockedUntil, now + seconds)
        accounts[bucket] = account
    }
}
