import Synchronization

/// The tokens and credits of OpenSky's clients.
final class OpenSkyAccounts: Sendable {
    /// The three credit budgets, which are independent.
    enum Bucket: Hashable, Sendable { case states, tracks, flights }

    let tokens = TokenLedger(prefix: "simulated-token", seconds: 1_800)
    private static let secondsPerDay = 86_400

    private struct CreditKey: Hashable {
        let bucket: Bucket
        let isAnonymous: Bool
    }

    private struct Inner {
        var day = 0
        var spent: [CreditKey: Int] = [:]
    }

    private let credits: Int?
    private let anonymousCredits: Int?
    private let inner = Mutex(Inner())

    init(_ configuration: UpstreamSimulator.Configuration) {
        credits = configuration.openSkyCredits
        anonymousCredits = configuration.openSkyAnonymousCredits
    }

    enum Balance: Equatable {
        case uncounted
        case left(Int)
        /// The seconds until there are new credits.
        case spent(retryAfter: Int)
    }

    /// Subtracts credits of the day (UTC), if there are enough.
    func spend(_ cost: Int, of bucket: Bucket, isAnonymous: Bool, now: Int) -> Balance {
        guard let allowance = isAnonymous ? anonymousCredits : credits else { return .uncounted }
        return inner.withLock { inner in
            let day = now / Self.secondsPerDay
            if day != inner.day { inner.spent = [:] }
            inner.day = day
            let key = CreditKey(bucket: bucket, isAnonymous: isAnonymous)
            let spent = inner.spent[key, default: 0]
            guard spent + cost <= allowance else {
                return .spent(retryAfter: Self.secondsPerDay - now % Self.secondsPerDay)
            }
            inner.spent[key] = spent + cost
            return .left(allowance - spent - cost)
        }
    }
}
