/// Caches a token. It is fetched when it is first needed, by one call for all callers, and renewed before it expires.
package actor TokenCache {
    /// A token and its expiry.
    package struct Token: Sendable, Hashable {
        package let value: Secret
        /// The expiry in Unix seconds.
        package let endsAt: Int

        /// - Parameter endsAt: Unix seconds; 0 for a token that is valid for one call.
        package init(value: Secret, endsAt: Int) {
            self.value = value
            self.endsAt = endsAt
        }
    }

    /// A token is renewed this many seconds before it expires.
    private static let marginSeconds = 30

    private let now: @Sendable () -> Int
    private let fetch: @Sendable () async -> Result<Token, UpstreamError>
    /// The cached token; nil before the first one, and after one was rejected.
    package private(set) var current: Token?
    private var pending: Task<Result<Token, UpstreamError>, Never>?

    /// - Parameters:
    ///   - now: the clock in Unix seconds.
    ///   - fetch: fetches a new token.
    package init(
        now: @escaping @Sendable () -> Int, fetch: @escaping @Sendable () async throws(UpstreamError) -> Token
    ) {
        self.now = now
        self.fetch = {
            do throws(UpstreamError) { return .success(try await fetch()) } catch { return .failure(error) }
        }
    }

    /// The cached token, or a new one.
    package func token() async throws(UpstreamError) -> Secret {
        if let current, now() < current.endsAt - Self.marginSeconds { return current.value }
        let fetching = pending ?? Task { [fetch] in await fetch() }
        pending = fetching
        let result = await fetching.value
        // The first caller after the response caches it for all.
        if pending == fetching {
            pending = nil
            current = try? result.get()  // The error is thrown to each caller below.
        }
        return try result.get().value
    }

    /// Caches a token of an earlier process, unless there already is one.
    package func resume(_ token: Token) { current = current ?? token }

    /// Invalidates a token that the upstream rejected. A newer token stays cached.
    package func discard(_ token: Secret) {
        if current?.value == token { current = nil }
    }
}
