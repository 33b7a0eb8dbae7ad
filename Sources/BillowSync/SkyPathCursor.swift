import Turbulence

/// The cursor of a query's piece, and the query for which it is valid.
struct SkyPathCursor: Sendable, Hashable {
    /// `lastUpdatedAt` (v5) or the tick (v4).
    var value: Int
    var fetchedAt: Instant
    /// The signature of the request, without the piece's own area.
    var query: String
    /// The time for a complete fetch after a partly unreadable response. The piece is fetched whole as soon as a delta
    /// is readable, because no later delta contains the unreadable records.
    var recheckAt: Instant?

    init(value: Int, fetchedAt: Instant, query: String, recheckAt: Instant? = nil) {
        self.value = value
        self.fetchedAt = fetchedAt
        self.query = query
        self.recheckAt = recheckAt
    }

    /// Parses `text`. An unreadable cursor counts as none, so the piece is fetched whole.
    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 3)
        guard parts.count == 4, let value = Int(parts[0]), let fetchedAt = Int(parts[1]).flatMap(Instant.init(seconds:))
        else { return nil }
        let recheckAt = Int(parts[2]).flatMap(Instant.init(seconds:))
        guard recheckAt != nil || parts[2] == "-" else { return nil }
        self.init(value: value, fetchedAt: fetchedAt, query: String(parts[3]), recheckAt: recheckAt)
    }

    /// The stored form.
    var text: String { "\(value) \(fetchedAt.seconds) \(recheckAt.map { String($0.seconds) } ?? "-") \(query)" }

    /// Whether the upstream still has all changes since the cursor. A clock that was set back by a little does not
    /// invalidate the cursor.
    func isUsable(for required: SkyPathSignature, at now: Instant, reachSeconds: Int) -> Bool {
        let age = now.seconds - fetchedAt.seconds
        return SkyPathSignature(text: query)?.serves(required) == true && age >= -SkyPathUpstream.futureSeconds
            && age < reachSeconds
    }
}

/// The parameters that a response depends on, except its area.
struct SkyPathSignature: Sendable, Hashable {
    var api: SkyPathUpstream.API
    var history: History
    var category: AircraftCategory
    var severities: SeveritySet
    var baseURL: String

    init(
        api: SkyPathUpstream.API, history: History, category: AircraftCategory, severities: SeveritySet,
        baseURL: String
    ) {
        self.api = api
        self.history = history
        self.category = category
        self.severities = severities
        self.baseURL = baseURL
    }

    /// Parses `text`.
    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 4)
        guard parts.count == 5, let api = SkyPathUpstream.API(rawValue: String(parts[0])), parts[1].last == "h",
            let history = History(parts[1].dropLast()), let category = AircraftCategory(parts[2]),
            let severities = UInt8(parts[3])
        else { return nil }
        self.init(
            api: api, history: history, category: category, severities: SeveritySet(rawValue: severities),
            baseURL: String(parts[4]))
    }

    /// The stored form, equal for equal values in every process.
    var text: String { "\(api.rawValue) \(history.text)h \(category.name) \(severities.rawValue) \(baseURL)" }

    /// Whether data that was fetched under this signature satisfies another one. A longer history and more severities
    /// do.
    func serves(_ required: SkyPathSignature) -> Bool {
        api == required.api && category == required.category && baseURL == required.baseURL
            && history >= required.history
            && severities.isSuperset(of: required.severities)
    }
}
