import Turbulence

/// Where a piece of a query stands, and for which query that holds.
struct SkyPathCursor: Sendable, Hashable {
    /// `lastUpdatedAt` (v5) or the tick (v4).
    var value: Int
    var fetchedAt: Instant
    /// What the answer depended on, beside the piece's own area.
    var query: String
    /// Set where an answer on the way here was partly unreadable: from then on, as soon as a delta can be read, the
    /// piece is fetched whole, for what was unreadable then comes in no later delta.
    var recheckAt: Instant?

    init(value: Int, fetchedAt: Instant, query: String, recheckAt: Instant? = nil) {
        self.value = value
        self.fetchedAt = fetchedAt
        self.query = query
        self.recheckAt = recheckAt
    }

    /// Reads `text` back. A cursor that can't be read is as good as none: the piece is fetched whole.
    init?(text: String) {
        let parts = text.split(separator: " ", maxSplits: 3)
        guard parts.count == 4, let value = Int(parts[0]), let fetchedAt = Int(parts[1]).flatMap(Instant.init(seconds:))
        else { return nil }
        let recheckAt = Int(parts[2]).flatMap(Instant.init(seconds:))
        guard recheckAt != nil || parts[2] == "-" else { return nil }
        self.init(value: value, fetchedAt: fetchedAt, query: String(parts[3]), recheckAt: recheckAt)
    }

    /// As the store keeps it.
    var text: String { "\(value) \(fetchedAt.seconds) \(recheckAt.map { String($0.seconds) } ?? "-") \(query)" }

    /// Whether the upstream may still have all that came since. A clock that was set back a little is no reason to
    /// doubt.
    func isUsable(for asked: SkyPathSignature, at now: Instant, reachSeconds: Int) -> Bool {
        let age = now.seconds - fetchedAt.seconds
        return SkyPathSignature(text: query)?.serves(asked) == true && age >= -SkyPathUpstream.futureSeconds
            && age < reachSeconds
    }
}

/// What an answer depended on, beside its own area.
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

    /// Reads `text` back.
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

    /// The same for the same, in every process.
    var text: String { "\(api.rawValue) \(history.text)h \(category.name) \(severities.rawValue) \(baseURL)" }

    /// Whether what was fetched under this one has all that another asks for: a longer history and more severities
    /// have.
    func serves(_ asked: SkyPathSignature) -> Bool {
        api == asked.api && category == asked.category && baseURL == asked.baseURL && history >= asked.history
            && severities.isSuperset(of: asked.severities)
    }
}
