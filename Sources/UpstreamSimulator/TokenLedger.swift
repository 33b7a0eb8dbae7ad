import Synchronization

/// The tokens issued by one upstream.
final class TokenLedger: Sendable {
    private struct Inner {
        var issued = 0
        /// The expiry of each token in Unix seconds.
        var tokens: [String: Int] = [:]
    }

    /// The lifetime of a token.
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

    /// The number of issued tokens.
    var issued: Int { inner.withLock { $0.issued } }

    func isValid(_ token: String, now: Int) -> Bool { inner.withLock { ($0.tokens[token] ?? 0) > now } }

    func revoke(_ token: String) { inner.withLock { $0.tokens[token] = nil } }
}
