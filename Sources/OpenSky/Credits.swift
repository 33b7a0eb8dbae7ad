/// The three budgets of an account. What is spent of one doesn't touch the others.
public enum CreditBucket: String, Sendable, Hashable, CaseIterable {
    /// State vectors, tracks, and flights.
    case states, tracks, flights
}

/// How many credits each budget has, and for how long they must last.
///
/// Source: docs/upstreams/opensky.md, "Credits"
public struct CreditAllowance: Sendable, Hashable {
    /// Credits of a period.
    public var credits: Int
    /// Length of the period.
    public var periodSeconds: Int

    /// nil unless both are above 0.
    public init?(credits: Int, periodSeconds: Int) {
        guard credits > 0, periodSeconds > 0 else { return nil }
        self.init(credits, periodSeconds)
    }

    private init(_ credits: Int, _ periodSeconds: Int) {
        self.credits = credits
        self.periodSeconds = periodSeconds
    }

    private static let daySeconds = 86_400

    /// Without a token, by address of the network.
    public static let anonymous = CreditAllowance(400, daySeconds)
    /// With an API client.
    public static let standard = CreditAllowance(4_000, daySeconds)
    /// For those whose receiver is up.
    public static let feeder = CreditAllowance(8_000, daySeconds)
    /// With a licence.
    public static let licensed = CreditAllowance(14_400, 3_600)

    /// Credits a second.
    var rate: Double { Double(credits) / Double(periodSeconds) }

    /// The time between calls of a cost that lasts for the whole period, in seconds, rounded up.
    public func interval(cost: Int) -> Int { Int((Double(cost) / rate).rounded(.up)) }
}

/// What calls cost.
///
/// Source: docs/upstreams/opensky.md, "Credits"
enum CreditCost {
    /// Of state vectors, by the area of the box; nil is the world.
    static func states(in box: GeographicBox?) -> Int {
        switch box?.area ?? .infinity {
        case ...25: 1
        case ...100: 2
        case ...400: 3
        default: 4
        }
    }

    private static let day = 86_400

    /// Of flights or a track, by the days (UTC) that the interval touches; within the last 24 hours as little as live.
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

/// Spreads the credits over their period: they come in evenly, at most an hour's share is saved up, and a call that
/// costs more than that may be made when as much is saved, and is paid off afterwards.
struct CreditLedger: Sendable {
    private struct Account {
        /// May be below 0, after a dear call.
        var level: Double
        /// Unix seconds when `level` was right.
        var at: Int
        /// The upstream wants no call before, in Unix seconds.
        var blockedUntil = 0
    }

    private let allowance: CreditAllowance?
    private var accounts: [CreditBucket: Account] = [:]

    /// - Parameter allowance: nil counts nothing.
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

    /// Seconds until a call may be made; 0 where it may be made now.
    func wait(for cost: Int, of bucket: CreditBucket, now: Int) -> Int {
        let account = account(bucket, now: now)
        let blocked = max(0, account.blockedUntil - now)
        guard let allowance else { return blocked }
        let missing = min(Double(cost), capacity(allowance)) - account.level
        // What rounding leaves is no debt.
        return max(blocked, Int((max(0, missing - 1e-6) / allowance.rate).rounded(.up)))
    }

    /// A call is made.
    mutating func spend(_ cost: Int, of bucket: CreditBucket, now: Int) {
        var account = account(bucket, now: now)
        account.level -= allowance == nil ? 0 : Double(cost)
        accounts[bucket] = account
    }

    /// The upstream says how many are left. It knows better, where that is less than we think.
    mutating func note(remaining: Int, of bucket: CreditBucket, now: Int) {
        var account = account(bucket, now: now)
        if allowance != nil { account.level = min(account.level, Double(remaining)) }
        accounts[bucket] = account
    }

    /// The upstream wants no call for a while.
    mutating func block(_ bucket: CreditBucket, seconds: Int, now: Int) {
        var account = account(bucket, now: now)
        account.blockedUntil = max(account.blockedUntil, now + seconds)
        accounts[bucket] = account
    }
}
