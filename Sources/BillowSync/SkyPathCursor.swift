import Turbulence

/// Where a piece of a query stands, and for which query that holds.
struct SkyPathCursor: Sendable, Hashable {
    /// `lastUpdatedAt` (v5) or the tick (v4).
    var value: Int
    var fetchedAt: Instant
    /// What the answer depended on, beside the piece's own area.
    var query: String

    init(value: Int, fetchedAt: Instant, query: String) {
        self.value = value
        self.fetchedAt = fetchedAt
        self.query = query
    }

    /// Reads `text` back. A cursor that can't be read is as good as none: the piece is fetched whole.
    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 2)
        guard parts.count == 3, let value = Int(parts[0]), let fetchedAt = Int(parts[1]).flatMap(Instant.init(seconds:))
        else { return nil }
        self.init(value: value, fetchedAt: fetchedAt, query: String(parts[2]))
    }

    /// As the store keeps it.
    var text: String { "\(value) \(fetchedAt.seconds) \(query)" }

    /// Whether the upstream may still have all that came since. A clock that was set back a little is no reason to doubt.
    func isUsable(for query: String, at now: Instant, reachSeconds: Int) -> Bool {
        let age = now.seconds - fetchedAt.seconds
        return self.query == query && age >= -SkyPathUpstream.futureSeconds && age < reachSeconds
    }
}
