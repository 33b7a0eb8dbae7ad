import Synchronization

/// The tokens that one upstream gave out.
final class TokenLedger: Sendable {
    private struct Inner {
        var issued = 0
        /// Unix seconds when each ends.
        var tokens: [String: Int] = [:]
    }

    /// How long a token lasts.
    let seconds: Int
    private let prefix: String
    private let inner = Mutex(Inner())

    init(prefix: String, seconds: Int) {
        self.prefix = prefix
        self.seconds = seconds
    }

    func issue(now: Int) -> String {
        inner.withLock { inner in
            inner.issued += 1
            let token = "\(prefix)-\(inner.issued)"
            inner.tokens = inner.tokens.filter { $0.value > now }
            inner.tokens[token] = now + seconds
            return token
        }
    }

    /// How many tokens were given out.
    var issued: Int { inner.withLock { $0.issued } }

    func isValid(_ token: String, now: Int) -> Bool { inner.withLock { ($0.tokens[token] ?? 0) > now } }

    func revoke(_ token: String) { inner.withLock { $0.tokens[token] = nil } }
}
