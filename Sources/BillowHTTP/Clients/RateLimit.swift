import Synchronization

/// How many requests a client may make.
package struct RateLimit: Sendable, Hashable {
    /// The requests that a client may make a second in the long run.
    package var perSecond: Int
    /// The requests that it may make at once after a pause.
    package var burst: Int

    package init(perSecond: Int, burst: Int) {
        self.perSecond = perSecond
        self.burst = burst
    }
}

/// The token buckets of all clients.
///
/// A bucket is one number, the time at which it is full again: a request moves it ahead by the interval of the rate. A
/// bucket that is full is not stored. So the table has the clients of the last moments only. Its size is bounded; the
/// clients beyond it share one bucket.
///
/// Source: ITU-T I.371 (2004) annex A, the virtual scheduling algorithm, which is a token bucket
final class RateLimiter<Client: Hashable & Sendable>: Sendable {
    struct Decision: Sendable, Hashable {
        var isAllowed: Bool
        /// The requests that the client may still make at once.
        var remaining: Int
        /// The seconds until the bucket is full, or after a refusal until the next request is allowed; rounded up.
        var seconds: Int
    }

    private struct Buckets {
        /// The times at which buckets are full, in nanoseconds.
        var fullAt: [Client: UInt64] = [:]
        /// That of the clients beyond the table.
        var others: UInt64 = 0
        var sweptAt: UInt64 = 0
    }

    let limit: RateLimit
    private let capacity: Int
    private let buckets = Mutex(Buckets())
    private let interval: UInt64

    /// The least time between two searches of the table for full buckets.
    private static var sweepPause: UInt64 { 1_000_000_000 }

    init(_ limit: RateLimit, capacity: Int = 65_536) {
        self.limit = limit
        self.capacity = capacity
        interval = 1_000_000_000 / UInt64(max(1, limit.perSecond))
    }

    /// The number of buckets that aren't full, or weren't when the table was last searched.
    var count: Int { buckets.withLock { $0.fullAt.count } }

    /// Counts a request, if it is allowed.
    ///
    /// - Parameter now: the time of a clock that never goes back, in nanoseconds.
    /// - Complexity: O(1), once a second O(n) while the table is full.
    func request(of client: Client, at now: UInt64) -> Decision {
        buckets.withLock { buckets in
            let known = buckets.fullAt[client]
            if known == nil, buckets.fullAt.count >= capacity, now >= buckets.sweptAt + Self.sweepPause {
                buckets.sweptAt = now
                buckets.fullAt = buckets.fullAt.filter { $0.value > now }
            }
            let isStored = known != nil || buckets.fullAt.count < capacity
            let start = max(known ?? (isStored ? now : buckets.others), now)
            let mostAhead = interval * UInt64(max(1, limit.burst))
            let end = start + interval
            guard end - now <= mostAhead else {
                return Decision(isAllowed: false, remaining: 0, seconds: Self.seconds(end - now - mostAhead))
            }
            if isStored { buckets.fullAt[client] = end } else { buckets.others = end }
            return Decision(
                isAllowed: true, remaining: Int((mostAhead - (end - now)) / interval), seconds: Self.seconds(end - now))
        }
    }

    private static func seconds(_ nanoseconds: UInt64) -> Int { Int((nanoseconds + 999_999_999) / 1_000_000_000) }
}

extension RateLimiter {
    /// The value of `RateLimit-Policy`.
    ///
    /// Source: draft-ietf-httpapi-ratelimit-headers-10 section 3
    func policy(_ name: String) -> String {
        let window = max(1, (limit.burst + limit.perSecond - 1) / max(1, limit.perSecond))
        return "\"\(name)\";q=\(limit.burst);w=\(window)"
    }

    /// The value of `RateLimit`.
    ///
    /// Source: draft-ietf-httpapi-ratelimit-headers-10 section 4
    static func state(_ name: String, _ decision: Decision) -> String {
        "\"\(name)\";r=\(decision.remaining);t=\(decision.seconds)"
    }
}
