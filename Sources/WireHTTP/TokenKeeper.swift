/// Keeps a token: fetched when it is first needed, by one call for all who wait, and renewed before it ends.
package actor TokenKeeper<Failure: Error> {
    package struct Token: Sendable, Hashable {
        package let value: Secret
        /// Unix seconds.
        package let endsAt: Int

        package init(value: Secret, endsAt: Int) {
            self.value = value
            self.endsAt = endsAt
        }
    }

    /// A token is renewed this long before it ends.
    private static var marginSeconds: Int { 30 }

    private let now: @Sendable () -> Int
    private let fetch: @Sendable () async -> Result<Token, Failure>
    /// The one that is sent; nil before the first and after it was refused.
    package private(set) var current: Token?
    private var pending: Task<Result<Token, Failure>, Never>?

    /// - Parameters:
    ///   - now: Unix seconds.
    ///   - fetch: the call that gives a new one.
    package init(now: @escaping @Sendable () -> Int, fetch: @escaping @Sendable () async -> Result<Token, Failure>) {
        self.now = now
        self.fetch = fetch
    }

    package func token() async throws(Failure) -> Secret {
        if let current, now() < current.endsAt - Self.marginSeconds { return current.value }
        let fetching = pending ?? Task { [fetch] in await fetch() }
        pending = fetching
        let result = await fetching.value
        // Whoever comes first after the answer settles it for all.
        if pending == fetching {
            pending = nil
            current = try? result.get()  // Why there is none is told to each who waited, below.
        }
        return try result.get().value
    }

    /// Goes on with a token from before, unless there is one.
    package func resume(_ token: Token) { current = current ?? token }

    /// The upstream takes this token no more. One that was fetched meanwhile stays.
    package func discard(_ token: Secret) {
        if current?.value == token { current = nil }
    }
}
