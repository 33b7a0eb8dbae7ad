import Synchronization

/// Tokens and credits.
final class OpenSkyAccounts: Sendable {
    /// The three budgets that don't share their credits.
    enum Bucket: Hashable, Sendable { case states, tracks, flights }

    static let tokenSeconds = 1_800
    private static let secondsPerDay = 86_400

    private struct Use: Hashable {
        let bucket: Bucket
        let isAnonymous: Bool
    }

    private struct Inner {
        var issued = 0
        /// Unix seconds when each ends.
        var tokens: [String: Int] = [:]
        var day = 0
        var spent: [Use: Int] = [:]
    }

    private let credits: Int?
    private let anonymousCredits: Int?
    private let inner = Mutex(Inner())

    init(_ configuration: UpstreamSimulator.Configuration) {
        credits = configuration.openSkyCredits
        anonymousCredits = configuration.openSkyAnonymousCredits
    }

    func issue(now: Int) -> String {
        inner.withLock { inner in
            inner.issued += 1
            let token = "simulated-token-\(inner.issued)"
            inner.tokens = inner.tokens.filter { $0.value > now }
            inner.tokens[token] = now + Self.tokenSeconds
            return token
        }
    }

    /// How many tokens were given out.
    var issued: Int { inner.withLock { $0.issued } }

    func isValid(_ token: String, now: Int) -> Bool { inner.withLock { ($0.tokens[token] ?? 0) > now } }

    func revoke(_ token: String) { inner.withLock { $0.tokens[token] = nil } }

    enum Balance: Equatable {
        case uncounted
        case left(Int)
        /// Seconds until there are new ones.
        case spent(retryAfter: Int)
    }

    /// Takes credits of the day (UTC), if there are as many.
    func spend(_ cost: Int, of bucket: Bucket, isAnonymous: Bool, now: Int) -> Balance {
        guard let allowance = isAnonymous ? anonymousCredits : credits else { return .uncounted }
        return inner.withLock { inner in
            let day = now / Self.secondsPerDay
            if day != inner.day { inner.spent = [:] }
            inner.day = day
            let use = Use(bucket: bucket, isAnonymous: isAnonymous)
            let spent = inner.spent[use, default: 0]
            guard spent + cost <= allowance else {
                return .spent(retryAfter: Self.secondsPerDay - now % Self.secondsPerDay)
            }
            inner.spent[use] = spent + cost
            return .left(allowance - spent - cost)
        }
    }
}
