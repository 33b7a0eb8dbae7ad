import Turbulence

/// The state of the copy of a dataset: the server's cursor, and what is known about the copy's completeness.
struct MirrorCursor: Sendable, Hashable {
    /// The server's name for what the copy has.
    var token: String
    /// The server's time of the last response.
    var time: Instant
    /// When that response was received.
    var fetchedAt: Instant
    /// The time from which the copy is complete; nil if it isn't.
    var completeSince: Instant?
    /// When everything is requested again, because the copy lacks features that couldn't be used.
    var recheckAt: Instant?
    /// The server, the path and the query for which it is valid.
    var query: String

    init(
        token: String, time: Instant, fetchedAt: Instant, completeSince: Instant?, recheckAt: Instant?, query: String
    ) {
        self.token = token
        self.time = time
        self.fetchedAt = fetchedAt
        self.completeSince = completeSince
        self.recheckAt = recheckAt
        self.query = query
    }

    /// Parses `text`. An unreadable cursor counts as none, so everything is requested.
    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 5)
        guard parts.count == 6, let time = Self.instant(parts[1]), let fetchedAt = Self.instant(parts[2]) else {
            return nil
        }
        let (completeSince, recheckAt) = (Self.instant(parts[3]), Self.instant(parts[4]))
        guard completeSince != nil || parts[3] == "-", recheckAt != nil || parts[4] == "-" else { return nil }
        self.init(
            token: String(parts[0]), time: time, fetchedAt: fetchedAt, completeSince: completeSince,
            recheckAt: recheckAt, query: String(parts[5]))
    }

    private static func instant(_ text: Substring) -> Instant? { Int(text).flatMap(Instant.init(seconds:)) }

    /// The stored form.
    var text: String {
        func text(_ instant: Instant?) -> String { instant.map { String($0.seconds) } ?? "-" }
        return "\(token) \(text(time)) \(text(fetchedAt)) \(text(completeSince)) \(text(recheckAt)) \(query)"
    }
}
